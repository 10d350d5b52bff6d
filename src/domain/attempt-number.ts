import type { BuildEvent, Observation } from './build-event.ts'
import { isFinal, toStatus } from './status.ts'

/**
 * Says which attempt an observation is about, where its source tells attempts apart by their ends: GitLab keeps a
 * pipeline's `finished_at` through a retry, so what runs after an end belongs to the next attempt, however late it is
 * received. The number is the least that the known ends allow: an attempt of which nothing was received is not counted.
 * @param known the build events of this build that are stored
 */
export function numbered(seen: Observation, known: readonly BuildEvent[]): Observation {
  const { attempt, lastEndAt } = seen.details
  if (attempt !== null || lastEndAt === null) return seen
  return { ...seen, details: { ...seen.details, attempt: attemptOf(isFinal(toStatus(seen.word)), lastEndAt, known) } }
}

function attemptOf(isEnd: boolean, lastEndAt: number, known: readonly BuildEvent[]): number {
  const all = known.flatMap(({ details, status }) =>
    details.attempt == null || details.lastEndAt == null
      ? []
      : [{ n: details.attempt, isEnd: isFinal(status), lastEndAt: details.lastEndAt }],
  )
  const same = all.find((one) => one.lastEndAt === lastEndAt)
  // What ends at that time, and what runs since then, are two attempts in a row.
  if (same) return same.n + (isEnd ? 0 : 1) - (same.isEnd ? 0 : 1)
  const later = all.filter((one) => one.lastEndAt > lastEndAt)
  // Below 1 where it comes before all that is known: late, whatever it says.
  if (later.length > 0) return Math.min(...later.map(({ n }) => n)) - 1
  if (!isEnd && lastEndAt === 0) return 1
  const newest = Math.max(0, ...all.map(({ n }) => n))
  const hasNewestEnded = newest === 0 || all.some((one) => one.n === newest && one.isEnd)
  // It runs after an end that is not known: the newest attempt's, or that of one after it.
  return newest + (hasNewestEnded ? 1 : 0) + (isEnd ? 0 : 1)
}
