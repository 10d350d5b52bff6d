import type { Schedule } from '../../domain/digest.ts'
import type { DigestView } from '../../domain/view.ts'
import { toLine } from '../../lib/escape.ts'
import { buildCount, joined, outside, somebody } from './build.ts'
import { cut, WORD_CHARS_MAX } from './limits.ts'
import { dayTime, durationWords } from './times.ts'

// Texts about digests: when a channel gets one, and what its chart shows.

export const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const

/** `every Monday at 9:00 (Europe/Berlin)` */
function scheduleWords({ weekday, minute, zone }: Schedule): string {
  const day = weekday === null ? 'day' : (WEEKDAYS[weekday - 1] ?? 'week')
  const time = `${Math.floor(minute / 60)}:${String(minute % 60).padStart(2, '0')}`
  return `every ${day} at ${time} (${outside(zone, WORD_CHARS_MAX)})`
}

/** `every Monday at 9:00 (Europe/Berlin) · next Nov 30 9:00` */
export function digestWords({ schedule, nextAt }: { schedule: Schedule; nextAt: number }): string {
  const next = dayTime(nextAt)
  return joined([scheduleWords(schedule), next && `next ${next}`])
}

/** Posted in the channel when a digest is set or changed. */
export const digestSetLine = (user: string, schedule: Schedule): string =>
  `:bar_chart: ${somebody(user)} set a digest for this channel: ${scheduleWords(schedule)}.`

/** Posted in the channel when its digest is turned off. */
export const digestOffLine = (user: string): string => `:bar_chart: ${somebody(user)} turned off this channel's digest.`

const ALT_CHARS_MAX = 1_000

/** The chart's alternative text. */
export function chartInWords({ days, red }: Pick<DigestView, 'days' | 'red'>): string {
  const counts = days.map(({ day, builds, passed }) => {
    const rate = builds === 0 ? '' : `, ${percentOf(passed, builds)}% passed`
    return `${day}: ${buildCount(builds)}${rate}`
  })
  const times = red.shown.map(({ project, branch, forMs }) => `${project} ${branch}: red for ${durationWords(forMs)}`)
  return cut(toLine(['Builds by day', ...counts, ...times].join('; ')), ALT_CHARS_MAX)
}

/** In whole percent. */
export const percentOf = (part: number, whole: number): number => Math.round((100 * part) / whole)
