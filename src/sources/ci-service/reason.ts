import { isUuid } from '../../domain/ids.ts'
import { isRecord, parseJson } from '../../lib/json.ts'
import { hidePieces } from './pieces.ts'

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
  const clean = withoutSecrets(words, secrets)
  return clean === '' ? undefined : cut(clean, REASON_CHARS_MAX)
}

/** A text with the given secrets, pieces of them, and all that looks like one taken out. */
export const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  hideLookalikes(hidePieces(hide(text, secrets), secrets, REMOVED))

/** A text with the given secrets taken out, in each form in which a URL, a form or JSON would carry them. */
function hide(text: string, secrets: readonly string[]): string {
  // Only what is there: a project's secrets together would be too long for a pattern.
  const lower = text.toLowerCase()
  const isThere = (form: string) => text.includes(form) || lower.includes(form.toLowerCase())
  const forms = secrets.flatMap(formsOf).filter(isThere)
  if (forms.length === 0) return text
  const patterns = forms.sort((a, b) => b.length - a.length).map(patternOf)
  return text.replace(new RegExp(patterns.join('|'), 'gi'), REMOVED)
}

/** A secret this short hides whole words only: `test` would take the word out of `test_pipelines`, too. */
const WORD_CHARS_MAX = 5

function patternOf(form: string): string {
  const pattern = escapePattern(form)
  return form.length > WORD_CHARS_MAX ? pattern : String.raw`(?<!\w)${pattern}(?!\w)`
}

/** An `Authorization` and what it is without its scheme: each is a secret. */
export const credentialsIn = (authorization: string): string[] => [
  authorization,
  ...(/^[\w-]+\s+(\S.*)$/.exec(authorization)?.slice(1) ?? []),
]

/** A text with everything taken out that has the look of a secret: named values, tokens, queries of addresses. */
function hideLookalikes(text: string): string {
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

const isTokenLike = (word: string): boolean =>
  /\d/.test(word) && /[a-z]/i.test(word) && !isUuid(word) && !FIELD_PATH.test(word)

// `notification_rules.0.options`: CI has to be able to say which field it means.
const FIELD_PATH = /^[a-z_]+(?:[./](?:[a-z_]+|\d{1,3}))+[.]?$/

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

const formsOf = (secret: string): string[] =>
  secret === ''
    ? []
    : [
        secret,
        encodeURIComponent(secret.toWellFormed()),
        new URLSearchParams({ '': secret }).toString().slice(1),
        JSON.stringify(secret).slice(1, -1),
      ]

const escapePattern = (text: string): string => text.replace(/[$()*+.?[\\\]^{|}\-/]/g, String.raw`\$&`)
