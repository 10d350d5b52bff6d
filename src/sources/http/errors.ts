import { isUuid } from '../../domain/ids.ts'
import { isRecord, parseJson } from '../../lib/json.ts'

export type CiErrorKind =
  | 'bad-request'
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'rate-limited'
  | 'server'
  | 'timeout'
  | 'unreachable'
  | 'shape'
  | 'too-large'

interface CiErrorDetails {
  kind: CiErrorKind
  /** What the request was for, in words: `list projects`. */
  purpose: string
  status?: number | undefined
  retryAfterMs?: number | undefined
  /** What CI said, already cleaned. */
  reason?: string | undefined
  /** A request that may change something, and so must not be repeated while it may have been done. */
  isWrite?: boolean | undefined
  /** What was asked for cannot have been done: it was never sent. A status says so by itself. */
  isUndone?: boolean | undefined
  /** Who answered, for the code: `CI` or `CI_TOKEN`. */
  source?: 'CI' | 'CI_TOKEN'
  cause?: unknown
}

/**
 * A call to CI that did not succeed. `kind` says what happened, `code` is the same for logs (`CI_NOT_FOUND`; `CI_TOKEN_…`
 * when the token endpoint failed), `retryable` whether the same call may succeed later. Message, stack, cause and JSON hold
 * no key, token, query or body: at most a cleaned `reason`.
 */
export class CiError extends Error {
  override readonly name = 'CiError'
  readonly kind: CiErrorKind
  readonly code: string
  readonly retryable: boolean
  /** see `certainlyUndone` */
  readonly isUndone: boolean
  declare readonly status?: number
  declare readonly retryAfterMs?: number
  declare readonly reason?: string

  constructor(details: CiErrorDetails) {
    super(messageOf(details), details.cause === undefined ? undefined : { cause: details.cause })
    this.kind = details.kind
    this.code = `${details.source ?? 'CI'}_${details.kind.replaceAll('-', '_').toUpperCase()}`
    this.isUndone = details.isUndone ?? isRefusal(details.status)
    this.retryable = RETRYABLE.has(details.kind) && (this.isUndone || details.isWrite !== true)
    if (details.status !== undefined) this.status = details.status
    if (details.retryAfterMs !== undefined) this.retryAfterMs = details.retryAfterMs
    if (details.reason !== undefined) this.reason = details.reason
  }
}

/**
 * Whether CI has surely not done what a failed call asked for: it answered with a 4xx, or the request never left, because no
 * connection stood or no token was to be had. False is not the opposite: CI may have done it, and somebody has to look.
 */
export const certainlyUndone = (error: unknown): boolean => error instanceof CiError && error.isUndone

/** Null: it is not there, or the credentials are not shown it. */
export async function unlessGone<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof CiError && (error.kind === 'not-found' || error.kind === 'forbidden')) return null
    throw error
  }
}

/** What to throw when a caller's signal aborted: the signal's own reason; a time limit is a timeout like any other. */
export function abortReason(
  signal: AbortSignal,
  request: Pick<CiErrorDetails, 'purpose' | 'isWrite' | 'isUndone'>,
): unknown {
  const reason: unknown = signal.reason
  const isTimeLimit = reason instanceof DOMException && reason.name === 'TimeoutError'
  return isTimeLimit ? new CiError({ kind: 'timeout', ...request }) : reason
}

const RETRYABLE: ReadonlySet<CiErrorKind> = new Set<CiErrorKind>(['rate-limited', 'server', 'timeout', 'unreachable'])

// 408 is the exception: a server that gave up waiting for a request may have passed it on.
const isRefusal = (status = 0): boolean => status >= 400 && status < 500 && status !== 408

const SENTENCES: Record<CiErrorKind, string> = {
  'bad-request': 'CI did not accept the request',
  unauthorized: 'CI refused the credentials',
  forbidden: 'CI refused: the credentials lack the right',
  'not-found': 'CI knows nothing under that address',
  'rate-limited': 'CI asks to slow down',
  server: 'CI has a fault of its own',
  timeout: 'CI did not answer in time',
  unreachable: 'CI could not be reached',
  shape: 'CI answered in a form that is not its interface',
  'too-large': 'CI answered with more than is read',
}

function messageOf({ kind, purpose, status, reason }: CiErrorDetails): string {
  const context = status === undefined ? purpose : `${purpose}, HTTP ${status}`
  return `${SENTENCES[kind]} (${context})${reason === undefined ? '' : `: ${reason}`}`
}

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

/** So much of a secret, in one piece, is hidden even where the rest of it is not there. */
export const PIECE_CHARS_MIN = 8

/** A text in which `mark` stands for all that it shares with a secret: CI may quote a part, or cut its words within it. */
export function hidePieces(text: string, secrets: readonly string[], mark: string): string {
  const shared = sharedPieces(new Set(piecesOf(text)), secrets)
  if (shared.size === 0) return text
  const hidden = new Set<number>()
  for (const [at, piece] of piecesOf(text).entries()) {
    if (shared.has(piece)) for (let more = 0; more < PIECE_CHARS_MIN; more++) hidden.add(at + more)
  }
  const shown = (unit: string, at: number) => (hidden.has(at) ? (hidden.has(at - 1) ? '' : mark) : unit)
  return text.split('').map(shown).join('')
}

function sharedPieces(pieces: ReadonlySet<string>, secrets: readonly string[]): Set<string> {
  const shared = new Set<string>()
  if (pieces.size === 0) return shared
  for (const secret of secrets) for (const piece of piecesOf(secret)) if (pieces.has(piece)) shared.add(piece)
  return shared
}

const piecesOf = (text: string): string[] =>
  Array.from({ length: Math.max(0, text.length - PIECE_CHARS_MIN + 1) }, (_, at) =>
    text.slice(at, at + PIECE_CHARS_MIN),
  )
