import { z } from 'zod'
import { json } from '../../lib/http.ts'
import type { Reply, Route } from '../../lib/http.ts'
import { withBody } from '../../lib/with-body.ts'
import { ruleSchema } from './deployments.ts'
import type { ChangeOutcome, Handles } from './handles.ts'
import { ENDS, failedJobsSchema, pushSchema, retrySchema } from './push.ts'
import { STATUSES } from './state.ts'

const nothing = z.strictObject({})
const finishSchema = z.strictObject({
  status: z.enum(ENDS).default('success'),
  failedJobs: failedJobsSchema.default([]),
})
const branchSchema = z.strictObject({ branch: z.string() })
const renameSchema = z.strictObject({ to: z.string() })
const playSchema = z.strictObject({ by: z.string().nullable().default(null) })
const protectSchema = z.strictObject({ environment: z.string(), rules: z.array(ruleSchema).default([]) })
const decideSchema = z.strictObject({
  environment: z.string(),
  by: z.string(),
  status: z.enum(['approved', 'rejected']),
  comment: z.string().optional(),
})
const closeSchema = z.strictObject({ iid: z.int(), merged: z.boolean().default(false) })
const advanceSchema = z.strictObject({ status: z.enum(STATUSES) })
const webhookSchema = z.strictObject({ url: z.url({ protocol: /^https?$/ }).nullable() })
const limitSchema = z.strictObject({ calls: z.int().min(0), retryAfterS: z.int().min(0).default(1) })
const failSchema = z.strictObject({ calls: z.int().min(0), statusCode: z.int().min(400).max(599) })
const flag = z.boolean().exactOptional()
const switchesSchema = z.strictObject({
  isLazy: flag,
  isDown: flag,
  role: z.enum(['Guest', 'Reporter', 'Developer', 'Maintainer']).exactOptional(),
  isBranchProtected: flag,
  areVariablesRefused: flag,
  hasIsoTimes: flag,
  isFree: flag,
  mayApproveOwn: flag,
  cancelingMs: z.int().min(0).exactOptional(),
})

/** The control interface under /sandbox, for people and tests. It needs no credentials and has no faults. */
export function controlRoutes(gitlab: Handles): Route[] {
  const get = (pattern: string, handle: Route['handle']): Route => ({ method: 'GET', pattern, handle })
  const post = <Body>(pattern: string, schema: z.ZodType<Body>, act: (body: Body, named: string) => Reply): Route => {
    const handle: Route['handle'] = (call, params) =>
      withBody(call, schema, (body) => act(body, Object.values(params)[0] ?? ''))
    return { method: 'POST', pattern, handle }
  }
  const onPipeline = <Body>(what: string, schema: z.ZodType<Body>, act: (id: number, body: Body) => ChangeOutcome) =>
    post(`/sandbox/pipelines/:pipeline/${what}`, schema, (body, id) => changeReply(act(Number(id), body)))
  const done = () => json(200, { done: true })

  const routes = [
    get('/sandbox/state', () => json(200, gitlab.state())),
    post('/sandbox/projects/:project*/push', pushSchema, (push, project) => {
      const result = gitlab.push(project, push)
      return result.kind === 'pipeline' ? json(201, result.pipeline) : json(404, { errors: ['no such project'] })
    }),
    post('/sandbox/projects/:project*/delete-branch', branchSchema, ({ branch }, project) =>
      doneReply(gitlab.deleteBranch(project, branch), 'no such branch, or it is the default branch'),
    ),
    post('/sandbox/projects/:project*/rename-default-branch', renameSchema, ({ to }, project) =>
      doneReply(gitlab.renameDefaultBranch(project, to), 'no such project, or a branch with the new name'),
    ),
    post('/sandbox/projects/:project*/close-merge-request', closeSchema, ({ iid, merged }, project) =>
      doneReply(gitlab.closeMergeRequest(project, iid, { merged }), 'no such open merge request'),
    ),
    post('/sandbox/projects/:project*/protect', protectSchema, ({ environment, rules }, project) => {
      gitlab.protect(project, environment, rules)
      return done()
    }),
    onPipeline('decide', decideSchema, (id, { environment, by, ...decision }) =>
      gitlab.decide(id, environment, by, decision),
    ),
    onPipeline('finish', finishSchema, (id, { status, failedJobs }) => gitlab.finish(id, status, failedJobs)),
    onPipeline('advance', advanceSchema, (id, { status }) => gitlab.advance(id, status)),
    onPipeline('play', playSchema, (id, { by }) => gitlab.play(id, by)),
    onPipeline('cancel', nothing, (id) => gitlab.cancel(id)),
    onPipeline('retry', retrySchema, (id, wanted) => gitlab.retry(id, wanted)),
    get('/sandbox/calls', () => json(200, { calls: gitlab.calls() })),
    get('/sandbox/deliveries', () => json(200, { deliveries: gitlab.deliveries() })),
    post('/sandbox/deliveries/:n/resend', nothing, (_, n) => {
      const delivery = gitlab.resend(Number(n))
      return delivery ? json(202, delivery) : json(404, { errors: ['no such delivery'] })
    }),
    post('/sandbox/webhook', webhookSchema, ({ url }) => (gitlab.setWebhookUrl(url), done())),
    post('/sandbox/limit', limitSchema, (limit) => (gitlab.limit(limit), done())),
    post('/sandbox/fail', failSchema, ({ calls, statusCode }) => (gitlab.failNext(calls, statusCode), done())),
    post('/sandbox/switches', switchesSchema, (changes) => json(200, gitlab.setSwitches(changes))),
  ]
  const table = routes.map(({ method, pattern }) => `${method} ${pattern.replace('*', '')}`)
  return [get('/sandbox', () => json(200, { control: table })), ...routes]
}

const doneReply = (isDone: boolean, reason: string): Reply =>
  isDone ? json(200, { done: true }) : json(404, { errors: [reason] })

function changeReply(result: ChangeOutcome): Reply {
  if (result.kind === 'no-pipeline') return json(404, { errors: ['no such pipeline'] })
  return result.kind === 'changed' ? json(200, result.pipeline) : json(409, { errors: [result.reason] })
}
