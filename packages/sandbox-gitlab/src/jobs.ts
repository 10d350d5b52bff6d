import type { End, FailedJobs } from './push.ts'
import { ensureJobs, isEnd, jobAgain, latestJobs, stagesOf } from './state.ts'
import type { Job, Pipeline, Status, World } from './state.ts'

/** Jobs that have not ended and do not wait for a person. */
export const activeJobs = (pipeline: Pipeline): Job[] =>
  latestJobs(pipeline).filter(({ status }) => status !== 'manual' && !isEnd(status))

/** Whether the pipeline waits for a manual job. */
export const isBlocked = (pipeline: Pipeline): boolean =>
  latestJobs(pipeline).some(({ status, allowFailure }) => status === 'manual' && !allowFailure)

const isUnplayed = ({ manual, status }: Job): boolean => manual && status === 'created'

/** The jobs that can run now: not those of a stage that comes after a manual job that nobody has started. */
export function openJobs(pipeline: Pipeline): Job[] {
  const stages = stagesOf(pipeline)
  const isGate = (job: Job) => !job.allowFailure && (isUnplayed(job) || job.status === 'manual')
  const openMax = firstStage(stages, latestJobs(pipeline).filter(isGate))
  return activeJobs(pipeline).filter(({ stage }) => stages.indexOf(stage) <= openMax)
}

/** Infinity for no jobs. */
const firstStage = (stages: readonly string[], jobs: readonly Job[]): number =>
  Math.min(...jobs.map(({ stage }) => stages.indexOf(stage)))

/** Moves jobs to a status that is not an end, except manual jobs that nobody has started, and what comes after them. */
export function moveJobs(world: World, pipeline: Pipeline, status: Status): void {
  for (const job of openJobs(pipeline).filter((one) => !isUnplayed(one))) {
    job.status = status
    if (status === 'running') job.startedAt ??= world.clock.now()
  }
}

/** Ends all active jobs, as they end in a pipeline with this end. What waits for a manual job then still waits. */
export function endJobs(world: World, pipeline: Pipeline, end: End, failedJobs: FailedJobs): void {
  ensureJobs(world, pipeline, failedJobs)
  const reasons = failureReasons(pipeline, end, failedJobs)
  const jobs = end === 'success' ? openJobs(pipeline) : activeJobs(pipeline)
  const stages = stagesOf(pipeline)
  const broken = jobs.filter(({ name, allowFailure }) => reasons.has(name) && !allowFailure)
  const stageMax = firstStage(stages, broken)
  for (const job of jobs) {
    job.status = stages.indexOf(job.stage) > stageMax ? 'skipped' : jobEnd(job, end, reasons)
    if (job.status === 'skipped' || job.status === 'manual') continue
    job.finishedAt = world.clock.now()
    if (job.status !== 'canceled') job.startedAt ??= job.finishedAt
    if (job.status === 'failed') job.failureReason = reasons.get(job.name) ?? null
  }
}

/** Failure reasons by job name. In a failed pipeline, at least one job without `allowFailure` fails. */
function failureReasons(pipeline: Pipeline, end: End, failedJobs: FailedJobs): Map<string, string> {
  const reasons = new Map(failedJobs.map(({ name, reason }) => [name, reason]))
  const counting = activeJobs(pipeline).filter((job) => !job.allowFailure && !isUnplayed(job))
  if (end !== 'failed' || counting.some(({ name }) => reasons.has(name))) return reasons
  const job = counting.find(({ stage }) => stage === 'test') ?? counting[0]
  return job ? reasons.set(job.name, 'script_failure') : reasons
}

function jobEnd(job: Job, end: End, reasons: ReadonlyMap<string, string>): Status {
  if (end === 'skipped') return end
  if (reasons.has(job.name)) return 'failed'
  if (end === 'canceled') return end
  return isUnplayed(job) ? 'manual' : 'success'
}

/** The builds that a retry runs again. It leaves out trigger jobs. */
export const retryable = (pipeline: Pipeline): Job[] =>
  latestJobs(pipeline).filter(({ status, trigger }) => !trigger && (status === 'failed' || status === 'canceled'))

/** Replaces failed and canceled builds by jobs with new ids. Skipped jobs keep their ids. */
export function retryJobs(world: World, pipeline: Pipeline): void {
  for (const job of latestJobs(pipeline)) if (job.status === 'skipped') job.status = 'created'
  for (const job of retryable(pipeline)) {
    const again = jobAgain(world, job)
    pipeline.jobs.push(job.manual ? { ...again, status: 'manual' } : again)
  }
}

/** Whole seconds in which jobs ran. Jobs of one attempt run in parallel: those with the same start count once. */
export function ranS(pipeline: Pipeline): number {
  const runs = new Map(latestJobs(pipeline).map((job) => [job.startedAt, ranMs(job)]))
  return Math.floor([...runs.values()].reduce((sum, ms) => sum + ms, 0) / 1_000)
}

const ranMs = ({ startedAt, finishedAt }: Job): number =>
  startedAt === null || finishedAt === null ? 0 : finishedAt - startedAt
