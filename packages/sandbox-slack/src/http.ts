import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Answer } from './api.ts'
import type { Args } from './methods/call.ts'

/** Slack's own bound is not documented; no message within its limits comes near this one. */
export const BODY_BYTES_MAX = 1_048_576

/** The body as text, or null when it is larger than the bound (the rest is then not read). */
export async function readBody(request: IncomingMessage): Promise<string | null> {
  return (await readBytes(request, BODY_BYTES_MAX))?.toString('utf8') ?? null
}

/** The same as bytes, with a bound of its own. */
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

/** The arguments of a Web API call: query, then form or JSON body; null when the body is not what it says it is. */
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

/** A JSON object, or null for any other text. */
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
