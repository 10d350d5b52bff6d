import type { Change } from '../rules/rule.ts'
import type { Attempt } from './attempt.ts'
import type { BuildEvent } from './build-event.ts'
import { compareOrders, type BuildId, type ChannelId, type ProjectId } from '../ids.ts'
import { isRed, isVerdict } from './status.ts'

// A branch's red streak and its owner.

/** A build event that finishes a build, with its place among the outcomes of the branch. */
type Outcome = Pick<BuildEvent, 'seq' | 'buildId' | 'buildOrder' | 'status'>

/** A streak that has not ended. `builds`: how many failed. */
export interface OpenStreak<One> {
  first: One
  newest: One
  builds: number
}

/**
 * The red streak that a branch is in: from its first failure after the last success, in build order, not in order of
 * receipt. A CI machine error neither begins nor ends a streak, and does not count as one of its builds.
 * @param outcomes of one branch, in any order
 */
export function openStreakOf<One extends Outcome>(outcomes: readonly One[]): OpenStreak<One> | null {
  const ordered = outcomes.filter(({ status }) => isVerdict(status)).toSorted(compareOutcomes)
  const { failed } = sinceGreen(ordered)
  const [first] = failed
  if (!first) return null
  return { first, newest: failed.at(-1)!, builds: countBuilds(failed) }
}

/** The outcomes after the last success: all, and those that failed. @param ordered outcomes of a branch, newest last */
export function sinceGreen<One extends Pick<Outcome, 'status'>>(ordered: readonly One[]) {
  const red = ordered.slice(ordered.findLastIndex(({ status }) => status === 'success') + 1)
  return { red, failed: red.filter(({ status }) => status === 'failed') }
}

export const countBuilds = (all: readonly Pick<Outcome, 'buildId'>[]): number =>
  new Set(all.map(({ buildId }) => buildId)).size

export const compareOutcomes = (a: Outcome, b: Outcome): number =>
  compareOrders(a.buildOrder, b.buildOrder) || a.seq - b.seq

/** A red streak as it is stored. Times in ms; places are `orderOf`. */
export interface Streak {
  id: string
  branchKey: string
  projectId: ProjectId
  branch: string
  /** its first failure: when it ended, and its build's place */
  beganAt: number
  beganOrder: string
  /** builds that failed */
  builds: number
  /** its newest failure: its build's place, and the card that shows it */
  newestOrder: string
  revisionKey: string
  cardNumber: number
  /** when it ended, and the build that ended it; null: the branch is red */
  endedAt: number | null
  endedBy: BuildId | null
  /** the Slack user who is on it, since when and until when; `ownerUntil` may have passed */
  owner: string | null
  ownedAt: number | null
  ownerUntil: number | null
  snoozedUntil: number | null
  /** when its source was last asked whether the branch is still there; null: never */
  checkedAt: number | null
}

/** Since when a branch is red (ms), and how many builds failed. `atLeast`: it began before the stored history does. */
export interface StreakExtent {
  at: number
  builds: number
  atLeast: boolean
}

/** The visible part of a streak: who is on it, and until when reminders are snoozed. */
export interface Ownership {
  id: string
  owner: { user: string; since: number; until: number } | null
  snoozedUntil: number | null
}

/** The streak at that time (ms), without an owner or a snooze whose time is up. */
export function ownershipOf(streak: Streak, now: number): Ownership {
  const { id, owner: user, ownedAt, ownerUntil, snoozedUntil } = streak
  const isOwned = user !== null && ownerUntil !== null && ownerUntil > now
  return {
    id,
    owner: isOwned ? { user, since: ownedAt ?? now, until: ownerUntil } : null,
    snoozedUntil: snoozedUntil !== null && snoozedUntil > now ? snoozedUntil : null,
  }
}

export const extentOf = ({ beganAt: at, builds }: Streak): StreakExtent => ({ at, builds, atLeast: false })

/** When an owner's time or a snooze is up (ms); null: there is neither. */
export function changesAt({ owner, snoozedUntil }: Ownership): number | null {
  const times = [owner?.until, snoozedUntil].filter((at) => at != null)
  return times.length === 0 ? null : Math.min(...times)
}

/** How a branch or request ended while it was red, as its source says. Its streak then ends without a message. */
export type BranchEnd = 'deleted' | 'renamed' | 'merged' | 'closed'

/** A change of a streak. All but `lapsed` are lines in the thread. Those made by people are also in the audit. */
export interface StreakChange {
  id: string
  streakId: string
  /** Slack's id of the interaction, so that a repetition is the same change; null: no person did it */
  interactionKey: string | null
  kind: DoneByPeople | BranchEnd | 'reminded' | 'lapsed'
  /** a Slack user: for `left` the person who left, for `lapsed` the owner whose time is up; empty: no person */
  by: string
  /** the Slack user who took it over */
  to: string | null
  /** until when somebody is on it, or reminders are snoozed (ms) */
  until: number | null
  at: number
  /** the card whose thread has the line */
  subject: string
  /** for `reminded`: the channel, and 1 for its first reminder; else null */
  channel: ChannelId | null
  number: number | null
}

export type DoneByPeople = 'taken' | 'handed' | 'snoozed' | 'let-go' | 'left'

// What an attempt did to its stream, judged by the outcomes before it.

/** The judgement of one outcome. `streak`: the red streak that it ended, or that it is the newest outcome of. */
export interface Judgement {
  change: Change | null
  streak: StreakExtent | null
}

/**
 * The red streak that an attempt ended: it passed, and the finished attempt before it on its branch, in build order, was
 * red. Null if it ended none. A success that is received after a newer build has finished recovers nothing. Attempts
 * that were stopped, ignored or blocked, or have not finished, do not count; nor does a success that was received after
 * this one, or an older build that ended after this one. Without history, nothing is recovered.
 * @param history finished attempts of the same project and branch, in any order; the attempt itself may be among them
 */
export function recoveryOf(attempt: Attempt, history: readonly Attempt[], historyIsCut = false): StreakExtent | null {
  const before = attempt.status === 'success' ? countedBefore(attempt, history) : null
  return before && redStreak(before, historyIsCut)
}

/**
 * Whether an attempt broke its branch, the mirror of `recoveryOf`: it is red, and the finished attempt before it on its
 * branch was green, or there is none.
 * @param history finished attempts of the same project and branch, in any order; the attempt itself may be among them
 */
export function breaks(attempt: Attempt, history: readonly Attempt[]): boolean {
  const before = isRed(attempt.status) ? countedBefore(attempt, history) : null
  return before !== null && !isRed(before.at(-1)?.status ?? 'success')
}

/** The outcomes before this one that give the branch's state then; null if a newer build had finished before it. */
function countedBefore(attempt: Attempt, history: readonly Attempt[]): Attempt[] | null {
  const { finalSeq } = attempt
  if (finalSeq === null) return null
  const verdicts = history.filter((other) => isVerdict(other.status) && other.finalSeq !== null)
  const overtaken = verdicts.some((other) => other.buildOrder > attempt.buildOrder && other.finalSeq! < finalSeq)
  if (overtaken) return null
  // An outcome of the same colour that is received later must not undo this attempt's news. Nor must a `history` event,
  // which sends no message, change earlier messages.
  const counts = (other: Attempt) =>
    other.finalSeq! < finalSeq ||
    // The source itself says in which order the attempts of one build were.
    (other.buildOrder === attempt.buildOrder && areNumbered(other, attempt)) ||
    (isRed(other.status) !== isRed(attempt.status) &&
      endOf(other)?.origin !== 'history' &&
      !endedLater(other.details, attempt.details))
  return verdicts.filter((other) => compareEnds(other, attempt) < 0 && counts(other)).sort(compareEnds)
}

/** Whether an older build surely ended after a newer one, and was not only delivered later. */
export const endedLater = (older: Ended, newer: Ended): boolean =>
  older.finishedAt !== null && newer.finishedAt !== null && older.finishedAt > newer.finishedAt

type Ended = Pick<BuildEvent['details'], 'finishedAt'>

export const endOf = ({ buildEvents, finalSeq }: Attempt): BuildEvent | undefined =>
  buildEvents.find(({ seq }) => seq === finalSeq)

/**
 * How long a branch had been red up to this attempt, which is red itself or has no outcome. Null: not red.
 * @param history finished attempts of the same project and branch, in any order
 */
export function extentTo(attempt: Attempt, history: readonly Attempt[], historyIsCut: boolean): StreakExtent | null {
  if (attempt.status === 'success') return null
  const before = history.filter((other) => isVerdict(other.status) && endedBefore(other, attempt)).sort(compareEnds)
  return redStreak(isRed(attempt.status) ? [...before, attempt] : before, historyIsCut)
}

// An attempt that has not ended comes after all that have.
const endedBefore = (other: Attempt, attempt: Attempt): boolean =>
  compareEnds(other, { ...attempt, finalSeq: attempt.finalSeq ?? Number.POSITIVE_INFINITY }) < 0

type End = Pick<Attempt, 'buildOrder' | 'finalSeq' | 'n' | 'details'>

/** Newest last. Attempts of one build are sorted by the source's numbers if there are any, else by when they ended. */
function compareEnds(a: End, b: End): number {
  const byNumber = areNumbered(a, b) ? a.n - b.n : 0
  return compareOrders(a.buildOrder, b.buildOrder) || byNumber || (a.finalSeq ?? 0) - (b.finalSeq ?? 0)
}

/**
 * Whether the source numbered both attempts. Our own numbers do not count: on each card of a build they begin with 1.
 */
const areNumbered = (a: Pick<Attempt, 'details'>, b: Pick<Attempt, 'details'>): boolean =>
  a.details.attempt != null && b.details.attempt != null

// Counts as a streak does: builds that failed, and CI machine errors only if nothing else is red.
function redStreak(before: readonly Attempt[], historyIsCut: boolean): StreakExtent | null {
  const { red, failed } = sinceGreen(before)
  const streak = failed.length > 0 ? failed : red
  const [first] = streak
  if (!first) return null
  return { at: first.finalAt!, builds: countBuilds(streak), atLeast: historyIsCut && red.length === before.length }
}
