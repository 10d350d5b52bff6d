import type { Dispatcher } from 'undici'
import { neverConnected } from './connector.ts'
import { abortReason, CiError, type CiErrorKind, cleanReason, withoutSecrets } from './errors.ts'
import { parseJson } from '../../lib/json.ts'
import { rateIn, type Rate } from './rate.ts'
import type { Readable } from 'node:stream'

export interface CiRequest {
  /** All but GET is a write, and is never repeated. */
  method: 'GET' | 'POST' | 'PUT'
  url: URL
  headers?: Record<string, string>
  body?: string
  /** What the request is for, in words for messages: `list projects`. */
  purpose: string
  /** Texts that no error may show. */
  secrets: readonly string[]
  /** In place of the transport's own limit; where the status suffices, how much is read at most. */
  responseBytesMax?: number
  /** A 2xx says all: a body that is huge, stalls or breaks off is cut short, and fails nothing. */
  statusSuffices?: boolean
  /** What has moved within its host is asked for there, once; only of a GET. */
  followsMoves?: boolean
  /** How long to wait where too much was asked and the answer does not say for how long; else a moment. */
  slowedMs?: number
}

/** Any 2xx. */
export interface CiResponse {
  status: number
  /** The `Link` header, or null. */
  link: string | null
  /** The `ETag` header, or null. */
  etag: string | null
  /** The `Content-Type` header, or null. */
  contentType: string | null
  /** The `Content-Disposition` header, or null. */
  contentDisposition: string | null
  /** How many calls are left, if the answer says so. */
  rate: Rate | null
  bytes: Uint8Array
  /** The bytes as UTF-8. */
  readonly text: string
}

/** As much of a body as is read where the status says what matters: to find an error's reason, or a few words more. */
const BODY_START_BYTES_MAX = 64 * 1024

interface ExchangeLimits {
  responseBytesMax: number
  deadlineMs: number
  /** The time now, for dates in `Retry-After`. */
  now: number
}

/** One request, one answer: a 2xx, or a CiError, or the reason of the caller's signal when that aborts. */
export async function exchange(
  dispatcher: Dispatcher,
  request: CiRequest,
  limits: ExchangeLimits,
  signal?: AbortSignal,
): Promise<CiResponse> {
  const deadline = AbortSignal.timeout(Math.max(1, Math.ceil(limits.deadlineMs)))
  try {
    const response = await answerTo(dispatcher, request, signal ? AbortSignal.any([signal, deadline]) : deadline)
    if (!isSuccess(response.statusCode)) throw await refusal(response, request, limits.now)
    return answerOf(response, await bodyOf(response, request, limits))
  } catch (error) {
    if (error instanceof CiError) throw error
    if (signal?.aborted) throw abortReason(signal, { purpose: request.purpose, isWrite: isWrite(request) })
    throw failure(error, request)
  }
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300

async function answerTo(
  dispatcher: Dispatcher,
  request: CiRequest,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const response = await dispatch(dispatcher, request, signal)
  const url = request.followsMoves && !isWrite(request) ? movedTo(response, request.url) : null
  if (!url) return response
  await response.body.dump()
  return dispatch(dispatcher, { ...request, url }, signal)
}

/** The credentials go along: never to another host. */
function movedTo({ statusCode, headers }: Dispatcher.ResponseData, from: URL): URL | null {
  const location = headerText(headers['location'])
  const to = location !== null && isRedirect(statusCode) ? URL.parse(location, from) : null
  return to?.origin === from.origin ? to : null
}

function dispatch(dispatcher: Dispatcher, request: CiRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
  return dispatcher.request({
    origin: request.url.origin,
    path: `${request.url.pathname}${request.url.search}`,
    method: request.method,
    headers: { accept: 'application/json', ...request.headers },
    body: request.body ?? null,
    signal,
  })
}

const bodyOf = ({ body }: Dispatcher.ResponseData, request: CiRequest, limits: ExchangeLimits): Promise<Buffer> =>
  request.statusSuffices
    ? bodyStart(body, request.responseBytesMax ?? BODY_START_BYTES_MAX)
    : wholeBody(body, request.responseBytesMax ?? limits.responseBytesMax)

const answerOf = ({ statusCode: status, headers }: Dispatcher.ResponseData, bytes: Buffer): CiResponse => ({
  status,
  link: headerText(headers['link']),
  etag: headerText(headers['etag']),
  contentType: headerText(headers['content-type']),
  contentDisposition: headerText(headers['content-disposition']),
  rate: rateIn(headers),
  bytes,
  // Only when asked for: a list is long.
  get text() {
    return textOf(bytes)
  },
})

async function refusal(response: Dispatcher.ResponseData, request: CiRequest, now: number): Promise<CiError> {
  const { statusCode: status, headers } = response
  const body = textOf(await bodyStart(response.body, BODY_START_BYTES_MAX))
  const kind = kindOfStatus(status, `${response.statusText} ${body}`)
  const saidMs = parseRetryAfterMs(headerText(headers['retry-after']), now) ?? untilReset(headers, now)
  return new CiError({
    kind,
    purpose: request.purpose,
    status,
    reason: isRedirect(status) ? 'it redirects; the base address may be wrong' : cleanReason(body, request.secrets),
    retryAfterMs: saidMs ?? (kind === 'rate-limited' ? request.slowedMs : undefined),
    isWrite: isWrite(request),
  })
}

const isRedirect = (status: number): boolean => status >= 300 && status < 400

const KINDS = new Map<number, CiErrorKind>([
  [401, 'unauthorized'],
  [404, 'not-found'],
  [408, 'timeout'],
  [410, 'not-found'],
  [429, 'rate-limited'],
])

function kindOfStatus(status: number, said: string): CiErrorKind {
  if (status === 403) return /rate[\s_-]*limit/i.test(said) ? 'rate-limited' : 'forbidden'
  if (status >= 500) return 'server'
  return KINDS.get(status) ?? (status >= 400 ? 'bad-request' : 'shape')
}

const isWrite = ({ method }: CiRequest): boolean => method !== 'GET'

function failure(error: unknown, request: CiRequest): CiError {
  return new CiError({
    kind: kindOfFailure(error),
    purpose: request.purpose,
    isWrite: isWrite(request),
    isUndone: neverConnected(error) || codeOf(error) === UNSENDABLE,
    cause: strippedCause(error, request),
  })
}

// A credential that no header can carry.
const UNSENDABLE = 'UND_ERR_INVALID_ARG'

const FAILURES = new Map<string, CiErrorKind>([
  ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
  ['UND_ERR_HEADERS_TIMEOUT', 'timeout'],
  ['UND_ERR_BODY_TIMEOUT', 'timeout'],
  ['ETIMEDOUT', 'timeout'],
  ['UND_ERR_HEADERS_OVERFLOW', 'too-large'],
  [UNSENDABLE, 'bad-request'],
])

function kindOfFailure(error: unknown): CiErrorKind {
  if (error instanceof TooLargeError) return 'too-large'
  if (error instanceof DOMException && error.name === 'TimeoutError') return 'timeout'
  return FAILURES.get(codeOf(error)) ?? 'unreachable'
}

// Errors of the network hold sockets and pieces of answers; only their name, code and cleaned words go on.
function strippedCause(error: unknown, request: CiRequest): Error {
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  const cause = new Error(withoutSecrets(message, request.secrets))
  cause.stack = `${name}: ${cause.message}`
  return Object.assign(cause, { name, code: codeOf(error) || name })
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

const headerText = (value: string | string[] | undefined): string | null =>
  value === undefined ? null : [value].flat().join(', ')

/** What `read` makes of the answer's JSON; a CiError `shape` when it is no JSON, or `read` finds nothing that it knows. */
export function readAnswer<T>({ text, status }: CiResponse, purpose: string, read: (json: unknown) => T | null): T {
  const value = read(parsed(text, { status, purpose }))
  if (value === null) throw new CiError({ kind: 'shape', purpose, status })
  return value
}

/** The answer's JSON, or null when it is none: for answers of which the status has said what matters. */
export function findJson({ text }: CiResponse): unknown {
  try {
    return parseJson(text)
  } catch {
    return null
  }
}

function parsed(text: string, { status, purpose }: { status: number; purpose: string }): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    throw new CiError({ kind: 'shape', purpose, status, cause })
  }
}

/** A body with more bytes than are read. */
class TooLargeError extends Error {
  override readonly name = 'TooLargeError'
}

/** The whole body. Beyond `bytesMax`: TooLargeError, connection closed. */
async function wholeBody(body: Readable, bytesMax: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of body as AsyncIterable<Buffer>) {
    bytes += piece.length
    if (bytes > bytesMax) throw new TooLargeError(`the answer has more than ${bytesMax} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

/** The first `bytesMax` bytes, or fewer when the body breaks off: for answers whose status has already said what matters. */
async function bodyStart(body: Readable, bytesMax: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let bytes = 0
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      pieces.push(piece.subarray(0, bytesMax - bytes))
      bytes += piece.length
      if (bytes >= bytesMax) break
    }
  } catch {
    // What came before the break is what there is.
  }
  return Buffer.concat(pieces)
}

/** As text: invalid UTF-8 replaced, a byte order mark dropped. */
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

/** A longer wait than this is passed on as this. */
export const RETRY_AFTER_MS_MAX = 60 * 60 * 1000

/** What a `Retry-After` header asks for, from `now`: seconds or an HTTP date; undefined when it says neither. */
function parseRetryAfterMs(header: string | null, now: number): number | undefined {
  const waitMs = header === null ? Number.NaN : asksForMs(header.trim(), now)
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(0, Math.ceil(waitMs)), RETRY_AFTER_MS_MAX)
}

/** GitHub's way to say it: nothing is left until a time in seconds since the epoch. */
function untilReset(headers: Dispatcher.ResponseData['headers'], now: number): number | undefined {
  if (headerText(headers['x-ratelimit-remaining']) !== '0') return undefined
  const resetMs = Number(headerText(headers['x-ratelimit-reset'])) * 1_000 - now
  return resetMs > 0 ? Math.min(resetMs, RETRY_AFTER_MS_MAX) : undefined
}

function asksForMs(text: string, now: number): number {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1000
  // An HTTP date begins with its weekday; Date.parse alone would take "2099" for a date.
  return /^(?:mon|tue|wed|thu|fri|sat|sun)/i.test(text) ? Date.parse(text) - now : Number.NaN
}
