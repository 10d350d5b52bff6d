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

// 408 is the exception: whoever gave up waiting for a request may have passed it on.
const isRefusal = (status = 0): boolean => status >= 400 && status < 500 && status !== 408

const SENTENCES: Record<CiErrorKind, string> = {
  'bad-request': 'The CI service did not accept the request',
  unauthorized: 'The CI service refused the credentials',
  forbidden: 'The CI service refused: the credentials lack the right',
  'not-found': 'The CI service knows nothing under that address',
  'rate-limited': 'The CI service asks to slow down',
  server: 'The CI service has a fault of its own',
  timeout: 'The CI service did not answer in time',
  unreachable: 'The CI service could not be reached',
  shape: 'The CI service answered in a form that is not its interface',
  'too-large': 'The CI service answered with more than is read',
}

function messageOf({ kind, purpose, status, reason }: CiErrorDetails): string {
  const context = status === undefined ? purpose : `${purpose}, HTTP ${status}`
  return `${SENTENCES[kind]} (${context})${reason === undefined ? '' : `: ${reason}`}`
}
