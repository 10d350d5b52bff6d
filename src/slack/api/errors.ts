import { WebAPIHTTPError, WebAPIPlatformError, WebAPIRateLimitedError, WebAPIRequestError } from '@slack/web-api'
import type { Failure } from '../notifier.ts'
import { fieldOf, textOf } from '../../lib/raw-values.ts'
import type { MessageTs } from '../../domain/ids.ts'
import { causesOf, certificateFault, errorCode } from '../../lib/error-code.ts'

/**
 * Classifies an error of the Web API client. Only a short code is passed on: messages and bodies can hold addresses,
 * outside text and secrets. A call that may have been carried out is `unclear`.
 */
export function classify(error: unknown): Failure {
  if (error instanceof WebAPIRateLimitedError) return rateLimited(error.retryAfter)
  if (error instanceof WebAPIPlatformError) return ofPlatform(error)
  if (error instanceof WebAPIHTTPError) return ofHttp(error)
  return ofConnection(error instanceof WebAPIRequestError ? error.original : error)
}

/** `refuses`: Slack said no until a person changes something. `away`: Slack cannot be reached for now. */
export interface SlackTrouble {
  kind: 'refuses' | 'away'
  code: string
  /** the scopes of which one is missing, as far as Slack names them */
  needed?: readonly string[]
}

/** An HTTP status (`http_400`) may come from a proxy between us and Slack, so it is not a refusal by Slack. */
export function troubleOf(error: unknown): SlackTrouble {
  const { kind, code } = classify(error)
  const isAway = kind === 'rate-limited' || kind === 'unclear' || kind === 'unsent' || code.startsWith('http_')
  const needed = scopesIn(error)
  return { kind: isAway ? 'away' : 'refuses', code, ...(needed.length > 0 && { needed }) }
}

function scopesIn(error: unknown): string[] {
  const named = error instanceof WebAPIPlatformError ? textOf(fieldOf(error.data, 'needed')) : null
  return named?.split(',').filter((scope) => /^[a-z.:_]{1,80}$/.test(scope)) ?? []
}

/** The code for an answer that is neither a success nor an error. */
export const BROKEN_ANSWER = 'broken_answer'

/** Slack's answer is neither a success nor an error, or lacks what was requested. */
export class BrokenAnswer extends Error {
  readonly code = BROKEN_ANSWER

  constructor(why: string) {
    super(why)
    this.name = 'BrokenAnswer'
  }
}

const MS_PER_S = 1_000
const RETRY_AFTER_MS_DEFAULT = 30_000
const RETRY_AFTER_MS_MAX = 60 * 60_000

function rateLimited(retryAfterS?: number, code = 'ratelimited'): Failure {
  const asked = retryAfterS !== undefined && retryAfterS > 0 ? retryAfterS * MS_PER_S : RETRY_AFTER_MS_DEFAULT
  return { kind: 'rate-limited', code, retryAfterMs: Math.min(asked, RETRY_AFTER_MS_MAX) }
}

// If the body is not JSON, the client puts the whole body in place of the code.
function ofPlatform({ data }: WebAPIPlatformError): Failure {
  const code: unknown = data.error
  if (!isErrorCode(code)) return { kind: 'unclear', code: BROKEN_ANSWER }
  return ofCode(code, data.response_metadata?.retryAfter)
}

function ofCode(code: string, retryAfterS?: number): Failure {
  const kind = failureOfCode(code)
  return kind === 'rate-limited' ? rateLimited(retryAfterS, code) : { kind, code }
}

const TOO_MANY = 429
/** A proxy between us and Slack found the request too large. Its other refusals may have nothing to do with it. */
const REFUSING = new Set([413, 414, 431])
const REQUEST_TIMEOUT = 408

function ofHttp({ statusCode, body }: WebAPIHTTPError): Failure {
  const code = `http_${statusCode}`
  const own = fieldOf(body, 'error')
  if (statusCode === TOO_MANY) return rateLimited()
  if (statusCode < 400 || statusCode >= 500 || statusCode === REQUEST_TIMEOUT) return { kind: 'unclear', code }
  if (isErrorCode(own)) return ofCode(own)
  return { kind: REFUSING.has(statusCode) ? 'refused' : 'unsent', code }
}

function ofConnection(error: unknown): Failure {
  const causes = causesOf(error)
  const code = causes.map(codeOf).find((one) => one !== null) ?? 'connection_failed'
  return { kind: causes.some(neverConnected) ? 'unsent' : 'unclear', code }
}

const SYSTEM_CODE = /^[A-Z][A-Z0-9_]{2,63}$/

function codeOf(error: Error): string | null {
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'timeout'
  const code = fieldOf(error, 'code')
  return typeof code === 'string' && (SYSTEM_CODE.test(code) || code === BROKEN_ANSWER) ? code : null
}

// A name that does not resolve, a failed connection or a wrong certificate: nothing was sent yet.
function neverConnected(error: Error): boolean {
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isConnectError)
  return isConnectError(error)
}

const CONNECT_CALLS: ReadonlySet<unknown> = new Set(['connect', 'getaddrinfo'])

function isConnectError(error: unknown): boolean {
  const code = errorCode(error)
  return (
    CONNECT_CALLS.has(fieldOf(error, 'syscall')) ||
    code === 'UND_ERR_CONNECT_TIMEOUT' ||
    certificateFault(code) !== null
  )
}

/** What Slack's error code means for us. An unknown code counts as `refused`. */
export const failureOfCode = (code: string): Failure['kind'] =>
  BY_CODE.get(code) ?? (code.startsWith('restricted_action') ? 'channel-closed' : 'refused')

/** Whether it looks like one of Slack's error codes, and not like outside text or a broken answer. */
const isErrorCode = (code: unknown): code is string => typeof code === 'string' && /^[a-z0-9_]{1,80}$/.test(code)

const CODES: readonly [Failure['kind'], readonly string[]][] = [
  ['rate-limited', ['ratelimited', 'rate_limited', 'message_limit_exceeded']],
  // Slack failed, but may have carried out the call before that.
  ['unclear', ['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout', 'update_failed']],
  // Slack refuses all calls while a workspace moves between organizations.
  ['unsent', ['team_added_to_org', 'external_channel_migrating']],
  [
    'message-gone',
    [
      'message_not_found',
      'thread_not_found',
      'cant_update_message',
      'cant_delete_message',
      'cannot_reply_to_message',
      'edit_window_closed',
      // Only the thread is locked, not the channel.
      'restricted_action_thread_locked',
    ],
  ],
  ['thread-closed', ['restricted_action_non_threadable_channel']],
  [
    'channel-closed',
    [
      'channel_not_found',
      'not_in_channel',
      'is_archived',
      'is_inactive',
      'access_denied',
      'no_permission',
      'channel_type_not_supported',
      'channel_is_limited_access',
      'messages_tab_disabled',
    ],
  ],
  [
    'workspace-closed',
    [
      'account_inactive',
      'token_revoked',
      'token_expired',
      'invalid_auth',
      'not_authed',
      'missing_scope',
      'not_allowed_token_type',
      'org_login_required',
      'team_access_not_granted',
      'team_not_found',
      'two_factor_setup_required',
      'enterprise_is_restricted',
      'ekm_access_denied',
      'accesslimited',
    ],
  ],
]

const BY_CODE = new Map(CODES.flatMap(([kind, codes]) => codes.map((code) => [code, kind] as const)))

export const isMessageTs = (value: unknown): value is MessageTs => typeof value === 'string' && /^\d+\.\d+$/.test(value)
