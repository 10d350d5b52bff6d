import { isShortId, shortId, type ChannelId, type MessageTs, type Uuid } from '../domain/ids.ts'
import { attemptKey, type Attempt } from '../domain/builds/attempt.ts'
import type { Configured } from '../domain/cards/capabilities.ts'
import { parseSubject } from '../domain/builds/revision.ts'
import { buildView } from '../domain/cards/view.ts'
import { isRed } from '../domain/builds/status.ts'
import { briefly } from '../domain/builds/failure.ts'
import { attemptNumberOf, shownAs } from '../domain/cards/story.ts'
import type { Clock } from '../lib/clock.ts'
import { nearest } from '../lib/nearest.ts'
import { extentAt, judgementsOf } from '../domain/builds/history.ts'
import { readCapabilities, readRevision, ownershipAt, type Revision } from '../store/revision.ts'
import type { KnownBuild } from '../store/records.ts'
import { failuresOf } from '../store/failures.ts'
import type { Reads, Store } from '../store/store.ts'
import type { BuildSummary, NotFound, ProjectRef, Target } from './outcomes.ts'
import { CHOICES_MAX } from '../slack/messages/ids.ts'
import { repositoryIn } from '../domain/ci-project/project-names.ts'
import {
  isOfSites,
  isOwnLink,
  namesProject,
  readBuildAddress,
  type BuildAddress,
  type Sites,
} from '../sources/build-address.ts'
import { detailsShown } from './followers.ts'
import { findProject, projectsCalled, type FollowedDeps } from './projects.ts'

/** The most branches searched for a similar name. */
const BRANCHES_MAX = 200

/** A build with its revision; `attempt` is the build's newest. */
export interface FoundBuild extends Revision {
  revisionKey: string
  attempt: Attempt
  /** the name of the project by which it was found; null: it was found without a project */
  calledProject: string | null
}

type Prefer = 'newest' | 'running'

type Looked = { kind: 'found'; found: FoundBuild } | NotFound

export interface FindDeps {
  store: Pick<Store, 'read'>
  configured: Configured
  clock: Pick<Clock, 'now'>
}

export interface FindBuildDeps extends FindDeps {
  sites: Sites
}

/**
 * The build that a target names. For a project, it is the newest one, of the branch if given. With `running`, running
 * builds come first; if several run, the outcome is `several-builds`.
 */
export async function findBuild(deps: FindBuildDeps, target: Target, prefer: Prefer = 'newest'): Promise<Looked> {
  const reads = deps.store.read
  switch (target.kind) {
    case 'run':
      return foundOr(
        deps,
        await reads.build(target.ref.projectId, target.ref.buildId),
        `#${shortId(target.ref.buildId)}`,
      )
    case 'message':
      return byMessage(reads, target.channel, target.ts)
    case 'build-number':
      return byNumber(deps, target.number, target.project)
    case 'build-url':
      return byUrl(deps, target.url)
    case 'uuid':
      return byUuid(deps, target.uuid, prefer)
    case 'project': {
      if (target.branch === null && (await isBuildNumber(reads, target.project)))
        return byNumber(deps, target.project, null)
      const named = await findProject(reads, target.project)
      return named.kind === 'project' ? newestOf(deps, named.project, target.branch, prefer) : named
    }
  }
}

/** `601` is a build's number, unless it is a project's id or whole name. */
export const isBuildNumber = async (reads: Reads, text: string): Promise<boolean> =>
  /^\d+$/.test(text) && isShortId(text) && (await projectsCalled(reads, text)).length === 0

async function byMessage(reads: Reads, channel: ChannelId, ts: MessageTs): Promise<Looked> {
  const subject = await reads.subjectOf(channel, ts)
  const parsed = subject === null ? null : parseSubject(subject)
  if (parsed?.kind !== 'revision') return { kind: 'no-card' }
  const { revisionKey } = parsed
  const revision = await readRevision(reads, revisionKey, parsed.cardNumber)
  const attempt = revision.attempts.at(-1)
  return attempt
    ? { kind: 'found', found: { ...revision, revisionKey, attempt, calledProject: null } }
    : { kind: 'no-card' }
}

async function byNumber(deps: FindDeps, number: string, project: string | null): Promise<Looked> {
  const text = `#${number}`
  if (project === null)
    return oneOf(deps, isShortId(number) ? await deps.store.read.buildsByNumber(number, CHOICES_MAX) : [], text)
  const named = await findProject(deps.store.read, project)
  if (named.kind !== 'project') return named
  const { projectId, name } = named.project
  const [build] = projectId === null ? [] : await deps.store.read.buildsByNumber(number, 1, projectId)
  return foundOr(deps, build ?? null, `${name} ${text}`, name)
}

/** The most builds with one id that are considered: projects may have builds with the same number. */
const SAME_ID_MAX = 50

/** An address counts only if it is the build's own link, or one of its source's pages that names the build's project. */
async function byUrl(deps: FindBuildDeps, text: string): Promise<Looked> {
  const address = readBuildAddress(text)
  const linked = address ? await linkedBuilds(deps, address) : []
  const own = linked.filter(({ isOwn }) => isOwn)
  const builds = (own.length > 0 ? own : linked).map(({ build }) => build)
  if (builds.length > 0) return oneOf(deps, builds.slice(0, CHOICES_MAX), text)
  return { kind: isOfSites(text, deps.sites) ? 'unknown-build' : 'unknown-address', text }
}

async function linkedBuilds({ store: { read: reads }, sites }: FindBuildDeps, address: BuildAddress) {
  const { source, build: named } = address
  const withName =
    'uuid' in named ? [await reads.buildByUuid(named.uuid)] : await reads.buildsWithId(source, named.id, SAME_ID_MAX)
  const linked: { build: KnownBuild; isOwn: boolean }[] = []
  for (const build of withName) {
    const found = build && (await read(reads, build))
    if (!found) continue
    const { project, buildUrl } = buildView(found.attempt, found.attempts)
    const { projectId } = build
    const { projectFullName } = found.attempt.details
    const known = await reads.project({ uuid: null, legacyId: projectId, names: [] })
    const projectUuid = found.attempt.details.projectUuid ?? known?.uuid ?? null
    const about = { projectId, projectUuid, fullName: projectFullName ?? repositoryIn(project), buildUrl }
    const isOwn = isOwnLink(address, about)
    if (isOwn || namesProject(address, sites, about)) linked.push({ build, isOwn })
  }
  return linked
}

async function byUuid(deps: FindDeps, uuid: Uuid, prefer: Prefer): Promise<Looked> {
  const build = await deps.store.read.buildByUuid(uuid)
  if (build) return foundOr(deps, build, uuid)
  const named = await findProject(deps.store.read, uuid)
  return named.kind === 'project' ? newestOf(deps, named.project, null, prefer) : { kind: 'unknown-build', text: uuid }
}

async function newestOf(
  deps: FindDeps,
  { projectId, name }: ProjectRef,
  branch: string | null,
  prefer: Prefer,
): Promise<Looked> {
  const reads = deps.store.read
  if (projectId === null) return { kind: 'no-build', project: name, branch, nearest: null }
  const running = prefer === 'running' ? await reads.runningBuilds({ only: [projectId] }, CHOICES_MAX) : []
  const ofBranch = running.filter((build) => branch === null || build.branch === branch)
  if (ofBranch.length > 1) return oneOf(deps, ofBranch, branch === null ? name : `${name}@${branch}`)
  const newest = ofBranch[0] ?? (await reads.newestBuild(projectId, branch ?? undefined))
  const found = newest && (await read(reads, newest, name))
  if (found) return { kind: 'found', found }
  const near = branch === null ? null : nearest(branch, await reads.branchesOf(projectId, BRANCHES_MAX))
  return { kind: 'no-build', project: name, branch, nearest: near }
}

async function oneOf(deps: FindDeps, builds: readonly KnownBuild[], text: string): Promise<Looked> {
  if (builds.length <= 1) return foundOr(deps, builds[0] ?? null, text)
  return { kind: 'several-builds', text, builds: await summariesOf(deps, builds) }
}

async function foundOr(
  { store }: FindDeps,
  build: KnownBuild | null,
  text: string,
  calledProject: string | null = null,
): Promise<Looked> {
  const found = build && (await read(store.read, build, calledProject))
  return found ? { kind: 'found', found } : { kind: 'unknown-build', text }
}

async function read(
  reads: Reads,
  { revisionKey, cardNumber, buildId }: KnownBuild,
  calledProject: string | null = null,
): Promise<FoundBuild | null> {
  const revision = await readRevision(reads, revisionKey, cardNumber)
  const attempt = revision.attempts.findLast((one) => one.buildId === buildId)
  return attempt ? { ...revision, revisionKey, attempt, calledProject } : null
}

/** Builds as answers show them. Leaves out builds that are no longer stored. */
export async function summariesOf(deps: FindDeps, builds: readonly KnownBuild[]): Promise<BuildSummary[]> {
  const summaries = builds.map(async (build) => {
    const found = await read(deps.store.read, build)
    return found && summaryOf(deps, found)
  })
  return (await Promise.all(summaries)).filter((summary) => summary !== null)
}

/** The newest build of a project as answers show it; null if none is known. */
export async function newestSummary(deps: FindDeps, { projectId }: ProjectRef): Promise<BuildSummary | null> {
  const build = projectId === null ? null : await deps.store.read.newestBuild(projectId)
  return build && ((await summariesOf(deps, [build]))[0] ?? null)
}

// When the news happened: an event that CI showed only when it was asked may be much older than its receipt.
function newsAt({ buildEvents, details }: Attempt): number {
  const { at, origin } = buildEvents.at(-1)!
  return origin === 'poll' || origin === 'history' ? (details.finishedAt ?? details.startedAt ?? at) : at
}

export async function summaryOf(
  { store: { read: reads }, configured, clock }: FindDeps,
  { attempt, attempts, requests }: FoundBuild,
): Promise<BuildSummary> {
  const judged = (await judgementsOf(reads, attempts)).get(attempt.finalSeq ?? 0)
  const isRecovered = judged?.change === 'recovered'
  const streak = judged && isRed(attempt.status) ? judged.streak : await extentAt(reads, attempt)
  const ownership = streak && (await ownershipAt(reads, attempt, clock.now()))
  return {
    ...buildView(attempt, attempts),
    ref: { projectId: attempt.buildEvents[0]!.projectId, buildId: attempt.buildId, attempt: attempt.n },
    shown: shownAs(attempt, attempts, isRecovered),
    word: attempt.rawStatus,
    attemptNumber: attemptNumberOf(attempt, attempts),
    at: newsAt(attempt),
    streak,
    ...(await readCapabilities(reads, attempt, { attempts, requests }, configured)),
    ...(ownership && { ownership }),
  }
}

/** `summaryOf`, with what failed, as far as this channel may see it. @param channel null: a direct message or a modal */
export async function detailedSummaryOf(
  deps: FindDeps & FollowedDeps,
  found: FoundBuild,
  channel: ChannelId | null,
): Promise<BuildSummary> {
  const summary = await summaryOf(deps, found)
  if (!isRed(found.attempt.status)) return summary
  const reads = deps.store.read
  const { ref, branch } = summary
  const details = await detailsShown(reads, await deps.subscriptions(), ref.projectId, { channel, branch })
  const failures = (await failuresOf(reads, [found.attempt], details)).failures.get(attemptKey(found.attempt))
  return failures ? { ...summary, failures: briefly(failures) } : summary
}
