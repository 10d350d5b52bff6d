import { isUuid } from '../../domain/ids.ts'
import { writtenForms } from '../../lib/escape.ts'
import { isRecord, parseJson } from '../../lib/json.ts'
import { cut } from '../../slack/messages/limits.ts'

export type CiErrorKind =
  | 'bad-request'
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'rate-limited'
  | 'server'
  | 'timeout'
  | 'unreachable'
  /** the certificate of the server is not accepted; the cause's code says why */
  | 'certificate'
  | 'shape'
  | 'too-large'

interface CiErrorDetails {
  kind: CiErrorKind
  /** What the request was for: `list projects`. */
  purpose: string
  status?: number | undefined
  retryAfterMs?: number | undefined
  /** CI's reason, already cleaned. */
  reason?: string | undefined
  /** the permissions that the call needs, as GitHub's header `X-Accepted-GitHub-Permissions` has them */
  needs?: string | undefined
  /** The request may change something, so it must not be repeated if it may have been done. */
  isWrite?: boolean | undefined
  /** The request was never sent, so CI cannot have done it. Left out: the status decides. */
  isUndone?: boolean | undefined
  /** The first part of `code`: `CI`, or `CI_TOKEN` for the token endpoint. */
  source?: 'CI' | 'CI_TOKEN'
  cause?: unknown
}

/**
 * A failed call to CI. `kind` says what happened, `code` is the same for logs (`CI_NOT_FOUND`; `CI_TOKEN_…` if the
 * token endpoint failed), `retryable` says whether the same call may succeed later. Message, stack, cause and JSON hold
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
  declare readonly needs?: string

  constructor(details: CiErrorDetails) {
    super(messageOf(details), details.cause === undefined ? undefined : { cause: details.cause })
    this.kind = details.kind
    this.code = `${details.source ?? 'CI'}_${details.kind.replaceAll('-', '_').toUpperCase()}`
    this.isUndone = details.isUndone ?? isRefusal(details.status)
    this.retryable = RETRYABLE.has(details.kind) && (this.isUndone || details.isWrite !== true)
    if (details.status !== undefined) this.status = details.status
    if (details.retryAfterMs !== undefined) this.retryAfterMs = details.retryAfterMs
    if (details.reason !== undefined) this.reason = details.reason
    if (details.needs !== undefined) this.needs = details.needs
  }
}

/**
 * Whether CI has surely not done what a failed call asked for: it answered with a 4xx or sent it elsewhere, or the
 * request was never sent for lack of a connection or a token. False is not the opposite: CI may have done it, and the
 * caller has to check.
 */
export const certainlyUndone = (error: unknown): boolean => error instanceof CiError && error.isUndone

/** Whether the source itself is failing, so that further requests are useless for now. */
export const isAway = ({ kind }: CiError): boolean => AWAY.has(kind)

const AWAY: ReadonlySet<CiErrorKind> = new Set<CiErrorKind>([
  'unauthorized',
  'rate-limited',
  'timeout',
  'unreachable',
  'certificate',
])

/** Null if it does not exist, or the credentials may not see it. */
export const unlessGone = <T>(request: Promise<T>): Promise<T | null> => unless(request, ['not-found', 'forbidden'])

/** Null if it does not exist. */
export const unlessMissing = <T>(request: Promise<T>): Promise<T | null> => unless(request, ['not-found'])

/** Null if the source does not show it: without the right to it, or when it is gone or too large. */
export const unlessUnreadable = <T>(request: Promise<T>): Promise<T | null> =>
  unless(request, ['not-found', 'forbidden', 'bad-request', 'shape', 'too-large'])

const unless = <T>(request: Promise<T>, kinds: readonly CiErrorKind[]): Promise<T | null> =>
  request.catch((error: unknown) => {
    if (error instanceof CiError && kinds.includes(error.kind)) return null
    throw error
  })

/** What to throw when a caller's signal aborts: a CiError `timeout` for a time limit, else the signal's reason. */
export function abortReason(
  signal: AbortSignal,
  request: Pick<CiErrorDetails, 'purpose' | 'isWrite' | 'isUndone'>,
): unknown {
  const reason: unknown = signal.reason
  const isTimeLimit = reason instanceof DOMException && reason.name === 'TimeoutError'
  return isTimeLimit ? new CiError({ kind: 'timeout', ...request }) : reason
}

const RETRYABLE: ReadonlySet<CiErrorKind> = new Set<CiErrorKind>(['rate-limited', 'server', 'timeout', 'unreachable'])

// Not 408: a server that gave up waiting for a request may have passed it on. 307 and 308 ask to send it elsewhere.
const isRefusal = (status = 0): boolean =>
  (status >= 400 && status < 500 && status !== 408) || [307, 308].includes(status)

// They name no service: GitHub and GitLab use them as well.
const SENTENCES: Record<CiErrorKind, string> = {
  'bad-request': 'the request was not accepted',
  unauthorized: 'the credentials were refused',
  forbidden: 'refused: the credentials lack permission',
  'not-found': 'not found at that address',
  'rate-limited': 'too many requests for now',
  server: 'the server had an internal error',
  timeout: 'the server did not answer in time',
  unreachable: 'the server could not be reached',
  certificate: "the server's certificate is not accepted",
  shape: 'the server sent an unexpected response',
  'too-large': 'the server sent a response that is too large',
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
 * The reason in an error body, in one line; undefined if it has none that is known. Bodies come as `{errors: […]}`,
 * `{error: "…"}`, text, HTML or nothing. HTML has no reason: it is the page of a proxy, and could hide a secret in its
 * markup. The given secrets, and anything that looks like one, are removed.
 */
export function cleanReason(body: string, secrets: readonly string[]): string | undefined {
  const message = messageIn(body.trim())
  if (MARKUP.test(message)) return undefined
  const words = inOneLine(beginning(hide(message, secrets)))
  // Once more: a secret may have stood on two lines.
  const clean = withoutSecrets(words, secrets)
  return clean === '' ? undefined : cut(clean, REASON_CHARS_MAX)
}

/** A tag or an entity. */
const MARKUP = /<[a-z/!?][^<>]*>|&(?:#\w+|\w+);/i

/** The text without the given secrets, pieces of them, and anything that looks like a secret. */
export const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  hideLookalikes(hidePieces(hide(text, secrets), secrets, REMOVED))

/** The text without the given secrets, in each form in which a URL, a form or JSON contains them. */
function hide(text: string, secrets: readonly string[]): string {
  // Only secrets that occur in the text: all secrets of a project together would be too long for a pattern.
  const lower = text.toLowerCase()
  const isThere = (form: string) => text.includes(form) || lower.includes(form.toLowerCase())
  const forms = secrets.flatMap(writtenForms).filter((form) => form !== '' && isThere(form))
  if (forms.length === 0) return text
  const patterns = forms.sort((a, b) => b.length - a.length).map(patternOf)
  return text.replace(new RegExp(patterns.join('|'), 'gi'), REMOVED)
}

/** A secret this short is hidden only as a whole word: `test` must not be cut out of `test_pipelines`. */
const WORD_CHARS_MAX = 5

function patternOf(form: string): string {
  const pattern = escapePattern(form)
  return form.length > WORD_CHARS_MAX ? pattern : String.raw`(?<!\w)${pattern}(?!\w)`
}

/** An `Authorization` value, and the same without its scheme. Both are secrets. */
export const credentialsIn = (authorization: string): string[] => [
  authorization,
  ...(/^[\w-]+\s+(\S.*)$/.exec(authorization)?.slice(1) ?? []),
]

/** The text without anything that looks like a secret: named values, tokens, queries of addresses. */
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

// `notification_rules.0.options`: a reason must be able to name the field.
const FIELD_PATH = /^[a-z_]+(?:[./](?:[a-z_]+|\d{1,3}))+[.]?$/

function messageIn(body: string): string {
  if (!/^[[{"]/.test(body)) return body
  try {
    return phrases(parseJson(body)).join('; ')
  } catch {
    return ''
  }
}

// `base`: GitLab's, for what concerns no single field.
const SAYING_FIELDS = ['errors', 'error', 'error_description', 'message', 'base', 'detail', 'title', 'reason'] as const

function phrases(value: unknown): string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value.trim()]
  if (Array.isArray(value)) return value.flatMap(phrases)
  if (!isRecord(value)) return []
  const spoken = SAYING_FIELDS.flatMap((field) => phrases(value[field]))
  return [...new Set(spoken)]
}

// Cut at a blank: half a secret would not be recognized as one.
const beginning = (text: string): string =>
  text.length <= REASON_SOURCE_CHARS_MAX ? text : text.slice(0, REASON_SOURCE_CHARS_MAX).replace(/\S*$/, '')

const inOneLine = (text: string): string =>
  text
    .replace(/\p{Cf}+/gu, '')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()

const escapePattern = (text: string): string => text.replace(/[$()*+.?[\\\]^{|}\-/]/g, String.raw`\$&`)

/** A piece of a secret is hidden even without the rest if it has at least this many characters. */
export const PIECE_CHARS_MIN = 8

/** The text with `mark` in place of all pieces of a secret: CI may quote a part of one, or cut its text within one. */
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
