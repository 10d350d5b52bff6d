/**
 * A stream is a sequence of builds: red streaks, `recovered` and `broken` belong to a stream. It consists of the
 * project, the branch and the trigger of its builds, so that a nightly build neither breaks nor fixes the pushes.
 *
 * A stream's name is used in place of the branch. Pushes use the plain branch, `main`; other triggers add their name
 * after a separator that no branch can contain: `main · nightly`, `feature-x · #87`.
 */
export const streamOf = (branch: string | null, trigger: string | null): string | null =>
  branch === null || trigger === null ? branch : `${branch}${SEPARATOR}${trigger}`

const SEPARATOR = ' · '

/** The branch in a stream's name, which rules match. */
export const branchIn = (stream: string): string => stream.split(SEPARATOR, 1)[0]!

/** A stream's name as people see it. A pull request has a number, so its branch can be left out: `#87`. */
export function shownStream(stream: string): string {
  const trigger = stream.slice(branchIn(stream).length + SEPARATOR.length)
  return trigger.startsWith('#') ? trigger : stream
}

/** The number of a stream's pull request; null if there is none. A branch may also be called `#87`. */
export const requestNumberIn = (stream: string): string | null => / · #(\d+)/.exec(stream)?.[1] ?? null

/** Our names for triggers. Other triggers keep the source's name. */
export const NIGHTLY = 'nightly'
export const BY_HAND = 'by hand'
export const MERGE_QUEUE = 'merge queue'
export const TAG = 'tag'

/**
 * The suffixes of streams whose builds do not form a sequence, because each pull request, merge request or tag comes
 * once.
 */
export const WITHOUT_STREAK: readonly string[] = [MERGE_QUEUE, TAG].map((trigger) => `${SEPARATOR}${trigger}`)

/** Whether a stream's builds form a sequence. */
export const hasStreak = (stream: string): boolean => !WITHOUT_STREAK.some((end) => stream.endsWith(end))
