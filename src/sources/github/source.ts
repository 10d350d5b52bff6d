import { FAILED_JOBS_MAX, type ReceivedEvent } from '../../domain/builds/build-event.ts'
import { isFinal, isRed, toStatus } from '../../domain/builds/status.ts'
import { fieldOf, textOf } from '../../lib/raw-values.ts'
import { repositoryIn } from '../../domain/ci-project/project-names.ts'
import { branchIn, hasStreak, requestNumberIn } from '../../domain/builds/stream.ts'
import type { Reads } from '../../store/store.ts'
import { CiError, unlessGone, unlessMissing } from '../http/errors.ts'
import { isRepositoryName } from '../http/address.ts'
import { hourly, type ListedBuild, type PolledSource } from '../poll.ts'
import { storedProject, shownProject } from '../project.ts'
import type { BranchState, UnreadBuild, NamedStream, ShownBuild, Source } from '../source.ts'
import type { GithubClient } from './client.ts'
import { readOpened, unlessAway, type ReadOpened } from '../trigger.ts'
import { decide, readDecisions, withGates } from './gates.ts'
import { readGithubFailures } from './failures.ts'
import { isOf, openedBy, readRun, readWorkflow, workflowIn } from './run.ts'
import { githubStarter } from './start.ts'

/**
 * GitHub Actions. A run of a workflow is a build, and the workflow is a project.
 * @param reads finds a project's repository
 */
export function createGithubSource(client: GithubClient, reads: Pick<Reads, 'project'>): Source {
  const opened = readOpened((repository, number, signal) => unlessGone(client.pull(repository, number, signal)))
  return {
    async getProject(projectId, { branch, builds: asked = [] } = {}, signal) {
      const project = await storedProject(reads, projectId)
      // GitHub wants the branch of a fork without its owner's name.
      const named = branch === undefined ? undefined : branchIn(branch).split(':').at(-1)
      const wanted = {
        workflow: workflowIn(projectId),
        ...(named === undefined ? {} : { branch: named }),
        ...(signal ? { signal } : {}),
      }
      const repository = repositoryIn(project.name)
      const answer = await client.runs(repository, wanted)
      const readOwn = (run: unknown) => readRun(run, fieldOf(run, 'repository'), { name: workflowNameIn(project.name) })
      const shown = answer === 'unchanged' ? [] : answer.runs.flatMap((run) => readOwn(run) ?? [])
      // Newer runs may have pushed these off the list.
      for (const id of asked.filter((one) => !shown.some(({ event }) => event.buildId === one))) {
        const run = readOwn(await unlessGone(client.run(repository, id, signal)))
        if (run) shown.push(run)
      }
      for (const [at, run] of shown.entries()) {
        if (!asked.includes(run.event.buildId)) continue
        shown[at] = { ...run, event: await withGates(client, repository, run.event, signal) }
      }
      return shownProject(projectId, project, shown)
    },
    async readBuild({ projectId, project, buildId }, signal) {
      const repository = repositoryIn(project)
      if (!isRepositoryName(repository)) return null
      const [shown, run, workflow] = await Promise.all([
        unlessMissing(client.repository(repository, signal)),
        unlessMissing(client.run(repository, buildId, signal)),
        unlessMissing(client.workflow(repository, workflowIn(projectId), signal)),
      ])
      const read = isOfAnother(run, shown) ? null : readRun(run, shown, workflow)
      if (!read) return null
      return { ...read, event: await withGates(client, repository, read.event, signal) }
    },
    readEnd: (build, signal) => readEnd(client, opened, build, signal),
    readFailures: (failed, logs, signal) => readGithubFailures(client, failed, logs, signal),
    readBranch: (stream, signal) => readBranch(client, stream, signal),
    async readProject(projectId, names, signal) {
      for (const repository of new Set(names.map(repositoryIn).filter(isRepositoryName))) {
        const shown = await unlessGone(client.repository(repository, signal))
        if (!isOf(projectId, shown)) continue
        const workflow = await unlessGone(client.workflow(repository, workflowIn(projectId), signal))
        return readWorkflow(shown, workflow ?? { name: workflowNameIn(names[0]!) }, workflowIn(projectId))
      }
      return null
    },
    async restart({ project, buildId, hasFailed }) {
      await client.rerun(repositoryIn(project), buildId, hasFailed ? 'failed' : 'all')
      return { newBuildId: buildId, newBuildUuid: null }
    },
    stop: ({ project, buildId }) => client.cancel(repositoryIn(project), buildId),
    starter: githubStarter(client),
    readDecisions: ({ project, buildId }, gate) => readDecisions(client, repositoryIn(project), buildId, gate),
    decide: ({ project, buildId }, decision) => decide(client, repositoryIn(project), buildId, decision),
    async badge(projectId, branch) {
      const repository = repositoryIn((await storedProject(reads, projectId)).name)
      if (!isOf(projectId, await client.repository(repository))) return null
      const workflow = await client.workflow(repository, workflowIn(projectId))
      const url = URL.parse(textOf(fieldOf(workflow, 'badge_url')) ?? '')
      if (branch !== null) url?.searchParams.set('branch', branch)
      return url?.href ?? null
    },
  }
}

async function readBranch(
  client: GithubClient,
  { projectId, project, stream }: NamedStream,
  signal?: AbortSignal,
): Promise<BranchState | null> {
  const repository = repositoryIn(project)
  // A stored name may come from a forged delivery. Without the right repository, nothing is known of its branches.
  if (!isRepositoryName(repository)) return null
  if (!isOf(projectId, await unlessGone(client.repository(repository, signal)))) return null
  const number = requestNumberIn(stream)
  if (number !== null) {
    const pull = await unlessGone(client.pull(repository, number, signal))
    if (fieldOf(pull, 'state') !== 'closed') return pull === null ? null : 'there'
    return fieldOf(pull, 'merged_at') === null ? 'closed' : 'merged'
  }
  const name = branchIn(stream)
  // `owner:branch` is a branch of a fork.
  if (name.includes(':')) return null
  try {
    // GitHub redirects a renamed branch to its new name.
    return textOf(fieldOf(await client.branch(repository, name, signal), 'name')) === name ? 'there' : 'renamed'
  } catch (error) {
    if (!(error instanceof CiError) || error.kind === 'forbidden') return null
    if (error.kind !== 'not-found') throw error
    return (await unlessMissing(client.tag(repository, name, signal))) === null ? 'deleted' : 'tag'
  }
}

/** A cancelled run whose jobs say no more costs at most this many further calls. */
const ANNOTATED_MAX = 3

/** Source: GitHub's runner, which writes this as an annotation of a job that it cancels. */
const isTimeOut = (annotation: unknown): boolean =>
  fieldOf(annotation, 'path') === '.github' &&
  /exceeded the maximum execution time/i.test(textOf(fieldOf(annotation, 'message')) ?? '')

async function readEnd(
  client: GithubClient,
  opened: ReadOpened,
  { projectId, project, stream, buildId, attempt }: UnreadBuild,
  signal?: AbortSignal,
): Promise<ReceivedEvent | null> {
  const repository = repositoryIn(project)
  if (!isRepositoryName(repository)) return null
  const run = await unlessMissing(client.run(repository, buildId, signal))
  const shown = readRun(run, fieldOf(run, 'repository'), { name: workflowNameIn(project) })?.event
  if (!shown || shown.projectId !== projectId || shown.details.attempt !== attempt) return null
  // GitHub no longer names a pull request that was closed.
  const own = await withOpener(opened, repository, { ...shown, branch: stream ?? shown.branch }, signal)
  return isFinal(toStatus(own.rawStatus))
    ? wholeEnd(client, repository, own, signal)
    : withGates(client, repository, own, signal)
}

/** With who opened its pull request, and the title. */
async function withOpener(
  opened: ReadOpened,
  repository: string,
  shown: ReceivedEvent,
  signal?: AbortSignal,
): Promise<ReceivedEvent> {
  const number = isOfOpener(shown.branch) ? requestNumberIn(shown.branch) : null
  const pull = number === null ? null : await opened(repository, number, signal)
  return pull ? { ...shown, details: { ...shown.details, ...openedBy(pull) } } : shown
}

/** Whether it is the stream of a pull request, and not that of a merge queue. */
const isOfOpener = (stream: string | null): stream is string => stream !== null && hasStreak(stream)

/** A run is `cancelled` even if jobs had failed before or ran over their time limit: only the jobs show this. */
async function wholeEnd(
  client: GithubClient,
  repository: string,
  shown: ReceivedEvent,
  signal?: AbortSignal,
): Promise<ReceivedEvent | null> {
  const { buildId, rawStatus, details } = shown
  const wasStopped = toStatus(rawStatus) === 'stopped'
  // The run was delivered as a failure, but did not fail.
  if (!isRed(toStatus(rawStatus)) && !wasStopped)
    return { ...shown, details: { ...details, end: { isWhole: true, how: null, says: [] } } }
  const { failed, onlyTimedOut, cancelled } = await client.unpassedJobs(
    repository,
    buildId,
    details.attempt ?? 1,
    signal,
  )
  const overTime = wasStopped && failed.length === 0 ? await timedOutIn(client, repository, cancelled, signal) : []
  const jobs = [...failed, ...overTime]
  const isOverTime = jobs.length > 0 && onlyTimedOut
  const how = isOverTime ? 'timed-out' : wasStopped && failed.length > 0 ? 'then-cancelled' : null
  return {
    ...shown,
    rawStatus: how === null ? rawStatus : 'error',
    details: {
      ...details,
      failedJobs: jobs.length === 0 ? null : jobs.slice(0, FAILED_JOBS_MAX),
      end: { isWhole: true, how, says: [] },
    },
  }
}

async function timedOutIn(
  client: GithubClient,
  repository: string,
  jobs: readonly { id: string; name: string }[],
  signal?: AbortSignal,
): Promise<string[]> {
  const names: string[] = []
  for (const { id, name } of jobs.slice(0, ANNOTATED_MAX)) {
    const said = await unlessGone(client.annotations(repository, id, signal))
    if (said?.some(isTimeOut)) names.push(name)
  }
  return names
}

const workflowNameIn = (name: string): string => name.slice(repositoryIn(name).length + 1)

/** GitHub lists runs by start time. Open runs that newer ones pushed off the list are read one by one, this often. */
const PUSHED_OUT_MS = 60_000
const PUSHED_OUT_MAX = 20

/** At the start, stored builds that were open are read too, up to this age and number. GitHub ends runs after 35 days. */
const STORED_MS_MAX = 35 * 24 * 60 * 60_000
const STORED_MAX = 1_000

/**
 * Polls each repository's newest runs with conditional requests, which are not counted if nothing changed.
 * @param reads finds the builds that were open when the process started
 */
export const polledGithub = (
  client: GithubClient,
  repositories: readonly string[],
  reads: Pick<Reads, 'silentBuilds'>,
): PolledSource => ({
  source: 'github',
  projects: repositories,
  rate: client.lastRate,
  watch(name) {
    const repositoryNow = hourly(async (signal) => ({
      repository: await client.repository(name, signal),
      workflows: new Map<string, unknown>(),
    }))
    const opened = readOpened((repository, number, signal) => unlessGone(client.pull(repository, number, signal)))
    let etag: string | null = null
    let newest: ShownBuild[] = []
    let pushedOut: string[] | null = null
    let pushedOutAt = 0
    return async (now, signal) => {
      const last = await repositoryNow(now, signal)
      const answer = await client.runs(name, { etag, signal })
      const isTaken = answer !== 'unchanged' && answer.runs.some((run) => isOfAnother(run, last.repository))
      const known = isTaken ? await repositoryNow(now, signal, true) : last
      pushedOut ??= await openOf(reads, known.repository, now)
      if (answer === 'unchanged' && pushedOut.length === 0) return null
      const read = (shown: readonly unknown[]) => readRuns(client, name, shown, known, signal)
      const runs = answer === 'unchanged' ? newest : await read(answer.runs)
      const listedNow = new Set(runs.map(idOf))
      const wanted = [...newest.filter(isOpen).map(idOf), ...pushedOut].filter((id) => !listedNow.has(id))
      const isDue = wanted.length > 0 && now - pushedOutAt >= PUSHED_OUT_MS
      const shown: unknown[] = []
      for (const id of isDue ? wanted.slice(0, PUSHED_OUT_MAX) : [])
        shown.push(await unlessGone(client.run(name, id, signal)))
      if (isDue) pushedOutAt = now
      const others = await read(shown)
      const done = () => {
        if (answer !== 'unchanged') etag = answer.etag
        newest = runs
        pushedOut = [...wanted.slice(shown.length), ...others.filter(isOpen).map(idOf)]
      }
      return {
        builds: [...runs, ...others].map((run) => listed(client, opened, name, run, signal)),
        isWhole: true,
        done,
      }
    }
  },
})

/** Whether GitHub says that the run is of another repository: one that has the name since that was read. */
function isOfAnother(run: unknown, repository: unknown): boolean {
  const [own, read] = [fieldOf(run, 'repository'), repository].map((one) => textOf(fieldOf(one, 'id')))
  return own !== null && own !== read
}

/** The stored builds of a repository that had not ended when their newest build event came. */
async function openOf(reads: Pick<Reads, 'silentBuilds'>, repository: unknown, now: number): Promise<string[]> {
  const stored = await reads.silentBuilds({ notAfter: now, notBefore: now - STORED_MS_MAX }, STORED_MAX)
  const own = `github:${textOf(fieldOf(repository, 'id'))}:`
  return stored.filter(({ projectId }) => projectId.startsWith(own)).map(({ buildId }) => buildId)
}

const idOf = ({ event }: ShownBuild): string => event.buildId

const isOpen = ({ event }: ShownBuild): boolean => !isFinal(toStatus(event.rawStatus))

/** A run names its workflow only by the id, so each workflow is read too, once. */
async function readRuns(
  client: GithubClient,
  name: string,
  runs: readonly unknown[],
  { repository, workflows }: { repository: unknown; workflows: Map<string, unknown> },
  signal: AbortSignal,
): Promise<ShownBuild[]> {
  const read: ShownBuild[] = []
  for (const run of runs.filter((one) => !isOfAnother(one, repository))) {
    const id = textOf(fieldOf(run, 'workflow_id')) ?? ''
    if (id !== '' && !workflows.has(id)) workflows.set(id, await unlessGone(client.workflow(name, id, signal)))
    const build = readRun(run, repository, workflows.get(id))
    if (build) read.push(build)
  }
  return read
}

function listed(
  client: GithubClient,
  opened: ReadOpened,
  repository: string,
  run: ShownBuild,
  signal: AbortSignal,
): ListedBuild {
  const { projectId, buildId, rawStatus, details } = run.event
  const told = () => unlessAway(run.event, withOpener(opened, repository, run.event, signal))
  return {
    projectId,
    buildId,
    state: `${details.attempt} ${rawStatus}`,
    isOpen: isOpen(run),
    read: async () => ({ ...run, event: await told() }),
    readEnd: async () => wholeEnd(client, repository, await told(), signal),
  }
}
