import type { Breakage, BreakageChange } from './breakage.ts'
import type { ChannelId } from './ids.ts'

// When a channel is reminded of a red branch that nobody is on.

/** What a subscription says of reminders: after how long, and in which hours of which days. */
export interface ReminderRule {
  afterMs: number
  /** 0 to 23; `toHour` 1 to 24, and before `fromHour` where they go over midnight */
  fromHour: number
  toHour: number
  /** those on which the hours begin */
  days: 'weekdays' | 'daily'
  zone: string
}

/** Of one breakage in one channel. */
export const REMINDERS_MAX = 3

/** `owner`: whose promise has passed is told so first, directly. `channel`: the reminder of this number in the thread. */
export type NextReminder = { kind: 'owner'; at: number } | { kind: 'channel'; at: number; number: number }

/**
 * Which reminder is due next, and when (ms); null: none any more. One that comes late makes those after it as late: what
 * was missed is not made up for.
 * @param changes all that was done about the breakage
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
  const isTold = changes.some(({ kind, until }) => kind === 'lapsed' && until === ownerUntil)
  if (owner !== null && !isTold) return { kind: 'owner', at: withinHours(rule, notBefore) }
  const since = [...changes.filter(({ kind }) => LEFT_ALONE.has(kind)), ...reminded].map(({ at }) => at)
  const at = Math.max(Math.max(beganAt, ...since) + rule.afterMs, notBefore)
  return { kind: 'channel', at: withinHours(rule, at), number: reminded.length + 1 }
}

const LEFT_ALONE: ReadonlySet<BreakageChange['kind']> = new Set(['let-go', 'left', 'lapsed'])

/** Is a reminder that was recorded still true? Not after the fix, nor once somebody took the branch or snoozed since. */
export const reminderHolds = (
  { at }: Pick<BreakageChange, 'at'>,
  { endedAt, ownerUntil, snoozedUntil }: Pick<Breakage, 'endedAt' | 'ownerUntil' | 'snoozedUntil'>,
): boolean => endedAt === null && Math.max(ownerUntil ?? 0, snoozedUntil ?? 0) <= at

/** The first time within the hours that is not before this one (ms). */
export function withinHours(rule: ReminderRule, at: number): number {
  const today = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(rule.zone).toPlainDate()
  for (let n = -1; ; n++) {
    const { from, to } = hoursOn(rule, today.add({ days: n }))
    if (at < to && from < to) return Math.max(at, from)
  }
}

/** The hours that begin on a day; none where they are all skipped by the clocks, or the day is none. */
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
