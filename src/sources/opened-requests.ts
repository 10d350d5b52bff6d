import { CiError } from './http/errors.ts'

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
    if (known.size >= PULL_REQUESTS_MAX) known.delete(known.keys().next().value!)
    known.set(key, opened)
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
