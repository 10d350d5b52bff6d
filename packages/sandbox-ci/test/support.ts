import { createServer } from 'node:http'
import { onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { createSandboxCi } from '../src/server.ts'
import type { SandboxCi, SandboxCiOptions } from '../src/server.ts'

export interface Answer {
  status: number
  statusText: string
  headers: Headers
  text: string
  /** undefined when the body is not JSON */
  json: unknown
}

/** Starts a sandbox. It is stopped after the test. */
export async function startCi(options: SandboxCiOptions = {}): Promise<SandboxCi> {
  const ci = createSandboxCi({ webhookUrl: 'http://127.0.0.1:9/nobody', ...options })
  await ci.start()
  onTestFinished(() => ci.stop())
  return ci
}

/** Starts a webhook that keeps the requests and answers with the status from `answer` and the body `text`. */
export async function startReceiver(answer: (n: number) => number = () => 202, text?: string) {
  const received: { contentType: string | undefined; body: string }[] = []
  const server = createServer((incoming, response) => {
    let body = ''
    incoming.setEncoding('utf8')
    incoming.on('data', (chunk: string) => (body += chunk))
    incoming.on('end', () => {
      received.push({ contentType: incoming.headers['content-type'], body })
      response.writeHead(answer(received.length)).end(text ?? `{"got":${received.length}}`)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void (server.closeAllConnections(), server.close()))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const statuses = () => received.map(({ body }) => deliverySchema.parse(JSON.parse(body)).build.status)
  return { url: `http://127.0.0.1:${port}/hook`, received, statuses }
}

const deliverySchema = z.object({ build: z.looseObject({ status: z.string(), build_id: z.number() }) })
export const readDelivery = (body: string) => deliverySchema.parse(JSON.parse(body)).build

export async function request(
  method: string,
  url: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const content = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }
  const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
  const response = await fetch(url, { method, headers: { ...type, ...headers }, ...content })
  const text = await response.text()
  const { status, statusText, headers: answered } = response
  return { status, statusText, headers: answered, text, json: parsed(text) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Makes a v2 call below the organization, by default with the token that has every scope. */
export function v2(
  ci: SandboxCi,
  method: string,
  path: string,
  body?: unknown,
  authorization?: string,
): Promise<Answer> {
  const { baseUrl, organizationUuid, authorization: everything } = ci.address()
  const url = `${baseUrl}/organizations/${organizationUuid}${path}`
  return request(method, url, body, { authorization: authorization ?? everything })
}

export const legacy = (ci: SandboxCi, method: string, path: string, query = ''): Promise<Answer> =>
  request(method, `${ci.address().legacyBaseUrl}/api/v1/${path}?api_key=${ci.address().apiKey}${query}`)

export const control = (ci: SandboxCi, method: string, path: string, body?: unknown): Promise<Answer> =>
  request(method, `${ci.url}/sandbox${path}`, body)

/** The project of that name in the sandbox's state. */
export function projectNamed(ci: SandboxCi, name: string) {
  const project = ci.state().projects.find((candidate) => candidate.name === name)
  if (!project) throw new Error(`no project ${name}`)
  return project
}

export function pushed(ci: SandboxCi, push: Parameters<SandboxCi['push']>[1] = {}, project = 'acme/web') {
  const result = ci.push(project, push)
  if (result.kind !== 'build') throw new Error(result.kind)
  return result.build
}

export const statusOf = (ci: SandboxCi, uuid: string): string | undefined =>
  ci.state().builds.find((build) => build.uuid === uuid)?.status

export const reached = (ci: SandboxCi, uuid: string, status: string): Promise<void> =>
  vi.waitFor(() => {
    if (statusOf(ci, uuid) !== status) throw new Error(`build is ${statusOf(ci, uuid)}, not ${status}`)
  }, 10_000)
