import { verify } from 'node:crypto'
import { z } from 'zod'
import { json } from '../../lib/http.ts'
import type { Call, Reply } from '../../lib/http.ts'
import { refuse } from './api.ts'
import { each, MADE_AT, ownerOf, user } from './repository.ts'
import type { Json } from './repository.ts'
import { findRepository, isoTime } from './world.ts'
import type { Repository, World } from './world.ts'

/** The only installation; it has all repositories. GitHub has one for each owner. */
const INSTALLATION = 61_000_001
const PERMISSIONS = { actions: 'write', metadata: 'read' }
const TOKEN_MS = 60 * 60_000
/** A JWT may expire at most this far in the future. */
const JWT_S_MAX = 600

export const tokenIn = ({ headers }: Call): string =>
  /^(?:bearer|token) (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? ''

/** Answers the calls that a GitHub App makes with its JWT; undefined for other calls. Source: GitHub REST API, "Apps". */
export function answerApp(world: World, call: Call): Reply | undefined {
  const [, name] = /^\/repos\/([^/]+\/[^/]+)\/installation$/.exec(call.path) ?? []
  const [, id] = /^\/app\/installations\/(\d+)\/access_tokens$/.exec(call.path) ?? []
  const isLook = name !== undefined && call.method === 'GET'
  const isAsk = id !== undefined && call.method === 'POST'
  if (!isLook && !isAsk) return undefined
  const fault = faultOf(world, tokenIn(call))
  if (fault !== null) return refuse(401, fault)
  const repository = isLook && findRepository(world, name)
  if (isLook) return repository ? json(200, installationBody(world, repository)) : refuse(404, 'Not Found')
  if (id !== String(INSTALLATION)) return refuse(404, 'Not Found')
  const token = `ghs_sandbox${world.nextId()}`
  const endsAt = world.clock.now() + TOKEN_MS
  world.appTokens.set(token, endsAt)
  return json(201, { token, expires_at: isoTime(endsAt), permissions: PERMISSIONS, repository_selection: 'all' })
}

function installationBody(world: World, repository: Repository): Json {
  const account = user(world, ownerOf(repository), 'Organization')
  const url = `${world.url}/app/installations/${INSTALLATION}`
  return {
    id: INSTALLATION,
    account,
    app_id: Number(world.app?.id),
    app_slug: 'buildline',
    target_id: account['id'],
    target_type: 'Organization',
    repository_selection: 'all',
    access_tokens_url: `${url}/access_tokens`,
    repositories_url: `${world.url}/installation/repositories`,
    html_url: `${world.url}/organizations/${ownerOf(repository)}/settings/installations/${INSTALLATION}`,
    permissions: PERMISSIONS,
    events: ['workflow_run'],
    ...each('created_at updated_at', MADE_AT),
    ...each('single_file_name suspended_by suspended_at', null),
  }
}

/** Why the JWT is invalid; null if it is valid. */
function faultOf({ app, clock }: World, jwt: string): string | null {
  const [head = '', body = '', signature = ''] = jwt.split('.')
  const isSigned =
    app !== null && verify('sha256', Buffer.from(`${head}.${body}`), app.publicKey, Buffer.from(signature, 'base64url'))
  if (!isSigned || !HEAD.safeParse(parsed(head)).success) return 'A JSON web token could not be decoded'
  const claims = CLAIMS.safeParse(parsed(body)).data
  if (claims?.iss !== app.id) return 'A JSON web token could not be decoded'
  const nowS = clock.now() / 1_000
  if (claims.iat > nowS)
    return "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
  if (claims.exp <= nowS)
    return "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires"
  return claims.exp <= nowS + JWT_S_MAX ? null : "'Expiration time' claim ('exp') is too far in the future"
}

const HEAD = z.object({ alg: z.literal('RS256') })
const CLAIMS = z.object({ iat: z.int(), exp: z.int(), iss: z.string() })

/** Null if it is not JSON. */
function parsed(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString())
  } catch {
    return null
  }
}
