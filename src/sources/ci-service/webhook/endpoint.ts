import { parse } from 'node:querystring'
import { percentDecoded } from '../../../lib/escape.ts'
import type { Target } from '../../../server/http-server.ts'
import type { Endpoint } from '../../endpoint.ts'
import { readPayload } from './payload.ts'
import { readReport } from './report.ts'

/** Is this one of the secrets that are valid now? */
type IsSecret = (presented: string | null) => boolean

/** Where the CI service delivers. */
export const createCiServiceEndpoint = (isSecret: IsSecret): Endpoint => ({
  what: 'delivery',
  ...secretPath('builds', isSecret),
  bodyBytesMax: DELIVERY_BYTES_MAX,
  read: readPayload,
})

/** Where build steps send test reports. */
export const createReportEndpoint = (isSecret: IsSecret): Endpoint => ({
  what: 'report',
  ...secretPath('reports', isSecret),
  bodyBytesMax: REPORT_BYTES_MAX,
  read: readReport,
})

/** A path that needs a secret; without one it answers 404, which does not reveal that it exists. */
function secretPath(
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

/** The largest delivery that is read. */
export const DELIVERY_BYTES_MAX = 256 * 1024

/** The largest report that is read. */
const REPORT_BYTES_MAX = 64 * 1024

/** The secret is looked for in this many keys of a query. */
const QUERY_KEYS_MAX = 20

/** The secret as it was sent: in the path, as HTTP Basic password, or as `?token=`. */
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

function basicPassword(authorization: string | undefined): string | null {
  const encoded = /^basic +([a-z0-9+/=]+)$/i.exec(authorization ?? '')?.[1]
  if (!encoded) return null
  const bytes = Buffer.from(encoded, 'base64')
  // The decoder drops what it cannot read; a sender may leave the padding out, and nothing else.
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
