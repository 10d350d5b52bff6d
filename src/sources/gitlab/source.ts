import { NEWS_MS, type BuildEvent } from '../../domain/builds/build-event.ts'
import { isSameEnd } from '../attempt-number.ts'
import { compareOrders, gitlabProjectId, idOrder } from '../../domain/ids.ts'
import { fieldOf, textOf } from '../../lib/raw-values.ts'
import { isFinal, toStatus } from '../../domain/builds/status.ts'
import { branchIn } from '../../domain/builds/stream.ts'
import type { Reads } from '../../store/store.ts'
import { CiError, unlessGone, unlessMissing } from '../http/errors.ts'
import { readOpened, unlessAway, type ReadOpened } from '../trigger.ts'
import { hourly, type ListedBuild, type PolledSource } from '../poll.ts'
import { storedProject, shownProject } from '../project.ts'
import type { BranchState, NamedStream, ShownBuild, Source } from '../source.ts'
import type { GitlabClient } from './client.ts'
import { readGitlabFailures } from './failures.ts'
import { decide, readDecisions, withGates } from './gates.ts'
import { idIn, isChild, readListed, readPipeline, readProject, readProjectId, type ListedPipeline } from './pipeline.ts'
import { gitlabStarter } from './start.ts'

/** How many of a branch's newest pipelines are read for a command. Each needs several calls. */
const SHOWN_MAX = 10

/**
 * GitLab CI. A pipeline is a build. A restart runs only the jobs that did not pass.
 * @param reads finds the stored project
 */
export function createGitlabSource(client: GitlabClient, reads: Pick<Reads, 'project'>): Source {
  const opened = openedAt(client)
  return {
    async getProject(projectId, { branch, builds: query } = {}, signal) {
      const stored = await storedProject(reads, projectId)
      const id = idIn(projectId)
      const project = await client.project(id, signal)
      const shown: ShownBuild[] = []
      for (const build of query ?? (await newestOf(client, id, branch, signal))) {
        const pipeline = await unlessGone(client.pipeline(id, build, signal))
        const whole = await readWhole(client, { id, project, pipeline, hasCommit: false }, signal)
        // Only who asks for certain builds wants to know what they wait for.
        const waiting = query ? await withGates(client, project, whole, signal) : whole
        if (waiting) shown.push(waiting)
      }
      return shownProject(projectId, stored, shown)
    },
    async readBuild({ projectId, buildId }, signal) {
      const [project, pipeline] = await Promise.all([
        unlessMissing(client.project(idIn(projectId), signal)),
        unlessMissing(client.pipeline(idIn(projectId), buildId, signal)),
      ])
      return isChild(pipeline) ? null : withGates(client, project, readPipeline({ pipeline, project }), signal)
    },
    async readEnd({ projectId, project: name, buildId, attempt, lastEndAt }, signal) {
      const id = idIn(projectId)
      const [project, pipeline] = await Promise.all([
        unlessMissing(client.project(id, signal)),
        unlessMissing(client.pipeline(id, buildId, signal)),
      ])
      // The stored name may come from a forged delivery.
      if (isChild(pipeline) || readProject(project)?.name !== name) return null
      const mergeRequest = await openedOf(opened, id, pipeline, signal)
      const read = { id, project, pipeline, mergeRequest, hasCommit: true }
      const whole = await withGates(client, project, await readWhole(client, read, signal), signal)
      const shown = whole?.event
      if (!shown || shown.details.lastEndAt !== lastEndAt) return null
      if (isFinal(toStatus(shown.rawStatus)) && !shown.details.end?.isWhole) return null
      return { ...shown, details: { ...shown.details, attempt } }
    },
    async readFailures(failed, logs, signal) {
      const id = idIn(failed.projectId)
      // The stored name may come from a forged delivery.
      const project = readProject(await unlessMissing(client.project(id, signal)))
      return project?.name === failed.project ? readGitlabFailures(client, id, failed.buildId, logs, signal) : []
    },
    readBranch: (stream, signal) => readBranch(client, stream, signal),
    readProject: async (projectId, _, signal) => readProject(await unlessGone(client.project(idIn(projectId), signal))),
    async restart({ projectId, buildId }) {
      await client.retry(idIn(projectId), buildId)
      return { newBuildId: buildId, newBuildUuid: null }
    },
    stop: ({ projectId, buildId }) => client.cancel(idIn(projectId), buildId),
    starter: gitlabStarter(client),
    decide: ({ projectId }, decision) => decide(client, idIn(projectId), decision),
    readDecisions: ({ projectId }, gate) => readDecisions(client, idIn(projectId), gate),
    async badge(projectId, branch) {
      const project = await client.project(idIn(projectId))
      // The stored name may come from a forged delivery.
      if (readProject(project)?.name !== (await storedProject(reads, projectId)).name) return null
      const page = textOf(fieldOf(project, 'web_url'))
      const ref = branch ?? textOf(fieldOf(project, 'default_branch'))
      return page && ref && `${page}/badges/${ref.split('/').map(encodeURIComponent).join('/')}/pipeline.svg`
    },
  }
}

async function readBranch(
  client: GitlabClient,
  { projectId, stream }: NamedStream,
  signal?: AbortSignal,
): Promise<BranchState | null> {
  const id = idIn(projectId)
  // GitLab also answers 404 for what the token may not see.
  if ((await unlessGone(client.project(id, signal))) === null) return null
  const name = branchIn(stream)
  const iid = /^!(\d+)$/.exec(name)?.[1]
  if (iid === undefined) return branchState(client, id, name, signal)
  const state = fieldOf(await unlessGone(client.mergeRequest(id, iid, signal)), 'state')
  if (state !== 'merged' && state !== 'closed') return state === undefined ? null : 'there'
  // A branch may also be called `!15`.
  return (await branchState(client, id, name, signal)) === 'there' ? 'there' : state
}

async function branchState(client: GitlabClient, id: string, name: string, signal?: AbortSignal) {
  try {
    await client.branch(id, name, signal)
    return 'there'
  } catch (error) {
    if (!(error instanceof CiError) || (error.kind !== 'not-found' && error.kind !== 'forbidden')) throw error
    // Without the right to read the repository, GitLab answers 404 for the repository itself.
    return /branch not found/i.test(error.reason ?? '') ? 'deleted' : null
  }
}

async function newestOf(client: GitlabClient, project: string, branch: string | undefined, signal?: AbortSignal) {
  const shown: ListedPipeline[] = []
  for (const ref of refsOf(branch)) {
    const query = { ...(ref === undefined ? {} : { ref }), ...(signal ? { signal } : {}) }
    shown.push(...(await client.pipelines(project, query)).flatMap((one) => readListed(one) ?? []))
  }
  const newest = shown.toSorted((a, b) => compareOrders(idOrder(b.id), idOrder(a.id)))
  return newest.map(({ id }) => id).slice(0, SHOWN_MAX)
}

/** A branch's refs. A merge request (see `readPipeline`) has three: its commit, its merge result, and its train. */
function refsOf(branch: string | undefined): (string | undefined)[] {
  const ref = branch === undefined ? undefined : branchIn(branch)
  const iid = /^!(\d+)$/.exec(ref ?? '')?.[1]
  return iid === undefined ? [ref] : ['head', 'merge', 'train'].map((of) => `refs/merge-requests/${iid}/${of}`)
}

/** Looks overlap: a slow transaction in GitLab appears after newer ones. Known pipelines are not read again. */
const OVERLAP_MS = 60_000

/** Polls the pipelines of each project that have changed. */
export const polledGitlab = (client: GitlabClient, projects: readonly string[]): PolledSource => ({
  source: 'gitlab',
  projects,
  rate: client.lastRate,
  watch(name) {
    // Uses the id once it is known, because a project may be renamed or moved.
    const projectNow = hourly<{ id: string; project: unknown }>(async (signal, last) => {
      const project = await client.project(last?.id ?? name, signal)
      return { id: readProjectId(project), project }
    })
    const opened = openedAt(client)
    let changedAt: number | null = null
    return async (now, signal, newsSince) => {
      const of = await projectNow(now, signal)
      const { id } = of
      const since = changedAt === null ? newsSince : changedAt - OVERLAP_MS
      // After a start, also read the newest ones: a person may ask for them, or a card may show an earlier state.
      const [changed, newest] = [
        since === null ? [] : await client.pipelines(id, { updatedAfter: new Date(since).toISOString(), signal }),
        changedAt === null ? await client.pipelines(id, { signal }) : [],
      ]
      const shown = [...changed, ...newest].flatMap((one) => readListed(one) ?? [])
      const pipelines = [...new Map(shown.map((one) => [one.id, one])).values()]
      const newestAt = pipelines.reduce((latest, { updatedAt }) => Math.max(latest, updatedAt), changedAt ?? 0)
      const builds = pipelines.map((one) => listed(client, opened, of, one, { now, signal }))
      return { builds, isWhole: false, done: () => void (changedAt = newestAt || null) }
    }
  },
})

function listed(
  client: GitlabClient,
  opened: ReadOpened,
  { id, project }: { id: string; project: unknown },
  pipeline: ListedPipeline,
  { now, signal }: { now: number; signal: AbortSignal },
): ListedBuild {
  return {
    projectId: gitlabProjectId(id),
    buildId: pipeline.id,
    state: `${pipeline.updatedAt} ${pipeline.rawStatus}`,
    isOpen: !pipeline.hasEnded,
    async read(known) {
      if (pipeline.hasEnded && isEndKnown(known, pipeline, now)) return null
      const whole = await client.pipeline(id, pipeline.id, signal)
      const hasCommit = known.some(({ details }) => details.message !== null)
      const mergeRequest = await unlessAway(null, openedOf(opened, id, whole, signal))
      return readWhole(client, { id, project, pipeline: whole, mergeRequest, hasCommit }, signal)
    },
    readEnd: null,
  }
}

/** GitLab notes an end, and the change of the pipeline, within this time of each other. */
const END_NOTED_MS = 5_000

/** Whether this end is stored. After a start that is true of most listed pipelines, and saves reading them again. */
const isEndKnown = (
  known: readonly BuildEvent[],
  { rawStatus: shown, updatedAt }: ListedPipeline,
  now: number,
): boolean =>
  known.some(
    ({ rawStatus, origin, details }) =>
      isSameEnd(rawStatus, shown) &&
      (details.lastEndAt ?? 0) >= updatedAt - END_NOTED_MS &&
      (origin !== 'history' || now - updatedAt > NEWS_MS),
  )

interface Read {
  id: string
  project: unknown
  pipeline: unknown
  /** its merge request, if it was read */
  mergeRequest?: unknown
  /** the author and message of the commit are known */
  hasCommit: boolean
}

async function readWhole(
  client: GitlabClient,
  { id, project, pipeline, mergeRequest, hasCommit }: Read,
  signal?: AbortSignal,
): Promise<ShownBuild | null> {
  const shown = readListed(pipeline)
  if (!shown) return null
  const commit = hasCommit || shown.sha === null ? null : await unlessGone(client.commit(id, shown.sha, signal))
  const jobs = shown.hasJobsToRead ? await failedOf(client, id, shown.id, signal) : null
  // GitLab may not show the jobs of a pipeline that has just failed. One that is not valid has none.
  const hasJobs = jobs !== null && (jobs.length > 0 || shown.rawStatus !== 'error' || fieldOf(pipeline, 'yaml_errors'))
  const isWhole = shown.hasJobsToRead ? Boolean(hasJobs) : shown.hasEnded
  return readPipeline({ pipeline, project, commit, mergeRequest, jobs, isWhole })
}

const openedAt = (client: GitlabClient): ReadOpened =>
  readOpened((project, iid, signal) => unlessGone(client.mergeRequest(project, iid, signal)))

/** A pipeline's merge request, with who opened it. That of a fork's pipeline is in another project, and so not read. */
async function openedOf(opened: ReadOpened, project: string, pipeline: unknown, signal?: AbortSignal) {
  const iid = /^refs\/merge-requests\/(\d+)\/(?:head|merge)$/.exec(textOf(fieldOf(pipeline, 'ref')) ?? '')?.[1]
  return iid === undefined ? null : opened(project, iid, signal)
}

/** Trigger jobs are listed apart. Null if either list cannot be read. */
async function failedOf(client: GitlabClient, id: string, pipeline: string, signal?: AbortSignal) {
  const [jobs, bridges] = await Promise.all([
    unlessGone(client.failedJobs(id, pipeline, { signal })),
    unlessGone(client.failedBridges(id, pipeline, { signal })),
  ])
  return jobs && bridges && [...jobs, ...bridges]
}
