// Times in each reader's time zone; UTC where Slack cannot show that.

/** `<!date^…|14:02 UTC>`; null for a time that Slack cannot show. */
export function clockTime(atMs: number): string | null {
  const iso = isoOf(atMs)
  return iso && `<!date^${Math.floor(atMs / MS_PER_S)}^{time}|${iso.slice(11, 16)} UTC>`
}

/** Day and time, for times that may be days ago: `today at 14:02`, `Nov 12 at 14:02`. */
export function dayTime(atMs: number): string | null {
  const iso = isoOf(atMs)
  return (
    iso &&
    `<!date^${Math.floor(atMs / MS_PER_S)}^{date_short_pretty} at {time}|${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC>`
  )
}

/**
 * The clock time, for a reader who knows when the message was posted; with its day if that is not certain.
 * @param postedAt when the message was, or will be, posted (ms); null: not known, taken to be at about that time
 */
export const timeIn = (atMs: number, postedAt: number | null): string | null =>
  postedAt !== null && Math.abs(atMs - postedAt) > CLOCK_TIME_MAX_MS ? dayTime(atMs) : clockTime(atMs)

/** Within this time of a message, a clock time is unambiguous without its day. */
const CLOCK_TIME_MAX_MS = 12 * 60 * 60_000

const MS_PER_S = 1_000
const S_PER_MIN = 60
const S_PER_H = 3_600
const S_PER_DAY = 86_400
/** The last second of the year 9999: Slack shows no later one. */
const AT_MS_MAX = 253_402_300_799_000

const isoOf = (atMs: number): string | null =>
  Number.isFinite(atMs) && atMs > 0 && atMs <= AT_MS_MAX ? new Date(atMs).toISOString() : null

/** `42 s`, `7 min`, `1 h 5 min`, `2 d 3 h`: at most two units; the smaller one is left out if it is 0. */
export function durationWords(durationMs: number): string {
  const s = Math.max(0, Math.round(durationMs / MS_PER_S))
  if (s < S_PER_MIN) return s === 0 ? 'under 1 s' : `${s} s`
  if (s < S_PER_H) return `${Math.floor(s / S_PER_MIN)} min`
  if (s < S_PER_DAY) return twoUnits(s, S_PER_H, 'h', S_PER_MIN, 'min')
  return twoUnits(s, S_PER_DAY, 'd', S_PER_H, 'h')
}

/** `after 7 min`; `within 1 s` for less than half a second. */
export const afterWords = (durationMs: number): string =>
  Math.round(durationMs / MS_PER_S) < 1 ? 'within 1 s' : `after ${durationWords(durationMs)}`

function twoUnits(s: number, large: number, largeWord: string, small: number, smallWord: string): string {
  const rest = Math.floor((s % large) / small)
  const whole = `${Math.floor(s / large)} ${largeWord}`
  return rest === 0 ? whole : `${whole} ${rest} ${smallWord}`
}
