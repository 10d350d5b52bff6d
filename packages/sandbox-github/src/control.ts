import { z } from 'zod'
import { json } from '../../lib/http.ts'
import type { Reply, Route } from '../../lib/http.ts'
import { withBody } from '../../lib/with-body.ts'
import { limitSchema } from './faults.ts'
import type { ChangeOutcome, Handles, PushOutcome } from './handles.ts'
import { jobNames, pushSchema, rerunSchema } from './runs.ts'
import { CONCLUSIONS } from './world.ts'

const pushedTo = pushSchema.extend({ repository: z.string() })
const finishSchema = z.strictObject({
  conclusion: z.enum(CONCLUSIONS).default('success'),
  failedJobs: jobNames.optional(),
})
const webhookSchema = z.strictObject({ url: z.url({ protocol: /^https?$/ }).nullable() })
const failSchema = z.strictObject({ calls: z.int().min(0), status: z.int().min(400).max(599) })
const reviewSchema = z.strictObject({ state: z.enum(['approved', 'rejected']) })
const branchSchema = z.strictObject({ repository: z.string(), branch: z.string() })
const renameSchema = z.strictObject({ repository: z.string(), from: z.string(), to: z.string() })
const closeSchema = z.strictObject({ repository: z.string(), number: z.int(), merged: z.boolean().default(false) })
const outageSchema = z.strictObject({ isOut: z.boolean() })

/** The control interface under /sandbox, for people, tests and panels. It needs no credentials and has no faults. */
export function controlRoutes(github: Handles): Route[] {
  const get = (pattern: string, handle: Route['handle']): Route => ({ method: 'GET', pattern, handle })
  const post = (pattern: string, handle: Route['handle']): Route => ({ method: 'POST', pattern, handle })
  const done = () => json(200, { done: true })
  const routes: Route[] = [
    get('/sandbox/state', () => json(200, github.state())),
    post('/sandbox/push', (call) =>
      withBody(call, pushedTo, ({ repository, ...push }) => pushReply(github.push(repository, push))),
    ),
    post('/sandbox/runs/:run/finish', (call, { run }) =>
      withBody(call, finishSchema, (end) => changeReply(github.finish(Number(run), end.conclusion, end.failedJobs))),
    ),
    post('/sandbox/runs/:run/rerun', (call, { run }) =>
      withBody(call, rerunSchema, (how) => changeReply(github.rerun(Number(run), how))),
    ),
    post('/sandbox/runs/:run/approve', (_, { run }) => changeReply(github.approve(Number(run)))),
    post('/sandbox/runs/:run/review', (call, { run }) =>
      withBody(call, reviewSchema, ({ state }) => changeReply(github.review(Number(run), state))),
    ),
    post('/sandbox/runs/:run/cancel', (_, { run }) => changeReply(github.cancel(Number(run)))),
    post('/sandbox/branches/delete', (call) =>
      withBody(call, branchSchema, ({ repository, branch }) =>
        doneReply(github.deleteBranch(repository, branch), 'no such branch, or it is the default branch'),
      ),
    ),
    post('/sandbox/branches/rename', (call) =>
      withBody(call, renameSchema, ({ repository, from, to }) =>
        doneReply(github.renameBranch(repository, from, to), 'no such branch, or one with the new name'),
      ),
    ),
    post('/sandbox/pulls/close', (call) =>
      withBody(call, closeSchema, ({ repository, number, merged }) =>
        doneReply(github.closePull(repository, number, { merged }), 'no such open pull request'),
      ),
    ),
    get('/sandbox/deliveries', () => json(200, { deliveries: github.deliveries() })),
    post('/sandbox/deliveries/:guid/redeliver', (_, { guid = '' }) => {
      const delivery = github.redeliver(guid)
      return delivery ? json(202, delivery) : json(404, { errors: ['no such delivery, or no webhook'] })
    }),
    get('/sandbox/calls', () => json(200, { calls: github.calls() })),
    post('/sandbox/webhook', (call) => withBody(call, webhookSchema, ({ url }) => (github.setWebhookUrl(url), done()))),
    post('/sandbox/limit', (call) => withBody(call, limitSchema, (limit) => (github.limit(limit), done()))),
    post('/sandbox/fail', (call) =>
      withBody(call, failSchema, ({ calls, status }) => (github.failNext(calls, status), done())),
    ),
    post('/sandbox/outage', (call) => withBody(call, outageSchema, ({ isOut }) => (github.setOutage(isOut), done()))),
  ]
  const table = routes.map(({ method, pattern }) => `${method} ${pattern}`)
  return [get('/sandbox', () => json(200, { control: table })), ...routes]
}

function pushReply(result: PushOutcome): Reply {
  if (result.kind === 'run') return json(201, result.run)
  return json(404, { errors: [result.kind === 'no-repository' ? 'no such repository' : 'no such workflow'] })
}

const doneReply = (isDone: boolean, reason: string): Reply =>
  isDone ? json(200, { done: true }) : json(404, { errors: [reason] })

function changeReply(result: ChangeOutcome): Reply {
  if (result.kind === 'no-run') return json(404, { errors: ['no such run'] })
  return result.kind === 'changed' ? json(200, result.run) : json(409, { errors: [result.reason] })
}
