import { CiError } from './http/errors.ts'

/** Whom a run is about. `author`: of the commit; `opener`: of the request; `starter`: who started it by hand. */
export type Person = 'author' | 'opener' | 'starter' | 'nobody'

/** What starting a run in one way means for its stream, its card and its person. */
export interface Trigger {
  /** what its stream adds to the branch; null: nothing, since these are the branch's own pushes */
  stream: string | null
  person: Person
  /** the runs of one commit share a card; else each run has its own */
  sharesCard: boolean
}

/** A push: the only runs that go by their branch alone. */
export const PUSH: Trigger = { stream: null, person: 'author', sharesCard: true }

/** Started in some other way: a stream and a card of its own, about nobody. */
export const startedBy = (stream: string, person: Person = 'nobody'): Trigger => ({ stream, person, sharesCard: false })

/** A trigger that we do not know goes by its source's word, such as `workflow run`. */
export const unknownTrigger = (word: string): Trigger => startedBy(word.replaceAll('_', ' '))

/** A pull or merge request is read once: a dozen builds may be of it. Of more than this, the oldest are forgotten. */
const REQUESTS_MAX = 1_000

/** Reads a request once, by the project and its number. What cannot be read, for lack of a right, is not asked again. */
export function readOpened(read: (project: string, number: string, signal?: AbortSignal) => Promise<unknown>) {
  const known = new Map<string, unknown>()
  return async (project: string, number: string, signal?: AbortSignal): Promise<unknown> => {
    const key = `${project} ${number}`
    if (known.has(key)) return known.get(key)
    const request = await read(project, number, signal)
    if (known.size >= REQUESTS_MAX) known.delete(known.keys().next().value!)
    known.set(key, request)
    return request
  }
}

/** A build is told even if its request cannot be read now: that is read later. */
export const unlessAway = <T>(otherwise: T, read: Promise<T>): Promise<T> =>
  read.catch((error: unknown) => {
    if (error instanceof CiError && error.kind !== 'rate-limited') return otherwise
    throw error
  })

export type ReadOpened = ReturnType<typeof readOpened>
