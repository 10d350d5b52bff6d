import type { BuildEvent } from '../../src/domain/builds/build-event.ts'
import type { Request } from '../../src/domain/cards/request.ts'

// The rules of attempts and recoveries once more, as simply as possible, so that the product's own reading can be
// checked against another one. No code of src runs here.

interface Attempt {
  build: string
  order: string
  /** the number that the source gives, or that follows from GitLab's ends */
  named: number | null
  status: string
  startSeen: boolean
  /** no event of it came from the source */
  isOnlyOurs: boolean
  /** the origins of the events that began and ended it */
  begunBy: BuildEvent['origin']
  endedBy: BuildEvent['origin'] | null
  /** its start was received after its end */
  startCameLate: boolean
  /** what its jobs say is known */
  hasLastWord: boolean
  finalAt: number | null
  finalSeq: number
  /** the first end that is a result, in whatever words */
  firstEndSeq: number | null
}

const STARTED = new Set(['initiated', 'testing'])
const FINAL = new Set(['success', 'error', 'failed', 'stopped', 'infrastructure_failure', 'ignored', 'blocked'])
const RED = new Set(['error', 'failed', 'infrastructure_failure'])

/** Is the stream of these events red? A machine error neither breaks nor fixes it. */
export function isRedNaively(stream: readonly BuildEvent[], requests: readonly Request[]): boolean {
  const counted = stream.filter((one) => !isOvertaken(one, stream))
  const newest = attemptsOf(counted, requests).findLast(
    ({ status }) => status === 'success' || (RED.has(status) && status !== 'infrastructure_failure'),
  )
  return newest !== undefined && newest.status !== 'success'
}

/** @returns what the card should show: `512 fixed, attempt 2` */
export function readNaively(
  own: readonly BuildEvent[],
  branch: readonly BuildEvent[],
  requests: readonly Request[],
): string {
  const attempts = attemptsOf(own, requests)
  const newest = attempts.at(-1)!
  const before = attempts.slice(0, -1).findLast(({ status }) => status === 'success' || RED.has(status))
  const isFlaky = newest.status === 'success' && before !== undefined && family(before.status) === 'failed'
  const counted = branch.filter((one) => own.some(({ seq }) => seq === one.seq) || !isOvertaken(one, branch))
  const shown = isFlaky ? 'flaky' : shownAs(newest, attemptsOf(counted, requests))
  const ran = attempts.slice(0, -1).filter(({ status }) => status !== 'queued' && status !== 'skipped')
  return `${newest.build.slice(0, 8)} ${shown}, attempt ${ran.length + 1}`
}

function attemptsOf(buildEvents: readonly BuildEvent[], requests: readonly Request[]): Attempt[] {
  const attempts: Attempt[] = []
  for (const buildEvent of buildEvents.toSorted((a, b) => a.seq - b.seq)) {
    const named = buildEvent.details.attempt ?? null
    const attempt = attempts.findLast(
      (one) => one.build === buildEvent.buildId && (named === null || one.named === named),
    )
    if (attempt && named !== null) continueNamed(attempt, buildEvent)
    else if (!attempt || isNewAttempt(attempt, buildEvent, requests)) attempts.push(begin(buildEvent))
    else if (attempt.finalAt === null) goOn(attempt, buildEvent)
    else if (STARTED.has(buildEvent.rawStatus) && buildEvent.origin === 'delivery') attempt.startCameLate = true
  }
  return attempts.sort((a, b) => (a.order === b.order ? (a.named ?? 0) - (b.named ?? 0) : a.order < b.order ? -1 : 1))
}

/** Only another end follows an end, and nothing is queued again. */
function continueNamed(attempt: Attempt, buildEvent: BuildEvent): void {
  const { rawStatus } = buildEvent
  const isLastWord = buildEvent.details.end?.isWhole === true
  if (attempt.hasLastWord && !isLastWord) return
  if (isLastWord) attempt.hasLastWord = true
  const goesOn = attempt.finalAt === null ? rawStatus !== 'queued' : FINAL.has(rawStatus)
  if (goesOn && rawStatus !== attempt.status) goOn(attempt, buildEvent)
}

function begin(buildEvent: BuildEvent): Attempt {
  const unknown = {
    status: '',
    startSeen: false,
    isOnlyOurs: true,
    startCameLate: false,
    hasLastWord: buildEvent.details.end?.isWhole === true,
    endedBy: null,
    finalAt: null,
    finalSeq: 0,
    firstEndSeq: null,
  }
  const named = buildEvent.details.attempt ?? null
  const begun = { build: buildEvent.buildId, order: placeOf(buildEvent), named, begunBy: buildEvent.origin }
  const attempt = { ...unknown, ...begun }
  goOn(attempt, buildEvent)
  return attempt
}

// The order of a UUID is the one that it got when it was first received.
const placeOf = ({ buildId, buildOrder }: BuildEvent): string =>
  buildId.includes('-') ? buildOrder : buildId.padStart(20, '0')

function goOn(attempt: Attempt, { rawStatus, at, seq, origin }: BuildEvent): void {
  attempt.status = rawStatus
  if (origin !== 'action') attempt.isOnlyOurs = false
  if (STARTED.has(rawStatus) && origin === 'delivery') attempt.startSeen = true
  if (FINAL.has(rawStatus)) Object.assign(attempt, { finalAt: at, finalSeq: seq, endedBy: origin })
  if (RED.has(rawStatus) || rawStatus === 'success') attempt.firstEndSeq ??= seq
}

function isNewAttempt(attempt: Attempt, buildEvent: BuildEvent, requests: readonly Request[]): boolean {
  const { status, startSeen, finalAt } = attempt
  if (finalAt === null) return false
  if (FINAL.has(buildEvent.rawStatus)) return family(buildEvent.rawStatus) !== family(status)
  if (!STARTED.has(buildEvent.rawStatus)) return false
  if (requests.some((request) => restarts(request, buildEvent, finalAt))) return true
  if (buildEvent.origin === 'action') return false
  if (status === 'ignored' || status === 'blocked') return true
  const isLong = buildEvent.at - finalAt > 60_000
  if (buildEvent.origin !== 'delivery') return isLong
  return startSeen || (isLong && !isOwedItsStart(attempt))
}

/** Start and end are known only by asking CI, so its own events may come at any time; its start belongs to it once. */
const isOwedItsStart = ({ begunBy, endedBy, startCameLate }: Attempt): boolean =>
  begunBy !== 'delivery' && endedBy !== 'delivery' && !startCameLate

const restarts = (
  { action, buildId, state, code, requestedAt }: Request,
  buildEvent: BuildEvent,
  finalAt: number,
): boolean =>
  action === 'restart' &&
  buildId === buildEvent.buildId &&
  state !== 'refused' &&
  code !== 'not-restarted' &&
  requestedAt >= finalAt &&
  requestedAt <= buildEvent.at

const SYNONYMS: Record<string, string> = { initiated: 'started', testing: 'started', error: 'failed' }
const KNOWN = new Set(['queued', 'waiting', 'started', ...FINAL])
const family = (word: string): string => SYNONYMS[word] ?? word

/** Its attempt was over before it came. */
const isOvertaken = ({ seq, buildId, details }: BuildEvent, branch: readonly BuildEvent[]): boolean =>
  branch.some(
    (one) => one.buildId === buildId && one.seq < seq && (one.details.attempt ?? 0) > (details.attempt ?? Infinity),
  )

function shownAs(attempt: Attempt, branch: readonly Attempt[]): string {
  if (family(attempt.status) === 'started' && attempt.isOnlyOurs) return 'requested'
  if (attempt.status !== 'success') return KNOWN.has(family(attempt.status)) ? family(attempt.status) : 'unknown'
  const verdicts = branch.filter(({ status }) => status === 'success' || RED.has(status))
  const own = verdicts.findIndex(({ finalSeq }) => finalSeq === attempt.finalSeq)
  const cameTooLate = verdicts.slice(own + 1).some((one) => endSeqOf(one) < attempt.finalSeq)
  const isNumbered = (one: Attempt) => one.build === attempt.build && one.named !== null
  const before = verdicts
    .slice(0, own)
    .filter((one) => RED.has(one.status) || one.finalSeq < attempt.finalSeq || isNumbered(one))
  return !cameTooLate && before.length > 0 && RED.has(before.at(-1)!.status) ? 'fixed' : 'passed'
}

// Only a source that numbers its attempts is asked what the jobs of one say.
const endSeqOf = ({ named, finalSeq, firstEndSeq }: Attempt): number =>
  named === null ? finalSeq : (firstEndSeq ?? finalSeq)
