import type { IncomingMessage } from 'node:http'
import { parse } from 'node:querystring'
import type { Endpoint } from '../../endpoint.ts'
import { readPayload } from './payload.ts'
import { readReport, type ReadReport } from './report.ts'

/** Is this one of the secrets that are valid now? */
type IsSecret = (presented: string | null) => boolean

/** Where the CI service delivers. */
export const createCiServiceEndpoint = (isSecret: IsSecret): Endpoint => ({
  ...secretPath(/^\/webhooks\/builds(?:\/([^/]*))?\/?$/, isSecret),
  bodyBytesMax: BODY_BYTES_MAX,
  read: readPayload,
})

/** Where build steps send test reports. */
export const createReportEndpoint = (isSecret: IsSecret): Endpoint<ReadReport> => ({
  ...secretPath(/^\/webhooks\/reports(?:\/([^/]*))?\/?$/, isSecret),
  bodyBytesMax: REPORT_BYTES_MAX,
  read: readReport,
})

/** A path that needs a secret; without one it answers 404, which does not reveal that it exists. */
const secretPath = (path: RegExp, isSecret: IsSecret): Omit<Endpoint, 'bodyBytesMax' | 'read'> => ({
  matches: (pathname) => path.test(pathname),
  unauthorizedStatus: 404,
  maySend: (request, url) => isSecret(presentedSecret(present(path, request, url))),
})

function present(path: RegExp, { headers }: IncomingMessage, url: URL) {
  const segment = path.exec(url.pathname)?.[1]
  return {
    path: segment ? decodeSegment(segment) : null,
    authorization: headers.authorization,
    search: url.search,
  }
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** The largest delivery that is read. */
export const BODY_BYTES_MAX = 256 * 1024

/** The largest report that is read. */
export const REPORT_BYTES_MAX = 64 * 1024

/** The secret is looked for in this many keys of a query. */
const QUERY_KEYS_MAX = 20

interface Presented {
  path: string | null
  authorization: string | undefined
  /** the query of the address, with its question mark */
  search: string
}

/** The secret as it was sent: in the path, as HTTP Basic password, or as `?token=`. */
export function presentedSecret({ path, authorization, search }: Presented): string | null {
  return path ?? basicPassword(authorization) ?? tokenIn(search)
}

function basicPassword(authorization: string | undefined): string | null {
  const encoded = /^basic +([a-z0-9+/=]+)$/i.exec(authorization ?? '')?.[1]
  if (!encoded) return null
  const bytes = Buffer.from(encoded, 'base64')
  // The decoder drops what it cannot read; a sender may leave the padding out, and nothing else.
  const whole = bytes.toString('base64')
  if (encoded !== whole && encoded !== whole.replace(/=+$/, '')) return null
  const decoded = bytes.toString('utf8')
  const colon = decoded.indexOf(':')
  return colon < 0 ? null : decoded.slice(colon + 1)
}

// Not URLSearchParams: it takes ten milliseconds for the thousands of keys that fit into an address.
function tokenIn(search: string): string | null {
  const { token = null } = parse(search.slice(1), '&', '=', { maxKeys: QUERY_KEYS_MAX })
  return Array.isArray(token) ? (token[0] ?? null) : token
}
