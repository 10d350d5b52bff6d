import type { IncomingMessage, ServerResponse } from 'node:http'
import { admit } from '../../lib/admit.ts'
import { assertNever } from '../../lib/assert.ts'
import type { Calls } from '../../lib/calls.ts'
import { refuse } from './errors.ts'
import type { DoorName, Fault, Faults } from './faults.ts'
import { findRoute, sendReply } from '../../lib/http.ts'
import type { Call, Reply, Route } from '../../lib/http.ts'
import type { RateLimit } from './rate-limit.ts'
import type { World } from './world.ts'

interface Parts {
  /** the host that the server listens on */
  host: () => string
  world: World
  routes: readonly Route[]
  faults: Faults
  limit: RateLimit
  calls: Calls
}

/** The listener for `node:http`: body, faults, rate limit, route. The control interface has no faults and no limit. */
export function createListener(parts: Parts): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    answer(parts, request, response).catch(() => {
      // The client disconnected, or a handler threw. End the response in either case, so that no client waits for ever.
      if (response.headersSent) response.destroy()
      else sendReply(response, refuse(parts.world.switches, 500, 'internal error'))
    })
  }
}

async function answer(parts: Parts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const admitted = await admit(request, parts.host(), (path) => doorOf(path) === undefined)
  if (admitted.kind === 'refused') {
    const reply = refuse(parts.world.switches, admitted.statusCode, admitted.reason)
    return sendReply(response, { ...reply, headers: { ...reply.headers, connection: 'close' } })
  }
  const { call } = admitted
  const door = doorOf(call.path)
  if (door === undefined) return sendReply(response, await dispatch(parts, call))
  const fault = parts.faults.meet(door, request.method ?? '')
  const reply = await replyUnder(parts, call, door, fault)
  const isCut = fault?.kind === 'lost-answer'
  parts.calls.record(call, isCut ? 0 : (reply?.statusCode ?? 0))
  if (isCut || fault?.kind === 'down') response.destroy()
  else if (reply) sendReply(response, reply)
}

function doorOf(path: string): DoorName | undefined {
  if (path.startsWith('/v2/')) return 'v2'
  if (path.startsWith('/api/')) return 'legacy'
  if (path.startsWith('/oauth/')) return 'oauth'
  return path.startsWith('/projects/') ? 'site' : undefined
}

/** The response under this fault; undefined if there is none. */
async function replyUnder(
  parts: Parts,
  call: Call,
  door: DoorName,
  fault: Fault | undefined,
): Promise<Reply | undefined> {
  switch (fault?.kind) {
    case 'down':
    case 'hang':
      return undefined
    case 'garbage':
      return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: '{"projects":[{"uuid":' }
    case 'status':
      return faultyStatus(parts.world, fault)
    case 'slow':
      await parts.world.clock.sleep(fault.ms)
      return limitedDispatch(parts, call, door)
    case 'lost-answer':
    case undefined:
      return limitedDispatch(parts, call, door)
    default:
      return assertNever(fault)
  }
}

function faultyStatus(world: World, fault: Extract<Fault, { kind: 'status' }>): Reply {
  const reply = refuse(world.switches, fault.statusCode, fault.reason ?? 'a fault was switched on')
  const retryAfter = fault.retryAfterS === undefined ? {} : { 'retry-after': String(fault.retryAfterS) }
  const reason = fault.reason === undefined ? {} : { reason: fault.reason }
  return { ...reply, ...reason, headers: { ...reply.headers, ...retryAfter } }
}

async function limitedDispatch(parts: Parts, call: Call, door: DoorName): Promise<Reply> {
  const limited = door === 'v2' || door === 'legacy' ? parts.limit.check() : undefined
  return limited ?? (await dispatch(parts, call))
}

function dispatch({ world, routes }: Parts, call: Call): Reply | Promise<Reply> {
  const found = findRoute(routes, call.method, call.path)
  if (found.kind === 'route') return found.route.handle(call, found.params)
  if (found.kind === 'no-route') return refuse(world.switches, 404, 'no such address')
  const reply = refuse(world.switches, 405, 'no such method here')
  return { ...reply, headers: { ...reply.headers, allow: found.allow } }
}
