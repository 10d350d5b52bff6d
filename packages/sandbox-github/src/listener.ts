import { hash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { admit } from '../../lib/admit.ts'
import type { Calls } from '../../lib/calls.ts'
import { findRoute, json, sendReply } from '../../lib/http.ts'
import type { Call, Reply, Route } from '../../lib/http.ts'
import { refuse } from './api.ts'
import { answerApp, tokenIn } from './app.ts'
import type { Faults } from './faults.ts'
import { permissionHeader, refusedFor } from './permissions.ts'
import { findRenamed } from './world.ts'
import type { World } from './world.ts'

interface Parts {
  /** the host that the server listens on */
  host: () => string
  world: World
  api: readonly Route[]
  /** routes that need no token: the control interface and the badges */
  open: readonly Route[]
  faults: Faults
  calls: Calls
  watch: Watch
}

/** Sees each call of the REST interface with its answer; null: its connection was closed. */
export type Watch = (call: Call, reply: Reply | null) => void

/** The listener for `node:http`. Faults do not apply to the open routes. */
export const createListener = (parts: Parts) => (request: IncomingMessage, response: ServerResponse) => {
  answer(parts, request, response).catch(() => {
    // The client disconnected, or a handler threw. End the response in either case, so that no client waits for ever.
    if (response.headersSent) response.destroy()
    else sendReply(response, refuse(500, 'internal error'))
  })
}

async function answer(parts: Parts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const admitted = await admit(request, parts.host(), isControl)
  if (admitted.kind === 'refused') {
    const reply = refuse(admitted.statusCode, admitted.reason)
    return sendReply(response, { ...reply, headers: { ...reply.headers, connection: 'close' } })
  }
  const { call } = admitted
  const isOpen = isControl(call.path) || call.path.endsWith('/badge.svg')
  if (isOpen) return sendReply(response, await dispatch(parts.open, call))
  const reply = parts.faults.isOut() ? null : unchanged(call, await answerApi(parts, call))
  parts.calls.record(call, reply?.statusCode ?? 0)
  parts.watch(call, reply)
  if (reply === null || parts.faults.loses(call)) return void response.destroy()
  // As on GitHub, a 304 does not count towards the rate limit.
  if (reply.statusCode !== 304 && call.path !== '/rate_limit') parts.faults.count()
  sendReply(response, { ...reply, headers: { ...parts.faults.headers(), ...permissionHeader(call), ...reply.headers } })
}

const isControl = (path: string): boolean => /^\/sandbox(?:\/|$)/.test(path)

async function answerApi({ world, api, faults }: Parts, call: Call): Promise<Reply> {
  const ofApp = answerApp(world, call)
  if (ofApp) return ofApp
  if (!isKnown(world, call)) return refuse(401, 'Bad credentials')
  if (call.path === '/rate_limit') return faults.rate()
  const met = faults.meet(call) ?? redirected(world, call)
  if (met) return met
  const asked = named(world, call)
  return refusedFor(world.lacking, asked, tokenIn(call) !== world.token) ?? (await dispatch(api, asked))
}

/** The redirect to a renamed repository's address by its id. Source: GitHub REST API, "Best practices", redirects. */
function redirected(world: World, { method, path }: Call): Reply | undefined {
  const [, name = '', rest = ''] = /^\/repos\/([^/]+\/[^/]+)(\/.*)?$/.exec(path) ?? []
  const repository = findRenamed(world, name)
  if (!repository) return undefined
  const location = `${world.url}/repositories/${repository.id}${rest}`
  const status = method === 'GET' ? 301 : 307
  return json(status, { message: 'Moved Permanently', url: location }, { location })
}

/** A call where a redirect leads, as if it was made by the repository's name. */
function named({ repositories }: World, call: Call): Call {
  const [, id, rest = ''] = /^\/repositories\/(\d+|[^/]+\/[^/]+(?=\/branches\/))(\/.*)?$/.exec(call.path) ?? []
  const repository = repositories.find((one) => String(one.id) === id || one.name === id)
  return repository ? { ...call, path: `/repos/${repository.name}${rest}` } : call
}

export function isKnown({ token, appTokens, clock }: World, call: Call): boolean {
  const given = tokenIn(call)
  return given === token || (appTokens.get(given) ?? 0) > clock.now()
}

function dispatch(routes: readonly Route[], call: Call): Reply | Promise<Reply> {
  const found = findRoute(routes, call.method, call.path)
  return found.kind === 'route' ? found.route.handle(call, found.params) : refuse(404, 'Not Found')
}

function unchanged(call: Call, reply: Reply): Reply {
  if (call.method !== 'GET' || reply.statusCode !== 200) return reply
  const etag = `W/"${hash('sha256', reply.body ?? '')}"`
  const headers = { ...reply.headers, etag }
  return call.headers['if-none-match'] === etag ? { statusCode: 304, headers } : { ...reply, headers }
}
