import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import { objectOf } from '../src/json.ts'
import type { SandboxSlackOptions } from '../src/sandbox-slack.ts'
import { openStage } from './stage.ts'
import type { Stage } from './stage.ts'

export interface Received {
  headers: IncomingHttpHeaders
  body: string
}

export interface Bot {
  url: string
  received: Received[]
}

/** Starts a bot that records its requests. By default it answers 200 with an empty body. */
export async function openBot(answer: (response: ServerResponse) => void = (response) => response.end()): Promise<Bot> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
      answer(response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${portOf(server.address())}/slack/events`, received }
}

/** Starts a bot, and a sandbox that sends to it. */
export async function openBoth(
  answer?: Parameters<typeof openBot>[0],
  options: SandboxSlackOptions = {},
): Promise<Stage & { bot: Bot }> {
  const bot = await openBot(answer)
  return { ...(await openStage({ botUrl: bot.url, ...options })), bot }
}

/** Slack's signature algorithm, independent of the sandbox's implementation. */
export function isSigned({ headers, body }: Received, secret: string): boolean {
  const base = `v0:${String(headers['x-slack-request-timestamp'])}:${body}`
  return headers['x-slack-signature'] === `v0=${createHmac('sha256', secret).update(base).digest('hex')}`
}

/** The only item of a list. Fails if there is not exactly one. */
export const only = <Item>(items: readonly Item[]): Item => {
  expect(items).toHaveLength(1)
  return items[0]!
}

export const portOf = (address: string | AddressInfo | null): number =>
  address !== null && typeof address === 'object' ? address.port : 0

/** Answers with a JSON body. */
export const answering =
  (value: unknown) =>
  (response: ServerResponse): void =>
    void response.setHeader('content-type', 'application/json').end(JSON.stringify(value))

export const formOf = ({ body }: Received): Record<string, string> => Object.fromEntries(new URLSearchParams(body))

export const payloadOf = (received: Received): Record<string, unknown> =>
  objectOf(JSON.parse(formOf(received)['payload'] ?? 'null'))
