import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '../../src/lib/clock.ts'

/**
 * The moments of a request, in order. `arrived`: the whole request is here, nothing was forwarded · `sent`: all of it
 * is on its way to the target · `done`: the target's response is here · `answered`: the response was passed back.
 */
export type Moment = 'arrived' | 'sent' | 'done' | 'answered'

/** `drop`: the request ends here, with its connection · `late`: the caller is cut off, the request forwarded later. */
export type Verdict = 'pass' | 'drop' | { lateMs: number }

export interface Passage {
  method: string
  path: string
  body: string
}

export type Watch = (moment: Moment, passage: Passage) => Verdict

/** A proxy between a caller and a target, which sees every request at each of its moments. */
export interface Tap {
  url: string
  close(): Promise<void>
}

export interface TapOptions {
  clock: Clock
  /** the address of the target, `http://127.0.0.1:<port>`, as soon as it listens */
  target: () => Promise<string>
  watch: Watch
  /** Whether somebody else will repeat a request that was sent without an answer; then its caller gets a 202. */
  isTakenOver?: (passage: Passage) => Promise<boolean>
}

export async function openTap(options: TapOptions): Promise<Tap> {
  const agent = new Agent({ keepAlive: false })
  const server = createServer((incoming, response) => {
    // The caller is cut off on errors: its own timeout and retries are under test.
    pass(options, agent, incoming, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      agent.destroy()
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

async function pass(options: TapOptions, agent: Agent, incoming: IncomingMessage, response: ServerResponse) {
  const { watch, clock, target } = options
  const body = await read(incoming)
  const passage = { method: incoming.method ?? '', path: incoming.url ?? '', body: body.toString() }
  const verdict = watch('arrived', passage)
  if (verdict !== 'pass') response.destroy()
  if (verdict === 'drop') return
  if (verdict !== 'pass') await clock.sleep(verdict.lateMs)
  const unanswered = async () => {
    if (await options.isTakenOver?.(passage)) response.writeHead(202).end()
    else response.destroy()
  }
  let isSent = false
  const sent = () => {
    isSent = true
    watch('sent', passage)
  }
  const forwarded = forward(await target(), agent, incoming, { body, sent })
  const answer = await forwarded.catch(() => null)
  if (!answer) return isSent ? unanswered() : void response.destroy()
  if (watch('done', passage) === 'drop') return unanswered()
  response.writeHead(answer.status, answer.headers).end(answer.body, () => watch('answered', passage))
}

interface Answer {
  status: number
  headers: IncomingMessage['headers']
  body: Buffer
}

function forward(
  to: string,
  agent: Agent,
  { method, url, headers }: IncomingMessage,
  { body, sent }: { body: Buffer; sent: () => void },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const passedOn = request(`${to}${url}`, { method, agent, headers }, (answered) => {
      read(answered).then(
        (answer) => resolve({ status: answered.statusCode ?? 0, headers: withoutLength(answered), body: answer }),
        reject,
      )
    })
    passedOn.once('error', reject).once('finish', sent).end(body)
  })
}

/** Headers of one connection are not forwarded. */
function withoutLength({ headers }: IncomingMessage): IncomingMessage['headers'] {
  const { 'transfer-encoding': _, connection: __, 'keep-alive': ___, ...others } = headers
  return others
}

async function read(from: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of from) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
