import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { toJson } from './json.ts'

/** The largest request body that is read. */
export const REQUEST_BYTES_MAX = 1024 * 1024

/** A request with its whole body. `path` is still URL-encoded. */
export interface Call {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
  text: string
}

export interface Reply {
  statusCode: number
  /** the reason phrase, if it is not the standard one */
  reason?: string
  headers?: Record<string, string>
  body?: string
}

export type Params = Readonly<Record<string, string>>

/** `:name` in a pattern is one path segment, `:name*` one or more. */
export interface Route {
  method: string
  pattern: string
  handle(call: Call, params: Params): Reply | Promise<Reply>
}

export type Found =
  | { kind: 'route'; route: Route; params: Params }
  | { kind: 'wrong-method'; allow: string }
  | { kind: 'no-route' }

export const json = (statusCode: number, value: unknown, headers: Record<string, string> = {}): Reply => ({
  statusCode,
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  body: toJson(value),
})

export function findRoute(routes: readonly Route[], method: string, path: string): Found {
  const allowed: string[] = []
  for (const route of routes) {
    const params = match(route.pattern, path)
    if (params && route.method === method) return { kind: 'route', route, params }
    if (params) allowed.push(route.method)
  }
  return allowed.length > 0 ? { kind: 'wrong-method', allow: allowed.join(', ') } : { kind: 'no-route' }
}

function match(pattern: string, path: string): Params | undefined {
  const found = compiled(pattern).exec(path)
  if (!found) return undefined
  try {
    return Object.fromEntries(
      Object.entries(found.groups ?? {}).map(([name, text]) => [name, decodeURIComponent(text)]),
    )
  } catch {
    return undefined
  }
}

const patterns = new Map<string, RegExp>()

function compiled(pattern: string): RegExp {
  const known = patterns.get(pattern)
  if (known) return known
  const source = pattern
    .replaceAll('.', String.raw`\.`)
    .replaceAll(/:(\w+)\*/g, '(?<$1>.+)')
    .replaceAll(/:(\w+)/g, '(?<$1>[^/]+?)')
  const expression = new RegExp(`^${source}$`)
  patterns.set(pattern, expression)
  return expression
}

/** Reads a request with its body; `too-large` if the body exceeds REQUEST_BYTES_MAX. */
export async function readCall(
  request: IncomingMessage,
): Promise<{ kind: 'call'; call: Call } | { kind: 'too-large' }> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > REQUEST_BYTES_MAX) return { kind: 'too-large' }
    chunks.push(chunk)
  }
  const [path = '/', search = ''] = splitOnce(request.url ?? '/', '?')
  const text = Buffer.concat(chunks).toString('utf8')
  const call = {
    method: request.method ?? 'GET',
    path,
    query: new URLSearchParams(search),
    headers: request.headers,
    text,
  }
  return { kind: 'call', call }
}

function splitOnce(text: string, mark: string): string[] {
  const at = text.indexOf(mark)
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

export function sendReply(response: ServerResponse, reply: Reply): void {
  const body = Buffer.from(reply.body ?? '', 'utf8')
  // Without a length, Node would send every body in chunks, even the empty one of a 202.
  const headers = { ...reply.headers, 'content-length': String(body.length) }
  if (reply.reason === undefined) response.writeHead(reply.statusCode, headers)
  else response.writeHead(reply.statusCode, reply.reason, headers)
  response.end(body)
}
