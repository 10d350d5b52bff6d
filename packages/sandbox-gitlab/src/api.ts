import { z } from 'zod'
import { json } from '../../lib/http.ts'
import { parseJson } from '../../lib/json.ts'
import type { Call, Reply, Route } from '../../lib/http.ts'
import {
  commitEntity,
  fileEntity,
  isoTime,
  named,
  pipelineBasic,
  pipelineEntity,
  projectEntity,
  refOf,
  triggererOf,
  userEntity,
} from './entities.ts'
import {
  approveReply,
  deploymentEntity,
  isDeployJob,
  memberReply,
  wholeDeployment,
  type DeployJob,
} from './deployments.ts'
import type { Hook } from './hook.ts'
import { jobEntity } from './job-entities.ts'
import type { Life } from './life.ts'
import { branchEntity, mergeRequestEntity } from './ref-entities.ts'
import { testReport, testReportSummary } from './reports.ts'
import { findProject, latestJobs, ROLES, SOURCES, STATUSES } from './state.ts'
import type { Job, Pipeline, Project, Secrets, World } from './state.ts'

/** The error response for a missing or insufficient token; undefined if access is granted. */
export function checkToken({ token, readToken }: Secrets, call: Call): Reply | undefined {
  const given = call.headers['private-token']
  if (given === token || (given === readToken && call.method === 'GET')) return undefined
  if (given !== readToken) return json(401, { message: '401 Unauthorized' })
  const error_description = 'The request requires higher privileges than provided by the access token.'
  return json(403, { error: 'insufficient_scope', error_description, scope: 'api' })
}

/**
 * The routes below /api/v4. Source: GitLab, `pipelines.rb` and `jobs.rb` in `lib/api/ci/`, and
 * `branches.rb` and `merge_requests.rb` in `lib/api/`.
 */
export function apiRoutes(world: World, life: Life, hook: Hook, base: string): Route[] {
  function inProject(how: string, handle: (project: Project, call: Call, id: string) => Reply): Route {
    const [method = '', path = ''] = how.split(' ')
    return {
      method,
      pattern: `${base}/projects/:project${path}`,
      handle: (call, { project: name, id = '' }) => {
        const project = findProject(world, name!)
        return project ? handle(project, call, id) : json(404, { message: '404 Project Not Found' })
      },
    }
  }

  const inPipeline = (how: string, handle: (pipeline: Pipeline, call: Call) => Reply): Route =>
    inProject(how.replace(' ', ' /pipelines/:id'), (project, call, id) => {
      const pipeline = pipelinesOf(world, project).find((one) => String(one.id) === id)
      return pipeline ? handle(pipeline, call) : NOT_FOUND
    })

  const inJob = (how: string, handle: (job: Job, pipeline: Pipeline) => Reply): Route =>
    inProject(how.replace(' ', ' /jobs/:id'), (project, _, id) => {
      const pipeline = pipelinesOf(world, project).find(({ jobs }) => jobs.some((job) => String(job.id) === id))
      const job = pipeline?.jobs.find((one) => String(one.id) === id)
      return pipeline && job ? handle(job, pipeline) : NOT_FOUND
    })

  const deploymentsOf = (project: Project) =>
    pipelinesOf(world, project).flatMap((pipeline) =>
      pipeline.jobs.filter(isDeployJob).map((job) => ({ pipeline, job })),
    )
  const inDeployment = (how: string, handle: (pipeline: Pipeline, job: DeployJob, call: Call) => Reply): Route =>
    inProject(how.replace(' ', ' /deployments/:id'), (project, call, id) => {
      if (!hasRole('Reporter')) return json(403, { message: '403 Forbidden' })
      const found = deploymentsOf(project).find(({ job }) => String(job.deployment.id) === id)
      return found ? handle(found.pipeline, found.job, call) : NOT_FOUND
    })
  function listDeployments(project: Project, call: Call): Reply {
    if (!hasRole('Reporter')) return json(403, { message: '403 Forbidden' })
    const sign = call.query.get('sort') === 'desc' ? -1 : 1
    const status = call.query.get('status')
    const shown = deploymentsOf(project)
      .map(({ pipeline, job }) => deploymentEntity(world, pipeline, job))
      .filter((one) => status === null || one.status === status)
      .sort((one, other) => sign * (one.id - other.id))
    return paged(world, call, shown, (one) => one)
  }

  const hasRole = (role: keyof typeof ROLES) => ROLES[world.switches.role] >= ROLES[role]
  const unlessProtected = (handle: () => Reply): Reply =>
    world.switches.isBranchProtected || !hasRole('Developer') ? json(403, { message: '403 Forbidden' }) : handle()

  function listPipelines(project: Project, call: Call): Reply {
    const chosen = chosenPipelines(pipelinesOf(world, project), call.query)
    return refusedValue(call.query) ?? paged(world, call, chosen, (one) => named(pipelineBasic(world, one)))
  }

  const listJobs = (pipeline: Pipeline, call: Call, areBridges: boolean): Reply =>
    refusedScope(call.query) ??
    paged(
      world,
      call,
      chosenJobs(pipeline, call.query).filter(({ trigger }) => trigger === areBridges),
      (job) => jobEntity(world, pipeline, job),
    )

  function play(job: Job, pipeline: Pipeline): Reply {
    const result = life.play(pipeline, { job })
    if (result.kind === 'changed') return json(200, jobEntity(world, pipeline, job))
    return json(400, { message: `400 Bad request - ${result.reason}` })
  }

  /** By its hash, or by the name of a branch or tag. */
  function showCommit(project: Project, name: string): Reply {
    const pipeline = pipelinesOf(world, project).findLast(({ sha, branch }) => sha === name || branch === name)
    return pipeline ? json(200, commitEntity(world, pipeline)) : json(404, { message: '404 Commit Not Found' })
  }

  function showFile({ files }: Project, path: string, { query }: Call): Reply {
    const text = files.get(path)
    return text === undefined
      ? json(404, { message: '404 File Not Found' })
      : json(200, fileEntity(path, text, query.get('ref') ?? ''))
  }

  /** The messages are GitLab's: `lib/gitlab/ci/pipeline/chain`. */
  function create(project: Project, { text }: Call): Reply {
    const refused = (message: string) => json(400, { message: { base: [message] } })
    const body = parseJson(text)
    const wanted = body.kind === 'json' ? newSchema.safeParse(body.value).data : undefined
    if (!wanted) return json(400, { error: 'ref is missing' })
    const { ref, variables } = wanted
    const isTag = pipelinesOf(world, project).some(({ tag, branch }) => tag && branch === ref)
    if (!project.branches.has(ref) && !isTag) return refused('Reference not found')
    if (world.switches.areVariablesRefused && variables.length > 0)
      return refused('Insufficient permissions to set pipeline variables')
    const given = Object.fromEntries(variables.map(({ key, value }) => [key, value]))
    const pushed = life.push(project, { branch: ref, tag: isTag, source: 'api', outcome: 'none', variables: given })
    return json(201, named(pipelineEntity(world, pushed)))
  }

  const scopeOf = ({ headers }: Call) => (headers['private-token'] === world.secrets.token ? 'api' : 'read_api')
  return [
    {
      method: 'GET',
      pattern: `${base}/personal_access_tokens/self`,
      handle: (call) => json(200, tokenEntity(scopeOf(call))),
    },
    inProject('GET ', (project) => json(200, projectEntity(world, project))),
    inProject('GET /hooks', (project) =>
      hasRole('Maintainer') ? json(200, hookEntities(project, hook)) : json(403, { message: '403 Forbidden' }),
    ),
    inProject('GET /pipelines', listPipelines),
    inProject('POST /pipeline', (project, call) => unlessProtected(() => create(project, call))),
    inProject('GET /repository/files/:id', (project, call, path) => showFile(project, path, call)),
    { method: 'GET', pattern: `${base}/user`, handle: () => json(200, userEntity(world)) },
    inPipeline('GET ', (one) => json(200, named(pipelineEntity(world, one)))),
    inPipeline('GET /jobs', (one, call) => listJobs(one, call, false)),
    inPipeline('GET /bridges', (one, call) => listJobs(one, call, true)),
    inPipeline('GET /test_report', (one) => json(200, testReport(one))),
    inPipeline('GET /test_report_summary', (one) => json(200, testReportSummary(one))),
    // As on GitLab, retry answers 201 and cancel 200 even if there is nothing to retry or cancel.
    inPipeline('POST /retry', (one) => unlessProtected(() => (life.retry(one), json(201, pipelineEntity(world, one))))),
    inPipeline('POST /cancel', (one) =>
      unlessProtected(() => (life.cancel(one), json(200, pipelineEntity(world, one)))),
    ),
    inJob('GET /trace', (job) => (job.trigger ? NOT_FOUND : trace(job))),
    inJob('POST /play', (job, pipeline) => unlessProtected(() => play(job, pipeline))),
    inProject('GET /deployments', listDeployments),
    inDeployment('GET ', (pipeline, job) => json(200, wholeDeployment(world, pipeline, job))),
    // Only Premium has this call.
    inDeployment('POST /approval', (pipeline, job, call) =>
      world.switches.isFree
        ? json(404, { error: '404 Not Found' })
        : approveReply({ world, life }, pipeline, job, call),
    ),
    ...['', '/all'].map((all) => ({
      method: 'GET',
      pattern: `${base}/groups/:group/members${all}/:user`,
      handle: (_: Call, { group = '', user = '' }) => memberReply(world, group, user, all !== ''),
    })),
    inProject('GET /repository/branches/:id', (project, _, branch) =>
      project.branches.has(branch)
        ? json(200, branchEntity(world, project, branch))
        : json(404, { message: '404 Branch Not Found' }),
    ),
    inProject('GET /merge_requests/:id', (project, _, iid) => {
      const request = project.mergeRequests.get(Number(iid))
      return request ? json(200, mergeRequestEntity(world, project, request)) : NOT_FOUND
    }),
    inProject('GET /repository/commits/:id', (project, _, sha) => showCommit(project, sha)),
  ]
}

// What GitLab says of any record that it does not find.
const NOT_FOUND = json(404, { message: '404 Not found' })

const newSchema = z.object({
  ref: z.string(),
  variables: z.array(z.object({ key: z.string(), value: z.string() })).default([]),
  inputs: z.record(z.string(), z.unknown()).default({}),
})

const trace = ({ id, log }: Job): Reply => ({
  statusCode: 200,
  headers: { 'content-type': 'text/plain', 'content-disposition': `infile; filename="${id}.log"` },
  body: log,
})

/** The values that a list of pipelines may be asked for. */
const LIST_VALUES: Readonly<Record<string, readonly string[]>> = {
  status: STATUSES,
  source: SOURCES,
  order_by: ['id', 'status', 'ref', 'updated_at', 'user_id'],
  sort: ['asc', 'desc'],
}

function refusedValue(query: URLSearchParams): Reply | undefined {
  const bad = Object.entries(LIST_VALUES).find(
    ([name, known]) => !query.getAll(name).every((one) => known.includes(one)),
  )
  return bad && refusalOf(bad[0])
}

const refusedScope = (query: URLSearchParams): Reply | undefined =>
  scopesIn(query).every((scope) => (STATUSES as readonly string[]).includes(scope)) ? undefined : refusalOf('scope')

const refusalOf = (name: string): Reply => json(400, { error: `${name} does not have a valid value` })

const scopesIn = (query: URLSearchParams): string[] => [...query.getAll('scope[]'), ...query.getAll('scope')]

const pipelinesOf = (world: World, { id }: Project): Pipeline[] => world.pipelines.filter((one) => one.projectId === id)

const tokenEntity = (scope: string) => ({ id: 1, name: 'buildline', revoked: false, scopes: [scope], active: true })

function hookEntities({ id }: Project, hook: Hook): object[] {
  const { status, disabledUntil } = hook.alert()
  const alert = { alert_status: status, disabled_until: disabledUntil === null ? null : isoTime(disabledUntil) }
  const events = { pipeline_events: hook.hasPipelines(), job_events: false, push_events: false }
  return hook.url() === null ? [] : [{ id: 900 + id, project_id: id, url: hook.url(), ...events, ...alert }]
}

function chosenPipelines(pipelines: readonly Pipeline[], query: URLSearchParams): Pipeline[] {
  const isChosen = (name: string, value: string) => (query.get(name) ?? value) === value
  const updatedAfter = Date.parse(query.get('updated_after') ?? '1970-01-01')
  const key = query.get('order_by') === 'updated_at' ? 'updatedAt' : 'id'
  const sign = query.get('sort') === 'asc' ? 1 : -1
  return (
    pipelines
      .filter((one) => isChosen('ref', refOf(one)) && isChosen('sha', one.sha) && isChosen('status', one.status))
      // Child pipelines are listed only if the query names their source.
      .filter(({ source }) => (query.get('source') ?? (source === 'parent_pipeline' ? '' : source)) === source)
      .filter((one) => isChosen('username', triggererOf(one).username))
      .filter(({ updatedAt }) => updatedAt > updatedAfter)
      .sort((one, other) => sign * (one[key] - other[key] || one.id - other.id))
  )
}

function chosenJobs(pipeline: Pipeline, query: URLSearchParams): Job[] {
  const jobs = query.get('include_retried') === 'true' ? [...pipeline.jobs] : latestJobs(pipeline)
  const scope = scopesIn(query)
  return jobs
    .filter(({ status }) => scope.length === 0 || scope.includes(status))
    .sort((one, other) => other.id - one.id)
}

const PAGE_DEFAULT = 20
const PAGE_MAX = 100

function paged<One>(world: World, call: Call, all: readonly One[], show: (one: One) => object): Reply {
  const perPage = Math.min(readNumber(call.query.get('per_page')) ?? PAGE_DEFAULT, PAGE_MAX)
  const page = readNumber(call.query.get('page')) ?? 1
  const hasNext = page * perPage < all.length
  const next = new URLSearchParams(call.query)
  next.set('page', String(page + 1))
  return json(200, all.slice((page - 1) * perPage, page * perPage).map(show), {
    'x-page': String(page),
    'x-per-page': String(perPage),
    'x-next-page': hasNext ? String(page + 1) : '',
    'x-total': String(all.length),
    'x-total-pages': String(Math.ceil(all.length / perPage)),
    link: hasNext ? `<${new URL(world.siteUrl).origin}${call.path}?${next.toString()}>; rel="next"` : '',
  })
}

const readNumber = (text: string | null): number | undefined =>
  /^[1-9]\d*$/.test(text ?? '') ? Number(text) : undefined
