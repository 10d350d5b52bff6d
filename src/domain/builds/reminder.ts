import type { ChannelId } from '../ids.ts'
import type { Streak, StreakChange } from './streak.ts'

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

/** The most reminders of one streak in one channel. */
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
 * @param changes all changes of the streak
 */
export function nextReminder(
  rule: ReminderRule,
  { beganAt, endedAt, owner, ownerUntil, snoozedUntil }: Streak,
  changes: readonly StreakChange[],
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

const LEFT_ALONE: ReadonlySet<StreakChange['kind']> = new Set(['let-go', 'left', 'lapsed'])

/** Whether a recorded reminder is still true: not after the fix, nor if somebody has taken or snoozed the branch since. */
export const reminderHolds = (
  { at }: Pick<StreakChange, 'at'>,
  { endedAt, ownerUntil, snoozedUntil }: Pick<Streak, 'endedAt' | 'ownerUntil' | 'snoozedUntil'>,
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
