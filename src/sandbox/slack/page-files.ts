import { readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'

const TYPE_BY_FILE = new Map([
  ['index.html', 'text/html; charset=utf-8'],
  ['page.css', 'text/css; charset=utf-8'],
  ['page.js', 'text/javascript; charset=utf-8'],
  ['composer.js', 'text/javascript; charset=utf-8'],
  ['deeds.js', 'text/javascript; charset=utf-8'],
  ['dialogs.js', 'text/javascript; charset=utf-8'],
  ['fields.js', 'text/javascript; charset=utf-8'],
  ['forms.js', 'text/javascript; charset=utf-8'],
  ['list.js', 'text/javascript; charset=utf-8'],
  ['lookup.js', 'text/javascript; charset=utf-8'],
  ['messages.js', 'text/javascript; charset=utf-8'],
  ['blocks.js', 'text/javascript; charset=utf-8'],
  ['mrkdwn.js', 'text/javascript; charset=utf-8'],
  ['person.js', 'text/javascript; charset=utf-8'],
  ['surfaces.js', 'text/javascript; charset=utf-8'],
])

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

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
}

/** Serves the page and its parts; false for any other path. */
export async function servePage(path: string, response: ServerResponse): Promise<boolean> {
  const file = path === '/' ? 'index.html' : path.replace('/page/', '')
  const type = TYPE_BY_FILE.get(file)
  if (!type || (path !== '/' && !path.startsWith('/page/'))) return false
  const content = await readFile(new URL(`page/${file}`, import.meta.url))
  response.writeHead(200, { ...HEADERS, 'content-type': type }).end(content)
  return true
}
