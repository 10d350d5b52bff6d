import type { IncomingMessage } from 'node:http'

/** Whether a script or a page of this server sent the request. Scripts send no Origin header; browsers do. */
export const isOwnPage = ({ headers }: IncomingMessage): boolean =>
  headers.origin === undefined || headers.origin === `http://${headers.host}`

/**
 * Whether the Host header names this server: a loopback name, or the host it listens on. With DNS rebinding, another
 * site's name points to this server: its pages pass `isOwnPage`, but their Host header has that site's name.
 */
export function isOwnHost({ headers }: IncomingMessage, host: string): boolean {
  const name = URL.parse(`http://${headers.host ?? ''}`)?.hostname
  return name !== undefined && (LOOPBACK.has(name) || name === host.toLowerCase() || name === `[${host.toLowerCase()}]`)
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])
