/** A longer wait than this is passed on as this. */
export const RETRY_AFTER_MS_MAX = 60 * 60 * 1000

/** What a `Retry-After` header asks for, from `now`: seconds or an HTTP date; undefined when it says neither. */
export function parseRetryAfterMs(header: string | null, now: number): number | undefined {
  const waitMs = header === null ? Number.NaN : asksForMs(header.trim(), now)
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(0, Math.ceil(waitMs)), RETRY_AFTER_MS_MAX)
}

function asksForMs(text: string, now: number): number {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1000
  // An HTTP date begins with its weekday; Date.parse alone would take "2099" for a date.
  return /^(?:mon|tue|wed|thu|fri|sat|sun)/i.test(text) ? Date.parse(text) - now : Number.NaN
}
