import type { FetchFunction } from '@slack/web-api'
import { fieldOf } from '../../domain/raw-values.ts'
import { BrokenAnswer } from './errors.ts'

/**
 * One HTTP exchange for the Web API's client: the answer is whole before the client sees it, or an error is thrown
 * inside the one place where the client catches them. Without it a torn body escapes unclassified, a body that is no
 * JSON passes for an error code, and a 429 that names no time is no rate limit.
 */
export const exchange: FetchFunction = async (url, init) => {
  const response = await fetch(url, init)
  const body = await response.text()
  if (response.status === 200 && !saysYesOrNo(body)) throw new BrokenAnswer('the answer is no JSON object with `ok`')
  return {
    ok: response.ok,
    status: response.status,
    statusText: response.statusText,
    url: response.url,
    headers: response.status === 429 ? withRetryAfter(response.headers) : response.headers,
    text: async () => body,
    json: async (): Promise<unknown> => JSON.parse(body),
    arrayBuffer: async () => new TextEncoder().encode(body).buffer,
  }
}

function saysYesOrNo(body: string): boolean {
  try {
    return typeof fieldOf(JSON.parse(body), 'ok') === 'boolean'
  } catch {
    return false
  }
}

/** A time of 0 stands for one that was not named: `classify` knows what to wait then. */
function withRetryAfter(headers: Headers): Headers {
  const seconds = Number.parseInt(headers.get('retry-after') ?? '', 10)
  const completed = new Headers(headers)
  if (!(seconds > 0)) completed.set('retry-after', '0')
  return completed
}
