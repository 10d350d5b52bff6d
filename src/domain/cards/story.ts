import {
  buildView,
  type CardView,
  type ReplyView,
  type RequestView,
  type Shown,
  type ShownRequest,
  type StreakView,
  type FailuresView,
  type NoteView,
  type ReminderView,
} from './view.ts'
import type { StreakChange, Judgement } from '../builds/streak.ts'
import type { BuildEvent } from '../builds/build-event.ts'
import { shortId, sourceOf, type MessageTs } from '../ids.ts'
import type { Capabilities } from './capabilities.ts'
import { lastRequestOf, attemptRefText, shownBy, type Request } from './request.ts'
import { attemptKey, type Attempt } from '../builds/attempt.ts'
import { HELD_STATUS, isAccountNotice, isFinal, isRed, isVerdict } from '../builds/status.ts'
import { briefly, type Failures } from '../builds/failure.ts'

/** Everything that one channel shows about one revision: the card, and the messages in its thread. */
export interface Story {
  card: CardView
  replies: readonly { slot: string; view: ReplyView; newest: boolean }[]
  /** what failed: one message for each attempt, in order */
  failures: readonly { slot: string; view: FailuresView; newest: boolean }[]
  /** requests that people made to CI about these builds, oldest first */
  requests: readonly { slot: string; view: RequestView }[]
  /** people's changes to the red branch, and reminders of it, oldest first */
  notes: readonly { slot: string; view: NoteView | ReminderView }[]
}

export interface StoryContext {
  /** attempts of the revision, oldest first; at least one */
  attempts: readonly Attempt[]
  /** what each outcome did to the branch, by its build event */
  judgements: ReadonlyMap<number, Judgement>
  /** by attempt key: what failed, if a build step reported it or the source was asked */
  failures: ReadonlyMap<string, Failures>
  /** whether the outcome of an attempt was selected for this channel */
  isAnnounced: (attempt: Attempt) => boolean
  /** whether it was selected as a failure or a recovery, which the channel should notice */
  isLoud: (attempt: Attempt) => boolean
  /** the attempt whose end the card showed when it was first posted, which needs no reply; null: it showed no end */
  postedAttempt: string | null
  quiet: boolean
  /** the Slack user who claimed a committer's handle, or who started the build from Slack, if this channel mentions */
  mentionOf: (person: string | null) => string | null
  /** whether this channel mentions, and anybody could still claim that handle */
  isUnclaimed: (committer: string | null) => boolean
  /** the Slack user who may own such a handle, by the author's address or login */
  proposed: string | null
  replaces: MessageTs | null
  /** requests about these attempts, oldest first */
  requests: readonly Request[]
  /** what can be done with the newest attempt */
  capabilities: Capabilities
  /** who is on the branch, if it is still red and this is the channel's newest card of its streak */
  ownership: CardView['ownership'] | null
  /** people's changes to the red branch, and reminders, for this thread; oldest first */
  changes: readonly StreakChange[]
  /** the reminders among them to show, by id: for how long the branch had been red (ms), and how many builds failed */
  reminders: ReadonlyMap<string, Pick<ReminderView, 'forMs' | 'builds'>>
}

/** Everything that one channel shows about one revision. Pure: attempts in, views out. */
export function storyFor(context: StoryContext): Story {
  const newest = context.attempts.at(-1)!
  return {
    card: cardView(newest, context),
    replies: context.attempts
      .filter((attempt) => hasReply(attempt, context))
      .map((attempt) => ({
        slot: `run:${attemptKey(attempt)}`,
        view: replyView(attempt, context),
        newest: attempt === newest,
      })),
    failures: context.attempts.filter(context.isAnnounced).flatMap((attempt) => failuresOf(attempt, context)),
    requests: context.requests.map((request) => ({ slot: `ask:${request.id}`, view: requestView(request, context) })),
    notes: context.changes.flatMap((change) => {
      const view = noteOf(change, context)
      return view ? [{ slot: noteSlot(change), view }] : []
    }),
  }
}

export const noteSlot = ({ id }: Pick<StreakChange, 'id'>): string => `own:${id}`

function noteOf(change: StreakChange, context: StoryContext): NoteView | ReminderView | null {
  const { id, kind: what, by, to, until, at, number } = change
  if (what === 'lapsed') return null
  const { project, branch } = buildView(context.attempts.at(-1)!, context.attempts)
  if (what === 'deleted' || what === 'renamed' || what === 'merged' || what === 'closed')
    return { kind: 'note', what, by, to, until, at, branch }
  if (what !== 'reminded') {
    const from = what === 'taken' ? ownerBefore(change, context.changes) : null
    return { kind: 'note', what, by, to, until, at, ...(from !== null && from !== by && { from }) }
  }
  const red = context.reminders.get(id)
  return red ? { kind: 'reminder', project, branch, ...red, broadcast: number === 1 && !context.quiet } : null
}

/** Who was on the branch before this change, as far as the changes say that this thread shows. */
function ownerBefore(change: StreakChange, changes: readonly StreakChange[]): string | null {
  const before = changes.slice(0, changes.indexOf(change))
  const last = before.findLast(({ kind }) => kind !== 'snoozed' && kind !== 'reminded')
  if (!last || (last.until ?? 0) <= change.at) return null
  return last.kind === 'handed' ? last.to : last.kind === 'taken' ? last.by : null
}

/** The attempt whose end a card would show if it were posted now; null while the newest attempt has not ended. */
export const postedAttemptOf = (attempts: readonly Attempt[]): string | null => {
  const newest = attempts.at(-1)!
  return isFinal(newest.status) ? attemptKey(newest) : null
}

function cardView(attempt: Attempt, context: StoryContext): CardView {
  const showsFailure = isRed(attempt.status) && context.postedAttempt === attemptKey(attempt)
  return {
    kind: 'card',
    shown: shownIn(attempt, context),
    word: attempt.rawStatus,
    build: buildView(attempt, context.attempts),
    attemptNumber: attemptNumberOf(attempt, context.attempts),
    history: historyOf(attempt),
    durationMs: attempt.durationMs,
    ...endOf(attempt),
    ...gatesOf(attempt),
    ...failedIn(attempt, context),
    mention: showsFailure ? mentionFor(attempt, context) : null,
    claim: showsFailure ? claimFor(attempt, context) : null,
    proposed: showsFailure ? proposedFor(attempt, context) : null,
    streak: streakOf(attempt, context),
    replaces: context.replaces,
    ref: refOf(attempt),
    ...context.capabilities,
    request: requestAbout(attempt, context),
    ...(context.ownership && { ownership: context.ownership }),
  }
}

const refOf = ({ buildEvents, buildId, n }: Attempt): string =>
  attemptRefText({ projectId: buildEvents[0]!.projectId, buildId, attempt: n })

function requestAbout(attempt: Attempt, { requests, attempts }: StoryContext): ShownRequest | null {
  const request = lastRequestOf(attempt, requests, attempts)
  return request && shownRequest(request)
}

function shownRequest({ action, requestedBy: by, state, code, projectId, target: { gate } }: Request): ShownRequest {
  const source = sourceOf(projectId)
  return {
    action,
    by,
    // People see no difference between a recorded request and one that CI has accepted.
    stage: state === 'calling' || state === 'accepted' ? 'asked' : state,
    code: state === 'calling' || state === 'accepted' || state === 'confirmed' ? null : code,
    ...(source !== 'ci' && { source }),
    ...(gate && gate.name !== '' && { gate: gate.name }),
  }
}

function requestView(request: Request, context: StoryContext): RequestView {
  const attempt = shownBy(request, context.attempts, context.requests)
  const outcome = attempt && {
    shown: request.action === 'stop' ? shownIn(attempt, context) : ('started' as const),
    buildId: shortId(attempt.buildId),
    attemptNumber: attemptNumberOf(attempt, context.attempts),
  }
  return { kind: 'request', ...shownRequest(request), buildId: shortId(request.buildId), outcome }
}

function replyView(attempt: Attempt, context: StoryContext): ReplyView {
  const isNews = attempt === context.attempts.at(-1)
  const isInChannel = !context.quiet && !isWarned(attempt, context) && inChannel(context).includes(attempt)
  return {
    kind: 'reply',
    shown: shownIn(attempt, context),
    ...endOf(attempt),
    build: buildView(attempt, context.attempts),
    attemptNumber: attemptNumberOf(attempt, context.attempts),
    isLate: attemptKey(attempt) === context.postedAttempt,
    durationMs: attempt.durationMs,
    // Left out if it is not late: otherwise digests would change, and existing messages would be edited.
    ...(hasLateEnd(attempt) && { lateEnd: attempt.finalAt! }),
    // Only the newest attempt mentions people.
    mention: isNews ? mentionFor(attempt, context) : null,
    claim: claimFor(attempt, context),
    proposed: isNews ? proposedFor(attempt, context) : null,
    broadcast: isNews && isInChannel,
    ...((isInChannel || isUndone(attempt, context)) && replacedBy(attempt, context)),
    streak: attempt.status === 'success' ? streakOf(attempt, context) : null,
  }
}

// No reply while the card itself shows the attempt's end. Once the card shows another attempt, the thread needs one.
const hasReply = (attempt: Attempt, context: StoryContext): boolean =>
  (context.isAnnounced(attempt) &&
    isFinal(attempt.status) &&
    !isAccountNotice(attempt.status) &&
    (attemptKey(attempt) !== context.postedAttempt || attempt !== context.attempts.at(-1))) ||
  isWarned(attempt, context)

/** A person is mentioned for the job that they started, only in the thread. */
const isWarned = (attempt: Attempt, context: StoryContext): boolean =>
  attempt.status === 'success' && mentionFor(attempt, context) !== null

// A CI machine error is nobody's fault, so only `failed` mentions the committer.
function mentionFor(attempt: Attempt, { attempts, mentionOf }: StoryContext): string | null {
  if (attempt.status !== 'failed') return mentionOf(attempt.details.startedBy)
  const { committer, requestedBy } = buildView(attempt, attempts)
  return mentionOf(requestedBy ?? committer)
}

// Offered once for a commit, at its first failure: a person who did not press the button need not be asked again.
const claimFor = (attempt: Attempt, { attempts, isUnclaimed }: StoryContext): string | null =>
  attempt === attempts.find(({ status }) => status === 'failed') && isUnclaimed(buildView(attempt, attempts).committer)
    ? refOf(attempt)
    : null

const proposedFor = (attempt: Attempt, context: StoryContext): string | null =>
  claimFor(attempt, context) === null ? null : context.proposed

/** Its number among the attempts of the commit that have run. */
export const attemptNumberOf = (attempt: Attempt, attempts: readonly Attempt[]): number =>
  attempts.slice(0, attempts.indexOf(attempt)).filter(hasRun).length + 1

/** False for an attempt that is only queued, was skipped, or was held by GitHub until somebody approved it. */
const hasRun = ({ status, rawStatus }: Attempt): boolean =>
  status !== 'queued' && status !== 'skipped' && rawStatus !== HELD_STATUS

const shownIn = (attempt: Attempt, { attempts, judgements }: StoryContext): Shown =>
  shownAs(attempt, attempts, judgements.get(attempt.finalSeq ?? 0)?.change === 'recovered')

/**
 * @param attempts all attempts of its card, oldest first
 * @param isRecovered whether it ended a red streak
 */
export function shownAs(attempt: Attempt, attempts: readonly Attempt[], isRecovered: boolean): Shown {
  if (attempt.status === 'started' && !attempt.isConfirmedByCi) return 'requested'
  if (attempt.status !== 'success') return attempt.status
  const before = attempts.slice(0, attempts.indexOf(attempt)).findLast(({ status }) => isVerdict(status))
  // A CI machine error says nothing about the commit.
  if (before?.status === 'failed') return 'flaky'
  return isRecovered ? 'fixed' : 'passed'
}

/**
 * The attempts whose replies are also sent to the channel, if it is not quiet: those that ended as the newest one of
 * their commit, except builds that CI refused. A failure is sent once, and not if the card was posted with it. A success is sent if the channel has no
 * line of this commit: the line that it has says what followed (decision 21).
 */
function inChannel({ attempts, isLoud, postedAttempt }: Loud): readonly Attempt[] {
  const sent: Attempt[] = []
  let hasFailed = false
  for (const [at, attempt] of attempts.entries()) {
    const { status, buildEvents } = attempt
    if (!isLoud(attempt) || isAccountNotice(status)) continue
    // Its first end counts: a corrected end edits the line that is already in the channel.
    const ended = buildEvents.find((buildEvent) => isFinal(buildEvent.status))
    if (attempts.slice(at + 1).some(({ firstSeq }) => firstSeq < ended!.seq)) continue
    const isTold = isRed(status) ? hasFailed : sent.length > 0
    if (!isTold && attemptKey(attempt) !== postedAttempt) sent.push(attempt)
    hasFailed ||= isRed(status)
  }
  return sent
}

type Loud = Pick<StoryContext, 'attempts' | 'isLoud' | 'postedAttempt'>

/** It passed, and the newest attempt failed: its line may be in the channel, though it would not be sent there now. */
const isUndone = ({ status }: Attempt, { attempts }: StoryContext): boolean =>
  status === 'success' && isRed(attempts.findLast(hasRun)?.status ?? status)

/** The newest attempt that has run, if that is a later one. */
function replacedBy(attempt: Attempt, context: StoryContext): Pick<ReplyView, 'later'> {
  const last = context.attempts.findLast(hasRun)
  if (!last || context.attempts.indexOf(last) <= context.attempts.indexOf(attempt)) return {}
  return { later: { shown: shownIn(last, context), attemptNumber: attemptNumberOf(last, context.attempts) } }
}

function streakOf(attempt: Attempt, { judgements }: StoryContext): StreakView | null {
  const streak = judgements.get(attempt.finalSeq ?? 0)?.streak
  if (!streak || attempt.finalAt === null || (isRed(attempt.status) && streak.builds === 1)) return null
  const { at, builds, atLeast } = streak
  return { forMs: Math.max(0, attempt.finalAt - at), builds, atLeast }
}

const endOf = ({ details: { end } }: Attempt): Pick<CardView, 'end'> =>
  end?.how ? { end: { how: end.how, says: end.says } } : {}

const gatesOf = ({ status, details: { gates } }: Attempt): Pick<CardView, 'gates'> =>
  status === 'waiting' && gates && gates.length > 0 ? { gates } : {}

function failedIn(attempt: Attempt, { failures }: StoryContext): Pick<CardView, 'failedJobs' | 'failures'> {
  const own = failures.get(attemptKey(attempt))
  const { failedJobs } = attempt.details
  const hasJobs = isRed(attempt.status) && failedJobs !== null && failedJobs.length > 0
  return { ...(hasJobs && { failedJobs }), ...(own && { failures: briefly(own) }) }
}

function failuresOf(attempt: Attempt, { attempts, failures }: StoryContext): Story['failures'] {
  const own = failures.get(attemptKey(attempt))
  if (!own) return []
  const view = { kind: 'failures', attemptNumber: attemptNumberOf(attempt, attempts), ...own } as const
  return [{ slot: `tests:${attemptKey(attempt)}`, view, newest: attempt === attempts.at(-1) }]
}

function historyOf(attempt: Attempt): CardView['history'] {
  const waiting =
    attempt.status === 'waiting' ? attempt.buildEvents.findLast(({ status }) => status === 'waiting') : undefined
  const snapshot = snapshotOf(attempt)
  const end = hasLateEnd(attempt) ? 'late' : 'ended'
  return [
    ...(attempt.startedAt === null ? [] : [{ what: 'started' as const, at: attempt.startedAt }]),
    ...(waiting ? [{ what: 'waiting' as const, at: waiting.at }] : []),
    ...(attempt.finalAt === null ? [] : [{ what: end, at: attempt.finalAt } as const]),
    ...(attempt.status === 'unknown' ? [{ what: 'received' as const, at: attempt.buildEvents.at(-1)!.at }] : []),
    ...(snapshot && end === 'ended' ? [{ what: 'snapshot' as const, at: snapshot.at }] : []),
  ]
}

/** The build event of the end, if CI showed it only when asked. */
const snapshotOf = ({ buildEvents, finalSeq }: Attempt): BuildEvent | undefined =>
  buildEvents.find(({ seq, origin }) => seq === finalSeq && origin === 'poll')

/** An end that CI shows only when asked, and later than this, is shown with its time. */
const LATE_MS = 60_000

/** The same for sources that number attempts: GitHub is polled every minute in any case, and its clock may differ. */
const LATE_OF_NAMED_MS = 5 * 60_000

function hasLateEnd({ buildEvents, finalSeq, finalAt, details }: Attempt): boolean {
  const end = buildEvents.find(({ seq }) => seq === finalSeq)
  if (!end || finalAt === null) return false
  const lateMs = end.at - finalAt
  return end.origin === 'poll' ? lateMs > LATE_MS : details.attempt !== null && lateMs > LATE_OF_NAMED_MS
}
