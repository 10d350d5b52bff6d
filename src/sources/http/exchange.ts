import type { buildConnector, Dispatcher } from 'undici'
import { abortReason, CiError, type CiErrorKind, cleanReason, withoutSecrets } from './errors.ts'
import { certificateFault, errorCode } from '../../lib/error-code.ts'
import { bytesOf } from '../../lib/async.ts'
import { parseJson } from '../../lib/json.ts'
import type { Readable } from 'node:stream'

export interface CiRequest {
  /** Anything but GET is a write, and is never retried. */
  method: 'GET' | 'POST' | 'PUT'
  url: URL
  headers?: Record<string, string>
  body?: string
  /** What the request is for, as messages say it: `list projects`. */
  purpose: string
  /** Texts that must not appear in errors. */
  secrets: readonly string[]
  /** Overrides the transport's limit. With `statusSuffices`: how much is read at most. */
  responseBytesMax?: number
  /** A 2xx is enough: a body that is huge, stalls or is incomplete is cut short without an error. */
  statusSuffices?: boolean
  /** Follows one redirect within the same host. Writes are never redirected. */
  followsMoves?: boolean
  /** Answers with a redirect's address in `location` instead of refusing it. */
  returnsRedirect?: boolean
  /** How long to wait after a rate limit, if the answer does not say. Left out: the usual backoff. */
  slowedMs?: number
}

/** How many calls are left until the limit resets. */
export interface Rate {
  limit: number
  left: number
  /** ms since the epoch */
  resetAt: number
}

/** A response with a 2xx status, or with `returnsRedirect` 3xx. */
export interface CiResponse {
  status: number
  /** Headers; null if the answer lacks them. */
  link: string | null
  etag: string | null
  location: string | null
  contentType: string | null
  contentDisposition: string | null
  /** How many calls are left, if the answer says so. */
  rate: Rate | null
  bytes: Uint8Array
  /** The bytes as UTF-8. */
  readonly text: string
}

/** How much of a body is read where only the status matters: enough to find an error's reason. */
const BODY_START_BYTES_MAX = 64 * 1024

interface ExchangeLimits {
  responseBytesMax: number
  deadlineMs: number
  /** The current time, for dates in `Retry-After`. */
  now: number
}

/** Sends one request. Returns a 2xx, throws a CiError, or throws the reason of the caller's signal if that aborts. */
export async function exchange(
  dispatcher: Dispatcher,
  request: CiRequest,
  limits: ExchangeLimits,
  signal?: AbortSignal,
): Promise<CiResponse> {
  const deadline = AbortSignal.timeout(Math.max(1, Math.ceil(limits.deadlineMs)))
  try {
    const response = await answerTo(dispatcher, request, signal ? AbortSignal.any([signal, deadline]) : deadline)
    const isWanted = request.returnsRedirect && isRedirect(response.statusCode)
    if (!isSuccess(response.statusCode) && !isWanted) throw await refusal(response, request, limits.now)
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

/** Only to the same host, because the request carries credentials. */
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
  location: headerText(headers['location']),
  contentType: headerText(headers['content-type']),
  contentDisposition: headerText(headers['content-disposition']),
  rate: rateIn(headers),
  bytes,
  // Decoded only on access, because a list is long.
  get text() {
    return decodeText(bytes)
  },
})

/** From the headers of GitHub (`X-RateLimit-…`) and GitLab (`RateLimit-…`); null if they are missing. */
function rateIn(headers: Dispatcher.ResponseData['headers']): Rate | null {
  const numberOf = (name: string) =>
    Number(headers[`x-ratelimit-${name}`] ?? headers[`ratelimit-${name}`] ?? Number.NaN)
  const [limit, left, resetS] = [numberOf('limit'), numberOf('remaining'), numberOf('reset')]
  return limit > 0 && left >= 0 && resetS > 0 ? { limit, left, resetAt: resetS * 1_000 } : null
}

async function refusal(response: Dispatcher.ResponseData, request: CiRequest, now: number): Promise<CiError> {
  const { statusCode: status, headers } = response
  const body = decodeText(await bodyStart(response.body, BODY_START_BYTES_MAX))
  const kind = kindOfStatus(status, `${response.statusText} ${body}`)
  const saidMs = parseRetryAfterMs(headerText(headers['retry-after']), now) ?? untilReset(headers, now)
  return new CiError({
    kind,
    purpose: request.purpose,
    status,
    reason: isRedirect(status) ? 'it redirects; the base address may be wrong' : cleanReason(body, request.secrets),
    needs: headerText(headers['x-accepted-github-permissions']) ?? undefined,
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
    isUndone: (error instanceof Error && unconnected.has(error)) || errorCode(error) === UNSENDABLE,
    cause: strippedCause(error, request),
  })
}

/** Connects as `connect` does, and remembers each error that came before the connection, TLS included, was open. */
export const rememberingFailures =
  (connect: buildConnector.connector): buildConnector.connector =>
  (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error === null || error === undefined) return callback(null, socket)
      unconnected.add(error)
      callback(error, null)
    })

// Their codes do not tell: ETIMEDOUT, ECONNRESET and EHOSTUNREACH also end connections that have carried a request.
const unconnected = new WeakSet<Error>()

// A credential has characters that are not allowed in a header.
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
  const code = errorCode(error)
  return certificateFault(code) === null ? (FAILURES.get(code ?? '') ?? 'unreachable') : 'certificate'
}

// Network errors hold sockets and parts of answers. Only their name, code and cleaned message are passed on.
function strippedCause(error: unknown, request: CiRequest): Error {
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  const cause = new Error(withoutSecrets(message, request.secrets))
  cause.stack = `${name}: ${cause.message}`
  return Object.assign(cause, { name, code: errorCode(error) || name })
}

const headerText = (value: string | string[] | undefined): string | null =>
  value === undefined ? null : [value].flat().join(', ')

/** What `read` returns for the answer's JSON. Throws a CiError `shape` if it is not JSON, or `read` returns null. */
export function readAnswer<T>({ text, status }: CiResponse, purpose: string, read: (json: unknown) => T | null): T {
  const value = read(parsed(text, { status, purpose }))
  if (value === null) throw new CiError({ kind: 'shape', purpose, status })
  return value
}

function parsed(text: string, { status, purpose }: { status: number; purpose: string }): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    throw new CiError({ kind: 'shape', purpose, status, cause })
  }
}

class TooLargeError extends Error {
  override readonly name = 'TooLargeError'
}

const wholeBody = (body: Readable, bytesMax: number): Promise<Buffer> =>
  bytesOf(body, bytesMax, () => new TooLargeError(`the answer has more than ${bytesMax} bytes`))

/**
 * Reads the first `bytesMax` bytes, or fewer if the body is incomplete: for answers of which only the status matters.
 */
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
    // Keep what came before the error.
  }
  return Buffer.concat(pieces)
}

/** Decodes UTF-8. Invalid bytes are replaced, a byte order mark is dropped. */
const decodeText = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

/** The longest wait that is passed on. */
export const RETRY_AFTER_MS_MAX = 60 * 60 * 1000

/** The wait that a `Retry-After` header asks for, from `now`: seconds or an HTTP date. Undefined if it is neither. */
function parseRetryAfterMs(header: string | null, now: number): number | undefined {
  const waitMs = header === null ? Number.NaN : asksForMs(header.trim(), now)
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(0, Math.ceil(waitMs)), RETRY_AFTER_MS_MAX)
}

/** The wait until GitHub's limit resets (in the header: s since the epoch), if no call is left. */
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
