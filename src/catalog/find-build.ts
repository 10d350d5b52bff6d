import { isIdDigits, isUuid, toUuid, type ChannelId, type MessageTs, type Uuid } from '../domain/ids.ts'
import type { RunRef } from '../domain/request.ts'
import { runKey, type Run } from '../domain/run.ts'
import { parseSubject } from '../domain/subject.ts'
import { attemptOf, buildView, offersOf, shownAs } from '../domain/view.ts'
import { nearest } from '../lib/nearest.ts'
import { facilitiesOf, readRevision, recoveriesOf, redSince, type Interfaces, type Revision } from '../store/history.ts'
import type { KnownBuild } from '../store/kept.ts'
import type { Reads } from '../store/store.ts'
import type { BuildSummary, NotFound, ProjectRef, Target } from './outcomes.ts'
import { findProject } from './projects.ts'

/** Builds that one number may name, in different projects; and branches in which a near name is looked for. */
const CHOICES_MAX = 5
const BRANCHES_MAX = 200

/** A build with the revision it belongs to; `run` is its newest. */
export interface Found extends Revision {
  revisionKey: string
  run: Run
}

export interface FindDeps {
  reads: Reads
  interfaces: Interfaces
}

/**
 * The build that is meant. Of a project without a branch the newest one; with `running`, those that run come first, and
 * several of them are a choice.
 */
export async function findBuild(
  deps: FindDeps,
  target: Target,
  prefer: 'newest' | 'running' = 'newest',
): Promise<{ kind: 'found'; found: Found } | NotFound> {
  const { reads } = deps
  switch (target.kind) {
    case 'run':
      return foundOr(deps, await byRef(reads, target.ref), `#${target.ref.buildId}`)
    case 'message':
      return byMessage(reads, target.channel, target.ts)
    case 'build-number':
      return byNumber(deps, target.number, target.project)
    case 'build-url':
      return byUrl(deps, target.url)
    case 'uuid':
      return byUuid(deps, target.uuid, prefer)
    case 'project':
      return byProject(deps, target, prefer)
  }
}

const byRef = (reads: Reads, { projectId, buildId }: RunRef): Promise<KnownBuild | null> =>
  reads.build(projectId, buildId)

async function byMessage(
  reads: Reads,
  channel: ChannelId,
  ts: MessageTs,
): Promise<{ kind: 'found'; found: Found } | NotFound> {
  const subject = await reads.subjectOf(channel, ts)
  const parsed = subject === null ? null : parseSubject(subject)
  if (parsed?.kind !== 'revision') return { kind: 'no-card' }
  const revision = await readRevision(reads, parsed.revisionKey, parsed.episode)
  const run = revision.runs.at(-1)
  return run ? { kind: 'found', found: { ...revision, revisionKey: parsed.revisionKey, run } } : { kind: 'no-card' }
}

async function byNumber(
  deps: FindDeps,
  number: string,
  project: string | null,
): Promise<{ kind: 'found'; found: Found } | NotFound> {
  const text = `#${number}`
  if (project !== null) {
    const named = await findProject(deps.reads, project)
    if (named.kind !== 'project') return named
    const { projectId } = named.project
    return foundOr(deps, projectId === null ? null : await deps.reads.build(projectId, number), text)
  }
  const builds = isIdDigits(number) ? await deps.reads.buildsByNumber(number, CHOICES_MAX) : []
  return oneOf(deps, builds, text)
}

// `…/builds/512`, or with a uuid in its place. A number counts in the project that the address names.
async function byUrl(deps: FindDeps, url: string): Promise<{ kind: 'found'; found: Found } | NotFound> {
  const path = URL.canParse(url) ? new URL(url).pathname : ''
  const name = /\/builds\/([^/]+)/.exec(path)?.[1]
  if (name === undefined) return { kind: 'unknown-build', text: url }
  if (isUuid(name)) return foundOr(deps, await deps.reads.buildByUuid(toUuid(name)), url)
  const builds = isIdDigits(name) ? await deps.reads.buildsByNumber(name, CHOICES_MAX) : []
  const found = await Promise.all(builds.map((build) => read(deps.reads, build)))
  const exact = found.find((one) => one?.run.details.buildUrl === url)
  if (exact) return { kind: 'found', found: exact }
  const project = /\/projects\/(\d+)\//.exec(path)?.[1]
  return oneOf(deps, project === undefined ? builds : builds.filter(({ projectId }) => projectId === project), url)
}

async function byUuid(
  deps: FindDeps,
  uuid: Uuid,
  prefer: 'newest' | 'running',
): Promise<{ kind: 'found'; found: Found } | NotFound> {
  const build = await deps.reads.buildByUuid(uuid)
  if (build) return foundOr(deps, build, uuid)
  const project = await findProject(deps.reads, uuid)
  return project.kind === 'project'
    ? newestOf(deps, project.project, null, prefer)
    : { kind: 'unknown-build', text: uuid }
}

async function byProject(
  deps: FindDeps,
  { project: text, branch }: Extract<Target, { kind: 'project' }>,
  prefer: 'newest' | 'running',
): Promise<{ kind: 'found'; found: Found } | NotFound> {
  const named = await findProject(deps.reads, text)
  return named.kind === 'project' ? newestOf(deps, named.project, branch, prefer) : named
}

async function newestOf(
  deps: FindDeps,
  project: ProjectRef,
  branch: string | null,
  prefer: 'newest' | 'running',
): Promise<{ kind: 'found'; found: Found } | NotFound> {
  const { reads } = deps
  const { projectId, name } = project
  if (projectId === null) return { kind: 'no-build', project: name, branch, nearest: null }
  const running = prefer === 'running' ? await reads.runningBuilds([projectId], CHOICES_MAX) : []
  const ofBranch = running.filter((build) => branch === null || build.branch === branch)
  if (ofBranch.length > 1) return oneOf(deps, ofBranch, branch === null ? name : `${name}@${branch}`)
  const newest = ofBranch[0] ?? (await reads.newestBuild(projectId, branch ?? undefined))
  const found = newest && (await read(reads, newest))
  if (found) return { kind: 'found', found }
  const near = branch === null ? null : nearest(branch, await reads.branchesOf(projectId, BRANCHES_MAX))
  return { kind: 'no-build', project: name, branch, nearest: near }
}

async function oneOf(
  deps: FindDeps,
  builds: readonly KnownBuild[],
  text: string,
): Promise<{ kind: 'found'; found: Found } | NotFound> {
  if (builds.length <= 1) return foundOr(deps, builds[0] ?? null, text)
  return { kind: 'several-builds', text, builds: await summariesOf(deps, builds) }
}

async function foundOr(
  { reads }: FindDeps,
  build: KnownBuild | null,
  text: string,
): Promise<{ kind: 'found'; found: Found } | NotFound> {
  const found = build && (await read(reads, build))
  return found ? { kind: 'found', found } : { kind: 'unknown-build', text }
}

async function read(reads: Reads, { revisionKey, episode, buildId }: KnownBuild): Promise<Found | null> {
  const revision = await readRevision(reads, revisionKey, episode)
  const run = revision.runs.findLast((one) => one.buildId === buildId)
  return run ? { ...revision, revisionKey, run } : null
}

/** Builds as answers show them; what cannot be read any more is left out. */
export async function summariesOf(deps: FindDeps, builds: readonly KnownBuild[]): Promise<BuildSummary[]> {
  const summaries: BuildSummary[] = []
  for (const build of builds) {
    const found = await read(deps.reads, build)
    if (found) summaries.push(await summaryOf(deps, found))
  }
  return summaries
}

/** The newest build of a project as answers show it; null where none is known. */
export async function newestSummary(deps: FindDeps, { projectId }: ProjectRef): Promise<BuildSummary | null> {
  const build = projectId === null ? null : await deps.reads.newestBuild(projectId)
  return build && ((await summariesOf(deps, [build]))[0] ?? null)
}

/** A build as answers show it. */
export async function summaryOf(
  { reads, interfaces }: FindDeps,
  { run, runs, requests }: Found,
): Promise<BuildSummary> {
  const recovery = (await recoveriesOf(reads, runs)).get(runKey(run)) ?? null
  const red = await redSince(reads, run)
  const facilities = await facilitiesOf(reads, runs, interfaces)
  return {
    ...buildView(run, runs),
    ref: { projectId: run.facts[0]!.projectId, buildId: run.buildId, run: run.n },
    shown: shownAs(run, recovery),
    word: run.word,
    attempt: attemptOf(run, runs),
    at: run.facts.at(-1)!.at,
    redSince: red && { at: red.sinceAt, builds: red.builds, atLeast: red.atLeast },
    ...offersOf(run, facilities, requests),
  }
}
