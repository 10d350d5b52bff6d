import { isUuid } from '../domain/ids.ts'
import { isRecord, parseJson } from './json.ts'

/** The longest reason that is passed on, in code points. */
export const REASON_CHARS_MAX = 200
const REASON_SOURCE_CHARS_MAX = 4_000
const REMOVED = '[removed]'

/**
 * What an error body says, in one line without markup, or undefined when it says nothing known. Bodies come as
 * `{errors: […]}`, `{error: "…"}`, text, HTML or nothing. The given secrets, and all that looks like one, are taken out.
 */
export function cleanReason(body: string, secrets: readonly string[]): string | undefined {
  const words = withoutMarkup(beginning(hide(said(body.trim()), secrets)))
  // Once more: without its markup the text may show a secret that was escaped or in two halves.
  const clean = hideLookalikes(hide(words, secrets))
  return clean === '' ? undefined : cut(clean, REASON_CHARS_MAX)
}

/** A text with the given secrets taken out, in each form in which a URL, a form or JSON would carry them. */
export function hide(text: string, secrets: readonly string[]): string {
  const forms = secrets.flatMap(formsOf).sort((a, b) => b.length - a.length)
  if (forms.length === 0) return text
  return text.replace(new RegExp(forms.map(escapePattern).join('|'), 'gi'), REMOVED)
}

/** A text with everything taken out that has the look of a secret: named values, tokens, queries of addresses. */
export function hideLookalikes(text: string): string {
  return text
    .replace(/\/\/[^/\s@]+@/g, `//${REMOVED}@`)
    .replace(/\?[^\s"'<>]*=[^\s"'<>]*/g, `?${REMOVED}`)
    .replace(NAMED_SECRET, `$1=${REMOVED}`)
    .replace(/\bbearer\s+[\w.~+/=-]+/gi, `Bearer ${REMOVED}`)
    .replace(/\b(key|token|secret|password)\s+["']?(?=[\w.~+/=-]*\d)[\w.~+/=-]{6,}/gi, `$1 ${REMOVED}`)
    .replace(/\bxox[a-z]-[\w-]+/gi, REMOVED)
    .replace(/[\w.~+/=-]{20,}/g, (word) => (isTokenLike(word) ? REMOVED : word))
}

const NAMED_SECRET =
  /\b([\w-]{0,40}(?:key|token|secret|passw(?:or)?d|authorization))["']?\s*[:=]\s*["']?(?:(?:bearer|basic)\s+)?[^\s"',;&]+/gi

const isTokenLike = (word: string): boolean => /\d/.test(word) && /[a-z]/i.test(word) && !isUuid(word)

function said(body: string): string {
  if (!/^[[{"]/.test(body)) return body
  try {
    return phrases(parseJson(body)).join('; ')
  } catch {
    return ''
  }
}

const SAYING_FIELDS = ['errors', 'error', 'error_description', 'message', 'detail', 'title', 'reason'] as const

function phrases(value: unknown): string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value.trim()]
  if (Array.isArray(value)) return value.flatMap(phrases)
  if (!isRecord(value)) return []
  const spoken = SAYING_FIELDS.flatMap((field) => phrases(value[field]))
  return [...new Set(spoken)]
}

// Cut at a blank, so that no half of a secret is left that nothing recognizes.
const beginning = (text: string): string =>
  text.length <= REASON_SOURCE_CHARS_MAX ? text : text.slice(0, REASON_SOURCE_CHARS_MAX).replace(/\S*$/, '')

const INLINE_MARKUP = /<\/?(?:a|b|code|em|i|mark|span|strong|tt|u|wbr)\b[^<>]*>/gi

function withoutMarkup(text: string): string {
  return text
    .replace(/<(script|style)\b.*?<\/\1\s*>/gis, ' ')
    .replace(INLINE_MARKUP, '')
    .replace(/<[^<>]*>/g, ' ')
    .replace(/&(#x[\da-f]{1,6}|#\d{1,7}|\w{2,4});/gi, (entity, name: string) => characterOf(name) ?? entity)
    .replace(/\p{Cf}+/gu, '')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
}

const ENTITIES = new Map(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }))

function characterOf(entity: string): string | undefined {
  if (!entity.startsWith('#')) return ENTITIES.get(entity)
  const point = /^#x/i.test(entity) ? Number.parseInt(entity.slice(2), 16) : Number(entity.slice(1))
  return point <= 0x10_ff_ff ? String.fromCodePoint(point) : undefined
}

/** Cut visibly, by code points. */
export function cut(text: string, charsMax: number): string {
  const points = Array.from(text)
  return points.length <= charsMax ? text : `${points.slice(0, charsMax - 1).join('')}…`
}

function formsOf(secret: string): string[] {
  if (secret === '') return []
  const [, value = secret] = /^[\w-]+\s+(\S.*)$/.exec(secret) ?? []
  return [secret, value].flatMap((text) => [
    text,
    encodeURIComponent(text),
    new URLSearchParams({ '': text }).toString().slice(1),
    JSON.stringify(text).slice(1, -1),
  ])
}

const escapePattern = (text: string): string => text.replace(/[$()*+.?[\\\]^{|}\-/]/g, String.raw`\$&`)
