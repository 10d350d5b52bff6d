import type { z } from 'zod'
import { invariant } from '../../lib/assert.ts'
import type { Clock } from '../../lib/clock.ts'
import { ENDS, jobSchema, pushSchema } from './push.ts'
import type { End, FailedJobs, PushWanted } from './push.ts'

/** All statuses of a pipeline on GitLab. */
export const STATUSES = [
  ...(['created', 'waiting_for_resource', 'preparing', 'waiting_for_callback', 'pending', 'running'] as const),
  ...(['manual', 'scheduled', 'canceling'] as const),
  ...ENDS,
] as const
export type Status = (typeof STATUSES)[number]

export const DEFAULT_BRANCH = 'main'

export interface Project {
  id: number
  path: string
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
  /** whether a newer job replaces this one */
  isRetried: boolean
}

/** One attempt of a pipeline, with its current or final status. */
export interface Attempt extends Pick<Times, 'startedAt' | 'finishedAt'> {
  status: Status
}

export interface Pipeline extends Omit<z.infer<typeof pushSchema>, 'jobs'>, Times {
  id: number
  iid: number
  projectId: number
  source: string
  status: Status
  updatedAt: number
  /** all jobs, also retried ones, oldest first */
  jobs: Job[]
  /** oldest first, never empty; each retry adds one */
  attempts: Attempt[]
}

export interface Switches {
  /** A delivery has the status of when it is sent: a status that ends quickly is never sent, the next one twice. */
  isLazy: boolean
  /** The connection of every call except those to /sandbox is closed. */
  isDown: boolean
  /** The token's role is lower than *Maintainer*, so it cannot list webhooks. */
  areHooksHidden: boolean
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
}

export const createWorld = (clock: Clock, secrets: Secrets): World => ({
  clock,
  secrets,
  siteUrl: '',
  projects: ['acme/web', 'acme/api', 'acme/tools/ios'].map((path, at) => ({ id: 71 + at, path })),
  pipelines: [],
  switches: { isLazy: false, isDown: false, areHooksHidden: false, cancelingMs: 200 },
  // Beyond 2^32, as on GitLab.com.
  nextJobId: 11_000_000_001,
})

const PIPELINE_ID_FIRST = 2_100_000_001
const MANUAL_JOB = { name: 'release', stage: 'release', allowFailure: false, manual: true }

export function addPipeline(world: World, project: Project, wanted: PushWanted): Pipeline {
  const { jobs, ...push } = pushSchema.parse(wanted)
  const pipeline: Pipeline = {
    ...push,
    id: PIPELINE_ID_FIRST + world.pipelines.length,
    iid: world.pipelines.filter(({ projectId }) => projectId === project.id).length + 1,
    projectId: project.id,
    source: push.source ?? (push.parent ? 'parent_pipeline' : push.mergeRequest ? 'merge_request_event' : 'push'),
    status: 'created',
    ...freshTimes(world),
    updatedAt: world.clock.now(),
    jobs: [...jobs, ...(push.needsManual ? [MANUAL_JOB] : [])].map((job) => newJob(world, job)),
    attempts: [newAttempt()],
  }
  ensureJobs(world, pipeline, push.failedJobs)
  world.pipelines.push(pipeline)
  return pipeline
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
  ...freshTimes(world),
  isRetried: false,
})

const freshTimes = ({ clock }: World): Times => ({ createdAt: clock.now(), startedAt: null, finishedAt: null })

/** Finds a project by its id (digits) or path. */
export const findProject = ({ projects }: World, text: string): Project | undefined =>
  projects.find(({ id, path }) => String(id) === text || path === text)

export const findPipeline = ({ pipelines }: World, id: number | null): Pipeline | undefined =>
  pipelines.find((pipeline) => pipeline.id === id)

export function projectOf({ projects }: World, { projectId }: Pipeline): Project {
  const project = projects.find(({ id }) => id === projectId)
  invariant(project, 'a pipeline has a project')
  return project
}

export const latestJobs = ({ jobs }: Pipeline): Job[] => jobs.filter(({ isRetried }) => !isRetried)
export const stagesOf = ({ jobs }: Pipeline): string[] => [...new Set(jobs.map(({ stage }) => stage))]
export const isEnd = (status: Status): status is End => ENDS.some((end) => end === status)
