import { hash } from 'node:crypto'
import { z } from 'zod'
import { createTimers } from '../../lib/timers.ts'
import { annotationSchema } from './annotations.ts'
import { pendingIn } from './environments.ts'
import { addRefs } from './refs.ts'
import { currentAttempt, findRepository, findWorkflow, isRed, OUTCOMES, runsOf } from './world.ts'
import type {
  Attempt,
  Conclusion,
  Environment,
  Job,
  OpenStatus,
  Repository,
  Review,
  Run,
  Status,
  World,
} from './world.ts'

const TEXT_LENGTH_MAX = 100_000
const JOBS_MAX = 1_000
const RUN_MS_MAX = 3_600_000

const text = z.string().max(TEXT_LENGTH_MAX)
export const jobNames = z.array(text).max(JOBS_MAX)
const outcome = z.enum(OUTCOMES).optional()

/** A push and the course of its run. By default Ada pushes to the default branch, and the run passes. */
export const pushSchema = z.strictObject({
  // Null: the run has no branch, as with some of GitHub's events.
  branch: text.nullish(),
  tag: text.optional(),
  message: text.optional(),
  author: z.strictObject({ name: text, email: text, login: text }).partial().optional(),
  // `push`, `pull_request` for a fork or a pull request, `schedule`, …
  event: text.optional(),
  // The number of the pull request into the default branch that the push opens, or adds to.
  pullRequest: z.int().positive().optional(),
  // The run's own name, from the workflow's `run-name`; by default the workflow's.
  runName: text.optional(),
  // By name, id or file; by default the repository's first workflow.
  workflow: text.optional(),
  // The owner of the fork that the push comes from.
  fork: text.optional(),
  outcome,
  // How long the run takes from start to end.
  ms: z.int().min(0).max(RUN_MS_MAX).optional(),
  jobs: jobNames.optional(),
  // The jobs that fail if the run fails; by default the last one.
  failedJobs: jobNames.optional(),
  // The text of a job's log, by its name; by default a few lines.
  logs: z.record(text, text).optional(),
  // What a job's steps said about lines of files, by the job's name.
  annotations: z.record(text, z.array(annotationSchema).max(JOBS_MAX)).optional(),
  // Each attempt waits until a reviewer of each environment approves it, or the timer of one without reviewers has run.
  // `mayReview`: the token's owner is a reviewer, besides these logins and teams (`team/ops`).
  environments: z
    .array(
      z.strictObject({
        name: text,
        mayReview: z.boolean(),
        reviewers: z.array(text).default([]),
        waitMinutes: z.number().min(0).default(0),
      }),
    )
    .optional(),
  // The run waits for an approval, like a pull request of a first-time contributor.
  needsApproval: z.boolean().optional(),
})
export type Push = z.input<typeof pushSchema>

/** `failedOnly`: the other jobs keep their results. The default outcome is success. */
export const rerunSchema = z.strictObject({ failedOnly: z.boolean().optional(), outcome })
export type Rerun = z.infer<typeof rerunSchema>

/** The action of a `workflow_run` delivery. */
export type Action = 'requested' | 'in_progress' | 'completed'
/** `reason` is the message of GitHub's response. */
export type ChangeResult = { kind: 'changed'; run: Run } | { kind: 'not-possible'; reason: string }
export type RunLife = ReturnType<typeof createRunLife>

const RUN_MS = 3_000

/** Moves runs from queued → in_progress → completed, and again at each rerun. */
export function createRunLife(world: World, tell: (action: Action, run: Run) => void) {
  const timers = createTimers<Run>(world.clock)

  function push(name: string, wanted: Push) {
    const repository = findRepository(world, name)
    if (!repository) return { kind: 'no-repository' as const }
    const workflow = findWorkflow(repository, wanted.workflow ?? repository.workflows[0]!.name)
    if (!workflow) return { kind: 'no-workflow' as const }
    const last = runsOf(world, repository).find((run) => run.workflow === workflow)
    const run: Run = { ...newRun(world, repository, wanted), workflow, number: (last?.number ?? 0) + 1 }
    world.runs.set(run.id, run)
    addRefs(world, run, wanted)
    const isHeld = wanted.needsApproval === true
    if (isHeld) hold(run)
    tell('requested', run)
    if (isHeld) tell('completed', run)
    else start(run)
    return { kind: 'run' as const, run }
  }

  /** A run that waits for an approval has no jobs. */
  function hold(run: Run): void {
    currentAttempt(run).jobs = []
    enter(run, 'completed', 'action_required')
  }

  function start(run: Run): void {
    if (run.environments.length === 0) return begin(run)
    enter(run, 'waiting')
    const timed = run.environments.filter(({ waitMinutes }) => waitMinutes > 0)
    const ms = Math.max(0, ...timed.map(({ waitMinutes }) => waitMinutes * 60_000))
    if (timed.length > 0) timers.after(run, ms, () => pass(run, timed.filter(isOnlyTimed)))
  }

  function pass(run: Run, environments: readonly Environment[]): void {
    const { approved } = currentAttempt(run)
    for (const { id } of environments) approved.add(id)
    if (run.environments.every(({ id }) => approved.has(id))) begin(run)
  }

  function begin(run: Run): void {
    enter(run, 'in_progress')
    tell('in_progress', run)
    const { outcome: ending, ms, failedJobs } = run.plan
    if (ending !== 'none') timers.after(run, ms, () => end(run, ending, failedJobs))
  }

  function end(run: Run, conclusion: Conclusion, failedJobs: readonly string[]): void {
    endJobs(world, run, conclusion, failedJobs)
    enter(run, 'completed', conclusion)
    tell('completed', run)
  }

  function enter(run: Run, status: Status, conclusion: Attempt['conclusion'] = null): void {
    timers.cancel(run)
    Object.assign(currentAttempt(run), { status, conclusion, updatedAt: world.clock.now() })
  }

  function whileOpen(run: Run, act: () => void): ChangeResult {
    if (currentAttempt(run).status === 'completed')
      return { kind: 'not-possible', reason: 'Cannot cancel a workflow run that is completed.' }
    act()
    return { kind: 'changed', run }
  }

  const finish = (run: Run, conclusion: Conclusion, failedJobs = plannedIn(run, conclusion)): ChangeResult =>
    whileOpen(run, () => end(run, conclusion, failedJobs))

  /** `in_progress` starts the run. Any other status stays until changed; as on GitHub, it sends no webhook. */
  const advance = (run: Run, status: OpenStatus): ChangeResult =>
    whileOpen(run, () => (status === 'in_progress' ? begin(run) : enter(run, status)))

  /** Accepts at once. The run ends a moment later. */
  const cancel = (run: Run): ChangeResult => whileOpen(run, () => timers.after(run, 0, () => end(run, 'cancelled', [])))

  /** The approved run is the second attempt; the first one only waited. */
  function approve(run: Run, actor: string): ChangeResult {
    if (currentAttempt(run).conclusion !== 'action_required')
      return { kind: 'not-possible', reason: 'This run does not wait for an approval.' }
    run.attempts.push(newAttempt(world, run, actor))
    start(run)
    return { kind: 'changed', run }
  }

  /** A rejected run fails. By default Ada reviews everything that waits, without a word. */
  function review(run: Run, state: Review['state'], said: Partial<Omit<Review, 'state'>> = {}): ChangeResult {
    const { by = 'ada', comment = '', environments = pendingIn(run) } = said
    if (environments.length === 0) return { kind: 'not-possible', reason: 'No deployment waits for a review.' }
    run.reviews.push({ by, state, comment, environments })
    if (state === 'approved') pass(run, environments)
    else end(run, 'failure', run.plan.failedJobs)
    return { kind: 'changed', run }
  }

  function rerun(run: Run, actor: string, { failedOnly = false, ...how }: Rerun = {}): ChangeResult {
    const reason = whyNoRerun(run, failedOnly)
    if (reason !== null) return { kind: 'not-possible', reason }
    const kept = failedOnly ? currentAttempt(run).jobs.filter((job) => !isFailed(job)) : []
    const attempt = newAttempt(world, run, actor)
    attempt.jobs = attempt.jobs.map((job) => ({ ...(kept.find(({ name }) => name === job.name) ?? job), id: job.id }))
    run.attempts.push(attempt)
    run.plan = { ...run.plan, outcome: how.outcome ?? 'success' }
    start(run)
    return { kind: 'changed', run }
  }

  return { push, finish, advance, approve, review, cancel, rerun, close: timers.close }
}

function newRun(world: World, repository: Repository, wanted: Push): Omit<Run, 'workflow' | 'number'> {
  const {
    tag,
    pullRequest,
    fork = null,
    environments = [],
    author = {},
    failedJobs,
    event = fork === null && pullRequest === undefined ? 'push' : 'pull_request',
  } = wanted
  const branch = tag ?? (wanted.branch === undefined ? repository.defaultBranch : wanted.branch)
  const jobs = wanted.jobs ?? ['build', 'test']
  const name = author.name ?? 'Ada'
  const login = author.login ?? name.toLowerCase().replaceAll(/\W+/g, '-')
  const id = world.nextId()
  // Runs that no push started are of the branch's newest commit.
  const shared = UNPUSHED.has(event) ? runsOf(world, repository).find((run) => run.branch === branch) : undefined
  const run = {
    id,
    repository,
    event,
    ownName: wanted.runName ?? null,
    branch,
    sha: shared?.sha ?? hash('sha1', String(id)),
    message: wanted.message ?? shared?.message ?? 'Fix login',
    author: shared?.author ?? { name, email: author.email ?? `${login}@example.com` },
    fork,
    createdAt: world.clock.now(),
    inputs: {},
    jobNames: [...new Set([...jobs, ...(failedJobs ?? [])])],
    environments: environments.map(({ name: to, mayReview, reviewers = [], waitMinutes = 0 }) => ({
      id: world.nextId(),
      name: to,
      mayReview,
      reviewers,
      waitMinutes,
    })),
    logs: wanted.logs ?? {},
    annotations: wanted.annotations ?? {},
    plan: {
      outcome: wanted.outcome ?? 'success',
      ms: wanted.ms ?? RUN_MS,
      failedJobs: failedJobs ?? (wanted.outcome === 'cancelled' ? [] : jobs.slice(-1)),
    },
  }
  return { ...run, reviews: [], attempts: [newAttempt(world, { ...run, attempts: [] }, login)] }
}

const isOnlyTimed = ({ mayReview, reviewers }: Environment): boolean => !mayReview && reviewers.length === 0

const UNPUSHED = new Set(['schedule', 'workflow_dispatch', 'repository_dispatch', 'workflow_run', 'dynamic'])

function newAttempt(world: World, run: Pick<Run, 'attempts' | 'jobNames'>, actor: string): Attempt {
  const now = world.clock.now()
  const jobs = run.jobNames.map((name) => newJob(world, name))
  const n = run.attempts.length + 1
  return { n, status: 'queued', conclusion: null, actor, startedAt: now, updatedAt: now, approved: new Set(), jobs }
}

function newJob(world: World, name: string): Job {
  return { id: world.nextId(), name, startedAt: world.clock.now(), conclusion: null, completedAt: null }
}

function endJobs(world: World, run: Run, conclusion: Conclusion, failedJobs: readonly string[]): void {
  const attempt = currentAttempt(run)
  if (conclusion === 'startup_failure') return void (attempt.jobs = [])
  // A job that fails may be what cancels its run.
  const failed = isRed(conclusion) || conclusion === 'cancelled' ? failedJobs : []
  const more = failed.filter((name) => !run.jobNames.includes(name))
  run.jobNames = [...run.jobNames, ...more]
  attempt.jobs.push(...more.map((name) => newJob(world, name)))
  const ofOthers = conclusion === 'cancelled' || conclusion === 'skipped' ? conclusion : 'success'
  for (const job of attempt.jobs.filter((one) => one.conclusion === null)) {
    const ofFailed = conclusion === 'cancelled' ? 'failure' : conclusion
    job.conclusion = failed.includes(job.name) ? ofFailed : ofOthers
    job.completedAt = world.clock.now()
  }
}

/** The jobs that fail at this end. A run that somebody cancels has none. */
const plannedIn = ({ plan }: Run, conclusion: Conclusion): readonly string[] =>
  conclusion === 'cancelled' ? [] : plan.failedJobs

const isFailed = ({ conclusion }: Job): boolean => isRed(conclusion) || conclusion === 'cancelled'

function whyNoRerun(run: Run, failedOnly: boolean): string | null {
  const { status, conclusion, jobs } = currentAttempt(run)
  if (status !== 'completed') return 'This workflow is already running'
  const isInVain = failedOnly && !jobs.some(isFailed)
  return conclusion === 'action_required' || isInVain ? 'This workflow run cannot be retried' : null
}
