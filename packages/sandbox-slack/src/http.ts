import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Answer } from './api.ts'
import type { Args } from './methods/call.ts'

/** Slack does not document its limit. Valid messages are much smaller than this. */
export const BODY_BYTES_MAX = 1_048_576

/** Reads the body as text; null if it is larger than BODY_BYTES_MAX. The rest is not read then. */
export async function readBody(request: IncomingMessage): Promise<string | null> {
  return (await readBytes(request, BODY_BYTES_MAX))?.toString('utf8') ?? null
}

/** Reads the body as bytes; null if it is larger than `bytesMax`. */
export async function readBytes(request: IncomingMessage, bytesMax: number): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > bytesMax) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The arguments of a Web API call, from the query and the form or JSON body. Null if a JSON body is invalid. */
export function parseArgs(request: IncomingMessage, search: URLSearchParams, body: string): Args | null {
  const query = Object.fromEntries(search)
  const type = request.headers['content-type'] ?? ''
  if (type.startsWith('application/json')) return mergeJson(query, body)
  return { ...query, ...Object.fromEntries(new URLSearchParams(body)) }
}

function mergeJson(query: Args, body: string): Args | null {
  const value = parseObject(body)
  return value && { ...query, ...value }
}

/** Parses a JSON object; null for any other text. */
export function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
  } catch {
    return null
  }
}

export function sendAnswer(response: ServerResponse, { status, headers, body }: Omit<Answer, 'outcome'>): void {
  if (response.destroyed || response.writableEnded) return
  response.writeHead(status, headers).end(body)
}

export const sendJson = (response: ServerResponse, status: number, value: unknown): void =>
  sendAnswer(response, {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
    body: JSON.stringify(value),
  })
