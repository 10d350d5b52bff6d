import { json } from '../../lib/http.ts'
import type { Call, Reply, Route } from '../../lib/http.ts'
import { commitEntity, isoTime, jobEntity, pipelineBasic, pipelineEntity } from './entities.ts'
import { projectEntity, refOf } from './entities.ts'
import type { Hook } from './hook.ts'
import type { Life } from './life.ts'
import { findProject, latestJobs } from './state.ts'
import type { Job, Pipeline, Project, Secrets, World } from './state.ts'

/** The error response for a missing or insufficient token; undefined if access is granted. */
export function checkToken({ token, readToken }: Secrets, call: Call): Reply | undefined {
  const given = call.headers['private-token']
  if (given === token || (given === readToken && call.method === 'GET')) return undefined
  if (given !== readToken) return json(401, { message: '401 Unauthorized' })
  const error_description = 'The request requires higher privileges than provided by the access token.'
  return json(403, { error: 'insufficient_scope', error_description, scope: 'api' })
}

/** The routes below /api/v4. */
export function apiRoutes(world: World, life: Life, hook: Hook, base: string): Route[] {
  function inProject(how: string, handle: (project: Project, call: Call, id: string) => Reply): Route {
    const [method = '', path = ''] = how.split(' ')
    return {
      method,
      pattern: `${base}/projects/:project${path}`,
      handle: (call, { project: name, id = '' }) => {
        const project = findProject(world, name!)
        return project ? handle(project, call, id) : notFound('Project')
      },
    }
  }

  const inPipeline = (how: string, handle: (pipeline: Pipeline, call: Call) => Reply): Route =>
    inProject(how.replace(' ', ' /pipelines/:id'), (project, call, id) => {
      const pipeline = pipelinesOf(world, project).find((one) => String(one.id) === id)
      return pipeline ? handle(pipeline, call) : notFound('Pipeline')
    })

  function listPipelines(project: Project, call: Call): Reply {
    const chosen = chosenPipelines(pipelinesOf(world, project), call.query)
    return paged(world, call, chosen, (one) => pipelineBasic(world, one))
  }

  function play(project: Project, id: string): Reply {
    const pipeline = pipelinesOf(world, project).find(({ jobs }) => jobs.some((job) => String(job.id) === id))
    const job = pipeline?.jobs.find((one) => String(one.id) === id)
    if (!pipeline || !job) return notFound('Job')
    const result = life.play(pipeline, job)
    if (result.kind === 'changed') return json(200, jobEntity(world, pipeline, job))
    return json(400, { message: `400 Bad request - ${result.reason}` })
  }

  function showCommit(project: Project, sha: string): Reply {
    const pipeline = pipelinesOf(world, project).find((one) => one.sha === sha)
    return pipeline ? json(200, commitEntity(world, pipeline)) : notFound('Commit')
  }

  const scopeOf = ({ headers }: Call) => (headers['private-token'] === world.secrets.token ? 'api' : 'read_api')
  const show = (pipeline: Pipeline, statusCode = 200) => json(statusCode, pipelineEntity(world, pipeline))
  return [
    {
      method: 'GET',
      pattern: `${base}/personal_access_tokens/self`,
      handle: (call) => json(200, tokenEntity(scopeOf(call))),
    },
    inProject('GET ', (project) => json(200, projectEntity(world, project))),
    inProject('GET /hooks', (project) =>
      world.switches.areHooksHidden ? json(403, { message: '403 Forbidden' }) : json(200, hookEntities(project, hook)),
    ),
    inProject('GET /pipelines', listPipelines),
    inPipeline('GET ', (one) => show(one)),
    inPipeline('GET /jobs', (one, call) =>
      paged(world, call, chosenJobs(one, call.query), (job) => jobEntity(world, one, job)),
    ),
    // As on GitLab, retry answers 201 and cancel 200 even if there is nothing to retry or cancel.
    inPipeline('POST /retry', (one) => (life.retry(one), show(one, 201))),
    inPipeline('POST /cancel', (one) => (life.cancel(one), show(one))),
    inProject('POST /jobs/:id/play', (project, _, id) => play(project, id)),
    inProject('GET /repository/commits/:id', (project, _, sha) => showCommit(project, sha)),
  ]
}

const notFound = (what: string): Reply => json(404, { message: `404 ${what} Not Found` })
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
      .filter(({ updatedAt }) => updatedAt > updatedAfter)
      .sort((one, other) => sign * (one[key] - other[key] || one.id - other.id))
  )
}

function chosenJobs(pipeline: Pipeline, query: URLSearchParams): Job[] {
  const jobs = query.get('include_retried') === 'true' ? [...pipeline.jobs] : latestJobs(pipeline)
  const scope = [...query.getAll('scope[]'), ...query.getAll('scope')]
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
