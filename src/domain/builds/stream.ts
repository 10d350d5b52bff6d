/**
 * A stream is what builds follow one another in: a red streak, `recovered` and `broken` are of a stream. It has the
 * project, the branch and what started its builds, so that a nightly neither breaks nor fixes the pushes.
 *
 * A stream's name stands wherever a build names its branch. Pushes go by the branch alone, `main`; everything else adds
 * what started it, which no branch can contain: `main · nightly`, `feature-x · #87`.
 */
export const streamOf = (branch: string | null, trigger: string | null): string | null =>
  branch === null || trigger === null ? branch : `${branch}${SEPARATOR}${trigger}`

const SEPARATOR = ' · '

/** The branch in a stream's name: what rules select. */
export const branchIn = (stream: string): string => stream.split(SEPARATOR, 1)[0]!

/** A stream's name as people see it. A pull request has a number, so its branch can be left out: `#87`. */
export function shownStream(stream: string): string {
  const trigger = stream.slice(branchIn(stream).length + SEPARATOR.length)
  return trigger.startsWith('#') ? trigger : stream
}

/** The number of a stream's pull request; null if it is of none. A branch may be called `#87`, too. */
export const requestNumberIn = (stream: string): string | null => / · #(\d+)/.exec(stream)?.[1] ?? null

/** What starts builds, in our words. Every trigger that is not among them goes by its source's own word. */
export const NIGHTLY = 'nightly'
export const BY_HAND = 'by hand'
export const MERGE_QUEUE = 'merge queue'
export const TAG = 'tag'

/** The ends of the names of streams whose builds do not follow one another: each request and each tag comes once. */
export const WITHOUT_STREAK: readonly string[] = [MERGE_QUEUE, TAG].map((trigger) => `${SEPARATOR}${trigger}`)

/** Whether the results of a stream's builds follow one another. */
export const hasStreak = (stream: string): boolean => !WITHOUT_STREAK.some((end) => stream.endsWith(end))
