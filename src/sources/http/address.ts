import { invariant } from '../../lib/assert.ts'
import { CiError } from './errors.ts'

/** Parses a configured http(s) address. The error does not quote it, because it may contain a password. */
export function parseHttpUrl(text: string): URL {
  const url = URL.parse(text)
  invariant(url?.protocol === 'https:' || url?.protocol === 'http:', "CI's address is an http(s) address")
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
  url.search = ''
  url.hash = ''
  url.pathname = [pathOf(base), ...segments.map(encodeURIComponent)].join('/')
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value))
  }
  return url
}

/** Whether it is this base, or an address below it. */
export const isBelow = ({ origin, pathname }: URL, base: URL): boolean =>
  origin === base.origin && `${pathname}/`.startsWith(`${pathOf(base)}/`)

/** The path without a slash at its end. */
export const pathOf = ({ pathname }: URL): string => pathname.replace(/\/+$/, '')

// The names of repositories and projects become parts of addresses. `.` and `..` would lead to another address there.

/** `acme/web`: an owner and a repository of GitHub, in the characters that GitHub allows. */
export const isRepositoryName = (name: string): boolean => REPOSITORY.test(name)

const REPOSITORY = /^(?!\.{1,2}\/)[\w.-]+\/(?!\.{1,2}$)[\w.-]+$/

/** `acme/tools/web`: a project of GitLab below at least one group, in the characters that GitLab allows. */
export const isProjectPath = (path: string): boolean => PROJECT.test(path)

const PROJECT = /^(?:(?!\.{1,2}\/)[\w.-]+\/)+(?!\.{1,2}$)[\w.-]+$/

/** Returns a valid name. Otherwise throws a CiError, and nothing is sent. */
export function checkedName(name: string, isName: (name: string) => boolean): string {
  if (isName(name)) return name
  throw new CiError({ kind: 'bad-request', purpose: 'call a project by its name', isUndone: true })
}
