import { isDeepStrictEqual } from 'node:util'
import type { ProjectList, ProjectWithBuilds } from '../domain/ci-project/project.ts'
import type { Reads, Store, Tx } from '../store/store.ts'
import type { ClientLegacy } from '../sources/ci-service/client-legacy.ts'
import type { ClientV2 } from '../sources/ci-service/client-v2.ts'
import { WHOLE_READING } from '../projects/projects.ts'
import { matchBranch } from '../domain/rules/pattern.ts'
import type { Log } from '../lib/log.ts'
import { causeOf, type CiFailure } from '../projects/outcomes.ts'
import { recordListedBuilds, type RecordListedDeps } from './undelivered.ts'
import { sourceOf, isProjectId } from '../domain/ids.ts'
import type { Clock } from '../lib/clock.ts'
import type { KnownProject, ProjectClaim } from '../store/records.ts'
import type { CiRules } from '../domain/rules/decide.ts'
import { slackRules } from '../domain/rules/rule.ts'
import type { ProjectNames } from '../domain/rules/subscription.ts'
import { CiError, isAway } from '../sources/http/errors.ts'
import type { Sources } from '../sources/source.ts'

/** A project that CI has not listed for this long is removed, with its rules. */
const FORGET_AFTER_MS = 7 * 24 * 60 * 60_000

interface RefreshProjects extends RecordListedDeps {
  v2: Pick<ClientV2, 'listProjects'> | null
  legacy: Pick<ClientLegacy, 'listProjects'> | null
}

export interface Refreshed {
  /** set if a part could not be read */
  failure: CiFailure | null
  /** false: CI gave only a part of its list, or some projects could not be read */
  isWhole: boolean
  /** for how many builds CI showed something that it had not delivered */
  builds: number
}

/**
 * Reads the projects, their rules and their builds from every configured CI interface and stores them. If an interface
 * cannot be read, what was stored from it before stays.
 */
export async function refreshProjects(deps: RefreshProjects): Promise<Refreshed> {
  const readAt = deps.clock.now()
  const ofV2 = await tryTo(deps, 'the v2 interface (CI_BASE_URL, CI_ORGANIZATION_UUID)', () => refreshV2(deps, readAt))
  const ofLegacy = await tryTo(deps, 'the legacy interface (CI_LEGACY_BASE_URL, CI_API_KEY)', () =>
    refreshLegacy(deps, readAt),
  )
  const failure = ofV2.failure ?? ofLegacy.failure
  const isWhole = ofV2.isWhole && ofLegacy.isWhole
  // A project that an incomplete list lacks may still exist.
  if (isWhole)
    await deps.store.write(async (tx) => {
      await tx.forgetProjects(readAt - FORGET_AFTER_MS)
      await tx.setLastDoneAt(WHOLE_READING, readAt)
    })
  return { failure, isWhole, builds: ofLegacy.builds }
}

type Read = Pick<Refreshed, 'isWhole' | 'builds'>

async function tryTo({ log }: RefreshProjects, what: string, read: () => Promise<Read>): Promise<Refreshed> {
  try {
    return { failure: null, ...(await read()) }
  } catch (error) {
    log.warn({ err: error }, `could not read the projects from ${what}; what was read before is still used`)
    return { failure: { kind: 'ci-trouble', ...causeOf(error) }, isWhole: false, builds: 0 }
  }
}

async function refreshV2({ store, log, v2 }: RefreshProjects, readAt: number): Promise<Read> {
  if (!v2) return { isWhole: true, builds: 0 }
  const list = await v2.listProjects()
  const { projects } = list
  for (const { name, rules } of projects)
    for (const { branch, branchMatch } of rules)
      if (matchBranch(branch, branchMatch, 'main') === 'invalid-pattern')
        log.warn({ project: name }, 'a notification rule in CI has an invalid branch pattern, which matches nothing')
  await storeEach(store, projects, async (tx, { uuid, id, name, type, rules }) => {
    const known = id === null ? null : await tx.project({ uuid, legacyId: id, names: [] })
    await tx.saveProject({ uuid, name, type, rules, legacyId: id, readAt })
    if (id !== null && known?.legacyId !== id) await wakeNewest(tx, id, readAt)
  })
  return { isWhole: isWholeList(log, list), builds: 0 }
}

function isWholeList(log: Log, { projects, truncated, skipped }: ProjectList<unknown>): boolean {
  const isWhole = !truncated && skipped === 0
  if (!isWhole) log.warn({ projects: projects.length, truncated, skipped }, 'some projects could not be read')
  return isWhole
}

// The legacy list has both a project's integer id and its uuid. Deliveries carry the id; v2 lists the rules by uuid and
// may lack the id.
async function refreshLegacy(deps: RefreshProjects, readAt: number): Promise<Read> {
  const { store, clock, log, legacy } = deps
  if (!legacy) return { isWhole: true, builds: 0 }
  const requestedAt = clock.now()
  const list = await legacy.listProjects()
  const { projects } = list
  await storeEach(store, projects, async (tx, { id, uuid, name }) => {
    if (!uuid) return
    const known = await tx.project({ uuid, legacyId: id, names: [] })
    if (known?.uuid === uuid) await tx.linkLegacyProject(uuid, id, readAt)
    else await tx.saveProject({ uuid, name, type: null, rules: null, legacyId: id, readAt })
    if (known?.legacyId !== id) await wakeNewest(tx, id, readAt)
  })
  const builds = await recordListedBuilds(deps, { projects, requestedAt, isWhole: true })
  return { isWhole: isWholeList(log, list), builds }
}

/** Projects per write: on SQLite, a write blocks all other work. */
const STORED_AT_ONCE = 100

async function storeEach<One>(
  { write }: Pick<Store, 'write'>,
  all: readonly One[],
  storeOne: (tx: Tx, one: One) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < all.length; at += STORED_AT_ONCE)
    await write(async (tx) => {
      for (const one of all.slice(at, at + STORED_AT_ONCE)) await storeOne(tx, one)
    })
}

/** A project whose id becomes known can get buttons: the newest build of this many branches is planned again. */
const BRANCHES_WOKEN_MAX = 50

async function wakeNewest(tx: Tx, projectId: string, now: number): Promise<void> {
  for (const branch of await tx.branchesOf(projectId, BRANCHES_WOKEN_MAX)) {
    const build = await tx.newestBuild(projectId, branch)
    if (build) await tx.wakeRevision(build.revisionKey, now, 2)
  }
}

// Projects of GitHub and GitLab. There is no list of them, so they are stored as deliveries name them. A known one
// changes only to what its source shows, since a delivery may be forged.

/** Whether both have the same name and rules, and so the same default branch. */
export const isSameProject = (one: KnownProject, other: KnownProject): boolean =>
  one.name === other.name && isDeepStrictEqual(one.rules, other.rules)

/** Stores a project as its source has just shown it. Those of the CI service are stored when its list is read. */
export async function keepProject(
  { store, clock }: { store: Pick<Store, 'read' | 'write'>; clock: Pick<Clock, 'now'> },
  project: KnownProject,
): Promise<void> {
  if (sourceOf(project.legacyId) === 'ci') return
  const stored = await store.read.project({ uuid: project.uuid, legacyId: '', names: [] })
  if (stored && isSameProject(stored, project)) return
  await store.write((tx) => tx.saveProject({ ...project, readAt: clock.now() }))
}

/** Stores a project's current name at its source. @returns whether the name has changed */
export async function takesOtherName(
  { store, clock }: { store: Pick<Store, 'read' | 'write'>; clock: Pick<Clock, 'now'> },
  { id, uuid, name }: ProjectWithBuilds,
): Promise<boolean> {
  if (sourceOf(id) === 'ci') return false
  const stored = await store.read.project({ uuid, legacyId: id, names: [] })
  if (!stored || stored.name.toLowerCase() === name.toLowerCase()) return false
  await store.write((tx) => tx.saveProject({ ...stored, name, readAt: clock.now() }))
  return true
}

/** If CI did not list a project, its list is read again only after this time, so that CI is not flooded. */
const ASK_AGAIN_MS = 30_000

export interface ProjectRules {
  /** The project's rules for Slack, as last read. Null: not known. `wait`: CI is being read now; ask again soon. */
  rulesOf(project: ProjectNames, reads?: Reads): Promise<CiRules | 'wait'>
  /** Reads all projects again. Concurrent callers share one reading. */
  refresh(): Promise<Refreshed>
}

/** The cache of CI's own rules. Callers never wait for CI, even if it is slow or down. */
export function createProjectRules(deps: RefreshProjects & { store: Store; clock: Clock }): ProjectRules {
  const isConfigured = deps.v2 !== null
  let reading: Promise<Refreshed> | null = null
  let readAt = Number.NEGATIVE_INFINITY
  let hasFailed = false

  function refresh(): Promise<Refreshed> {
    reading ??= refreshProjects(deps)
      .then((refreshed) => {
        hasFailed = refreshed.failure !== null
        return refreshed
      })
      .finally(() => {
        reading = null
        readAt = deps.clock.now()
      })
    return reading
  }

  return {
    refresh,
    async rulesOf({ projectId, projectUuid, names }, reads = deps.store.read) {
      const known = await reads.project({
        uuid: projectUuid,
        legacyId: projectId,
        names: names.filter((name) => name !== null),
      })
      if (known?.rules) return slackRules(known.rules)
      if (!isConfigured) return null
      if (!reading && deps.clock.now() - readAt > ASK_AGAIN_MS) void refresh().catch(() => {})
      // If the last reading failed, the next one may fail too, and an alert must not wait for it.
      return reading && !hasFailed ? 'wait' : null
    },
  }
}

export const CHECK_CLAIMS_JOB = 'check-delivered-names'

/** One round reads at most this many projects. Each takes up to four calls. */
export const CLAIMS_MAX = 10

interface CheckClaims {
  store: Pick<Store, 'read' | 'write'>
  clock: Clock
  log: Log
  sources: Sources
}

/**
 * Asks the sources about projects whose deliveries name another name or default branch than the stored one: a delivery
 * may be forged. What the source shows is stored.
 * @returns the job
 */
export function createCheckClaims({ store, clock, log, sources }: CheckClaims): (signal: AbortSignal) => Promise<void> {
  let last = ''

  async function check(project: KnownProject, claim: ProjectClaim, signal: AbortSignal): Promise<void> {
    const { uuid, legacyId } = project
    if (legacyId === null || !isProjectId(legacyId)) return
    const shown = await sources(legacyId)?.readProject?.(legacyId, [project.name, claim.name], signal)
    await store.write(async (tx) => {
      // If the source shows it under neither name, it cannot be called for it either, so the newest delivery counts.
      await tx.saveProject(shown ? { ...shown, readAt: clock.now() } : { ...project, ...claim, readAt: 0 })
      await tx.settleClaim(uuid, claim)
    })
    log.info({ project: legacyId, was: project.name, is: shown?.name ?? claim.name }, 'a delivered name was checked')
  }

  return async (signal) => {
    // Each round continues after the last one, so that an unreadable project does not hold up others.
    const next = await store.read.claimedProjects(last, CLAIMS_MAX)
    const claims = next.length > 0 ? next : await store.read.claimedProjects('', CLAIMS_MAX)
    for (const { project, claim } of claims) {
      if (signal.aborted) return
      last = project.uuid
      try {
        await check(project, claim, signal)
      } catch (error) {
        if (!(error instanceof CiError)) throw error
        log.warn({ err: error, project: project.legacyId }, 'a delivered name could not be checked')
        if (isAway(error)) return
      }
    }
  }
}
