import { createTimers } from '../../lib/timers.ts'
import { isBranchBuilt } from './branches.ts'
import { isRecovered } from './recovered.ts'
import { addBuild, currentRun, isUnfinished } from './state.ts'
import type { Build, BuildStatus, Outcome, Plan, Project, Run } from './state.ts'
import { findProject, projectOf } from './world.ts'
import type { World } from './world.ts'

/** A build has reached a status. */
export interface Happening {
  project: Project
  build: Build
  run: Run
  isRecovered: boolean
}

/** A push and the course of its build. Defaults: `main`, `Fix login`, Ada, success after the switch `buildMs`. */
export interface Push {
  branch?: string | undefined
  message?: string | undefined
  committer?: string | undefined
  commitId?: string | undefined
  outcome?: Outcome | undefined
  /** from start to end */
  ms?: number | undefined
  /** how long the build waits in the queue first; if above zero, it starts as `waiting` */
  waitingMs?: number | undefined
  /** the build waits until it is approved */
  needsApproval?: boolean | undefined
}

export type PushResult = { kind: 'build'; build: Build } | { kind: 'no-project' } | { kind: 'branch-not-built' }
export type ChangeResult = { kind: 'changed'; build: Build } | { kind: 'not-possible'; reason: string }
export type FinalStatus = Exclude<BuildStatus, 'initiated' | 'waiting'>

/** Runs builds: waiting → initiated → a final status, again after each restart. */
export interface BuildLife {
  push(project: string, push: Push): PushResult
  finish(build: Build, status: FinalStatus): ChangeResult
  approve(build: Build): ChangeResult
  /** Accepts at once. The build stops after the switch `stopMs`, or never (switch `stopIsForgotten`). */
  stop(build: Build): ChangeResult
  /** Runs a finished build again, under the same id or as a new build (switch `restartKeepsId`). */
  restart(build: Build, outcome?: Outcome): ChangeResult
  /** Cancels all timers: no build changes any more by itself. */
  close(): void
}

const MINUTE_MS = 60_000
const notPossible = (reason: string): ChangeResult => ({ kind: 'not-possible', reason })

export function createBuildLife({ world, tell }: { world: World; tell: (happening: Happening) => void }): BuildLife {
  const timers = createTimers<number>(world.clock)

  function push(name: string, wanted: Push): PushResult {
    const project = findProject(world, name)
    if (!project) return { kind: 'no-project' }
    const branch = wanted.branch ?? 'main'
    if (!isBranchBuilt(project.fields, branch)) return { kind: 'branch-not-built' }
    const build = newBuild(world, project, { ...wanted, branch })
    begin(build)
    return { kind: 'build', build }
  }

  function begin(build: Build): void {
    addBuild(world.state, build)
    const refusal = accountRefusal(build.plan.outcome)
    if (refusal) enter(build, refusal)
    else if (build.plan.needsApproval || build.plan.waitingMs > 0) wait(build)
    else run(build)
  }

  function accountRefusal(outcome: Outcome): 'ignored' | 'blocked' | undefined {
    if (outcome === 'ignored' || outcome === 'blocked') return outcome
    if (world.switches.blocked) return 'blocked'
    return world.switches.overLimit ? 'ignored' : undefined
  }

  function wait(build: Build): void {
    enter(build, 'waiting')
    if (!build.plan.needsApproval)
      timers.after(build.id, build.plan.waitingMs * world.switches.timeScale, () => run(build))
  }

  function run(build: Build): void {
    enter(build, 'initiated')
    const { outcome, ms } = build.plan
    if (outcome !== 'none') timers.after(build.id, ms * world.switches.timeScale, () => enter(build, outcome))
  }

  function enter(build: Build, status: BuildStatus): void {
    const now = world.clock.now()
    const current = currentRun(build)
    current.status = status
    if (status === 'initiated') current.startedAt = now
    if (!isUnfinished(status)) current.finishedAt = now
    const project = projectOf(world, build)
    if (project) tell({ project, build, run: { ...current }, isRecovered: isRecovered(world.state, build) })
  }

  function finish(build: Build, status: FinalStatus): ChangeResult {
    if (!isUnfinished(currentRun(build).status)) return notPossible('the build is not running')
    timers.cancel(build.id)
    enter(build, status)
    return { kind: 'changed', build }
  }

  function approve(build: Build): ChangeResult {
    if (currentRun(build).status !== 'waiting') return notPossible('the build is not waiting')
    timers.cancel(build.id)
    run(build)
    return { kind: 'changed', build }
  }

  function stop(build: Build): ChangeResult {
    if (!isUnfinished(currentRun(build).status)) return notPossible('the build is not running')
    const { stopIsForgotten, stopMs, stopStatus } = world.switches
    if (!stopIsForgotten) timers.after(build.id, stopMs, () => enter(build, stopStatus))
    return { kind: 'changed', build }
  }

  function restart(build: Build, outcome?: Outcome): ChangeResult {
    if (isUnfinished(currentRun(build).status)) return notPossible('the build is still running')
    const plan = { ...build.plan, outcome: outcome ?? restartOutcome(world, build), needsApproval: false, waitingMs: 0 }
    const again = world.switches.restartKeepsId ? build : { ...build, ...freshIds(world), runs: [] }
    again.plan = plan
    again.runs.push(freshRun())
    begin(again)
    return { kind: 'changed', build: again }
  }

  return { push, finish, approve, stop, restart, close: timers.close }
}

function restartOutcome(world: World, build: Build): Outcome {
  const { restartOutcome: outcome } = world.switches
  return outcome === 'same' ? build.plan.outcome : outcome
}

function newBuild(world: World, project: Project, push: Push & { branch: string }): Build {
  return {
    ...freshIds(world),
    projectId: project.id,
    branch: push.branch,
    commitId: push.commitId ?? world.random.hex(40),
    message: push.message ?? 'Fix login',
    committer: push.committer ?? 'Ada',
    plan: newPlan(world, push),
    runs: [freshRun()],
  }
}

const newPlan = (world: World, push: Push): Plan => ({
  outcome: push.outcome ?? 'success',
  ms: Math.min(push.ms ?? world.switches.buildMs, MINUTE_MS * 60),
  waitingMs: push.waitingMs ?? 0,
  needsApproval: push.needsApproval ?? false,
})

const freshIds = (world: World) => ({ id: world.state.nextBuildId++, uuid: world.random.uuid() })
const freshRun = (): Run => ({ status: 'waiting', startedAt: null, finishedAt: null })
