import { mergeDetails, type BuildDetails, type BuildEvent } from './build-event.ts'
import { compareOrders, type BuildId } from '../ids.ts'
import { isAccountNotice, isFinal, isRed, type Status } from './status.ts'
import { hasStreak } from './stream.ts'

/** A start that is received this long after an end begins a new attempt; before that it is a late delivery. */
export const LATE_START_MS = 60_000

/** One execution of a build, folded from its build events. Times in ms; null until the build event has come. */
export interface Attempt {
  buildId: BuildId
  /** see BuildEvent */
  buildOrder: string
  /** 1 for the first attempt of this build id */
  n: number
  status: Status
  /** CI's word for the status; for an `unknown` status, all that we know */
  rawStatus: string
  /** when we received its first build event; then when it started and ended: CI's times, else when we received that */
  firstAt: number
  startedAt: number | null
  finalAt: number | null
  /** how long it ran (ms), once it has ended, if that is known */
  durationMs: number | null
  /** `seq` of the build event that opened the attempt, and of the one that ended it */
  firstSeq: number
  finalSeq: number | null
  buildEvents: readonly BuildEvent[]
  /** CI has delivered or shown it; false: we know it only by our own `action` event */
  isConfirmedByCi: boolean
  details: BuildDetails
}

/**
 * The effect of a build event on its build. Only `opened` (an attempt) and `moved` (its state) are visible to people.
 */
export type Effect = 'opened' | 'moved' | 'duplicate' | 'late'

/** A restart that somebody requested through the bot: the build's next start begins a new attempt. */
export interface RestartRequest {
  buildId: BuildId
  at: number
}

/**
 * Folds the build events of ONE build id, in order of receipt, into its attempts, oldest first, with the effect of each
 * build event. Pure: the same build events always give the same attempts. Repeated or late ones change no state.
 */
export function foldBuild(
  buildEvents: readonly BuildEvent[],
  restarts: readonly RestartRequest[] = [],
): { attempts: Attempt[]; effects: Effect[] } {
  const { drafts, effects } = fold(buildEvents, restarts)
  return { attempts: drafts.map(toAttempt), effects }
}

export const effectsOf = (buildEvents: readonly BuildEvent[], restarts: readonly RestartRequest[] = []): Effect[] =>
  fold(buildEvents, restarts).effects

function fold(
  buildEvents: readonly BuildEvent[],
  restarts: readonly RestartRequest[],
): { drafts: Draft[]; effects: Effect[] } {
  const drafts: Draft[] = []
  const effects = buildEvents.map((buildEvent): Effect => {
    const draft = draftOf(drafts, buildEvent)
    const effect = draft ? effectOn(draft, buildEvent, restarts) : 'opened'
    if (effect === 'opened') insert(drafts, open(buildEvent, buildEvent.details.attempt ?? drafts.length + 1))
    else absorb(draft!, buildEvent, effect)
    return effect
  })
  return { drafts, effects }
}

/** The attempt that the event names, in whatever order the events of several attempts come; else the newest one. */
function draftOf(drafts: readonly Draft[], { details: { attempt } }: BuildEvent): Draft | undefined {
  return attempt == null ? drafts.at(-1) : drafts.find(({ n }) => n === attempt)
}

/** Adds an attempt after those with lower numbers: the events of an earlier one may come last. */
function insert(drafts: Draft[], draft: Draft): void {
  drafts.splice(drafts.findLastIndex(({ n }) => n < draft.n) + 1, 0, draft)
}

/** Sorts the newest last: by build order, then by attempt number. */
export function compareAttempts(a: Pick<Attempt, 'buildOrder' | 'n'>, b: Pick<Attempt, 'buildOrder' | 'n'>): number {
  return compareOrders(a.buildOrder, b.buildOrder) || a.n - b.n
}

/** All attempts of a revision, oldest first. The card shows the last; its place in the list is its attempt number. */
export function foldAttempts(buildEvents: readonly BuildEvent[], restarts: readonly RestartRequest[] = []): Attempt[] {
  const byBuild = Map.groupBy(buildEvents, (buildEvent) => buildEvent.buildId)
  return [...byBuild.values()].flatMap((own) => foldBuild(own, restarts).attempts).sort(compareAttempts)
}

/** Whether the attempt has ended. An unknown status counts as final if CI gave a finish time. */
export const hasEnded = ({ status, details }: Pick<Attempt, 'status' | 'details'>): boolean =>
  isFinal(status) || (status === 'unknown' && details.finishedAt !== null)

/** How often a source is asked what a build waits for: it does not report each change. */
export const GATES_AGAIN_MS = 5 * 60_000

/** When its source is to be asked about the attempt; null: it need not be. @param at when it last had news (ms) */
export function readAgainAt(attempt: Attempt, at: number): number | null {
  if (needsReading(attempt)) return at
  return attempt.status === 'waiting' ? at + GATES_AGAIN_MS : null
}

/**
 * Whether the source may know more: what it waits for; who opened its pull or merge request; and after its end, which jobs
 * failed, whether it was only cancelled, and what failed in its jobs.
 */
function needsReading({ status, details, buildEvents, finalSeq }: Attempt): boolean {
  const { end, requestUrl, committer } = details
  if (buildEvents.find(({ seq }) => seq === finalSeq)?.origin === 'history') return false
  if (end?.isWhole) return isRed(status)
  if (status === 'waiting' && details.gates === null) return true
  if (requestUrl !== null && committer === null && hasStreak(buildEvents[0]!.branch ?? '')) return true
  return isRed(status) || status === 'stopped' || end?.how === 'with-warnings'
}

/** The name of an attempt within its revision. Replies in the thread are identified by it. */
export const attemptKey = (attempt: Pick<Attempt, 'buildId' | 'n'>): string => `${attempt.buildId}.${attempt.n}`

interface Draft {
  n: number
  /** the build events that opened or moved the attempt */
  buildEvents: BuildEvent[]
  /** repeated and late ones: they change nothing that is known, but may fill in missing details */
  echoes: BuildEvent[]
  /** the build event whose status the attempt has */
  head: BuildEvent
  final: BuildEvent | null
  started: BuildEvent | null
  /** CI delivered the start before the attempt had ended */
  isStartDelivered: boolean
  /** its end was read whole: no other status counts any more */
  isWhole: boolean
}

const open = (buildEvent: BuildEvent, n: number): Draft => ({
  n,
  buildEvents: [buildEvent],
  echoes: [],
  head: buildEvent,
  final: isFinal(buildEvent.status) ? buildEvent : null,
  started: isStart(buildEvent) ? buildEvent : null,
  isStartDelivered: deliversStart(buildEvent),
  isWhole: isWhole(buildEvent),
})

const isWhole = ({ details }: BuildEvent): boolean => details.end?.isWhole === true

const isStart = ({ status, origin }: BuildEvent): boolean => status === 'started' && origin !== 'action'

// A start that CI showed when asked may still be delivered later. That delivery must not open another attempt.
const deliversStart = ({ status, origin }: BuildEvent): boolean => status === 'started' && origin === 'delivery'

function effectOn(attempt: Draft, buildEvent: BuildEvent, restarts: readonly RestartRequest[]): Effect {
  if (buildEvent.details.attempt != null) return effectOfNamed(attempt, buildEvent)
  if (attempt.final) return effectAfterFinal(attempt, attempt.final, buildEvent, restarts)
  if (isFirstDelivery(attempt, buildEvent)) return 'moved'
  // Two different unknown words are two different states.
  const same =
    buildEvent.status === attempt.head.status &&
    (buildEvent.status !== 'unknown' || buildEvent.rawStatus === attempt.head.rawStatus)
  return same ? 'duplicate' : 'moved'
}

/** The effect of a build event that names its attempt. An attempt never goes back to `queued`: that is late. */
function effectOfNamed(attempt: Draft, buildEvent: BuildEvent): Effect {
  const { head, final } = attempt
  const { status, rawStatus } = buildEvent
  if (isFirstDelivery(attempt, buildEvent)) return 'moved'
  if (status === head.status && rawStatus === head.rawStatus) return 'duplicate'
  if (attempt.isWhole && !isWhole(buildEvent)) return 'late'
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
    return isFirstDelivery(attempt, buildEvent) ? 'moved' : 'duplicate'
  }
  if (buildEvent.status !== 'started') return wasReceivedBefore(attempt, buildEvent) ? 'duplicate' : 'late'
  const restarted = restarts.some(
    ({ buildId, at }) => buildId === buildEvent.buildId && at >= final.at && at <= buildEvent.at,
  )
  const neverRan = isAccountNotice(final.status)
  // Our own event is recorded after CI's answer. By then the attempt may have been delivered and ended.
  const isOurs = buildEvent.origin === 'action'
  const isDelivered = buildEvent.origin === 'delivery'
  const isLong = buildEvent.at - final.at > LATE_START_MS && !(isDelivered && owesStart(attempt, final))
  // When asked, CI may show an outdated state. So soon after an end, only a second delivered start is a new attempt.
  const isAgain = isDelivered && attempt.isStartDelivered
  const isNewAttempt = restarted || (!isOurs && (isAgain || neverRan || isLong))
  if (isNewAttempt) return 'opened'
  return wasReceivedBefore(attempt, buildEvent) ? 'duplicate' : 'late'
}

/**
 * We learned the start and the end by asking CI, which has not delivered the start yet. A sender that retries failed
 * deliveries may deliver both much later. So the first delivered start is late; a second one is a restart.
 */
const owesStart = (attempt: Draft, final: BuildEvent): boolean =>
  attempt.buildEvents[0]?.origin !== 'delivery' && final.origin !== 'delivery' && !attempt.echoes.some(deliversStart)

/** An event that was stored as `history`, without a message, is news when CI delivers it. */
const isFirstDelivery = ({ head }: Draft, { status, origin }: BuildEvent): boolean =>
  head.origin === 'history' && origin === 'delivery' && status === head.status

const wasReceivedBefore = (attempt: Draft, buildEvent: BuildEvent): boolean =>
  attempt.echoes.some((echo) => echo.rawStatus === buildEvent.rawStatus)

function absorb(attempt: Draft, buildEvent: BuildEvent, effect: Effect): void {
  if (attempt.final === null && isStart(buildEvent)) attempt.started ??= buildEvent
  if (attempt.final === null && deliversStart(buildEvent)) attempt.isStartDelivered = true
  if (isWhole(buildEvent)) attempt.isWhole = true
  if (effect !== 'moved') return void attempt.echoes.push(buildEvent)
  attempt.buildEvents.push(buildEvent)
  attempt.head = buildEvent
  if (isFinal(buildEvent.status)) attempt.final = buildEvent
}

/**
 * For each detail, the end that was read whole wins, then the newest event that changed the attempt, then the first
 * echo; for details that identify the build, the first event.
 */
function detailsOf(buildEvents: readonly BuildEvent[], echoes: readonly BuildEvent[]): BuildDetails {
  if (echoes.length === 0) return mergeDetails(buildEvents)
  const { projectName, projectFullName, number, shortCommitId, projectUuid, buildUuid } = mergeDetails(
    [...buildEvents, ...echoes].toSorted((a, b) => a.seq - b.seq),
  )
  return {
    ...mergeDetails([...echoes.toReversed(), ...buildEvents, ...echoes.filter(isWhole)]),
    projectName,
    projectFullName,
    number,
    shortCommitId,
    projectUuid,
    buildUuid,
  }
}

/** What it waits for in its present state, as last read. */
const gatesOf = (head: BuildEvent, echoes: readonly BuildEvent[]): BuildDetails['gates'] =>
  [head, ...echoes].findLast(({ seq, details }) => seq >= head.seq && details.gates)?.details.gates ?? null

function toAttempt({ n, buildEvents, echoes, head, final, started }: Draft): Attempt {
  const first = buildEvents[0]!
  const details = { ...detailsOf(buildEvents, echoes), gates: gatesOf(head, echoes) }
  const finishedAt = details.finishedAt ?? 0
  const ranMs = final && (details.durationMs ?? null)
  // The source's own duration counts, since we may have received the start long after the end.
  const heardAt = started?.at ?? (first.status === 'started' ? first.at : null)
  const startedAt = details.startedAt ?? (ranMs !== null && finishedAt > 0 ? finishedAt - ranMs : heardAt)
  // The start may be of an earlier event, or the time at which we received it.
  const finalAt = final && (finishedAt >= (startedAt ?? 1) ? finishedAt : final.at)
  const spanMs = startedAt !== null && finalAt !== null && finalAt >= startedAt ? finalAt - startedAt : null
  return {
    buildId: head.buildId,
    buildOrder: first.buildOrder,
    n,
    status: head.status,
    rawStatus: head.rawStatus,
    firstAt: first.at,
    startedAt,
    finalAt,
    durationMs: ranMs ?? spanMs,
    firstSeq: first.seq,
    finalSeq: final?.seq ?? null,
    buildEvents,
    isConfirmedByCi: [...buildEvents, ...echoes].some(({ origin }) => origin !== 'action'),
    details,
  }
}
