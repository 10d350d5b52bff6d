import { createTimers } from '../../lib/timers.ts'
import { waitsForApproval } from './deployments.ts'
import { activeJobs, endJobs, isBlocked, moveJobs, openJobs, ranS, retryable, retryJobs } from './jobs.ts'
import { failedJobsSchema, retrySchema } from './push.ts'
import type { End, FailedJobsWanted, PushWanted, RetryWanted } from './push.ts'
import { addPipeline, isEnd, jobAgain, latestJobs, newAttempt } from './state.ts'
import type { Job, Pipeline, Project, Status, World } from './state.ts'

export type ChangeResult = { kind: 'changed' } | { kind: 'not-possible'; reason: string }
export type Life = ReturnType<typeof createLife>

const CHANGED: ChangeResult = { kind: 'changed' }
const notPossible = (reason: string): ChangeResult => ({ kind: 'not-possible', reason })
const UNSTARTED: readonly Status[] = ['created', 'waiting_for_resource', 'preparing', 'pending']

/** Moves pipelines from created → pending → running → an end, and again at each retry; by timers or on request. */
export function createLife({ world, tell }: { world: World; tell: (pipeline: Pipeline) => void }) {
  const timers = createTimers<number>(world.clock)

  function push(project: Project, wanted: PushWanted): Pipeline {
    const pipeline = addPipeline(world, project, wanted)
    if (pipeline.outcome === 'skipped') end(pipeline, 'skipped')
    else wait(pipeline)
    return pipeline
  }

  function wait(pipeline: Pipeline): void {
    moveJobs(world, pipeline, 'pending')
    enter(pipeline, 'pending')
    if (pipeline.queuedMs === 0) run(pipeline)
    else timers.after(pipeline.id, pipeline.queuedMs, () => run(pipeline))
  }

  function run(pipeline: Pipeline): void {
    pipeline.attempts.at(-1)!.startedAt ??= world.clock.now()
    moveJobs(world, pipeline, 'running')
    enter(pipeline, 'running')
    const { outcome, ms } = pipeline
    if (outcome !== 'none') timers.after(pipeline.id, ms, () => end(pipeline, outcome))
  }

  function end(pipeline: Pipeline, outcome: End): void {
    endJobs(world, pipeline, outcome, pipeline.failedJobs)
    enter(pipeline, outcome === 'success' && isBlocked(pipeline) ? 'manual' : outcome)
  }

  function enter(pipeline: Pipeline, status: Status): void {
    const now = world.clock.now()
    if (status === 'running' && UNSTARTED.includes(pipeline.status)) pipeline.startedAt ??= now
    // A retry does not clear `finishedAt`: it stays the time of the last end.
    if (isEnd(status) && status !== 'skipped') pipeline.finishedAt = now
    const hasDuration = status === 'manual' || (isEnd(status) && status !== 'skipped')
    if (hasDuration && pipeline.startedAt !== null) pipeline.durationS = ranS(pipeline)
    Object.assign(pipeline.attempts.at(-1)!, { status, ...(isEnd(status) ? { finishedAt: now } : {}) })
    const isChange = pipeline.status !== status
    pipeline.status = status
    pipeline.updatedAt = now
    if (isChange) tell(pipeline)
  }

  function finish(pipeline: Pipeline, status: End, failedJobs: FailedJobsWanted = []): ChangeResult {
    if (isEnd(pipeline.status)) return notPossible('the pipeline is over')
    timers.cancel(pipeline.id)
    endJobs(world, pipeline, status, failedJobsSchema.parse(failedJobs))
    enter(pipeline, status)
    return CHANGED
  }

  /** Sets any status, even one that GitLab would not allow now. */
  function advance(pipeline: Pipeline, status: Status): ChangeResult {
    timers.cancel(pipeline.id)
    if (isEnd(status) || status === 'manual') endJobs(world, pipeline, status === 'manual' ? 'success' : status, [])
    else moveJobs(world, pipeline, status)
    enter(pipeline, status)
    return CHANGED
  }

  /** A person starts a manual job, or one that has run already once more; by default the first one that waits. */
  function play(pipeline: Pipeline, { job: wanted, by = null }: { job?: Job; by?: string | null } = {}): ChangeResult {
    const job = wanted ?? latestJobs(pipeline).find(({ status }) => status === 'manual')
    if (!job || !isPlayable(job) || waitsForApproval(world, pipeline, job)) return notPossible('Unplayable Job')
    if (job.status === 'manual') Object.assign(job, { status: 'pending', startedBy: by })
    else pipeline.jobs.push({ ...jobAgain(world, job), status: 'pending', startedBy: by })
    if (isEnd(pipeline.status)) pipeline.attempts.push(newAttempt())
    // Where another job has run, GitLab says `running` even before a runner takes this one.
    if (pipeline.status === 'manual' && !latestJobs(pipeline).some(hasRun)) enter(pipeline, 'pending')
    run(pipeline)
    return CHANGED
  }

  /** A job fails because its deployment was rejected. */
  function reject(pipeline: Pipeline, job: Job): void {
    job.status = 'pending'
    finish(pipeline, 'failed', [{ name: job.name, reason: 'deployment_rejected' }])
  }

  /** Cancels what has not ended. A pipeline that waits for a manual job still waits for it. */
  function cancel(pipeline: Pipeline): ChangeResult {
    const jobs = activeJobs(pipeline).filter(({ status }) => status !== 'canceling')
    if (jobs.length === 0 || pipeline.source === 'external') return notPossible('the pipeline is not cancelable')
    for (const child of world.pipelines)
      if (child.parent === pipeline.id && child.projectId === pipeline.projectId) cancel(child)
    timers.cancel(pipeline.id)
    if (pipeline.status === 'manual') endJobs(world, pipeline, 'canceled', [])
    else if (!jobs.some(({ status }) => status === 'running')) end(pipeline, 'canceled')
    else {
      moveJobs(world, pipeline, 'canceling')
      enter(pipeline, 'canceling')
      timers.after(pipeline.id, world.switches.cancelingMs, () => end(pipeline, 'canceled'))
    }
    return CHANGED
  }

  /** Runs failed and canceled jobs again, under the pipeline's id. They pass unless `wanted` has another outcome. */
  function retry(pipeline: Pipeline, wanted: RetryWanted = {}): ChangeResult {
    const failed = retryable(pipeline)
    if (failed.length === 0) return notPossible('the pipeline has nothing to retry')
    const { outcome, failedJobs } = retrySchema.parse(wanted)
    const again = failed.map(({ name, failureReason }) => ({ name, reason: failureReason ?? 'script_failure' }))
    Object.assign(pipeline, { outcome, failedJobs: failedJobs ?? (outcome === 'failed' ? again : []) })
    pipeline.attempts.push(newAttempt())
    retryJobs(world, pipeline)
    if (openJobs(pipeline).length > 0) run(pipeline)
    // Only manual jobs are left. They wait for a person again; a pipeline that had passed stays passed.
    else if (isBlocked(pipeline)) enter(pipeline, 'manual')
    return CHANGED
  }

  return { push, finish, advance, play, reject, cancel, retry, close: timers.close }
}

const hasRun = ({ startedAt }: Job): boolean => startedAt !== null

const isPlayable = ({ manual, isRetried, status }: Job): boolean =>
  manual && !isRetried && (status === 'manual' || (isEnd(status) && status !== 'skipped'))
