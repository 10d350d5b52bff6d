import type { Dispatcher } from 'undici'
import { bodyStart, bodyText, TooLargeError } from './body.ts'
import { abortReason, CiError } from './errors.ts'
import type { CiErrorKind } from './errors.ts'
import { cleanReason, hide, hideLookalikes } from './reason.ts'
import { parseRetryAfterMs } from './retry-after.ts'

export interface CiRequest {
  method: 'GET' | 'POST'
  url: URL
  headers?: Record<string, string>
  body?: string
  /** What the request is for, in words for messages: `list projects`. */
  purpose: string
  /** Texts that no error may show. */
  secrets: readonly string[]
}

/** Any 2xx. */
export interface CiResponse {
  status: number
  /** The `Link` header, or null. */
  link: string | null
  text: string
}

/** As much of an error's body as is read to find its reason. */
const ERROR_BODY_BYTES_MAX = 64 * 1024

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
    const text = await bodyText(response.body, limits.responseBytesMax)
    return { status: response.statusCode, link: headerText(response.headers['link']), text }
  } catch (error) {
    if (error instanceof CiError) throw error
    if (signal?.aborted) throw abortReason(signal, request.purpose)
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

async function refusal(response: Dispatcher.ResponseData, request: CiRequest, now: number): Promise<CiError> {
  const { statusCode: status, headers } = response
  const body = await bodyStart(response.body, ERROR_BODY_BYTES_MAX)
  const kind = kindOfStatus(status, `${response.statusText} ${body}`)
  return new CiError({
    kind,
    purpose: request.purpose,
    status,
    reason: isRedirect(status) ? 'it redirects; the base address may be wrong' : cleanReason(body, request.secrets),
    retryAfterMs: parseRetryAfterMs(headerText(headers['retry-after']), now),
    retryable: retryableWrite(request, kind),
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

/** A write is surely undone only when CI turned it away for its rate; after all else somebody has to look. */
const retryableWrite = (request: CiRequest, kind: CiErrorKind): boolean | undefined =>
  request.method === 'GET' ? undefined : kind === 'rate-limited'

function failure(error: unknown, request: CiRequest): CiError {
  const kind = kindOfFailure(error)
  const retryable = retryableWrite(request, kind)
  return new CiError({ kind, purpose: request.purpose, retryable, cause: strippedCause(error, request) })
}

const FAILURES = new Map<string, CiErrorKind>([
  ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
  ['UND_ERR_HEADERS_TIMEOUT', 'timeout'],
  ['UND_ERR_BODY_TIMEOUT', 'timeout'],
  ['ETIMEDOUT', 'timeout'],
  ['UND_ERR_HEADERS_OVERFLOW', 'too-large'],
  // A credential that no header can carry.
  ['UND_ERR_INVALID_ARG', 'bad-request'],
])

function kindOfFailure(error: unknown): CiErrorKind {
  if (error instanceof TooLargeError) return 'too-large'
  if (error instanceof DOMException && error.name === 'TimeoutError') return 'timeout'
  return FAILURES.get(codeOf(error)) ?? 'unreachable'
}

// Errors of the network hold sockets and pieces of answers; only their name, code and cleaned words go on.
function strippedCause(error: unknown, request: CiRequest): Error {
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  const cause = new Error(hideLookalikes(hide(message, request.secrets)))
  cause.stack = `${name}: ${cause.message}`
  return Object.assign(cause, { name, code: codeOf(error) || name })
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

const headerText = (value: string | string[] | undefined): string | null =>
  value === undefined ? null : [value].flat().join(', ')
