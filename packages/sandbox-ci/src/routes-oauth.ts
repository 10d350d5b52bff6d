import { isSameSecret } from './access.ts'
import { json } from '../../lib/http.ts'
import type { Call, Reply, Route } from '../../lib/http.ts'
import { parseJson } from '../../lib/json.ts'
import { SCOPES } from './state.ts'
import type { Scope } from './state.ts'
import type { World } from './world.ts'

/** How many issued tokens are kept; the oldest is revoked first. */
const ISSUED_TOKENS_MAX = 1_000
const NO_STORE = { 'cache-control': 'no-store' }

/** OAuth2 client credentials (RFC 6749, 4.4), the usual way. The interface does not document how to get a token. */
export const oauthRoutes = (world: World): Route[] => [
  { method: 'POST', pattern: '/oauth/token', handle: (call) => issueToken(world, call) },
]

function issueToken(world: World, call: Call): Reply {
  const form = readForm(call)
  const client = readClient(call, form)
  const isKnown = isSameSecret(client.id, world.state.clientId)
  // The secret is compared even if the id is unknown, so that the response time reveals nothing.
  if (!isSameSecret(client.secret, world.state.clientSecret) || !isKnown) return oauthError(401, 'invalid_client')
  if (form.get('grant_type') !== 'client_credentials') return oauthError(400, 'unsupported_grant_type')
  const scopes = readScopes(form.get('scope'))
  return scopes ? grant(world, scopes) : oauthError(400, 'invalid_scope')
}

function readForm(call: Call): URLSearchParams {
  if (!call.headers['content-type']?.startsWith('application/json')) return new URLSearchParams(call.text)
  const parsed = parseJson(call.text)
  const fields = parsed.kind === 'json' ? Object.entries(parsed.value ?? {}) : []
  return new URLSearchParams(fields.filter((field): field is [string, string] => typeof field[1] === 'string'))
}

function readClient(call: Call, form: URLSearchParams): { id: string; secret: string } {
  const basic = /^Basic +(\S+)$/i.exec(call.headers.authorization ?? '')?.[1]
  if (basic === undefined) return { id: form.get('client_id') ?? '', secret: form.get('client_secret') ?? '' }
  const [id = '', ...secret] = Buffer.from(basic, 'base64').toString('utf8').split(':')
  return { id, secret: secret.join(':') }
}

function readScopes(text: string | null): Scope[] | undefined {
  const words = (text ?? '').split(' ').filter(Boolean)
  if (words.length === 0) return [...SCOPES]
  const scopes = SCOPES.filter((scope) => words.includes(scope))
  return words.every((word) => SCOPES.some((scope) => scope === word)) ? scopes : undefined
}

function grant(world: World, scopes: Scope[]): Reply {
  const { tokenLifetimeMs } = world.switches
  const value = `issued-${world.random.hex(32)}`
  const organizationUuid = world.state.organizations[0]!.uuid
  const expiresAt = world.clock.now() + tokenLifetimeMs
  world.state.tokens.push({ value, scopes, organizationUuid, expiresAt })
  forgetOldest(world)
  const answer = { access_token: value, token_type: 'Bearer', expires_in: Math.floor(tokenLifetimeMs / 1000) }
  return json(200, { ...answer, scope: scopes.join(' ') }, NO_STORE)
}

function forgetOldest(world: World): void {
  const issued = world.state.tokens.filter(({ expiresAt }) => expiresAt !== null)
  if (issued.length > ISSUED_TOKENS_MAX) world.state.tokens = world.state.tokens.filter((token) => token !== issued[0])
}

const oauthError = (statusCode: number, error: string): Reply =>
  json(statusCode, { error }, statusCode === 401 ? { ...NO_STORE, 'www-authenticate': 'Basic' } : NO_STORE)
