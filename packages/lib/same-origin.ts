import type { IncomingMessage } from 'node:http'

/** Scripts send no Origin; a browser does, and only a page of the server's own may change things there. */
export const isOwnPage = ({ headers }: IncomingMessage): boolean =>
  headers.origin === undefined || headers.origin === `http://${headers.host}`

/**
 * Whether a request names this server: a loopback name, or the host it listens on. A page of another site whose name was made
 * to point here (DNS rebinding) sends that name, and is its own origin to the browser.
 */
export function isOwnHost({ headers }: IncomingMessage, host: string): boolean {
  const name = URL.parse(`http://${headers.host ?? ''}`)?.hostname
  return name !== undefined && (LOOPBACK.has(name) || name === host.toLowerCase() || name === `[${host.toLowerCase()}]`)
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])
