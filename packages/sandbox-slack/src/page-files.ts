import type { IncomingMessage, ServerResponse } from 'node:http'
import { pageFiles } from './page-bundle.ts'

// Pictures only from this machine: the page must work offline and tell nobody outside what is looked at.
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

/** Of everything that the browser gets to show. */
export const PAGE_HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  vary: 'accept-encoding',
}

/** What has its content in its name never changes. */
const cacheFor = (path: string): string => (path === '/' ? 'no-cache' : 'public, max-age=31536000, immutable')

/** Serves the page and its parts, compressed to whoever takes it; false for any other path. */
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
