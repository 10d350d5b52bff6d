import type { IncomingMessage, ServerResponse } from 'node:http'
import { pageFiles } from './page-bundle.ts'

// Pictures only from this machine: the page must work offline, and must not reveal to other servers what it shows.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: http://127.0.0.1:* http://localhost:*",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The headers of all pages. */
export const PAGE_HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  vary: 'accept-encoding',
}

/** Files with a hash in their name never change. */
const cacheFor = (path: string): string => (path === '/' ? 'no-cache' : 'public, max-age=31536000, immutable')

/** Serves the page and its parts, compressed if the client accepts that; false for other paths. */
export async function servePage(request: IncomingMessage, response: ServerResponse, path: string): Promise<boolean> {
  if (path !== '/' && !path.startsWith('/page/')) return false
  const file = (await pageFiles()).get(path)
  if (!file) return false
  const isCompressed = /\bgzip\b/.test(request.headers['accept-encoding']?.toString() ?? '')
  const encoding = isCompressed ? { 'content-encoding': 'gzip' } : {}
  response
    .writeHead(200, { ...PAGE_HEADERS, ...encoding, 'cache-control': cacheFor(path), 'content-type': file.type })
    .end(isCompressed ? file.gzipped : file.plain)
  return true
}
