import { invariant } from '../../lib/assert.ts'
import { CiError } from './errors.ts'

/** Parses a configured http(s) address. The error does not quote it, because it may contain a password. */
export function parseHttpUrl(text: string): URL {
  const url = URL.parse(text)
  invariant(url?.protocol === 'https:' || url?.protocol === 'http:', 'an address of CI is an http(s) address')
  return url
}

/**
 * An address below the base. The base may have a path prefix, with or without a slash at the end; its query is dropped.
 * Segments are encoded; query values that are undefined are left out. Throws a CiError for a segment that would lead
 * elsewhere: an empty one, `.` or `..`, which encoding leaves as they are.
 */
export function addressOf(
  base: URL,
  segments: readonly string[],
  query: Record<string, string | number | undefined> = {},
): URL {
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..'))
    throw new CiError({ kind: 'bad-request', purpose: 'build an address', isUndone: true })
  const url = new URL(base)
  const prefix = base.pathname.replace(/\/+$/, '')
  url.search = ''
  url.hash = ''
  url.pathname = [prefix, ...segments.map(encodeURIComponent)].join('/')
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value))
  }
  return url
}
