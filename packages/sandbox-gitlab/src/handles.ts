import { decide, isDeployJob, ruleSchema } from './deployments.ts'
import type { Decision, RuleWanted } from './deployments.ts'
import type { Faults } from './faults.ts'
import type { Hook } from './hook.ts'
import type { ChangeResult, Life } from './life.ts'
import type { End, FailedJobsWanted, PushWanted, RetryWanted } from './push.ts'
import { closeMergeRequest, deleteBranch, renameDefaultBranch } from './refs.ts'
import { findPipeline, findProject, latestJobs, projectOf } from './state.ts'
import type { Pipeline, Status, Switches, World } from './state.ts'

/** A pipeline as people and tests see it. */
export type PipelineSnapshot = ReturnType<typeof snapshot>
export type PushOutcome = { kind: 'pipeline'; pipeline: PipelineSnapshot } | { kind: 'no-project' }
export type ChangeOutcome =
  | { kind: 'changed'; pipeline: PipelineSnapshot }
  | Exclude<ChangeResult, { kind: 'changed' }>
  | { kind: 'no-pipeline' }
export type Handles = ReturnType<typeof createHandles>

/** What people and tests can make GitLab do. Projects are given by path or id, pipelines by id. */
export function createHandles(world: World, life: Life, hook: Hook, faults: Faults) {
  function push(name: string, wanted: PushWanted = {}): PushOutcome {
    const project = findProject(world, name)
    if (!project) return { kind: 'no-project' }
    return { kind: 'pipeline', pipeline: snapshot(world, life.push(project, wanted)) }
  }

  function change(id: number, act: (pipeline: Pipeline) => ChangeResult): ChangeOutcome {
    const pipeline = findPipeline(world, id)
    if (!pipeline) return { kind: 'no-pipeline' }
    const result = act(pipeline)
    return result.kind === 'changed' ? { kind: 'changed', pipeline: snapshot(world, pipeline) } : result
  }

  /** Later deliveries and answers have the new path. */
  function rename(from: string, to: string): void {
    const project = findProject(world, from)
    if (project) project.path = to
  }

  return {
    push,
    rename,
    /** False if there is no such branch, or it is the default branch. Its merge requests are closed. */
    deleteBranch: (project: string, branch: string) => deleteBranch(world, project, branch),
    /** False if there is no such project, or a branch with the new name. The old branch is gone. */
    renameDefaultBranch: (project: string, to: string) => renameDefaultBranch(world, project, to),
    /** False if no such merge request is open. */
    closeMergeRequest: (project: string, iid: number, how?: { merged?: boolean }) =>
      closeMergeRequest(world, project, iid, how),
    finish: (id: number, end: End, failed?: FailedJobsWanted) => change(id, (one) => life.finish(one, end, failed)),
    /** Sets any status, even one that GitLab would not allow now. */
    advance: (id: number, status: Status) => change(id, (one) => life.advance(one, status)),
    /** Somebody starts the manual job that the pipeline waits for; by default the user of all pipelines. */
    play: (id: number, by: string | null = null) => change(id, (one) => life.play(one, { by })),
    /** Deployments to this environment need approvals by these rules from now on. */
    protect: (project: string, environment: string, rules: readonly RuleWanted[] = [{ role: 'Maintainer' }]) =>
      void findProject(world, project)?.protections.set(environment, ruleSchema.array().parse(rules)),
    /** A person approves or rejects the pipeline's deployment to this environment, as on GitLab's page. */
    decide: (id: number, environment: string, by: string, decision: Decision) =>
      change(id, (pipeline) => {
        const job = latestJobs(pipeline)
          .filter(isDeployJob)
          .find((one) => one.deployment.environment === environment)
        const result = job && decide({ world, life }, pipeline, job, by, decision)
        if (result?.kind === 'done') return { kind: 'changed' }
        return { kind: 'not-possible', reason: result?.reason ?? 'no such deployment' }
      }),
    cancel: (id: number) => change(id, (one) => life.cancel(one)),
    retry: (id: number, wanted?: RetryWanted) => change(id, (one) => life.retry(one, wanted)),
    state: () => ({
      projects: world.projects.map(({ path }) => path),
      pipelines: world.pipelines.map((one) => snapshot(world, one)),
      switches: { ...world.switches },
    }),
    calls: faults.calls,
    deliveries: hook.list,
    resend: hook.resend,
    setWebhookUrl: hook.setUrl,
    changeHook: hook.change,
    /** Resolves when every queued delivery is answered or has failed. */
    settle: hook.settle,
    /** The next `calls` calls get a 429. */
    limit: faults.limit,
    setRate: faults.setRate,
    /** The next `n` calls get this status and do nothing. */
    failNext: faults.failNext,
    /** The next `n` calls that change something do so, and get no answer. */
    loseNext: faults.loseNext,
    /** Sets the text of a file on all branches; false: there is no such project. */
    setFile: (project: string, path: string, text: string): boolean =>
      findProject(world, project)?.files.set(path, text) !== undefined,
    setSwitches: (changes: Partial<Switches>): Switches => Object.assign(world.switches, changes),
  }
}

function snapshot(world: World, pipeline: Pipeline) {
  const { id, iid, branch, sha, source, message, author, status, outcome, ms } = pipeline
  const named = { project: projectOf(world, pipeline).path, id, iid, branch, sha, source, message, author, status }
  const { attempts, jobs } = structuredClone({ attempts: pipeline.attempts, jobs: pipeline.jobs })
  // `runMs`: how long it runs if nobody ends it earlier; null: until somebody ends it.
  return { ...named, retries: attempts.length - 1, attempts, jobs, runMs: outcome === 'none' ? null : ms }
}
