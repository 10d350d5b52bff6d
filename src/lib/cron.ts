import { parse } from 'node-cron'

/** When something is due: a cron expression, as node-cron reads it (with seconds if it has six fields), in a time zone. */
export interface CronSchedule {
  cron: string
  zone: string
}

/**
 * The last time (ms) at or before `now` at which a schedule is due, and the next one. Each time of day counts once a
 * day: one that a clock change skips is due as much later, and of one that comes twice the first counts.
 */
export function dueTimes({ cron, zone }: CronSchedule, now: number): { last: number; next: number } {
  const fields = fieldsOf(cron)
  const epochOf = (time: Temporal.PlainDateTime) => time.toZonedDateTime(zone).epochMilliseconds
  let last = nearestTime(fields, latestOnClock(zone, now), 'before')
  while (epochOf(last) > now) last = nearestTime(fields, last.subtract(SECOND), 'before')
  return { last: epochOf(last), next: epochOf(nearestTime(fields, last.add(SECOND), 'after')) }
}

const SECOND = { seconds: 1 }

/** Longer than any clock change moves the clock back. */
const CHANGE_HOURS_MAX = 3

/** The latest time that the zone's clocks have shown until now: an hour after they were set back, it was shown before. */
function latestOnClock(zone: string, now: number): Temporal.PlainDateTime {
  const shown = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone)
  const unchanged = shown.subtract({ hours: CHANGE_HOURS_MAX }).toPlainDateTime().add({ hours: CHANGE_HOURS_MAX })
  return [shown.toPlainDateTime(), unchanged].sort(Temporal.PlainDateTime.compare)[1]!
}

type Fields = ReturnType<typeof parse>
const known = new Map<string, Fields>()

function fieldsOf(cron: string): Fields {
  const fields = known.get(cron) ?? parse(cron)
  known.set(cron, fields)
  return fields
}

/** How far is looked for a day, as node-cron does: a 29 February may have to be a Monday. */
const DAYS_MAX = 100 * 366

/** The time nearest to `from` that the fields name: `from` itself, or the first one on this side of it. */
function nearestTime(fields: Fields, from: Temporal.PlainDateTime, side: 'before' | 'after'): Temporal.PlainDateTime {
  const sign = side === 'before' ? -1 : 1
  for (let days = 0; days < DAYS_MAX; days++) {
    const day = from.toPlainDate().add({ days: sign * days })
    const time = isOn(fields, day) ? nearestOnDay(fields, days === 0 ? from : null, sign) : null
    if (time) return day.toPlainDateTime(time)
  }
  throw new Error('the cron expression names no day')
}

function nearestOnDay(fields: Fields, from: Temporal.PlainDateTime | null, sign: -1 | 1) {
  const [hours, minutes, seconds] = [fields.hour, fields.minute, fields.second].map((values) =>
    values.toSorted((a, b) => sign * (a - b)),
  )
  const isPast = (value: number, limit: number) => sign * (value - limit) < 0
  for (const hour of hours!) {
    if (from && isPast(hour, from.hour)) continue
    const hourOfFrom = from?.hour === hour ? from : null
    for (const minute of minutes!) {
      if (hourOfFrom && isPast(minute, hourOfFrom.minute)) continue
      const minuteOfFrom = hourOfFrom?.minute === minute ? hourOfFrom : null
      const second = seconds!.find((one) => !minuteOfFrom || !isPast(one, minuteOfFrom.second))
      if (second !== undefined) return { hour, minute, second }
    }
  }
  return null
}

const isOn = ({ month, dayOfMonth, dayOfWeek }: Fields, day: Temporal.PlainDate): boolean =>
  month.includes(day.month) && dayOfMonth.includes(day.day) && dayOfWeek.includes(day.dayOfWeek % 7)
