import type { Dispatcher } from 'undici'
import { bodyStart, textOf, TooLargeError, wholeBody } from './body.ts'
import { neverConnected } from './connector.ts'
import { abortReason, CiError } from './errors.ts'
import type { CiErrorKind } from './errors.ts'
import { cleanReason, withoutSecrets } from './reason.ts'
import { parseRetryAfterMs } from './retry-after.ts'

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
  /** Where it is less than the transport's own; where the status suffices, how much is read at most. */
  responseBytesMax?: number
  /** A 2xx says all: a body that is huge, stalls or breaks off is cut short, and fails nothing. */
  statusSuffices?: boolean
}

/** Any 2xx. */
export interface CiResponse {
  status: number
  /** The `Link` header, or null. */
  link: string | null
  /** The `Content-Type` header, or null. */
  contentType: string | null
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
    const response = await dispatch(dispatcher, request, signal ? AbortSignal.any([signal, deadline]) : deadline)
    if (!isSuccess(response.statusCode)) throw await refusal(response, request, limits.now)
    return answerOf(response, await bodyOf(response, request, limits))
  } catch (error) {
    if (error instanceof CiError) throw error
    if (signal?.aborted) throw abortReason(signal, { purpose: request.purpose, isWrite: isWrite(request) })
    throw failure(error, request)
  }
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300

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
    : wholeBody(body, Math.min(request.responseBytesMax ?? Number.POSITIVE_INFINITY, limits.responseBytesMax))

const answerOf = ({ statusCode: status, headers }: Dispatcher.ResponseData, bytes: Buffer): CiResponse => ({
  status,
  link: headerText(headers['link']),
  contentType: headerText(headers['content-type']),
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
  return new CiError({
    kind,
    purpose: request.purpose,
    status,
    reason: isRedirect(status) ? 'it redirects; the base address may be wrong' : cleanReason(body, request.secrets),
    retryAfterMs: parseRetryAfterMs(headerText(headers['retry-after']), now),
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
