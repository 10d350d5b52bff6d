import { DEFAULT_BRANCH, latestJobs, projectOf } from './state.ts'
import type { Job, Pipeline, Project, Status, World } from './state.ts'

/** The user who triggered every pipeline. Never the commit's author, so that a client that mixes them up is noticed. */
export const USER = { id: 42, name: 'Release Robot', username: 'robot', avatar_url: 'https://gitlab.example/42.png' }

type Write = (ms: number | null) => string | null
export const isoTime: Write = (ms) => (ms === null ? null : new Date(ms).toISOString())

/** A project in the REST interface. */
export function projectEntity({ siteUrl }: World, { id, path }: Project) {
  const name = path.split('/').at(-1)!
  const web_url = `${siteUrl}/${path}`
  return { id, name, path_with_namespace: path, default_branch: DEFAULT_BRANCH, visibility: 'public', web_url }
}

/** A pipeline in a list. */
export function pipelineBasic(world: World, pipeline: Pipeline) {
  const { id, iid, projectId: project_id, sha, status, source } = pipeline
  const times = { created_at: isoTime(pipeline.createdAt), updated_at: isoTime(pipeline.updatedAt) }
  const web_url = webUrl(world, pipeline, 'pipelines', id)
  return { id, iid, project_id, sha, ref: refOf(pipeline), status, source, ...times, web_url, name: null }
}

export const refOf = ({ mergeRequest, branch }: Pipeline): string =>
  mergeRequest ? `refs/merge-requests/${mergeRequest.iid}/head` : branch

export const webUrl = (world: World, pipeline: Pipeline, kind: string, id: number | string): string =>
  `${world.siteUrl}/${projectOf(world, pipeline).path}/-/${kind}/${id}`

export function pipelineEntity(world: World, pipeline: Pipeline) {
  const label = statusLabel(pipeline)
  return {
    ...pipelineBasic(world, pipeline),
    ...pipelineDetails(pipeline, isoTime),
    user: { ...USER, state: 'active', web_url: `${world.siteUrl}/${USER.username}` },
    yaml_errors: null,
    committed_at: null,
    coverage: null,
    detailed_status: { icon: `status_${pipeline.status}`, text: label, label, group: pipeline.status },
  }
}

/** The details of a pipeline that both the REST interface and the hook have. */
export const pipelineDetails = (pipeline: Pipeline, write: Write) => ({
  tag: pipeline.tag,
  before_sha: '0'.repeat(40),
  created_at: write(pipeline.createdAt),
  started_at: write(pipeline.startedAt),
  finished_at: write(pipeline.finishedAt),
  duration: pipeline.finishedAt === null ? null : ranS(pipeline),
  // GitLab says null instead of 0.
  queued_duration: Math.floor(secondsBetween(pipeline.createdAt, pipeline.startedAt) ?? 0) || null,
})

/** Whole seconds in which jobs ran. Jobs of one attempt run in parallel: those with the same start count once. */
function ranS(pipeline: Pipeline): number {
  const runs = new Map(
    latestJobs(pipeline).map((job) => [job.startedAt, secondsBetween(job.startedAt, job.finishedAt)]),
  )
  return Math.floor([...runs.values()].reduce<number>((sum, seconds) => sum + (seconds ?? 0), 0))
}

const secondsBetween = (from: number | null, to: number | null): number | null =>
  from === null || to === null ? null : (to - from) / 1_000

const LABELS: Partial<Record<Status, string>> = { success: 'passed', manual: 'waiting for manual action' }

/** The status in the words of GitLab's pages. */
export function statusLabel(pipeline: Pipeline): string {
  const { status } = pipeline
  const hasWarnings = status === 'success' && latestJobs(pipeline).some((job) => job.status === 'failed')
  return hasWarnings ? 'passed with warnings' : (LABELS[status] ?? status.replaceAll('_', ' '))
}

export const jobEntity = (world: World, pipeline: Pipeline, job: Job) => ({
  ...jobBasic(job, isoTime),
  ...(job.failureReason === null ? {} : { failure_reason: job.failureReason }),
  ref: refOf(pipeline),
  tag: pipeline.tag,
  commit: commitEntity(world, pipeline),
  pipeline: pipelineBasic(world, pipeline),
  web_url: webUrl(world, pipeline, 'jobs', job.id),
})

/** The details of a job that both the REST interface and the hook have. */
export const jobBasic = (job: Job, write: Write) => ({
  id: job.id,
  stage: job.stage,
  name: job.name,
  status: job.status,
  allow_failure: job.allowFailure,
  created_at: write(job.createdAt),
  started_at: write(job.startedAt),
  finished_at: write(job.finishedAt),
  duration: secondsBetween(job.startedAt, job.finishedAt),
  queued_duration: secondsBetween(job.createdAt, job.startedAt),
})

/** The commit of a pipeline. */
export function commitEntity(world: World, pipeline: Pipeline) {
  const { sha: id, message, author } = pipeline
  const authored = { author_name: author.name, author_email: author.email, created_at: isoTime(pipeline.createdAt) }
  const web_url = webUrl(world, pipeline, 'commit', id)
  return { id, short_id: id.slice(0, 8), title: titleOf(pipeline), message, ...authored, web_url }
}

export const titleOf = ({ message }: Pipeline): string => message.split('\n', 1)[0]!
