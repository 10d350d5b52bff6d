import { METHODS } from './methods/index.ts'
import { Refusal, textArg } from './methods/call.ts'
import type { Args, Call, Method } from './methods/call.ts'
import type { Events } from './events.ts'
import type { Grant } from './grant.ts'
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
}

export interface Answer {
  status: number
  headers: Record<string, string>
  body: string
  /** for the counters: `ok` or the error code */
  outcome: string
}

/** Answers a Web API call. Checks the token, then the rate limits, then the scopes, then runs the method. */
export function answerCall(parts: ApiParts, { method: name, args, authorization }: ApiCall): Answer {
  const method = METHODS.get(name)
  if (!method) return toAnswer({ ok: false, error: 'unknown_method', req_method: name })
  const refusal = name === 'api.test' ? null : refusalOfToken(parts.grant, method, tokenOf(args, authorization))
  if (refusal) return toAnswer({ ok: false, error: refusal })
  const waitMs = parts.rates.admit({ token: parts.grant.token, method: name, channel: textChannelOf(args) })
  if (waitMs !== null) return tooMany(Math.max(1, Math.ceil(waitMs / 1_000)))
  return runMethod(parts, method, args)
}

const BEARER = /^Bearer\s+/i

const tokenOf = (args: Args, authorization: string | undefined): string | undefined =>
  authorization?.replace(BEARER, '') ?? textArg(args, 'token')

function refusalOfToken(grant: Grant, method: Method, token: string | undefined): string | null {
  const [right, other] = method.token === 'app' ? [grant.appToken, grant.token] : [grant.token, grant.appToken]
  if (token === undefined) return 'not_authed'
  if (token === other) return 'not_allowed_token_type'
  if (token !== right) return 'invalid_auth'
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

function runMethod(parts: ApiParts, method: Method, args: Args): Answer {
  const { workspace, triggers, views, sockets, events, grant } = parts
  const scopeHeaders = {
    'x-oauth-scopes': [...grant.scopes].join(','),
    'x-accepted-oauth-scopes': method.scopes.join(','),
  }
  const answer = toAnswer(run(method, { args, workspace, triggers, views, sockets, events, scopes: grant.scopes }))
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
