// Slack's date tokens, in the reader's time zone: docs.slack.dev/messaging/formatting-message-text

/** `{date_short_pretty} at {time}` as text; null if it depends on the current time and `nowMs` is left out. */
export function dateText(date: Date, format: string, nowMs = Number.NaN): string | null {
  if (format.includes('{ago}') && Number.isNaN(nowMs)) return null
  return format.replaceAll(/\{(\w+)\}/g, (whole, token: string) =>
    Object.hasOwn(TOKENS, token) ? (TOKENS[token]?.(date, nowMs) ?? whole) : whole,
  )
}

const TOKENS: Record<string, (date: Date, nowMs: number) => string> = {
  // The Swedish format is Slack's `{date_num}`.
  date_num: (date) => date.toLocaleDateString('sv'),
  date: longDay,
  date_short: shortDay,
  date_long: weekday,
  date_pretty: (date, nowMs) => nearDay(date, nowMs) ?? longDay(date, nowMs),
  date_short_pretty: (date, nowMs) => nearDay(date, nowMs) ?? shortDay(date, nowMs),
  date_long_pretty: (date, nowMs) => nearDay(date, nowMs) ?? weekday(date, nowMs),
  time: (date) => date.toLocaleTimeString('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
  time_secs: (date) =>
    date.toLocaleTimeString('en', { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' }),
  ago: (date, nowMs) => ago(nowMs - date.getTime()),
}

function weekday(date: Date, nowMs: number): string {
  return `${date.toLocaleDateString('en', { weekday: 'long' })}, ${longDay(date, nowMs)}`
}

function longDay(date: Date, nowMs: number): string {
  return `${date.toLocaleDateString('en', { month: 'long' })} ${ordinal(date.getDate())}${yearAfter(date, nowMs)}`
}

function shortDay(date: Date, nowMs: number): string {
  return `${date.toLocaleDateString('en', { month: 'short', day: 'numeric' })}${yearAfter(date, nowMs)}`
}

const ORDINALS = new Intl.PluralRules('en', { type: 'ordinal' })
const ENDINGS: Partial<Record<Intl.LDMLPluralRule, string>> = { one: 'st', two: 'nd', few: 'rd' }

const ordinal = (day: number): string => `${day}${ENDINGS[ORDINALS.select(day)] ?? 'th'}`

const MIN_MS = 60_000
const H_MS = 60 * MIN_MS
const DAY_MS = 24 * H_MS
const HALF_A_YEAR_MS = 183 * DAY_MS

/** Slack leaves out the year of dates less than six months away. */
const yearAfter = (date: Date, nowMs: number): string =>
  Math.abs(nowMs - date.getTime()) < HALF_A_YEAR_MS ? '' : `, ${date.getFullYear()}`

const NEAR_DAYS = [
  [-1, 'yesterday'],
  [0, 'today'],
  [1, 'tomorrow'],
] as const

/** Compares calendar days, because a day may have 23 hours. */
const nearDay = (date: Date, nowMs: number): string | undefined =>
  NEAR_DAYS.find(([days]) => {
    const day = new Date(nowMs)
    day.setDate(day.getDate() + days)
    return day.toDateString() === date.toDateString()
  })?.[1]

const RELATIVE = new Intl.RelativeTimeFormat('en')

function ago(ms: number): string {
  const awayMs = Math.abs(ms)
  if (awayMs < MIN_MS) return 'just now'
  if (awayMs < H_MS) return RELATIVE.format(-Math.trunc(ms / MIN_MS), 'minute')
  if (awayMs < DAY_MS) return RELATIVE.format(-Math.trunc(ms / H_MS), 'hour')
  return RELATIVE.format(-Math.trunc(ms / DAY_MS), 'day')
}
