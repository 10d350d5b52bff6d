import { METHODS } from './methods/index.ts'
import { Refusal, textArg } from './methods/call.ts'
import type { Args, Call, Method } from './methods/call.ts'
import type { Events } from './events.ts'
import type { Grant } from './grant.ts'
import { objectOf } from './json.ts'
import type { Json } from './json.ts'
import type { Rates } from './rates.ts'
import type { SocketDoor } from './sockets/sockets.ts'
import type { Triggers } from './triggers.ts'
import type { Views } from './views.ts'
import type { Workspace } from './workspace.ts'

export interface ApiParts {
  workspace: Workspace
  triggers: Triggers
  views: Views
  sockets: SocketDoor
  events: Events
  rates: Rates
  grant: Grant
}

export interface ApiCall {
  method: string
  args: Args
  /** the header's value */
  authorization: string | undefined
  /** the header's value */
  contentType?: string | undefined
}

export interface Answer {
  status: number
  headers: Record<string, string>
  body: string
  /** for the counters: `ok` or the error code */
  outcome: string
}

/** Answers a Web API call. Checks the token, then the rate limits, then the scopes, then runs the method. */
export function answerCall(parts: ApiParts, { method: name, args, authorization, contentType }: ApiCall): Answer {
  const method = METHODS.get(name)
  if (!method) return toAnswer({ ok: false, error: 'unknown_method', req_method: name })
  const refusal = name === 'api.test' ? null : refusalOfToken(parts.grant, method, tokenOf(args, authorization))
  if (refusal) return toAnswer({ ok: false, error: refusal })
  const waitMs = parts.rates.admit({ token: parts.grant.token, method: name, channel: textChannelOf(args) })
  if (waitMs !== null) return tooMany(Math.max(1, Math.ceil(waitMs / 1_000)))
  const isByApp = tokenOf(args, authorization) === parts.grant.appToken
  return runMethod(parts, method, { args, isByApp, lacksCharset: isWithoutCharset(contentType) })
}

const BEARER = /^Bearer\s+/i

const tokenOf = (args: Args, authorization: string | undefined): string | undefined =>
  authorization?.replace(BEARER, '') ?? textArg(args, 'token')

function refusalOfToken(grant: Grant, method: Method, token: string | undefined): string | null {
  const { token: kind = 'bot' } = method
  if (token === undefined) return 'not_authed'
  if (token !== grant.token && token !== grant.appToken) return 'invalid_auth'
  if (kind !== 'any' && (kind === 'app') !== (token === grant.appToken)) return 'not_allowed_token_type'
  return grant.isRevoked && token === grant.token ? 'token_revoked' : null
}

/** The channel argument if it is text. Rates and faults need it before the arguments are checked. */
export const textChannelOf = ({ channel }: Args): string | undefined =>
  typeof channel === 'string' ? channel : undefined

/** Slack's 429, with Retry-After in whole seconds. */
export const tooMany = (retryAfterS: number): Answer => ({
  ...toAnswer({ ok: false, error: 'ratelimited' }),
  status: 429,
  headers: { ...JSON_HEADERS, 'retry-after': String(retryAfterS) },
})

interface Asked extends Pick<Call, 'args' | 'isByApp'> {
  lacksCharset: boolean
}

/** Slack warns of JSON whose header names no charset. */
const isWithoutCharset = (type = ''): boolean => type.startsWith('application/json') && !type.includes('charset')

function withWarning(body: Json, warning: string): Json {
  const metadata = objectOf(body['response_metadata'])
  const earlier: unknown[] = Array.isArray(metadata['warnings']) ? metadata['warnings'] : []
  return { ...body, warning, response_metadata: { ...metadata, warnings: [...earlier, warning] } }
}

function runMethod(parts: ApiParts, method: Method, asked: Asked): Answer {
  const { workspace, triggers, views, sockets, events, grant } = parts
  const scopeHeaders = {
    'x-oauth-scopes': [...grant.scopes].join(','),
    'x-accepted-oauth-scopes': method.scopes.join(','),
  }
  const shared = { workspace, triggers, views, sockets, events, scopes: grant.scopes }
  const body = run(method, { ...asked, ...shared })
  const answer = toAnswer(asked.lacksCharset ? withWarning(body, 'missing_charset') : body)
  return { ...answer, headers: { ...answer.headers, ...scopeHeaders } }
}

function run(method: Method, call: Call): Json {
  if (method.scopes.length > 0 && !method.scopes.some((scope) => call.scopes.has(scope))) {
    const provided = [...call.scopes].join(',')
    return { ok: false, error: 'missing_scope', needed: method.scopes.join(','), provided }
  }
  try {
    return { ok: true, ...method.run(call) }
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, error: error.code, ...error.extra }
    throw error
  }
}

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' }

export const toAnswer = (body: Json): Answer => ({
  status: 200,
  headers: JSON_HEADERS,
  body: JSON.stringify(body),
  outcome: body['ok'] === true ? 'ok' : String(body['error']),
})
