import { dueTimes } from '../../lib/cron.ts'
import type { FigureQuery } from '../builds/figures.ts'

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

/** `0 9 * * 1` for Mondays at 9:00. */
export const cronOf = ({ weekday, minute }: Pick<Schedule, 'weekday' | 'minute'>): string =>
  `${minute % 60} ${Math.floor(minute / 60)} * * ${weekday === null ? '*' : weekday % 7}`

/** The last time (ms) at or before `now` at which a digest is due, and the next one. */
export const digestDue = (schedule: Schedule, now: number): { last: number; next: number } =>
  dueTimes({ cron: cronOf(schedule), zone: schedule.zone }, now)

const dayOf = (at: number, zone: string): Temporal.PlainDate =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDate()

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

/** A time zone in its standard spelling; null: unknown. */
export function zoneNamed(name: string): string | null {
  try {
    const zone = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
    // Intl accepts some names that Temporal does not, such as SystemV/EST5.
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone) && zone
  } catch {
    return null
  }
}
