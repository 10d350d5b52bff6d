import {
  accountOf,
  FORK_ID,
  isoTime,
  pipelineDetails,
  requestId,
  stateOf,
  titleOf,
  triggererOf,
  webUrl,
} from './entities.ts'
import type { Write } from './entities.ts'
import { HOOK_RUNNER, jobDetails } from './job-entities.ts'
import { findPipeline, latestJobs, projectOf, sourceJob, stagesOf } from './state.ts'
import type { Job, Pipeline, World } from './state.ts'
import { wordsOf } from './statuses.ts'

/**
 * The body of a Pipeline Hook: the pipeline as it is now, with the newest builds, and without its trigger jobs.
 * Source: GitLab, `lib/gitlab/data_builder/pipeline.rb`.
 */
export function pipelineHook(world: World, pipeline: Pipeline) {
  const parent = findPipeline(world, pipeline.parent)
  return {
    object_kind: 'pipeline',
    object_attributes: attributes(world, pipeline),
    merge_request: mergeRequest(world, pipeline),
    user: hookUser(pipeline),
    project: project(world, pipeline),
    commit: commit(world, pipeline),
    ...(parent ? { source_pipeline: sourcePipeline(world, parent, pipeline) } : {}),
    builds: latestJobs(pipeline).flatMap((job) => (job.trigger ? [] : build(world, pipeline, job))),
  }
}

function attributes(world: World, pipeline: Pipeline) {
  const { id, iid, branch, sha, source, status } = pipeline
  const names = { id, iid, name: null, ref: branch, sha, source, status }
  return {
    ...pipelineDetails(pipeline, world.switches.hasIsoTimes ? isoTime : hookTime),
    ...names,
    detailed_status: wordsOf(pipeline).label,
    stages: stagesOf(pipeline),
    protected_ref: branch === projectOf(world, pipeline).defaultBranch,
    variables: Object.entries(pipeline.variables).map(([key, value]) => ({ key, value })),
    url: webUrl(world, pipeline, 'pipelines', id),
  }
}

/** `2016-08-12 15:23:28 UTC` */
const hookTime: Write = (ms) => isoTime(ms)?.replace('T', ' ').replace(/\..*/, ' UTC') ?? null

function mergeRequest(world: World, pipeline: Pipeline) {
  const { mergeRequest: request, branch, projectId } = pipeline
  if (!request) return null
  return {
    id: requestId(request.iid),
    iid: request.iid,
    title: request.title,
    source_branch: branch,
    source_project_id: request.fork ? FORK_ID : projectId,
    target_branch: request.targetBranch,
    target_project_id: projectId,
    state: stateOf(request),
    merge_status: 'can_be_merged',
    detailed_merge_status: request.closed ? 'not_open' : 'mergeable',
    url: webUrl(world, pipeline, 'merge_requests', request.iid),
  }
}

// GitLab redacts the e-mail address of a user without a public one.
const hookUser = (pipeline: Pipeline) => ({ ...triggererOf(pipeline), email: '[REDACTED]' })

function project(world: World, pipeline: Pipeline) {
  const { id, path, defaultBranch } = projectOf(world, pipeline)
  const names = path.split('/')
  return {
    id,
    name: names.at(-1)!,
    description: '',
    web_url: `${world.siteUrl}/${path}`,
    avatar_url: null,
    git_ssh_url: `git@${new URL(world.siteUrl).hostname}:${path}.git`,
    git_http_url: `${world.siteUrl}/${path}.git`,
    namespace: names.at(-2)!,
    visibility_level: 20,
    path_with_namespace: path,
    default_branch: defaultBranch,
    ci_config_path: null,
  }
}

function commit(world: World, pipeline: Pipeline) {
  const { sha: id, message, author } = pipeline
  const url = webUrl(world, pipeline, 'commit', id)
  const timestamp = isoTime(pipeline.createdAt)!.replace(/\..*/, '+00:00')
  return { id, message, title: titleOf(pipeline), timestamp, url, author }
}

function sourcePipeline(world: World, parent: Pipeline, pipeline: Pipeline) {
  const { id, path } = projectOf(world, parent)
  const place = { id, web_url: `${world.siteUrl}/${path}`, path_with_namespace: path }
  return { project: place, job_id: sourceJob(parent, pipeline)?.id ?? null, pipeline_id: parent.id }
}

const PRODUCTION = { name: 'production', action: 'start', deployment_tier: 'production' }

const build = (world: World, pipeline: Pipeline, job: Job) => ({
  ...jobDetails(world, job, hookTime),
  failure_reason: job.failureReason,
  when: job.manual ? 'manual' : 'on_success',
  manual: job.manual,
  user: job.startedBy === null ? hookUser(pipeline) : { ...accountOf(job.startedBy), email: '[REDACTED]' },
  runner: job.startedAt === null ? null : HOOK_RUNNER,
  artifacts_file: { filename: null, size: null },
  environment: job.manual ? { ...PRODUCTION, ...(job.environment !== null && { name: job.environment }) } : null,
})
