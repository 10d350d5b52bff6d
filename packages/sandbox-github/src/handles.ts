import type { Calls } from '../../lib/calls.ts'
import type { Faults } from './faults.ts'
import { setFile } from './files.ts'
import type { Hooks } from './hooks.ts'
import type { Permission } from './permissions.ts'
import { closePull, deleteBranch, renameBranch } from './refs.ts'
import type { ChangeResult, Push, Rerun, RunLife } from './runs.ts'
import { currentAttempt, findRepository } from './world.ts'
import type { Conclusion, OpenStatus, Review, Run, World } from './world.ts'

/** A run as people, tests and panels see it. */
export type RunSnapshot = ReturnType<typeof runSnapshot>
export type PushOutcome = { kind: 'run'; run: RunSnapshot } | { kind: 'no-repository' } | { kind: 'no-workflow' }
export type ChangeOutcome =
  | { kind: 'changed'; run: RunSnapshot }
  | { kind: 'not-possible'; reason: string }
  | { kind: 'no-run' }

export type Handles = ReturnType<typeof createHandles>

interface Parts {
  world: World
  life: RunLife
  hooks: Hooks
  faults: Faults
  calls: Calls
}

/** What people and tests can make GitHub do. */
export function createHandles({ world, life, hooks, faults, calls }: Parts) {
  const change = (id: number, act: (run: Run) => ChangeResult): ChangeOutcome => {
    const run = world.runs.get(id)
    if (!run) return { kind: 'no-run' }
    const result = act(run)
    return result.kind === 'changed' ? { kind: 'changed', run: runSnapshot(run) } : result
  }

  function push(repository: string, wanted: Push = {}): PushOutcome {
    const result = life.push(repository, wanted)
    return result.kind === 'run' ? { kind: 'run', run: runSnapshot(result.run) } : result
  }

  /** Later deliveries and answers have the new name. Calls under the old one are redirected. */
  function rename(from: string, to: string): void {
    const repository = findRepository(world, from)
    if (!repository) return
    world.formerNames.set(repository.name.toLowerCase(), repository)
    repository.name = to
  }

  const { repositories } = world
  const { deliveries, redeliver, resendInOrder, settle } = hooks
  const { limit, failNext, loseNext, setOutage } = faults
  return {
    push,
    rename,
    /** False if there is no such branch, or it is the default branch. Its pull requests are closed. */
    deleteBranch: (repository: string, branch: string) => deleteBranch(world, repository, branch),
    /** False if there is no such branch, or one with the new name. The default branch stays the default. */
    renameBranch: (repository: string, from: string, to: string) => renameBranch(world, repository, from, to),
    /** False if no such pull request is open. */
    closePull: (repository: string, number: number, how?: { merged?: boolean }) =>
      closePull(world, repository, number, how),
    finish: (id: number, conclusion: Conclusion, failedJobs?: readonly string[]) =>
      change(id, (run) => life.finish(run, conclusion, failedJobs)),
    advance: (id: number, status: OpenStatus) => change(id, (run) => life.advance(run, status)),
    /** Ada approves a run that waits for it. */
    approve: (id: number) => change(id, (run) => life.approve(run, 'ada')),
    /** A reviewer lets a run deploy that waits for it, or not. */
    review: (id: number, state: Review['state'], said?: Partial<Omit<Review, 'state'>>) =>
      change(id, (run) => life.review(run, state, said)),
    cancel: (id: number) => change(id, life.cancel),
    /** Reruns the run as its first actor, like the button on GitHub's page. */
    rerun: (id: number, how?: Rerun) => change(id, (run) => life.rerun(run, run.attempts[0]!.actor, how)),
    state: () => ({
      repositories,
      runs: [...world.runs.values()].map(runSnapshot),
      webhookUrl: hooks.url(),
      isOut: faults.isOut(),
    }),
    calls: calls.list,
    /** Sets the address of every repository's webhook; null removes the webhooks. */
    setWebhookUrl: hooks.setUrl,
    changeHook: hooks.change,
    /** Takes these permissions from every token, and gives back all others: `lack('checks=read')`. */
    lack: (...permissions: Permission[]) => void (world.lacking = new Set(permissions)),
    /** Sets a workflow's file, on one branch or tag or on all; null: there is none. */
    setFile: (repository: string, path: string, text: string | null, ref?: string) =>
      setFile(world, repository, path, text, ref),
    /** Makes it a GitHub Enterprise Server; null: GitHub itself. */
    setServerVersion: (version: string | null) => void (world.serverVersion = version),
    deliveries,
    redeliver,
    resendInOrder,
    settle,
    limit,
    failNext,
    loseNext,
    setOutage,
    /** Counts calls that somebody else made with the same token. */
    spend: faults.spend,
  }
}

function runSnapshot(run: Run) {
  const { id, repository, workflow, number, event, branch, fork, sha, message, author, plan, inputs } = run
  const { n: attempt, status, conclusion, jobs } = currentAttempt(run)
  return {
    id,
    /** `acme/web CI` */
    project: `${repository.name} ${workflow.name}`,
    number,
    event,
    branch,
    fork,
    commitId: sha,
    message,
    author: author.name,
    status,
    conclusion,
    attempt,
    inputs,
    /** oldest first */
    attempts: run.attempts.map((one) => ({
      status: one.status,
      conclusion: one.conclusion,
      startedAt: one.startedAt,
      updatedAt: one.updatedAt,
    })),
    jobs: jobs.map((job) => ({ name: job.name, conclusion: job.conclusion })),
    /** how long it takes from start to end (ms), if nobody ends it earlier; null: until somebody ends it */
    runMs: plan.outcome === 'none' ? null : plan.ms,
  }
}
