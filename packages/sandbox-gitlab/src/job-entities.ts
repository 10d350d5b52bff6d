import { accountOf, commitBasic, isoTime, pipelineBasic, refOf, triggererOf, userEntity, webUrl } from './entities.ts'
import type { Write } from './entities.ts'
import { downstreamOf } from './state.ts'
import type { Job, Pipeline, World } from './state.ts'

/** A job in the REST interface: a build, or a trigger job. Source: GitLab, `lib/api/entities/ci/`. */
export const jobEntity = (world: World, pipeline: Pipeline, job: Job) =>
  job.trigger ? bridgeEntity(world, pipeline, job) : buildEntity(world, pipeline, job)

export const buildEntity = (world: World, pipeline: Pipeline, job: Job) => ({
  ...jobBasic(world, pipeline, job),
  artifacts: [],
  runner: job.startedAt === null ? null : RUNNER,
  runner_manager: null,
  artifacts_expire_at: null,
  archived: false,
  tag_list: ['docker'],
})

export function bridgeEntity(world: World, pipeline: Pipeline, job: Job) {
  const downstream = downstreamOf(world, pipeline, job)
  const downstream_pipeline = downstream ? pipelineBasic(world, downstream) : null
  return { ...jobBasic(world, pipeline, job), downstream_pipeline }
}

const RUNNER_BASIC = { id: 12, description: 'runner-1', runner_type: 'instance_type', active: true, is_shared: true }
const RUNNER = { ...RUNNER_BASIC, ip_address: null, paused: false, name: null, online: true, status: 'online' }

/** A runner in a hook. */
export const HOOK_RUNNER = { ...RUNNER_BASIC, tags: ['docker'] }

const jobBasic = (world: World, pipeline: Pipeline, job: Job) => ({
  ...jobDetails(world, job, isoTime),
  ref: refOf(pipeline),
  tag: pipeline.tag,
  coverage: null,
  erased_at: null,
  user: userEntity(world, job.startedBy === null ? triggererOf(pipeline) : accountOf(job.startedBy)),
  commit: commitBasic(world, pipeline),
  pipeline: pipelineBasic(world, pipeline),
  ...(job.failureReason === null ? {} : { failure_reason: job.failureReason }),
  web_url: webUrl(world, pipeline, 'jobs', job.id),
  project: { ci_job_token_scope_enabled: false },
})

/** The details of a job that both the REST interface and the hook have. Durations grow until the job ends, or begins. */
export const jobDetails = ({ clock }: World, job: Job, write: Write) => ({
  id: job.id,
  stage: job.stage,
  name: job.name,
  status: job.status,
  allow_failure: job.allowFailure,
  created_at: write(job.createdAt)!,
  started_at: write(job.startedAt),
  finished_at: write(job.finishedAt),
  duration: job.startedAt === null ? null : ((job.finishedAt ?? clock.now()) - job.startedAt) / 1_000,
  queued_duration: isQueued(job) ? ((job.startedAt ?? clock.now()) - job.createdAt) / 1_000 : null,
})

const isQueued = ({ status, startedAt }: Job): boolean => status === 'pending' || startedAt !== null
