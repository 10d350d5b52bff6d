import { parse } from 'node:querystring'
import type { Target } from '../http/http-server.ts'
import { percentDecoded } from '../lib/escape.ts'
import type { Endpoint } from './endpoint.ts'

// Endpoints whose senders do not sign, but send the secret: in the path, as HTTP Basic password, or as `?token=`.

/** Whether this is one of the valid secrets. */
export type IsSecret = (presented: string | null) => boolean

/** A path below `/webhooks` that needs a secret; without one it answers 404, which does not reveal that it exists. */
export function secretPath(
  at: keyof typeof IN_PATH,
  isSecret: IsSecret,
): Pick<Endpoint, 'matches' | 'unauthorizedStatus' | 'senderOf'> {
  const path = new RegExp(`^/webhooks/${at}(?:/[^/]*)?/?$`)
  return {
    matches: (pathname) => path.test(pathname),
    unauthorizedStatus: 404,
    senderOf: ({ headers }, target) =>
      isSecret(presentedSecret(at, target, headers.authorization)) ? 'proven' : 'stranger',
  }
}

/** How many keys of a query are searched for the secret. */
const QUERY_KEYS_MAX = 20

/** The secret as it was sent. */
export function presentedSecret(
  at: keyof typeof IN_PATH,
  { pathname, search }: Target,
  authorization: string | undefined,
): string | null {
  const segment = IN_PATH[at].exec(pathname)?.[1]
  return segment === undefined ? (basicPassword(authorization) ?? tokenIn(search)) : percentDecoded(segment)
}

// A proxy may have put something before the path.
const IN_PATH = {
  builds: /\/webhooks\/builds\/([^/]+)\/?$/,
  reports: /\/webhooks\/reports\/([^/]+)\/?$/,
} as const

/** Null if there is none. */
export function basicPassword(authorization: string | undefined): string | null {
  const encoded = /^basic +([a-z0-9+/=]+)$/i.exec(authorization ?? '')?.[1]
  if (!encoded) return null
  const bytes = Buffer.from(encoded, 'base64')
  // The decoder drops invalid characters. A sender may leave out only the padding.
  const whole = bytes.toString('base64')
  if (encoded !== whole && encoded !== whole.replace(/={1,2}$/, '')) return null
  const decoded = bytes.toString('utf8')
  const colon = decoded.indexOf(':')
  return colon < 0 ? null : decoded.slice(colon + 1)
}

// Not URLSearchParams: it takes ten milliseconds for the thousands of keys that fit into an address.
function tokenIn(search: string): string | null {
  const { token = null } = parse(search.slice(1), '&', '=', { maxKeys: QUERY_KEYS_MAX })
  return Array.isArray(token) ? (token[0] ?? null) : token
}
