import type { BuildEvent } from './build-event.ts'
import { compareOrders, type BuildId, type ChannelId, type ProjectId } from '../ids.ts'
import { isVerdict } from './status.ts'

// A branch's red streak and its owner.

/** A build event that finishes a build, with its place among the outcomes of the branch. */
type Outcome = Pick<BuildEvent, 'seq' | 'buildId' | 'buildOrder' | 'status'>

/** A streak that has not ended. `builds`: how many failed. */
export interface RedStreak<One> {
  first: One
  newest: One
  builds: number
}

/**
 * The red streak that a branch is in: from its first failure after the last success, in build order, not in order of
 * receipt. A CI machine error neither begins nor ends a streak, and does not count as one of its builds.
 * @param outcomes of one branch, in any order
 */
export function breakageOf<One extends Outcome>(outcomes: readonly One[]): RedStreak<One> | null {
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
export interface Breakage {
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
export interface RedSince {
  at: number
  builds: number
  atLeast: boolean
}

/** The visible part of a breakage: who is on it, and until when reminders are snoozed. */
export interface ShownBreakage {
  id: string
  owner: { user: string; since: number; until: number } | null
  snoozedUntil: number | null
}

/** The breakage at that time (ms), without an owner or a snooze whose time is up. */
export function shownBreakage(breakage: Breakage, now: number): ShownBreakage {
  const { id, owner: user, ownedAt, ownerUntil, snoozedUntil } = breakage
  const isOwned = user !== null && ownerUntil !== null && ownerUntil > now
  return {
    id,
    owner: isOwned ? { user, since: ownedAt ?? now, until: ownerUntil } : null,
    snoozedUntil: snoozedUntil !== null && snoozedUntil > now ? snoozedUntil : null,
  }
}

/** Since when the branch is red, and how many builds failed. */
export const redSinceOf = ({ beganAt: at, builds }: Breakage): RedSince => ({ at, builds, atLeast: false })

/** When an owner's time or a snooze is up (ms); null: there is neither. */
export function changesAt({ owner, snoozedUntil }: ShownBreakage): number | null {
  const times = [owner?.until, snoozedUntil].filter((at) => at != null)
  return times.length === 0 ? null : Math.min(...times)
}

/** How a branch or request ended while it was red, as its source says. Its streak then ends without a message. */
export type BranchEnd = 'deleted' | 'renamed' | 'merged' | 'closed'

/** A change of a breakage. All but `lapsed` are lines in the thread. Those made by people are also in the audit. */
export interface BreakageChange {
  id: string
  breakageId: string
  /** Slack's id of the interaction, so that a repetition is the same change; null: no person did it */
  interactionKey: string | null
  kind: DoneByPeople | BranchEnd | 'reminded' | 'lapsed'
  /** a Slack user; for `left` the one who has left, for `lapsed` the one whose time is up; empty: no person did it */
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

// When a channel is reminded of a red branch that nobody is on.

/** When a subscription's channel is reminded: after how long, and in which hours of which days. */
export interface ReminderRule {
  afterMs: number
  /** 0 to 23; `toHour` is 1 to 24, and before `fromHour` if the hours run past midnight */
  fromHour: number
  toHour: number
  /** the days on which the hours begin */
  days: 'weekdays' | 'daily'
  zone: string
}

/** The most reminders of one breakage in one channel. */
export const REMINDERS_MAX = 3

/**
 * A channel's reminder that was due longer ago is not posted. Otherwise, turning reminders on would immediately post
 * one for each branch that was left red for months.
 */
const REMINDER_LATE_MAX_MS = 7 * 24 * 60 * 60_000

/** `owner`: a direct message to the owner, whose time is up. `channel`: a reminder in the thread, with its number. */
export type NextReminder = { kind: 'owner'; at: number } | { kind: 'channel'; at: number; number: number }

/**
 * Which reminder is due next, and when (ms); null: none. A late reminder also delays the next ones: missed reminders
 * are not made up for.
 * @param changes all changes of the breakage
 */
export function nextReminder(
  rule: ReminderRule,
  { beganAt, endedAt, owner, ownerUntil, snoozedUntil }: Breakage,
  changes: readonly BreakageChange[],
  channel: ChannelId,
): NextReminder | null {
  const reminded = changes.filter((change) => change.kind === 'reminded' && change.channel === channel)
  if (endedAt !== null || reminded.length >= REMINDERS_MAX) return null
  const notBefore = Math.max(ownerUntil ?? 0, snoozedUntil ?? 0)
  const isNotified = changes.some(({ kind, until }) => kind === 'lapsed' && until === ownerUntil)
  if (owner !== null && !isNotified) return { kind: 'owner', at: withinHours(rule, notBefore) }
  const since = [...changes.filter(({ kind }) => LEFT_ALONE.has(kind)), ...reminded].map(({ at }) => at)
  const at = Math.max(Math.max(beganAt, ...since) + rule.afterMs, notBefore)
  return { kind: 'channel', at: withinHours(rule, at), number: reminded.length + 1 }
}

/** Owners are notified that their time is up, however late. */
export const isDue = ({ kind, at }: NextReminder, now: number): boolean =>
  at <= now && (kind === 'owner' || now - at <= REMINDER_LATE_MAX_MS)

const LEFT_ALONE: ReadonlySet<BreakageChange['kind']> = new Set(['let-go', 'left', 'lapsed'])

/** Whether a recorded reminder is still true: not after the fix, nor if somebody has taken or snoozed the branch since. */
export const reminderHolds = (
  { at }: Pick<BreakageChange, 'at'>,
  { endedAt, ownerUntil, snoozedUntil }: Pick<Breakage, 'endedAt' | 'ownerUntil' | 'snoozedUntil'>,
): boolean => endedAt === null && Math.max(ownerUntil ?? 0, snoozedUntil ?? 0) <= at

/** The first time (ms) at or after this one that is within the hours. */
export function withinHours(rule: ReminderRule, at: number): number {
  const today = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(rule.zone).toPlainDate()
  for (let n = -1; ; n++) {
    const { from, to } = hoursOn(rule, today.add({ days: n }))
    if (at < to && from < to) return Math.max(at, from)
  }
}

/** The hours that begin on a day; empty on a day without reminders, or if a clock change skips them all. */
function hoursOn(
  { fromHour, toHour, days, zone }: ReminderRule,
  day: Temporal.PlainDate,
): { from: number; to: number } {
  if (days === 'weekdays' && day.dayOfWeek > FRIDAY) return { from: 0, to: 0 }
  const lastDay = toHour === DAY_HOURS || toHour < fromHour ? day.add({ days: 1 }) : day
  return { from: hourOn(day, fromHour, zone), to: hourOn(lastDay, toHour % DAY_HOURS, zone) }
}

const FRIDAY = 5
const DAY_HOURS = 24

const hourOn = (day: Temporal.PlainDate, hour: number, zone: string): number =>
  day.toZonedDateTime({ timeZone: zone, plainTime: { hour } }).epochMilliseconds
