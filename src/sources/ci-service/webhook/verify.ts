import { hash, timingSafeEqual } from 'node:crypto'
import { parse } from 'node:querystring'

/** So many keys of a query are looked at for the secret. */
export const QUERY_KEYS_MAX = 20

export interface Presented {
  path: string | null
  authorization: string | undefined
  /** the query of the address, with its question mark */
  search: string
}

/**
 * A check of what a sender presents against every valid secret; several are valid at once, so that one can be rotated.
 * It takes the same time whichever secret matches, or none: digests of equal length are compared, and all of them.
 */
export function createSecretCheck(secrets: readonly string[]): (presented: string | null) => boolean {
  const digest = (text: string) => hash('sha256', text, 'buffer')
  const valid = secrets.map(digest)
  return (presented) => {
    const given = digest(presented ?? '')
    let matches = 0
    for (const one of valid) matches += timingSafeEqual(one, given) ? 1 : 0
    return presented !== null && matches > 0
  }
}

/** The secret as it was sent: in the path, as HTTP Basic password, or as `?token=`. */
export function presentedSecret({ path, authorization, search }: Presented): string | null {
  return path ?? basicPassword(authorization) ?? tokenIn(search)
}

function basicPassword(authorization: string | undefined): string | null {
  const encoded = /^basic +([a-z0-9+/=]+)$/i.exec(authorization ?? '')?.[1]
  if (!encoded) return null
  const decoded = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = decoded.indexOf(':')
  return colon < 0 ? null : decoded.slice(colon + 1)
}

// Not URLSearchParams: it takes ten milliseconds for the thousands of keys that fit into an address.
function tokenIn(search: string): string | null {
  const { token = null } = parse(search.slice(1), '&', '=', { maxKeys: QUERY_KEYS_MAX })
  return Array.isArray(token) ? (token[0] ?? null) : token
}
