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
  /** Overrides what the kind says, for requests that must not be repeated. */
  retryable?: boolean | undefined
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
  declare readonly status?: number
  declare readonly retryAfterMs?: number
  declare readonly reason?: string

  constructor(details: CiErrorDetails) {
    super(messageOf(details), details.cause === undefined ? undefined : { cause: details.cause })
    this.kind = details.kind
    this.code = `${details.source ?? 'CI'}_${details.kind.replaceAll('-', '_').toUpperCase()}`
    this.retryable = details.retryable ?? RETRYABLE.has(details.kind)
    if (details.status !== undefined) this.status = details.status
    if (details.retryAfterMs !== undefined) this.retryAfterMs = details.retryAfterMs
    if (details.reason !== undefined) this.reason = details.reason
  }
}

/** What to throw when a caller's signal aborted: the signal's own reason; a time limit is a timeout like any other. */
export function abortReason(signal: AbortSignal, purpose: string): unknown {
  const reason: unknown = signal.reason
  const isTimeLimit = reason instanceof DOMException && reason.name === 'TimeoutError'
  return isTimeLimit ? new CiError({ kind: 'timeout', purpose }) : reason
}

const RETRYABLE: ReadonlySet<CiErrorKind> = new Set<CiErrorKind>(['rate-limited', 'server', 'timeout', 'unreachable'])

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
