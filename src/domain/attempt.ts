import { mergeDetails, type BuildDetails, type BuildEvent } from './build-event.ts'
import { compareOrders, type BuildId } from './ids.ts'
import { isFinal, type Status } from './status.ts'

/** A started that comes this long after a final is a new attempt, not a late delivery. */
export const LATE_START_MS = 60_000

/** One execution of a build, folded from its build events. Times in ms; `null` where the build event has not come. */
export interface Attempt {
  buildId: BuildId
  /** see BuildEvent */
  buildOrder: string
  /** 1 for the first attempt of this build id */
  n: number
  status: Status
  /** CI's word for the status, which is all we know of an `unknown` one */
  word: string
  /** when we first heard of the attempt, of its start, and of its end */
  firstAt: number
  startedAt: number | null
  finalAt: number | null
  /** place in the order of receipt of the build event that opened and of the one that ended the attempt */
  firstSeq: number
  finalSeq: number | null
  buildEvents: readonly BuildEvent[]
  /** CI itself has said something of it, by a delivery or when asked: not only our own request stands for it */
  isConfirmedByCi: boolean
  details: BuildDetails
}

/** What one build event did to its build: only `opened` and `moved` change what anybody sees. */
export type Effect = 'opened' | 'moved' | 'duplicate' | 'late'

/** Somebody asked for a restart of this build through us; it makes the next started a new attempt. */
export interface RestartRequest {
  buildId: BuildId
  at: number
}

/**
 * Folds the build events of ONE build id, in order of receipt, into its attempts, oldest first, with the effect of each build event.
 * Pure: the same build events always give the same runs; a repeated or late build event changes none.
 */
export function foldBuild(
  buildEvents: readonly BuildEvent[],
  restarts: readonly RestartRequest[] = [],
): { attempts: Attempt[]; effects: Effect[] } {
  const { drafts, effects } = fold(buildEvents, restarts)
  return { attempts: drafts.map(toAttempt), effects }
}

/** The effect of each build event, for callers that need no attempts. */
export const effectsOf = (buildEvents: readonly BuildEvent[], restarts: readonly RestartRequest[] = []): Effect[] =>
  fold(buildEvents, restarts).effects

function fold(
  buildEvents: readonly BuildEvent[],
  restarts: readonly RestartRequest[],
): { drafts: Draft[]; effects: Effect[] } {
  const drafts: Draft[] = []
  const effects = buildEvents.map((buildEvent): Effect => {
    const current = drafts.at(-1)
    const effect = current ? effectOn(current, buildEvent, restarts) : 'opened'
    if (effect === 'opened') drafts.push(open(buildEvent, buildEvent.details.attempt ?? drafts.length + 1))
    else absorb(draftOf(drafts, buildEvent), buildEvent, effect)
    return effect
  })
  return { drafts, effects }
}

/** Which attempt it is about: the last one, unless it names another. What is said late of one must not count for the next. */
function draftOf(drafts: readonly Draft[], { details: { attempt } }: BuildEvent): Draft | undefined {
  return attempt == null ? drafts.at(-1) : drafts.find(({ n }) => n === attempt)
}

/** Newest last: by the order of builds, then by run. */
export function compareAttempts(a: Pick<Attempt, 'buildOrder' | 'n'>, b: Pick<Attempt, 'buildOrder' | 'n'>): number {
  return compareOrders(a.buildOrder, b.buildOrder) || a.n - b.n
}

/** All runs of a revision, oldest first; the last one is what its card shows, its place in the list is its attempt. */
export function foldAttempts(buildEvents: readonly BuildEvent[], restarts: readonly RestartRequest[] = []): Attempt[] {
  const byBuild = Map.groupBy(buildEvents, (buildEvent) => buildEvent.buildId)
  return [...byBuild.values()].flatMap((own) => foldBuild(own, restarts).attempts).sort(compareAttempts)
}

/** Is it over? That a status which nobody knows is a final one shows by the time when the build finished. */
export const hasEnded = ({ status, details }: Pick<Attempt, 'status' | 'details'>): boolean =>
  isFinal(status) || (status === 'unknown' && details.finishedAt !== null)

/** The name of an attempt within its revision: what a reply in the thread is about. */
export const attemptKey = (attempt: Pick<Attempt, 'buildId' | 'n'>): string => `${attempt.buildId}.${attempt.n}`

interface Draft {
  n: number
  /** the build events that made the attempt what it is */
  buildEvents: BuildEvent[]
  /** repeated and late ones: they change nothing that is known, but may know what was not */
  echoes: BuildEvent[]
  /** the build event whose status the attempt has */
  head: BuildEvent
  final: BuildEvent | null
  started: BuildEvent | null
  /** CI delivered its start before it had ended */
  isStartDelivered: boolean
}

const open = (buildEvent: BuildEvent, n: number): Draft => ({
  n,
  buildEvents: [buildEvent],
  echoes: [],
  head: buildEvent,
  final: isFinal(buildEvent.status) ? buildEvent : null,
  started: saysStarted(buildEvent) ? buildEvent : null,
  isStartDelivered: deliversStart(buildEvent),
})

const saysStarted = ({ status, origin }: BuildEvent): boolean => status === 'started' && origin !== 'action'

// What CI answers is not what it delivers: its delivery may still come, late, and must not open a further run.
const deliversStart = ({ status, origin }: BuildEvent): boolean => status === 'started' && origin === 'delivery'

function effectOn(attempt: Draft, buildEvent: BuildEvent, restarts: readonly RestartRequest[]): Effect {
  if (buildEvent.details.attempt != null) return effectOfNamed(attempt, buildEvent, buildEvent.details.attempt)
  if (attempt.final) return effectAfterFinal(attempt, attempt.final, buildEvent, restarts)
  if (isFirstWord(attempt, buildEvent)) return 'moved'
  // An unknown word is known by the word itself: two different ones are two states.
  const same =
    buildEvent.status === attempt.head.status &&
    (buildEvent.status !== 'unknown' || buildEvent.word === attempt.head.word)
  return same ? 'duplicate' : 'moved'
}

/** The effect of a build event that names its attempt: no guess is needed. Within an attempt nothing goes back to the queue. */
function effectOfNamed(attempt: Draft, buildEvent: BuildEvent, named: number): Effect {
  const { n, head, final } = attempt
  const { status, word } = buildEvent
  if (named !== n) return named > n ? 'opened' : 'late'
  if (isFirstWord(attempt, buildEvent)) return 'moved'
  if (status === head.status && word === head.word) return 'duplicate'
  const isOver = final !== null || hasEnded(head)
  return (isOver && !isFinal(status)) || status === 'queued' ? 'late' : 'moved'
}

function effectAfterFinal(
  attempt: Draft,
  final: BuildEvent,
  buildEvent: BuildEvent,
  restarts: readonly RestartRequest[],
): Effect {
  if (isFinal(buildEvent.status)) {
    if (buildEvent.status !== final.status) return 'opened'
    return isFirstWord(attempt, buildEvent) ? 'moved' : 'duplicate'
  }
  if (buildEvent.status !== 'started') return saidBefore(attempt, buildEvent) ? 'duplicate' : 'late'
  const restarted = restarts.some(
    ({ buildId, at }) => buildId === buildEvent.buildId && at >= final.at && at <= buildEvent.at,
  )
  const neverRan = final.status === 'ignored' || final.status === 'blocked'
  // Our own word comes after CI's answer: by then the attempt that it speaks of may have come and ended.
  const isOurs = buildEvent.origin === 'action'
  const isDelivered = buildEvent.origin === 'delivery'
  const isLong = buildEvent.at - final.at > LATE_START_MS && !(isDelivered && owesStart(attempt, final))
  // CI may answer with what was so a moment ago: only what it delivers contradicts an end so soon.
  const isAgain = isDelivered && attempt.isStartDelivered
  const isNewAttempt = restarted || (!isOurs && (isAgain || neverRan || isLong))
  if (isNewAttempt) return 'opened'
  return saidBefore(attempt, buildEvent) ? 'duplicate' : 'late'
}

/**
 * We learned that it began and how it ended by asking: CI has delivered nothing of it. A sender that repeats what was
 * not taken says both later, however long nobody took it; the second start is a restart again.
 */
const owesStart = (attempt: Draft, final: BuildEvent): boolean =>
  attempt.buildEvents[0]?.origin !== 'delivery' && final.origin !== 'delivery' && !attempt.echoes.some(deliversStart)

/** What was recorded without telling anybody is news when it is delivered. */
const isFirstWord = ({ head }: Draft, { status, origin }: BuildEvent): boolean =>
  head.origin === 'history' && origin === 'delivery' && status === head.status

const saidBefore = (attempt: Draft, buildEvent: BuildEvent): boolean =>
  attempt.echoes.some((echo) => echo.word === buildEvent.word)

function absorb(attempt: Draft | undefined, buildEvent: BuildEvent, effect: Effect): void {
  // It names an attempt of which nothing was received in time: the next one is shown instead.
  if (!attempt) return
  if (attempt.final === null && saysStarted(buildEvent)) attempt.started ??= buildEvent
  if (attempt.final === null && deliversStart(buildEvent)) attempt.isStartDelivered = true
  if (effect !== 'moved') return void attempt.echoes.push(buildEvent)
  attempt.buildEvents.push(buildEvent)
  attempt.head = buildEvent
  if (isFinal(buildEvent.status)) attempt.final = buildEvent
}

/** What changed the attempt says most, then what was repeated first; of the uuids, whatever was said first of all. */
function detailsOf(buildEvents: readonly BuildEvent[], echoes: readonly BuildEvent[]): BuildDetails {
  if (echoes.length === 0) return mergeDetails(buildEvents)
  const { projectUuid, buildUuid } = mergeDetails([...buildEvents, ...echoes].toSorted((a, b) => a.seq - b.seq))
  return { ...mergeDetails([...echoes.toReversed(), ...buildEvents]), projectUuid, buildUuid }
}

function toAttempt({ n, buildEvents, echoes, head, final, started }: Draft): Attempt {
  const first = buildEvents[0]!
  const details = detailsOf(buildEvents, echoes)
  return {
    buildId: head.buildId,
    buildOrder: first.buildOrder,
    n,
    status: head.status,
    word: head.word,
    firstAt: first.at,
    startedAt: details.startedAt ?? started?.at ?? (first.status === 'started' ? first.at : null),
    finalAt: final ? (details.finishedAt ?? final.at) : null,
    firstSeq: first.seq,
    finalSeq: final?.seq ?? null,
    buildEvents,
    isConfirmedByCi: [...buildEvents, ...echoes].some(({ origin }) => origin !== 'action'),
    details,
  }
}
