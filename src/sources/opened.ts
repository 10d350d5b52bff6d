import { CiError } from './http/errors.ts'

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
