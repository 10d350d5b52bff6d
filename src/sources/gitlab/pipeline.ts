import * as z from 'zod'
import { authorOf } from '../../domain/handle.ts'
import { commitTitle, FAILED_JOBS_MAX, NO_DETAILS, type EndDetails } from '../../domain/builds/build-event.ts'
import { gitlabProjectId, type BuildId, type ProjectId } from '../../domain/ids.ts'
import { fieldOf, listOf, textOf } from '../../lib/raw-values.ts'
import { isFinal, toStatus } from '../../domain/builds/status.ts'
import { assertNever } from '../../lib/assert.ts'
import { cut } from '../../slack/messages/limits.ts'
import { CiError } from '../http/errors.ts'
import { isProjectPath } from '../http/address.ts'
import { projectOf } from '../project.ts'
import { streamOf, BY_HAND, MERGE_QUEUE, NIGHTLY, TAG } from '../../domain/builds/stream.ts'
import type { KnownProject } from '../../store/records.ts'
import type { ShownBuild } from '../source.ts'
import { type Person, PUSH, startedBy, unknownTrigger, type Trigger } from '../trigger.ts'
import { buildId, cleanTextOrNull, idDigits, timeMsOrNull } from '../values.ts'

const text = cleanTextOrNull
const time = timeMsOrNull.nullable().catch(null)

const DURATION_S_MAX = 366 * 24 * 60 * 60
const seconds = z.number().min(0).max(DURATION_S_MAX).nullable().catch(null)

const USER = z.object({ username: text }).nullable().catch(null)

const PIPELINE = z.object({
  id: buildId,
  iid: idDigits.nullable().catch(null),
  ref: text,
  tag: z.boolean().catch(false),
  sha: text,
  source: text,
  status: text,
  created_at: time,
  started_at: time,
  updated_at: time,
  finished_at: time,
  duration: seconds,
  queued_duration: seconds,
  url: text,
  web_url: text,
  user: USER,
  yaml_errors: text,
  detailed_status: z
    .union([text.unwrap(), z.object({ label: text }).transform(({ label }) => label)])
    .nullable()
    .catch(null),
})

const PROJECT = z.object({
  id: idDigits,
  path_with_namespace: text.pipe(z.string().refine(isProjectPath)),
  web_url: text,
  default_branch: text,
})

const COMMIT = z.object({
  title: text,
  message: text,
  author_name: text,
  author_email: text,
  author: z.object({ name: text, email: text }).nullable().catch(null),
})

const JOB = z.object({
  name: text,
  status: text,
  failure_reason: text,
  allow_failure: z.boolean().catch(false),
  manual: z.boolean().nullable().catch(null),
  user: USER,
})

/** A delivery has no author, and the API another address. */
const MERGE_REQUEST = z.object({ iid: idDigits, title: text, url: text, web_url: text, author: USER })

/** Further jobs of a delivery are not read. GitLab.com allows 2,000; more than this that ran do not fit into a body. */
export const JOBS_MAX = 4_000

type Pipeline = z.infer<typeof PIPELINE>
type Job = z.infer<typeof JOB>

/** The parts of a pipeline, as a delivery and the REST API show them. */
interface Parts {
  pipeline: unknown
  /** who started it, if the pipeline itself does not say */
  user?: unknown
  project: unknown
  commit?: unknown
  mergeRequest?: unknown
  /** all jobs of the newest attempt, or only the failed ones; left out: not known */
  jobs?: unknown
  /** `jobs` has the trigger jobs too */
  isWhole?: boolean
}

/** Reads a pipeline as a build; null if its ids or the project's path are missing or unusable. Source: GitLab, "Webhook events" and "Pipelines API". */
export function readPipeline({
  pipeline,
  user,
  project,
  commit,
  mergeRequest,
  jobs,
  isWhole = false,
}: Parts): ShownBuild | null {
  const [read, repo] = [PIPELINE.safeParse(pipeline).data, PROJECT.safeParse(project).data]
  if (!read || !repo) return null
  const commitData = COMMIT.safeParse(commit).data
  const request = MERGE_REQUEST.safeParse(mergeRequest).data ?? null
  const trigger = triggerOf({ source: read.source, ref: read.ref, isTag: read.tag })
  const { failed, allowed } = failedIn(jobs)
  const projectId = gitlabProjectId(repo.id)
  const rawStatus = rawStatusOf(read, failed)
  const starter = (user === undefined ? read.user : USER.parse(user))?.username ?? null
  const end = isFinal(toStatus(rawStatus)) ? endOf(read, { failed, allowed, isWhole }) : null
  const isOver = isFinal(toStatus(rawStatus))
  return {
    event: {
      projectId,
      buildId: read.id,
      branch: streamOf(branchOf(read, repo.default_branch, request?.iid ?? null), trigger.stream),
      commitId: trigger.sharesCard ? read.sha : null,
      rawStatus,
      details: {
        ...NO_DETAILS,
        projectName: repo.path_with_namespace,
        projectFullName: repo.path_with_namespace,
        buildUrl: read.url ?? read.web_url ?? (repo.web_url && `${repo.web_url}/-/pipelines/${read.id}`),
        commitUrl: read.sha && repo.web_url ? `${repo.web_url}/-/commit/${read.sha}` : null,
        shortCommitId: read.sha?.slice(0, 8) ?? null,
        message: commitTitle(request?.title ?? commitData?.message ?? commitData?.title ?? null),
        ...personOf(trigger.person, commitData, { starter, opener: request?.author?.username ?? null }),
        requestUrl: request?.url ?? request?.web_url ?? null,
        startedAt: isOver ? null : startOf(read, rawStatus),
        finishedAt: isOver ? read.finished_at : null,
        durationMs: isOver && read.duration !== null ? read.duration * 1_000 : null,
        number: read.iid,
        lastEndAt: lastEndOf(read.finished_at, isOver),
        failedJobs: failed.length > 0 ? namesOf(failed) : null,
        end,
        startedBy: end?.how === 'with-warnings' ? starterOfFailed(allowed, starter) : null,
      },
    },
    project: projectIn(repo),
  }
}

export const idIn = (projectId: ProjectId): string => projectId.split(':')[1]!

/** Null if the project's id or path is missing or unusable. */
export function readProject(project: unknown): KnownProject | null {
  const repo = PROJECT.safeParse(project).data
  return repo ? projectIn(repo) : null
}

/** The role of the token's owner in a project, as GitLab's number. Null if GitLab shows none: to an administrator, or where the project is shared with the owner's group. */
export function roleIn(project: unknown): number | null {
  const permissions = fieldOf(project, 'permissions')
  const levels = ['project_access', 'group_access']
    .map((kind) => Number(textOf(fieldOf(fieldOf(permissions, kind), 'access_level'))))
    .filter((level) => level > 0)
  return levels.length === 0 ? null : Math.max(...levels)
}

const projectIn = ({ id, path_with_namespace: name, default_branch: defaultBranch }: z.infer<typeof PROJECT>) =>
  projectOf(gitlabProjectId(id), { type: 'gitlab', name, defaultBranch })

// GitLab keeps the start of the first attempt. A delivery has only the time from the creation to it; null for no time.
function startOf({ created_at, started_at, finished_at, queued_duration }: Pipeline, rawStatus: string): number | null {
  if (finished_at !== null) return null
  if (started_at !== null || created_at === null || rawStatus !== 'initiated') return started_at
  return created_at + (queued_duration ?? 0) * 1_000
}

// A delivery has whole seconds, so the API's fractions are cut. A skipped pipeline has no end time in GitLab.
const lastEndOf = (finishedAt: number | null, isOver: boolean): number | null =>
  finishedAt === null ? (isOver ? null : 0) : Math.floor(finishedAt / 1_000) * 1_000

/** The fields of a pipeline that a list shows. */
export interface ListedPipeline {
  id: BuildId
  sha: string | null
  rawStatus: string
  hasEnded: boolean
  /** it did not pass, or passed with warnings */
  hasJobsToRead: boolean
  updatedAt: number
}

/** Null if its id is missing, or it is a child pipeline. */
export function readListed(pipeline: unknown): ListedPipeline | null {
  const read = PIPELINE.safeParse(pipeline).data
  if (!read || read.source === CHILD) return null
  const rawStatus = rawStatusOf(read, [])
  return {
    id: read.id,
    sha: read.sha,
    rawStatus,
    hasEnded: isFinal(toStatus(rawStatus)),
    hasJobsToRead: ['error', 'stopped'].includes(rawStatus) || read.detailed_status === WITH_WARNINGS,
    updatedAt: read.updated_at ?? 0,
  }
}

/** Whether another pipeline started it. It is then shown as a job of that one. */
export const isChild = (pipeline: unknown): boolean => PIPELINE.safeParse(pipeline).data?.source === CHILD

/** Throws a CiError if there is no id. */
export function readProjectId(project: unknown): string {
  const id = PROJECT.safeParse(project).data?.id
  if (id === undefined) throw new CiError({ kind: 'shape', purpose: 'read a project' })
  return id
}

const CHILD = 'parent_pipeline'

const namesOf = (jobs: readonly Job[]): string[] =>
  jobs.slice(0, FAILED_JOBS_MAX).flatMap(({ name }) => (name === null ? [] : cut(name, JOB_NAME_CHARS_MAX)))

/** The card cuts longer names anyway. */
const JOB_NAME_CHARS_MAX = 80

/** The jobs that made the pipeline fail, and those that failed but may. */
function failedIn(jobs: unknown): { failed: Job[]; allowed: Job[] } {
  const all = listOf(jobs).flatMap((value) =>
    fieldOf(value, 'status') === 'failed' ? (JOB.safeParse(value).data ?? []) : [],
  )
  return { failed: all.filter((job) => !job.allow_failure), allowed: all.filter((job) => job.allow_failure) }
}

/** GitLab's word for a pipeline that passed although jobs failed. Source: `Gitlab::Ci::Status::SuccessWarning`. */
const WITH_WARNINGS = 'passed with warnings'

function endOf(
  { status, yaml_errors: fault, detailed_status: detailed }: Pipeline,
  { failed, allowed, isWhole }: { failed: readonly Job[]; allowed: readonly Job[]; isWhole: boolean },
): EndDetails | null {
  if (status === 'failed' && fault !== null) return { isWhole, how: 'invalid', says: [fault.split('\n')[0]!] }
  if (status === 'success' && detailed === WITH_WARNINGS)
    return { isWhole, how: 'with-warnings', says: namesOf(allowed) }
  if (status === 'canceled' && failed.length > 0) return { isWhole, how: 'then-cancelled', says: [] }
  const isOverTime = failed.length > 0 && failed.every(({ failure_reason: reason }) => reason === OVER_TIME)
  return isWhole || isOverTime ? { isWhole, how: isOverTime ? 'timed-out' : null, says: [] } : null
}

const OVER_TIME = 'job_execution_timeout'

/**
 * The one person who started these jobs by hand. The API does not say which jobs are manual. But GitLab names the
 * person who started the pipeline as the user of every job, until somebody else starts one.
 */
function starterOfFailed(jobs: readonly Job[], starter: string | null): string | null {
  const people = jobs.flatMap(({ manual, user }) =>
    (manual ?? (starter !== null && user?.username !== starter)) ? (user?.username ?? []) : [],
  )
  return new Set(people).size === 1 ? people[0]! : null
}

const WORDS = new Map([
  ['created', 'queued'],
  ['waiting_for_resource', 'queued'],
  ['preparing', 'queued'],
  ['pending', 'queued'],
  ['scheduled', 'queued'],
  ['running', 'initiated'],
  ['waiting_for_callback', 'initiated'],
  ['canceling', 'initiated'],
  // Somebody has to start a manual job.
  ['manual', 'waiting'],
  ['success', 'success'],
  ['failed', 'error'],
  ['canceled', 'stopped'],
  ['skipped', 'skipped'],
])

function rawStatusOf({ status }: Pipeline, failed: readonly Job[]): string {
  if (status === 'canceled' && failed.length > 0) return 'error'
  if (status !== 'failed' || failed.length === 0) return WORDS.get(status ?? '') ?? status ?? 'unknown'
  const reasons = failed.map(({ failure_reason: reason }) => reason ?? '')
  if (reasons.every((reason) => reason === 'ci_quota_exceeded')) return 'quota_exceeded'
  return reasons.every((reason) => OF_THE_MACHINE.has(reason)) ? 'infrastructure_failure' : 'error'
}

/** Source: GitLab, `app/models/concerns/enums/ci/commit_status.rb`. */
const OF_THE_MACHINE = new Set([
  'runner_system_failure',
  'runner_unsupported',
  'runner_interrupted',
  'runner_external_dependency_failure',
  'no_matching_runner',
  // GitLab 19 has divided it into the four that follow.
  'stuck_or_timeout_failure',
  'stuck_pending_with_matching_runners',
  'stuck_pending_no_matching_runners',
  'no_updates_running',
  'no_updates_canceling',
  'scheduler_failure',
  'stale_schedule',
  'job_router_failure',
  'api_failure',
  'data_integrity_failure',
])

/** Whom the pipeline is about. A delivery does not say who opened a merge request. */
function personOf(
  person: Person,
  commit: z.infer<typeof COMMIT> | undefined,
  logins: { starter: string | null; opener: string | null },
) {
  switch (person) {
    case 'author': {
      const name = commit?.author?.name ?? commit?.author_name ?? null
      const email = commit?.author?.email ?? commit?.author_email ?? null
      return { committer: name, author: authorOf({ name, email, login: null }) }
    }
    case 'starter':
    case 'opener':
      return { committer: logins[person], author: authorOf({ name: null, email: null, login: logins[person] }) }
    case 'nobody':
      return { committer: null, author: null }
    default:
      return assertNever(person)
  }
}

// A merge request's pipelines belong to no branch, and a tag may have the same name as the default branch.
function branchOf({ ref, tag }: Pipeline, defaultBranch: string | null, mergeRequest: string | null): string | null {
  const iid = mergeRequest ?? /^refs\/merge-requests\/(\d+)\//.exec(ref ?? '')?.[1]
  if (iid !== undefined) return `!${iid}`
  // Rules for the default branch must not select it.
  return tag && ref === defaultBranch ? `refs/tags/${ref}` : ref
}

/** What GitLab says started a pipeline. */
interface Started {
  source: string | null
  ref: string | null
  isTag: boolean
}

/** Source: GitLab, `app/models/concerns/enums/ci/pipeline.rb`. */
export function triggerOf({ source, ref, isTag }: Started): Trigger {
  const trigger = bySource(source, ref)
  return isTag ? { ...trigger, stream: TAG, sharesCard: trigger === PUSH } : trigger
}

function bySource(source: string | null, ref: string | null): Trigger {
  switch (source) {
    case null:
    case 'push':
      return PUSH
    case 'merge_request_event':
      // The merge request's number is its branch.
      return TRAIN.test(ref ?? '') ? startedBy(MERGE_QUEUE) : { stream: null, person: 'opener', sharesCard: true }
    case 'schedule':
      return startedBy(NIGHTLY)
    case 'web':
      return startedBy(BY_HAND, 'starter')
    default:
      return unknownTrigger(source)
  }
}

/** A merge train: GitLab's merge queue. */
const TRAIN = /^refs\/merge-requests\/\d+\/train$/
