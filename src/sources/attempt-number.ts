import type { BuildEvent, ReceivedEvent } from '../domain/builds/build-event.ts'
import { isFinal, toStatus, type Status } from '../domain/builds/status.ts'

/**
 * Numbers the attempt of an observation, if its source tells attempts apart by when they ended. GitLab keeps a
 * pipeline's `finished_at` through a retry, so a pipeline that runs and has one is in its next attempt, however late we
 * receive that. The number is the lowest that the known ends allow, since we cannot count attempts that we never saw.
 * @param known the build events of this build that are stored
 */
export function numbered(event: ReceivedEvent, known: readonly BuildEvent[]): ReceivedEvent {
  const { attempt, lastEndAt, end } = event.details
  if (attempt !== null || lastEndAt === null) return event
  return {
    ...event,
    details: {
      ...event.details,
      attempt: attemptOf(event.rawStatus, { lastEndAt, isWhole: end?.isWhole === true }, known.flatMap(toNumbered)),
    },
  }
}

/** Whether it is about an attempt before the newest known one. If so, it changes nothing. */
export function isOfPastAttempt({ details: { attempt } }: ReceivedEvent, known: readonly BuildEvent[]): boolean {
  return attempt !== null && known.some(({ details }) => (details.attempt ?? 0) > attempt)
}

/** Whether two statuses may mean the same end. Only the jobs show how a pipeline failed. */
export function isSameEnd(one: string, other: string): boolean {
  const [status, otherStatus] = [toStatus(one), toStatus(other)]
  return one === other || (OF_A_FAILURE.has(status) && OF_A_FAILURE.has(otherStatus))
}

const OF_A_FAILURE: ReadonlySet<Status> = new Set<Status>(['failed', 'infrastructure_failure', 'quota_exceeded'])

interface Numbered {
  n: number
  rawStatus: string
  isEnd: boolean
  lastEndAt: number
}

const toNumbered = ({ rawStatus, status, details: { attempt: n, lastEndAt } }: BuildEvent): Numbered | [] =>
  n == null || lastEndAt == null ? [] : { n, rawStatus, isEnd: isFinal(status), lastEndAt }

function attemptOf(
  rawStatus: string,
  { lastEndAt, isWhole }: { lastEndAt: number; isWhole: boolean },
  known: readonly Numbered[],
): number {
  const isEnd = isFinal(toStatus(rawStatus))
  const ofThatTime = known.filter((one) => one.lastEndAt === lastEndAt)
  const ends = ofThatTime.filter((one) => one.isEnd)
  // The jobs may have given the same end another status.
  if (isWhole && ends.length > 0) return newestOf(ends)
  if (ofThatTime.length > 0) return isEnd ? endedThen(rawStatus, ofThatTime) : runningSince(ofThatTime)
  const later = known.filter((one) => one.lastEndAt > lastEndAt)
  const laterEnds = later.filter((one) => one.isEnd)
  // It began before it ended, in whatever order that is received.
  if (!isEnd && laterEnds.length > 0) return Math.min(...laterEnds.map(({ n }) => n))
  // Below 1 if it is older than every known attempt: then it is late.
  if (later.length > 0) return Math.min(...later.map(({ n }) => n)) - 1
  if (!isEnd && lastEndAt === 0) return 1
  const newest = newestOf(known)
  const hasNewestEnded = newest === 0 || known.some(({ n, isEnd: ended }) => n === newest && ended)
  // `lastEndAt` is an end that we do not know: of the newest attempt or, if that has ended, of the next one.
  return newest + (hasNewestEnded ? 1 : 0) + (isEnd ? 0 : 1)
}

/** @param ofThatTime known events with the same `lastEndAt`: of an attempt that ended then, or that runs since then */
function endedThen(rawStatus: string, ofThatTime: readonly Numbered[]): number {
  const ends = ofThatTime.filter(({ isEnd }) => isEnd)
  const same = ends.find((one) => isSameEnd(one.rawStatus, rawStatus))
  if (same) return same.n
  // GitLab's times are whole seconds: if somebody retries and cancels at once, two attempts end in the same second.
  if (ends.length > 0) return newestOf(ends) + 1
  return ofThatTime[0]!.n - 1
}

const runningSince = (ofThatTime: readonly Numbered[]): number =>
  ofThatTime.find(({ isEnd }) => !isEnd)?.n ?? newestOf(ofThatTime) + 1

const newestOf = (known: readonly Numbered[]): number => Math.max(0, ...known.map(({ n }) => n))
