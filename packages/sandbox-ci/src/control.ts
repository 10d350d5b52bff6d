import { z } from 'zod'
import { faultSchema } from './faults.ts'
import type { ChangeOutcome, Handles, PushOutcome, RulesOutcome, StormOutcome } from './handles.ts'
import { findRoute, json } from '../../lib/http.ts'
import type { Call, Reply, Route } from '../../lib/http.ts'
import { invalid, withBody } from '../../lib/with-body.ts'
import { OUTCOMES } from './state.ts'
import { STORM_BUILDS_MAX } from './storm.ts'

const BUILD_MS_MAX = 3_600_000
const TEXT_LENGTH_MAX = 100_000

const text = z.string().max(TEXT_LENGTH_MAX).optional()
const ms = z.int().min(0).max(BUILD_MS_MAX).optional()
const outcome = z.enum(OUTCOMES)
const pushSchema = z.strictObject({
  branch: text,
  message: text,
  committer: text,
  commitId: text,
  outcome: outcome.optional(),
  ms,
  waitingMs: ms,
  needsApproval: z.boolean().optional(),
})
const stormSchema = z.strictObject({
  builds: z.int().min(1).max(STORM_BUILDS_MAX),
  ms,
  failEvery: z.int().min(0).optional(),
  branches: z.int().min(1).optional(),
})
const finishSchema = z.strictObject({ outcome: outcome.exclude(['none']).default('success') })
const restartSchema = z.strictObject({ outcome: outcome.optional() })
const resendSchema = z.strictObject({ order: z.array(z.int()) })
const rulesSchema = z.strictObject({ rules: z.unknown() })
const webhookSchema = z.strictObject({ url: z.url({ protocol: /^https?$/ }) })

/** Answers calls of the control interface, without a server. */
export const createControl = (ci: Handles): Control => answerBy(controlRoutes(ci))

export type Control = (call: Call) => Promise<Reply>

/** Answers calls of these routes; 404 or 405 for any other. */
export function answerBy(routes: readonly Route[]): Control {
  return async (call) => {
    const found = findRoute(routes, call.method, call.path)
    if (found.kind === 'route') return found.route.handle(call, found.params)
    return json(found.kind === 'no-route' ? 404 : 405, { errors: ['no such call'] })
  }
}

/** The control interface under /sandbox, for people, tests and panels. It needs no credentials and has no faults. */
export function controlRoutes(ci: Handles): Route[] {
  const done = () => json(200, { done: true })
  const routes: Route[] = [
    get('/sandbox/state', () => json(200, ci.state())),
    post('/sandbox/reset', () => (ci.reset(), done())),
    ...commonRoutes(ci),
    post('/sandbox/projects/:project*/rules', (call, { project }) =>
      withBody(call, rulesSchema, ({ rules }) => rulesReply(ci.setRules(project!, rules))),
    ),
    post('/sandbox/nightly', () => json(201, { builds: ci.nightly() })),
    get('/sandbox/deliveries', () => json(200, { deliveries: ci.deliveries() })),
    get('/sandbox/decisions', () => json(200, { decisions: ci.decisions() })),
    get('/sandbox/calls', () => json(200, { calls: ci.calls() })),
    get('/sandbox/switches', () => json(200, ci.switches())),
    post('/sandbox/switches', (call) => withBody(call, z.unknown(), (changes) => switchReply(ci.setSwitches(changes)))),
    get('/sandbox/faults', () => json(200, { faults: ci.faults() })),
    post('/sandbox/faults', (call) => withBody(call, faultSchema, (fault) => (ci.addFault(fault), done()))),
    { method: 'DELETE', pattern: '/sandbox/faults', handle: () => (ci.clearFaults(), done()) },
    post('/sandbox/webhook', (call) => withBody(call, webhookSchema, ({ url }) => (ci.setWebhookUrl(url), done()))),
    post('/sandbox/forget-key', () => (ci.forgetKey(), done())),
    post('/sandbox/remember-key', () => (ci.rememberKey(), done())),
  ]
  const table = routes.map(({ method, pattern }) => `${method} ${pattern.replace('*', '')}`)
  return [get('/sandbox', () => json(200, { control: table })), ...routes]
}

/** The part of the control interface that the other sandbox services share. */
export interface CommonHandles extends Pick<
  Handles,
  'push' | 'storm' | 'finish' | 'approve' | 'stopBuild' | 'restart' | 'resendInOrder'
> {
  deliveries(): readonly { n: number }[]
  resend(n: number): unknown
}

export const commonRoutes = (ci: CommonHandles): Route[] => [
  post('/sandbox/projects/:project*/push', (call, { project }) =>
    withBody(call, pushSchema, (push) => pushReply(ci.push(project!, push))),
  ),
  post('/sandbox/projects/:project*/storm', (call, { project }) =>
    withBody(call, stormSchema, (wanted) => pushReply(ci.storm(project!, wanted))),
  ),
  post('/sandbox/builds/:build/finish', (call, { build }) =>
    withBody(call, finishSchema, (wanted) => changeReply(ci.finish(build!, wanted.outcome))),
  ),
  post('/sandbox/builds/:build/restart', (call, { build }) =>
    withBody(call, restartSchema, (wanted) => changeReply(ci.restart(build!, wanted.outcome))),
  ),
  post('/sandbox/builds/:build/stop', (_, { build }) => changeReply(ci.stopBuild(build!))),
  post('/sandbox/builds/:build/approve', (_, { build }) => changeReply(ci.approve(build!))),
  post('/sandbox/deliveries/resend', (call) =>
    withBody(call, resendSchema, ({ order }) => json(202, { resent: ci.resendInOrder(order) })),
  ),
  post('/sandbox/deliveries/:n/resend', (_, { n }) => found(202, ci.resend(Number(n)))),
  get('/sandbox/deliveries/:n', (_, { n }) =>
    found(
      200,
      ci.deliveries().find((delivery) => String(delivery.n) === n),
    ),
  ),
]

const get = (pattern: string, handle: Route['handle']): Route => ({ method: 'GET', pattern, handle })
const post = (pattern: string, handle: Route['handle']): Route => ({ method: 'POST', pattern, handle })

const found = (statusCode: number, value: unknown): Reply =>
  value === undefined ? json(404, { errors: ['no such delivery'] }) : json(statusCode, value)

function pushReply(result: PushOutcome | StormOutcome): Reply {
  if (result.kind === 'no-project') return json(404, { errors: ['no such project'] })
  if (result.kind === 'branch-not-built')
    return json(409, { errors: ["the project's branch filter leaves this branch out"] })
  return json(201, result.kind === 'build' ? result.build : { builds: result.builds })
}

function rulesReply(result: RulesOutcome): Reply {
  if (result.kind === 'no-project') return json(404, { errors: ['no such project'] })
  return result.kind === 'rules' ? json(200, { rules: result.rules }) : invalid(result.reasons)
}

function changeReply(result: ChangeOutcome): Reply {
  if (result.kind === 'no-build') return json(404, { errors: ['no such build'] })
  return result.kind === 'changed' ? json(200, result.build) : json(409, { errors: [result.reason] })
}

const switchReply = (result: ReturnType<Handles['setSwitches']>): Reply =>
  result.kind === 'switches' ? json(200, result.switches) : invalid(result.reasons)
