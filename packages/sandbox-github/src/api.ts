import type { Call, Params, Reply, Route } from '../../lib/http.ts'
import { json } from '../../lib/http.ts'
import { parseJson } from '../../lib/json.ts'
import { annotationBodies } from './annotations.ts'
import { dispatchBody, jobBody, runBody, workflowBody } from './bodies.ts'
import { dispatch } from './dispatch.ts'
import { deploymentBody, pendingBody, pendingIn, reviewBody, reviewSchema } from './environments.ts'
import { deliveryBody, hookBody, isTaken } from './hooks.ts'
import { fileBody, textOf } from './files.ts'
import type { Hooks } from './hooks.ts'
import { fullRepositoryBody, ownUser } from './repository.ts'
import type { Json } from './repository.ts'
import { branchBody, pullBody, refBody } from './ref-bodies.ts'
import { presentName, refsOf } from './refs.ts'
import type { Logs } from './logs.ts'
import type { ChangeResult, RunLife } from './runs.ts'
import { currentAttempt, findRepository, findWorkflow, runsOf } from './world.ts'
import type { Attempt, Job, Repository, Run, Workflow, World } from './world.ts'

/** The login of the token's owner. A rerun with the token was triggered by this login. */
const TOKEN_OWNER = 'ci-bot'

const PER_PAGE = 30
const PER_PAGE_MAX = 100

export const refuse = (statusCode: number, message: string): Reply =>
  json(statusCode, { message, documentation_url: 'https://docs.github.com/rest', status: String(statusCode) })

interface Parts {
  world: World
  life: RunLife
  hooks: Hooks
  logs: Logs
  /** whether an app made the call, and not a person */
  isApp(call: Call): boolean
}

/** The REST interface. Source: GitHub REST API, "Workflow runs", "Workflow jobs", "Repository webhooks". */
export function apiRoutes({ world, life, hooks, logs, isApp }: Parts): Route[] {
  const notFound = refuse(404, 'Not Found')
  type InRepository = (repository: Repository, call: Call, params: Params) => Reply
  const route = (method: string, path: string, handle: InRepository): Route => ({
    method,
    pattern: `/repos/:owner/:name${path}`,
    handle(call, params) {
      const repository = findRepository(world, `${params['owner']}/${params['name']}`)
      return repository ? handle(repository, call, params) : notFound
    },
  })
  const get = (path: string, handle: InRepository) => route('GET', path, handle)
  const ofRun = (method: string, path: string, handle: (run: Run, call: Call, params: Params) => Reply) =>
    route(method, `/actions/runs/:run${path}`, (repository, call, params) => {
      const run = world.runs.get(Number(params['run']))
      return run?.repository === repository ? handle(run, call, params) : notFound
    })
  const ofAttempt = (path: string, handle: (run: Run, attempt: Attempt, call: Call) => Reply) =>
    ofRun('GET', `/attempts/:attempt${path}`, (run, call, params) => {
      const attempt = run.attempts.find(({ n }) => String(n) === params['attempt'])
      return attempt ? handle(run, attempt, call) : notFound
    })
  const ofWorkflow = (
    method: string,
    path: string,
    handle: (repository: Repository, workflow: Workflow, call: Call) => Reply,
  ) =>
    route(method, `/actions/workflows/:workflow${path}`, (repository, call, params) => {
      const workflow = findWorkflow(repository, params['workflow']!)
      return workflow ? handle(repository, workflow, call) : notFound
    })
  const ofJob = (path: string, handle: (run: Run, attempt: Attempt, job: Job, call: Call) => Reply) =>
    get(path, (repository, call, { job: id }) => {
      const found = jobsOf(world, repository).find(({ job }) => String(job.id) === id)
      return found ? handle(found.run, found.attempt, found.job, call) : notFound
    })
  const write = (path: string, accepted: number, refused: number, act: (run: Run) => ChangeResult) =>
    ofRun('POST', path, (run) => {
      const result = act(run)
      return result.kind === 'changed' ? json(accepted, {}) : refuse(refused, result.reason)
    })
  const rerun = (failedOnly: boolean) => (run: Run) => life.rerun(run, TOKEN_OWNER, { failedOnly })
  const listRuns = (call: Call, runs: readonly Run[]) => {
    const shown = runs.filter((run) => isWanted(call.query, run)).map((run) => runBody(world, run))
    return paged(call, 'workflow_runs', shown)
  }
  const listJobs = (call: Call, run: Run, attempts: readonly Attempt[]) => {
    const jobs = attempts.flatMap((attempt) => attempt.jobs.map((job) => jobBody(world, run, attempt, job)))
    return paged(call, 'jobs', jobs)
  }
  // How GitHub refuses a review is documented for apps only.
  function review(run: Run, call: Call): Reply {
    if (isApp(call)) return refuse(403, 'Resource not accessible by integration')
    const body = parseJson(call.text)
    const wanted = body.kind === 'json' ? reviewSchema.safeParse(body.value).data : undefined
    const chosen = pendingIn(run).filter(({ id }) => wanted?.environment_ids.includes(id))
    const isPossible = chosen.length > 0 && chosen.every(({ mayReview }) => mayReview)
    if (!wanted || !isPossible || chosen.length < wanted.environment_ids.length)
      return refuse(422, 'The deployments cannot be reviewed.')
    life.review(run, wanted.state, { by: TOKEN_OWNER, comment: wanted.comment, environments: chosen })
    return json(
      200,
      chosen.map((environment) => deploymentBody(world, run, environment)),
    )
  }
  const ofHook = (method: string, path: string, handle: InRepository) =>
    route(method, `/hooks/:hook/deliveries${path}`, (repository, call, params) => {
      const isThere = hooks.hooks().some((hook) => hook.repository === repository && String(hook.id) === params['hook'])
      return isThere ? handle(repository, call, params) : notFound
    })

  return [
    {
      method: 'GET',
      pattern: '/user',
      handle: (call) =>
        isApp(call) ? refuse(403, 'Resource not accessible by integration') : json(200, ownUser(world, TOKEN_OWNER)),
    },
    {
      method: 'GET',
      pattern: '/meta',
      handle: () =>
        json(200, {
          verifiable_password_authentication: true,
          ...(world.serverVersion !== null && { installed_version: world.serverVersion }),
        }),
    },
    get('', (repository) => json(200, fullRepositoryBody(world, repository))),
    ofWorkflow('GET', '', (repository, workflow) => json(200, workflowBody(world, repository, workflow))),
    ofWorkflow('GET', '/runs', (repository, workflow, call) =>
      listRuns(
        call,
        runsOf(world, repository).filter((run) => run.workflow === workflow),
      ),
    ),
    ofWorkflow('POST', '/dispatches', (repository, workflow, call) => {
      const result = dispatch({ world, life, actor: TOKEN_OWNER }, repository, workflow, call.text)
      if (result.kind === 'refused') return refuse(result.statusCode, result.message)
      return result.isWanted ? json(200, dispatchBody(world, result.run)) : { statusCode: 204 }
    }),
    get('/contents/:path*', (repository, { query }, { path = '' }) => {
      const ref = query.get('ref') ?? repository.defaultBranch
      const { branches, tags } = refsOf(world, repository)
      const text = branches.has(ref) || tags.has(ref) ? textOf(world, repository, path, ref) : null
      return text === null ? notFound : json(200, fileBody(world, repository, path, text))
    }),
    get('/branches/:branch*', (repository, _, { branch = '' }) => branchReply(world, repository, branch)),
    get('/git/ref/:ref*', (repository, _, { ref = '' }) => {
      const { branches, tags } = refsOf(world, repository)
      const [, kind, name = ''] = /^(heads|tags)\/(.+)$/.exec(ref) ?? []
      const last = (kind === 'tags' ? tags : branches).get(name)
      return last === undefined ? notFound : json(200, refBody(world, repository, ref, last))
    }),
    get('/pulls/:number', (repository, _, { number }) => {
      const pull = refsOf(world, repository).pulls.get(Number(number))
      return pull ? json(200, pullBody(world, pull)) : notFound
    }),
    get('/actions/runs', (repository, call) => listRuns(call, runsOf(world, repository))),
    ofRun('GET', '', (run) => json(200, runBody(world, run))),
    ofRun('GET', '/jobs', (run, call) =>
      listJobs(call, run, call.query.get('filter') === 'all' ? run.attempts : [currentAttempt(run)]),
    ),
    ofAttempt('', (run, attempt) => json(200, runBody(world, run, attempt))),
    ofAttempt('/jobs', (run, attempt, call) => listJobs(call, run, [attempt])),
    ofAttempt('/logs', (run, attempt) => logs.ofAttempt(run, attempt) ?? notFound),
    ofRun('GET', '/logs', (run) => logs.ofAttempt(run, currentAttempt(run)) ?? notFound),
    ofRun('DELETE', '/logs', (run) => {
      if (currentAttempt(run).status !== 'completed') return refuse(403, 'The run has not ended.')
      logs.remove(run)
      return { statusCode: 204 }
    }),
    ofJob('/actions/jobs/:job', (run, attempt, job) => json(200, jobBody(world, run, attempt, job))),
    ofJob('/actions/jobs/:job/logs', (run, attempt, job) => logs.ofJob(run, attempt, job) ?? notFound),
    // The check run of a job has the job's id.
    ofJob('/check-runs/:job/annotations', (run, _, job, call) => paged(call, null, annotationBodies(world, run, job))),
    write('/rerun', 201, 403, rerun(false)),
    write('/rerun-failed-jobs', 201, 403, rerun(true)),
    write('/cancel', 202, 409, life.cancel),
    write('/force-cancel', 202, 409, life.cancel),
    write('/approve', 201, 403, (run) => life.approve(run, TOKEN_OWNER)),
    ofRun('GET', '/pending_deployments', (run) => json(200, pendingBody(world, run, TOKEN_OWNER))),
    ofRun('GET', '/approvals', (run) =>
      json(
        200,
        run.reviews.map((one) => reviewBody(world, run, one)),
      ),
    ),
    ofRun('POST', '/pending_deployments', (run, call) => review(run, call)),
    get('/hooks', (repository) => {
      const own = hooks.hooks().filter((hook) => hook.repository === repository)
      const shown = own.map((hook) => hookBody(world, hook, hooks.last(hook)))
      return json(200, shown)
    }),
    ofHook('GET', '', (_, call, { hook }) => {
      const wanted = call.query.get('status')
      const sent = hooks.deliveries().filter(({ hookId }) => String(hookId) === hook)
      const kept = sent.filter((one) => wanted === null || (wanted === 'success') === isTaken(one))
      const shown = kept.toReversed().map((delivery) => deliveryBody(world, delivery))
      return paged(call, null, shown)
    }),
    ofHook('POST', '/:delivery/attempts', (_, __, params) => {
      const delivery = hooks.deliveries().find(({ id }) => String(id) === params['delivery'])
      return delivery && hooks.redeliver(delivery.guid) ? json(202, {}) : notFound
    }),
  ]
}

/** Source: GitHub REST API, "Get a branch". The address of a redirect: `google/go-github`, issue 1895. */
function branchReply(world: World, repository: Repository, branch: string): Reply {
  const now = presentName(world, repository, branch)
  if (now === undefined) return refuse(404, 'Branch not found')
  if (now === branch) return json(200, branchBody(world, repository, branch))
  const location = `${world.url}/repositories/${repository.name}/branches/${encodeURIComponent(now)}`
  return json(301, { message: 'Moved Permanently', url: location }, { location })
}

const jobsOf = (world: World, repository: Repository) =>
  runsOf(world, repository).flatMap((run) =>
    run.attempts.flatMap((attempt) => attempt.jobs.map((job) => ({ run, attempt, job }))),
  )

function isWanted(query: URLSearchParams, run: Run): boolean {
  const { status, conclusion } = currentAttempt(run)
  const actor = run.attempts[0]!.actor
  const ofRun = { branch: run.branch, head_sha: run.sha, event: run.event, actor }
  const isOfRun = Object.entries(ofRun).every(([name, value]) => !query.has(name) || query.get(name) === value)
  const wanted = query.get('status')
  return isOfRun && (wanted === null || wanted === status || wanted === conclusion)
}

/** One page of a list, with links to other pages in the header `link`. With a name: `{ total_count, [name]: page }`. */
function paged(call: Call, name: string | null, items: readonly Json[]): Reply {
  const perPage = Math.min(numberIn(call.query, 'per_page') ?? PER_PAGE, PER_PAGE_MAX)
  const page = numberIn(call.query, 'page') ?? 1
  const last = Math.max(1, Math.ceil(items.length / perPage))
  const shown = items.slice((page - 1) * perPage, page * perPage)
  const link = (to: number, rel: string) => {
    const query = new URLSearchParams(call.query)
    query.set('page', String(to))
    return `<http://${call.headers.host}${call.path}?${query}>; rel="${rel}"`
  }
  const before = page > 1 ? [link(page - 1, 'prev'), link(1, 'first')] : []
  const links = [...before, ...(page < last ? [link(page + 1, 'next'), link(last, 'last')] : [])]
  const value = name === null ? shown : { total_count: items.length, [name]: shown }
  return json(200, value, links.length === 0 ? {} : { link: links.join(', ') })
}

function numberIn(query: URLSearchParams, name: string): number | null {
  const text = query.get(name) ?? ''
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : null
}
