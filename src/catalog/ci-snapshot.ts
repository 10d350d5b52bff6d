import {
  firstLine,
  mergeDetails,
  NO_DETAILS,
  toBuildEvent,
  type BuildEvent,
  type Observation,
  type Origin,
} from '../domain/build-event.ts'
import type { LegacyBuild, LegacyProjectList, ProjectList } from '../domain/project.ts'
import { restartRequests, type AttemptRef } from '../domain/request.ts'
import { effectsOf, foldBuild, type Effect, type Attempt } from '../domain/attempt.ts'
import { isFinal, toStatus } from '../domain/status.ts'
import type { BuildPlace } from '../store/records.ts'
import type { Tx, Store } from '../store/store.ts'
import type { ClientLegacy } from '../sources/ci-service/client-legacy.ts'
import type { ClientV2 } from '../sources/ci-service/client-v2.ts'
import { CiError } from '../sources/ci-service/errors.ts'
import { filterOf, matchBranch } from '../domain/pattern.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { CiTrouble } from './outcomes.ts'

/** What was asked about, and the revision that it belongs to. */
interface SnapshotFor extends Pick<AttemptRef, 'projectId' | 'buildId'> {
  revisionKey: string
}

/** `begunAgain`: what CI shows is another attempt than the one that is known. */
interface Snapshot {
  build: LegacyBuild
  begunAgain: boolean
  at: number
}

/**
 * What CI showed of a build when it was asked becomes a build event like any other; what is known already is not said again. A
 * build of another commit is left to its own deliveries. @returns whether it said anything new
 */
export async function insertSnapshot(
  tx: Tx,
  about: SnapshotFor,
  { build, begunAgain, at }: Snapshot,
): Promise<boolean> {
  const known = await tx.eventsOfBuild(about.projectId, build.id)
  const ofAbout = build.id === about.buildId ? known : await tx.eventsOfBuild(about.projectId, about.buildId)
  const place = known.at(-1) ?? ofAbout.findLast(({ commitId }) => isSameCommit(commitId, build.commitId))
  if (!place || place.revisionKey !== about.revisionKey) return false
  const restarts = restartRequests(await tx.restartsOf(about.projectId, build.id))
  let buildEvents: readonly BuildEvent[] = known
  for (const { word, origin } of said(build, begunAgain, foldBuild(known, restarts).attempts.at(-1))) {
    const seen = observationOf(about, build, { place, buildEvents: ofAbout }, word)
    const next = [...buildEvents, toBuildEvent(seen, Number.MAX_SAFE_INTEGER, at, origin)]
    if (!isNews(effectsOf(next, restarts).at(-1)!, origin, buildEvents)) continue
    const { branch, commitId } = seen
    await tx.insertBuildEvent(seen, { at, origin, priority: 0, revisionKey: place.revisionKey, branch, commitId })
    buildEvents = next
  }
  return buildEvents !== known
}

function said(build: LegacyBuild, begunAgain: boolean, known: Attempt | undefined): { word: string; origin: Origin }[] {
  const hasEnded = isFinal(toStatus(build.status))
  // The two interfaces may have different words for one end: what has ended and has not begun again ended as delivered.
  if (!begunAgain)
    return [{ word: hasEnded && known && isFinal(known.status) ? known.word : build.status, origin: 'poll' }]
  // That it ended the same way again shows only if it has begun again, which CI did not say: its own word of that may
  // still come, and must not open a further run.
  return [
    ...(hasEnded ? [{ word: 'initiated', origin: 'action' } as const] : []),
    { word: build.status, origin: 'poll' },
  ]
}

function isNews(effect: Effect, origin: Origin, buildEvents: readonly BuildEvent[]): boolean {
  if (effect === 'opened' || effect === 'moved') return true
  // A repetition by CI itself says that it has spoken of an attempt that only our own word stood for.
  return effect === 'duplicate' && origin === 'poll' && buildEvents.at(-1)?.origin === 'action'
}

/** One may be the short form of the other; what names no commit is the same as none. */
export function isSameCommit(one: string | null, other: string | null): boolean {
  if (one === null || other === null) return false
  const [short, long] = [one.toLowerCase(), other.toLowerCase()].sort((a, b) => a.length - b.length)
  return short!.length >= COMMIT_CHARS_MIN && long!.startsWith(short!)
}

/** Shorter forms of a commit are shared by too many. */
const COMMIT_CHARS_MIN = 7

function observationOf(
  { projectId }: SnapshotFor,
  build: LegacyBuild,
  { place, buildEvents }: { place: BuildPlace; buildEvents: readonly BuildEvent[] },
  word: string,
): Observation {
  const known = mergeDetails(buildEvents)
  return {
    projectId,
    buildId: build.id,
    branch: place.branch ?? build.branch,
    commitId: place.commitId ?? build.commitId,
    word,
    details: {
      ...NO_DETAILS,
      // On a card of its own nothing else says whose build it is.
      projectName: known.projectName,
      projectFullName: known.projectFullName,
      projectUuid: known.projectUuid,
      buildUuid: build.uuid,
      // The legacy interface names people and commits in other words: what was delivered stays.
      message: known.message === null ? firstLine(build.message) : null,
      committer: known.committer === null ? build.committer : null,
      number: build.number ?? null,
      attempt: build.attempt ?? null,
      startedAt: build.startedAt,
      finishedAt: ['started', 'waiting'].includes(toStatus(word)) ? null : build.finishedAt,
    },
  }
}

/** A project that CI has not listed for so long is forgotten, and with it its rules. */
const FORGET_AFTER_MS = 7 * 24 * 60 * 60_000

/** Under this name the store knows when a reading that was whole began: what is older than it is gone from CI. */
export const WHOLE_READING = 'refresh-projects'

export interface RefreshProjects {
  store: Store
  clock: Clock
  log: Log
  v2: Pick<ClientV2, 'listProjects'> | null
  legacy: Pick<ClientLegacy, 'listProjects'> | null
}

/** How a reading ended: when it was made (ms), and why what could not be read could not be. */
export interface Refreshed {
  readAt: number
  trouble: CiTrouble | null
  /** false: CI gave its list only in part, or of some projects what nobody can read */
  isWhole: boolean
}

/**
 * Reads the projects and their rules from every CI interface that is configured and keeps them. What cannot be read
 * leaves what was read before as it is.
 */
export async function refreshProjects(deps: RefreshProjects): Promise<Refreshed> {
  const readAt = deps.clock.now()
  const ofV2 = await tryTo(deps, 'the v2 interface', () => refreshV2(deps, readAt))
  const ofLegacy = await tryTo(deps, 'the legacy interface', () => refreshLegacy(deps, readAt))
  const trouble = ofV2.trouble ?? ofLegacy.trouble
  const isWhole = ofV2.isWhole && ofLegacy.isWhole
  // What a part does not list may be there all the same.
  if (isWhole)
    await deps.store.write(async (tx) => {
      await tx.forgetProjects(readAt - FORGET_AFTER_MS)
      await tx.setLastDoneAt(WHOLE_READING, readAt)
    })
  return { readAt, trouble, isWhole }
}

/** @param read resolves with whether the list was whole */
async function tryTo(
  { log }: RefreshProjects,
  what: string,
  read: () => Promise<boolean>,
): Promise<Omit<Refreshed, 'readAt'>> {
  try {
    return { trouble: null, isWhole: await read() }
  } catch (error) {
    log.warn({ err: error }, `could not read the projects from ${what}; the rules read before stay in force`)
    const isOfCi = error instanceof CiError
    const code = isOfCi ? error.kind : 'fault'
    const reason = isOfCi ? (error.reason ?? null) : null
    return { trouble: { kind: 'ci-trouble', code, reason }, isWhole: false }
  }
}

async function refreshV2({ store, log, v2 }: RefreshProjects, readAt: number): Promise<boolean> {
  if (!v2) return true
  const list = await v2.listProjects()
  const { projects } = list
  for (const { name, rules } of projects)
    for (const { branch, branchMatch } of rules)
      if (matchBranch(branch, branchMatch, 'main') === 'invalid-pattern')
        log.warn({ project: name }, 'a notification rule in CI has an invalid branch pattern, which matches nothing')
  await store.write(async (tx) => {
    for (const { uuid, id, name, type, rules, raw } of projects) {
      const known = id === null ? null : await tx.project({ uuid, legacyId: id, names: [] })
      await tx.keepProject({ uuid, name, type, rules, filter: filterOf(raw), legacyId: id, readAt })
      if (id !== null && known?.legacyId !== id) await wakeNewest(tx, id, readAt)
    }
  })
  return isWholeList(log, list)
}

function isWholeList(log: Log, { projects, truncated, skipped }: ProjectList | LegacyProjectList): boolean {
  const isWhole = !truncated && skipped === 0
  if (!isWhole) log.warn({ projects: projects.length, truncated, skipped }, 'some projects could not be read')
  return isWhole
}

// Where v2 does not say it, the legacy list ties a project's integer id, which deliveries carry, to its uuid, which the rules
// hang on.
async function refreshLegacy({ store, log, legacy }: RefreshProjects, readAt: number): Promise<boolean> {
  if (!legacy) return true
  const list = await legacy.listProjects()
  const { projects } = list
  await store.write(async (tx) => {
    for (const { id, uuid, name } of projects) {
      if (!uuid) continue
      const known = await tx.project({ uuid, legacyId: id, names: [] })
      if (known?.uuid === uuid) await tx.linkLegacyProject(uuid, id, readAt)
      else await tx.keepProject({ uuid, name, type: null, rules: null, filter: null, legacyId: id, readAt })
      if (known?.legacyId !== id) await wakeNewest(tx, id, readAt)
    }
  })
  return isWholeList(log, list)
}

/** Branches whose newest build gets its buttons at once when its project turns out to be one that CI can act on. */
const BRANCHES_WOKEN_MAX = 50

async function wakeNewest(tx: Tx, projectId: string, now: number): Promise<void> {
  for (const branch of await tx.branchesOf(projectId, BRANCHES_WOKEN_MAX)) {
    const build = await tx.newestBuild(projectId, branch)
    if (build) await tx.wakeRevision(build.revisionKey, now, 2)
  }
}
