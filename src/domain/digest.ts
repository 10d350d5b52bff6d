import type { FigureQuery } from './figures.ts'

/** When a channel gets its digest: at a minute of the day, in a time zone; weekly on one day. */
export interface Schedule {
  kind: 'daily' | 'weekly'
  /** 1: Monday, 7: Sunday; null: every day */
  weekday: number | null
  /** of the day, from 0 on */
  minute: number
  zone: string
}

export const DAY_MS = 24 * 60 * 60_000

/** A digest that is later than this is not sent. */
export const DIGEST_LATE_MAX_MS = 12 * 60 * 60_000

/** No digest is due further ahead than this. A stored due time beyond it was computed while the clock was ahead. */
export const DIGEST_AHEAD_MAX_MS = 9 * DAY_MS

// Uses Temporal, not node-cron. node-cron computes only the next run and not the last, reads the machine's clock, and
// leaves out a time that a clock change skips. Here each day has one due time: a skipped time moves as much later, and
// of a time that comes twice the first counts.

/** The last due time (ms) at or before `now`. */
export const lastDue = (schedule: Schedule, now: number): number => dueOn(schedule, lastDay(schedule, now))

/** The first due time (ms) after `lastDue`, and so after `now`. */
export const nextDue = (schedule: Schedule, now: number): number =>
  dueOn(schedule, lastDay(schedule, now).add({ days: stepOf(schedule) }))

const stepOf = ({ kind }: Schedule): number => (kind === 'weekly' ? 7 : 1)

function lastDay(schedule: Schedule, now: number): Temporal.PlainDate {
  const today = dayOf(now, schedule.zone)
  const since = schedule.weekday === null ? 0 : (today.dayOfWeek - schedule.weekday + 7) % 7
  const day = today.subtract({ days: since })
  return dueOn(schedule, day) <= now ? day : day.subtract({ days: stepOf(schedule) })
}

const dayOf = (at: number, zone: string): Temporal.PlainDate =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDate()

function dueOn({ minute, zone }: Schedule, day: Temporal.PlainDate): number {
  const plainTime = { hour: Math.floor(minute / 60), minute: minute % 60 }
  return day.toZonedDateTime({ timeZone: zone, plainTime }).epochMilliseconds
}

/** The period of a digest: the day or the seven days before the day on which it is due. */
export interface DigestPeriod extends FigureQuery {
  /** `2026-11-23-weekly`: unique among the digests of a channel */
  name: string
  kind: Schedule['kind']
  /** `2026-11-16` */
  firstDay: string
  lastDay: string
  /** the dates of `days`: the seven days up to `lastDay`, also in a daily digest */
  dayNames: readonly string[]
}

const DAYS = 7

export function periodOf({ kind, zone }: Pick<Schedule, 'kind' | 'zone'>, dueAt: number): DigestPeriod {
  const due = dayOf(dueAt, zone)
  const step = { days: kind === 'weekly' ? DAYS : 1 }
  const first = due.subtract(step)
  const days = Array.from({ length: DAYS }, (_, n) => due.subtract({ days: DAYS - n }))
  const from = startOf(first, zone)
  return {
    name: `${due.toString()}-${kind}`,
    kind,
    firstDay: first.toString(),
    lastDay: due.subtract({ days: 1 }).toString(),
    period: { from, to: startOf(due, zone) },
    before: { from: startOf(first.subtract(step), zone), to: from },
    days: days.map((day) => startOf(day, zone)),
    dayNames: days.map((day) => day.toString()),
  }
}

const startOf = (day: Temporal.PlainDate, zone: string): number => day.toZonedDateTime(zone).epochMilliseconds

/** A time zone in its standard spelling; null: there is no time zone with that name. */
export function zoneNamed(name: string): string | null {
  try {
    const zone = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
    // Intl accepts some names that Temporal does not, such as SystemV/EST5.
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone) && zone
  } catch {
    return null
  }
}
