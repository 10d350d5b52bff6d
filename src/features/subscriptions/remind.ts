import { zoneNamed } from '../../domain/rules/digest.ts'
import type { ReminderRule } from '../../domain/builds/reminder.ts'

const MINUTE_MS = 60_000
const UNITS_MS: Readonly<Record<string, number>> = { m: MINUTE_MS, h: 60 * MINUTE_MS, d: 24 * 60 * MINUTE_MS }

/** The shortest and the longest time after which a channel can be reminded. */
const REMIND_AFTER_MS_MIN = 30 * MINUTE_MS
const REMIND_AFTER_MS_MAX = 7 * 24 * 60 * MINUTE_MS

/** As typed. `zone` null: the requester's own time zone. */
export type ReminderInput = Omit<ReminderRule, 'zone'> & { zone: string | null }

interface ReminderReading {
  kind: 'reminder'
  /** null: none */
  remind: ReminderInput | null
  /** the words after it */
  rest: readonly string[]
}

/** A word that is not a time, hours or a time zone. */
export interface ReminderFault {
  kind: 'no-reminder'
  what: 'time' | 'hours' | 'days' | 'zone'
  word: string
}

/** Reads `2h 8-20 daily Europe/Berlin`, the hours, days and zone in any order, or `off`. */
export function readReminder([time = '', ...words]: readonly string[]): ReminderReading | ReminderFault {
  if (time.toLowerCase() === 'off') return { kind: 'reminder', remind: null, rest: words }
  const afterMs = msOf(time)
  if (afterMs === null) return { kind: 'no-reminder', what: 'time', word: time }
  const remind: ReminderInput = { afterMs, fromHour: 9, toHour: 18, days: 'weekdays', zone: null }
  for (const [n, word] of words.entries()) {
    const part = partOf(word)
    if (part === null) return { kind: 'reminder', remind, rest: words.slice(n) }
    if ('kind' in part) return part
    Object.assign(remind, part)
  }
  return { kind: 'reminder', remind, rest: [] }
}

/** The same for a text without further words: an unknown word counts as wrong days, or as a wrong time zone. */
export function readReminderAlone(text: string): ReminderReading | ReminderFault {
  const reading = readReminder(text.trim().split(/\s+/))
  const [extra] = reading.kind === 'reminder' && reading.remind ? reading.rest : []
  if (extra === undefined) return reading
  return { kind: 'no-reminder', what: extra.includes('/') ? 'zone' : 'days', word: extra }
}

function msOf(text: string): number | null {
  const [, count, unit = ''] = /^(\d{1,5})([mhd])$/i.exec(text) ?? []
  const ms = Number(count) * (UNITS_MS[unit.toLowerCase()] ?? 0)
  return ms >= REMIND_AFTER_MS_MIN && ms <= REMIND_AFTER_MS_MAX ? ms : null
}

/** Null: the word is not hours, days or a zone. */
function partOf(word: string): Partial<ReminderInput> | ReminderFault | null {
  const days = word.toLowerCase()
  if (days === 'weekdays' || days === 'daily') return { days }
  const [, from, to] = /^(\d{1,3})-(\d{1,3})$/.exec(word) ?? []
  if (from !== undefined) return hoursOf(Number(from), Number(to)) ?? { kind: 'no-reminder', what: 'hours', word }
  // Any other zone's name, such as `poland` or `GB`, could be a branch.
  const zone = word.includes('/') || days === 'utc' ? zoneNamed(word) : null
  if (zone !== null) return { zone }
  return isZoneLike(word) ? { kind: 'no-reminder', what: 'zone', word } : null
}

const hoursOf = (fromHour: number, toHour: number): Partial<ReminderInput> | null =>
  fromHour > 23 || toHour > 24 || fromHour === toHour ? null : { fromHour, toHour: toHour === 0 ? 24 : toHour }

/** `Mars/Olympus`, `europe/berln`. A branch of that name is typed `@Mars/Olympus`. */
const isZoneLike = (word: string): boolean =>
  /^[A-Z]\w+\/[A-Z]/.test(word) ||
  /^(?:africa|america|antarctica|asia|atlantic|australia|etc|europe|indian|pacific)\//i.test(word)

/** One sentence without a full stop. @param quote how a word from outside is shown */
export function reminderFault({ what, word }: ReminderFault, quote = (text: string): string => text): string {
  if (what === 'hours') return `${quote(word)} are not hours from 0 to 24, such as 9-18`
  if (what === 'days') return `${quote(word)} is neither days (weekdays or daily) nor a time zone such as Europe/Berlin`
  if (what === 'zone') return `there is no time zone ${quote(word)}; write it like Europe/Berlin`
  return `${word === '' ? 'a reminder needs' : `${quote(word)} is not`} a time from 30m to 7d, such as 2h`
}

/** The rule as typed: `2h 9-18 weekdays Europe/Berlin`. */
export const typedTime = (afterMs: number): string => {
  const unit = ['d', 'h', 'm'].find((one) => afterMs % (UNITS_MS[one] ?? 1) === 0) ?? 'm'
  return `${Math.round(afterMs / UNITS_MS[unit]!)}${unit}`
}

export const typedHours = ({ fromHour, toHour, days, zone }: ReminderRule): string =>
  `${fromHour}-${toHour} ${days} ${zone}`
