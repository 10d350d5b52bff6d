import type { z } from 'zod'
import { invariant } from '../../lib/assert.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Deployment, Rule } from './deployments.ts'
import { ENDS, jobSchema, pushSchema } from './push.ts'
import type { End, FailedJobs, PushWanted } from './push.ts'

/** All statuses of a pipeline on GitLab. */
export const STATUSES = [
  ...(['created', 'waiting_for_resource', 'preparing', 'waiting_for_callback', 'pending', 'running'] as const),
  ...(['manual', 'scheduled', 'canceling'] as const),
  ...ENDS,
] as const
export type Status = (typeof STATUSES)[number]

/** What starts pipelines on GitLab. Source: GitLab, `app/models/concerns/enums/ci/pipeline.rb`. */
export const SOURCES = [
  ...(['unknown', 'push', 'web', 'trigger', 'schedule', 'api', 'external', 'pipeline', 'chat', 'webide'] as const),
  ...(['merge_request_event', 'external_pull_request_event', 'parent_pipeline', 'ondemand_dast_scan'] as const),
  ...(['ondemand_dast_validation', 'security_orchestration_policy', 'container_registry_push'] as const),
  ...(['duo_workflow', 'pipeline_execution_policy_schedule'] as const),
] as const

export interface Project {
  id: number
  path: string
  defaultBranch: string
  /** each with its newest pipeline; null: nothing has been pushed to it */
  branches: Map<string, Pipeline | null>
  /** by iid */
  mergeRequests: Map<number, MergeRequest>
  /** by path */
  files: Map<string, string>
  /** who has to approve deployments, by the environment */
  protections: Map<string, readonly Rule[]>
}

export interface MergeRequest {
  iid: number
  title: string
  targetBranch: string
  /** whether its branch is in a fork */
  fork: boolean
  /** the pipeline with which it was opened */
  first: Pipeline
  /** its newest pipeline; the head is this one's commit */
  last: Pipeline
  /** null: it is open */
  closed: { at: number; isMerged: boolean } | null
}

interface Times {
  createdAt: number
  startedAt: number | null
  finishedAt: number | null
}

export interface Job extends z.infer<typeof jobSchema>, Times {
  id: number
  status: Status
  failureReason: string | null
  /** who started it by hand: the name of a person; null: nobody */
  startedBy: string | null
  /** whether a newer job replaces this one */
  isRetried: boolean
  /** null: it deploys nothing */
  deployment: Deployment | null
}

/** One attempt of a pipeline, with its current or final status. */
export interface Attempt extends Pick<Times, 'startedAt' | 'finishedAt'> {
  status: Status
}

export interface Pipeline extends Omit<z.infer<typeof pushSchema>, 'jobs' | 'mergeRequest'>, Times {
  id: number
  iid: number
  projectId: number
  branch: string
  mergeRequest: MergeRequest | null
  source: string
  status: Status
  updatedAt: number
  /** how long jobs ran, in whole seconds, when it last ended or began to wait for a person */
  durationS: number | null
  /** all jobs, also retried ones, oldest first */
  jobs: Job[]
  /** oldest first, never empty; each retry adds one */
  attempts: Attempt[]
}

/** Source: GitLab, "Valid access levels". */
export const ROLES = { Guest: 10, Reporter: 20, Developer: 30, Maintainer: 40 } as const

export interface Switches {
  /** A delivery has the status of when it is sent: a status that ends quickly is never sent, the next one twice. */
  isLazy: boolean
  /** The connection of every call except those to /sandbox is closed. */
  isDown: boolean
  /** The role of the token's owner in every project. A Developer cannot list webhooks, a Reporter changes nothing. */
  role: keyof typeof ROLES
  /** The token may not push to the branch, so it cannot retry or cancel its pipelines, nor start their jobs. */
  isBranchProtected: boolean
  /** The token's role may not set a pipeline's variables. */
  areVariablesRefused: boolean
  /** As newer versions do, deliveries have a pipeline's times in ISO 8601 with milliseconds; those of jobs stay. */
  hasIsoTimes: boolean
  /** Its edition has no deployment approvals. */
  isFree: boolean
  /** Whoever triggered a pipeline may approve its deployments. */
  mayApproveOwn: boolean
  /** how long running jobs take to stop */
  cancelingMs: number
}

export interface Secrets {
  /** the access token with the scope `api`, which allows everything */
  token: string
  /** the access token with the scope `read_api` */
  readToken: string
  /** sent by the webhook as X-Gitlab-Token; null: the header is not sent */
  webhookToken: string | null
  /** `whsec_` and a key in base64; null: deliveries are not signed */
  signingToken: string | null
}

export interface World {
  clock: Clock
  secrets: Secrets
  /** the address with the prefix, like GITLAB_URL */
  siteUrl: string
  projects: Project[]
  /** oldest first */
  pipelines: Pipeline[]
  switches: Switches
  nextJobId: number
  nextDeploymentId: number
}

export const createWorld = (clock: Clock, secrets: Secrets, projects: readonly string[] = PROJECTS): World => ({
  clock,
  secrets,
  siteUrl: '',
  projects: projects.map((path, at) => ({
    id: 71 + at,
    path,
    defaultBranch: DEFAULT_BRANCH,
    branches: new Map([[DEFAULT_BRANCH, null]]),
    mergeRequests: new Map(),
    files: new Map(),
    protections: new Map(),
  })),
  pipelines: [],
  switches: {
    isLazy: false,
    isDown: false,
    role: 'Maintainer',
    isBranchProtected: false,
    areVariablesRefused: false,
    hasIsoTimes: false,
    isFree: false,
    mayApproveOwn: false,
    cancelingMs: 200,
  },
  // Beyond 2^32, as on GitLab.com.
  nextJobId: 11_000_000_001,
  nextDeploymentId: 700_000_001,
})

const DEFAULT_BRANCH = 'main'
const PROJECTS = ['acme/web', 'acme/api', 'acme/tools/ios']
const PIPELINE_ID_FIRST = 2_100_000_001
const MANUAL_JOB = jobSchema.parse({ name: 'release', stage: 'release', manual: true })

export function addPipeline(world: World, project: Project, wanted: PushWanted): Pipeline {
  const { jobs: planned, mergeRequest, ...push } = pushSchema.parse(wanted)
  const jobs = push.yamlErrors === null ? planned : []
  const pipeline: Pipeline = {
    ...push,
    branch: push.branch ?? project.defaultBranch,
    mergeRequest: null,
    id: PIPELINE_ID_FIRST + world.pipelines.length,
    iid: world.pipelines.filter(({ projectId }) => projectId === project.id).length + 1,
    projectId: project.id,
    source: push.source ?? sourceOf(world, project, { ...push, mergeRequest }),
    status: 'created',
    ...freshTimes(world),
    updatedAt: world.clock.now(),
    durationS: null,
    // A job that needs approvals waits for a person, whether or not it is manual.
    jobs: [...jobs, ...(push.needsManual ? [MANUAL_JOB] : [])].map((job) =>
      newJob(world, { ...job, manual: job.manual || isProtected(world, project, job.environment) }),
    ),
    attempts: [newAttempt()],
  }
  ensureJobs(world, pipeline, push.failedJobs)
  addRefs(project, pipeline, mergeRequest)
  world.pipelines.push(pipeline)
  return pipeline
}

const isProtected = ({ switches }: World, { protections }: Project, environment: string | null): boolean =>
  !switches.isFree && environment !== null && (protections.get(environment) ?? []).length > 0

/** A push makes its branch and its merge request, where there is none yet. A fork's branch is not the project's. */
function addRefs(project: Project, pipeline: Pipeline, wanted: Push['mergeRequest']): void {
  if (!pipeline.tag && wanted?.fork !== true) project.branches.set(pipeline.branch, pipeline)
  if (wanted === null) return
  const { iid, title, fork, targetBranch = project.defaultBranch } = wanted
  const known = project.mergeRequests.get(iid) ?? { iid, first: pipeline, closed: null }
  pipeline.mergeRequest = Object.assign(known, { title, fork, targetBranch, last: pipeline })
  project.mergeRequests.set(iid, pipeline.mergeRequest)
}

type Push = z.infer<typeof pushSchema>
type Start = Pick<z.infer<typeof pushSchema>, 'parent' | 'mergeRequest'>

function sourceOf(world: World, { id }: Project, { parent, mergeRequest }: Start): string {
  if (parent !== null) return findPipeline(world, parent)?.projectId === id ? 'parent_pipeline' : 'pipeline'
  return mergeRequest ? 'merge_request_event' : 'push'
}

export const newAttempt = (): Attempt => ({ status: 'created', startedAt: null, finishedAt: null })

/** Adds jobs that are to fail but do not exist yet. */
export function ensureJobs(world: World, { jobs }: Pipeline, wanted: FailedJobs): void {
  const missing = wanted.filter(({ name }) => !jobs.some((job) => job.name === name))
  for (const { name } of missing) jobs.push(newJob(world, jobSchema.parse({ name })))
}

export const newJob = (world: World, job: z.infer<typeof jobSchema>): Job => ({
  ...job,
  id: world.nextJobId++,
  status: 'created',
  failureReason: null,
  startedBy: null,
  ...freshTimes(world),
  isRetried: false,
  deployment: job.environment === null ? null : newDeployment(world, job.environment),
})

const newDeployment = (world: World, environment: string): Deployment => {
  const id = world.nextDeploymentId++
  return { id, iid: id % 1_000_000, environment, approvals: [] }
}

/** The job that runs in place of this one, with a new id. */
export function jobAgain(world: World, job: Job): Job {
  job.isRetried = true
  const { name, stage, allowFailure, manual, trigger, environment, log } = job
  return newJob(world, { name, stage, allowFailure, manual, trigger, environment, log })
}

const freshTimes = ({ clock }: World): Times => ({ createdAt: clock.now(), startedAt: null, finishedAt: null })

/** Finds a project by its id (digits) or path. */
export const findProject = ({ projects }: World, text: string): Project | undefined =>
  projects.find(({ id, path }) => String(id) === text || path === text)

export const findPipeline = ({ pipelines }: World, id: number | null): Pipeline | undefined =>
  pipelines.find((pipeline) => pipeline.id === id)

export function projectOf({ projects }: World, { projectId }: Pick<Pipeline, 'projectId'>): Project {
  const project = projects.find(({ id }) => id === projectId)
  invariant(project, 'a pipeline has a project')
  return project
}

/** The job of the parent pipeline that started this one. */
export function sourceJob(parent: Pipeline, { parentJob }: Pipeline): Job | undefined {
  const bridges = parent.jobs.filter(({ trigger }) => trigger)
  return bridges.find(({ name }) => name === parentJob) ?? bridges[0] ?? parent.jobs[0]
}

/** The pipeline that a trigger job has started. */
export const downstreamOf = ({ pipelines }: World, parent: Pipeline, bridge: Job): Pipeline | undefined =>
  pipelines.find((pipeline) => pipeline.parent === parent.id && sourceJob(parent, pipeline) === bridge)

export const latestJobs = ({ jobs }: Pipeline): Job[] => jobs.filter(({ isRetried }) => !isRetried)
export const stagesOf = ({ jobs }: Pipeline): string[] => [...new Set(jobs.map(({ stage }) => stage))]
export const isEnd = (status: Status): status is End => ENDS.some((end) => end === status)
