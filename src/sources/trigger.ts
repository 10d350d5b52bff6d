import { setNewest } from '../lib/bounded.ts'
import { CiError } from './http/errors.ts'

/**
 * Whom a run is about. `author`: of the commit; `opener`: of the pull or merge request; `starter`: who started it by
 * hand.
 */
export type Person = 'author' | 'opener' | 'starter' | 'nobody'

/** How the way a run was started determines its stream, its card and its person. */
export interface Trigger {
  /** what its stream adds to the branch's name; null: nothing, for pushes to the branch */
  stream: string | null
  person: Person
  /** the runs of one commit share a card; else each run has its own */
  sharesCard: boolean
}

/** A push: only these runs use the plain branch as their stream. */
export const PUSH: Trigger = { stream: null, person: 'author', sharesCard: true }

/** Started in some other way: it gets its own stream and card, and by default mentions nobody. */
export const startedBy = (stream: string, person: Person = 'nobody'): Trigger => ({ stream, person, sharesCard: false })

/** An unknown trigger is named by its source's word, such as `workflow run`. */
export const unknownTrigger = (word: string): Trigger => startedBy(word.replaceAll('_', ' '))

/** How many pull or merge requests are cached, since a dozen builds may share one. The oldest are forgotten. */
const PULL_REQUESTS_MAX = 1_000

/**
 * Reads a pull or merge request once, by the project and its number. One that may not be read is not asked for again.
 */
export function readOpened(read: (project: string, number: string, signal?: AbortSignal) => Promise<unknown>) {
  const known = new Map<string, unknown>()
  return async (project: string, number: string, signal?: AbortSignal): Promise<unknown> => {
    const key = `${project} ${number}`
    if (known.has(key)) return known.get(key)
    const opened = await read(project, number, signal)
    setNewest(known, key, opened, PULL_REQUESTS_MAX)
    return opened
  }
}

/** A build is posted even if its pull or merge request cannot be read now: that is read later. */
export const unlessAway = <T>(otherwise: T, read: Promise<T>): Promise<T> =>
  read.catch((error: unknown) => {
    if (error instanceof CiError && error.kind !== 'rate-limited') return otherwise
    throw error
  })

export type ReadOpened = ReturnType<typeof readOpened>
