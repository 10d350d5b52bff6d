import { setImmediate as nextTurn } from 'node:timers/promises'
import { NEWS_MS, type BuildEvent, type Observation, type Origin } from '../domain/build-event.ts'
import { foldBuild, hasEnded, type Attempt } from '../domain/attempt.ts'
import { knownAs, type LegacyBuild, type LegacyProject } from '../domain/project.ts'
import { restartRequests } from '../domain/request.ts'
import { revisionKey } from '../domain/revision.ts'
import { isFinal, isRed, isVerdict, toStatus } from '../domain/status.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { KnownBuild } from '../store/records.ts'
import type { Store, Tx } from '../store/store.ts'
import { insertNews, namesAttempt, observationOf, oldestFirst } from './ci-snapshot.ts'

// Builds that nobody delivered: CI shows them when it is asked.

/** The newest builds of each project that one look takes in. */
const LOOKED_BUILDS_MAX = 200

/** One build that cannot be recorded is its own fault; this many of a project are the database's. */
const FAILURES_MAX = 3

/** What is delivered is ingested before what was looked up. */
const INGEST_PRIORITY = 3

export interface TakeIn {
  store: Store
  clock: Clock
  log: Log
  /** a hint that a revision has news */
  wake?: (revisionKey: string) => void
}

/** What CI answered: when it was asked (ms), and whether it showed all branches of these projects. */
export interface Look {
  projects: readonly LegacyProject[]
  askedAt: number
  isWhole: boolean
}

/**
 * Records what CI shows of builds and the store does not know. The first look at a project is its baseline: the builds that
 * it finds are known from then on, and nobody is told of them. @returns how many builds had news
 */
export async function takeInBuilds(deps: TakeIn, { projects, askedAt, isWhole }: Look): Promise<number> {
  const { store, clock, log } = deps
  const listed = new Map((await store.read.projects()).map((project) => [project.uuid, project]))
  const heard = new Map((await store.read.deliveredProjects()).map(({ projectId, name }) => [projectId, name]))
  let taken = 0
  for (const project of projects) {
    const known = project.uuid === null ? undefined : listed.get(project.uuid)
    if (!known) continue
    const isBaseline = known.lookedAt === null
    const named = { ...project, name: heard.get(project.id) ?? known.name }
    taken += await takeInProject(deps, { project: named, askedAt, isBaseline })
    // SQLite answers at once: between two projects others get their turn.
    await nextTurn()
    if (isBaseline && isWhole) await store.write((tx) => tx.setLooked(known.uuid, clock.now()), { canBeRedone: true })
  }
  if (taken > 0) log.info({ builds: taken }, 'CI showed builds that it had not delivered')
  return taken
}

interface ProjectLook {
  project: LegacyProject
  askedAt: number
  isBaseline: boolean
}

async function takeInProject(deps: TakeIn, look: ProjectLook): Promise<number> {
  const { store, clock, log, wake } = deps
  const { id, builds } = look.project
  const newest = oldestFirst(builds).slice(-LOOKED_BUILDS_MAX)
  const known = await store.read.buildsOf(
    id,
    newest.flatMap((build) => (build.uuid === null ? [build.id] : [build.id, build.uuid])),
  )
  const stands = new Map(known.map((build) => [build.buildId, build]))
  const shown = knownAs([...stands.keys()], newest)
  let taken = 0
  let failures = 0
  for (const build of shown) {
    if (!mayBeNews(build, stands.get(build.id))) continue
    try {
      const revision = await store.write((tx) => takeIn(tx, look, build, clock.now()), { canBeRedone: true })
      if (revision === null) continue
      taken++
      wake?.(revision)
    } catch (error) {
      if (++failures === FAILURES_MAX) throw error
      log.warn({ err: error, project: id, build: build.id }, 'a build that CI showed could not be recorded')
    }
  }
  return taken
}

// Cheap, since it is asked of every build at every look.
const mayBeNews = (build: LegacyBuild, known: KnownBuild | undefined): boolean =>
  known === undefined || known.status !== toStatus(build.status) || (lastTimeOf(build) ?? 0) > known.at

const lastTimeOf = ({ startedAt, finishedAt }: LegacyBuild): number | null => finishedAt ?? startedAt

/** @returns the revision that has news; null: none has */
async function takeIn(
  tx: Tx,
  { project, askedAt, isBaseline }: ProjectLook,
  build: LegacyBuild,
  at: number,
): Promise<string | null> {
  const known = await tx.eventsOfBuild(project.id, build.id)
  // What was delivered since CI was asked is newer than its answer.
  if (known.some((buildEvent) => buildEvent.at > askedAt)) return null
  const restarts = restartRequests(await tx.restartsOf(project.id, build.id))
  const attempt = foldBuild(known, restarts).attempts.at(-1)
  const isNews = (attempt !== undefined || !isBaseline) && askedAt - (lastTimeOf(build) ?? askedAt) <= NEWS_MS
  const origin: Origin = isNews ? 'poll' : 'history'
  const observed = newWords(build, attempt).map((word) => ({ seen: observe(project, build, known, word), origin }))
  const key = known.at(-1)?.revisionKey ?? revisionKey(observe(project, build, known, build.status))
  const isTaken = await insertNews(tx, observed, { known, restarts, at, priority: INGEST_PRIORITY, revisionKey: key })
  return isTaken ? key : null
}

/** What CI's words add to what is known of a build, as they would have been delivered. */
function newWords(build: LegacyBuild, attempt: Attempt | undefined): string[] {
  if (!attempt || namesAttempt(build)) return [build.status]
  // While only our own request stands for an attempt, CI may show the one before: `builds/confirm` tells them apart.
  if (!attempt.isConfirmedByCi || toStatus(build.status) === 'unknown') return []
  if (!hasEnded(attempt)) return [build.status]
  if (!hasBegunAgain(build, attempt)) return []
  return isFinal(toStatus(build.status)) ? ['initiated', build.status] : [build.status]
}

function hasBegunAgain({ status: word, startedAt }: LegacyBuild, { status, details }: Attempt): boolean {
  // Both times are CI's own: no clocks to compare.
  const lastAt = details.finishedAt ?? details.startedAt
  if (startedAt !== null && lastAt !== null) return startedAt > lastAt
  const now = toStatus(word)
  // The two interfaces may have different words for one end, but not both a red and a green one.
  return !isFinal(now) || (isVerdict(now) && isVerdict(status) && isRed(now) !== isRed(status))
}

function observe(project: LegacyProject, build: LegacyBuild, known: readonly BuildEvent[], word: string): Observation {
  const about = { place: known.at(-1) ?? build, buildEvents: known }
  const { details, ...seen } = observationOf({ projectId: project.id }, build, about, word)
  const { projectName, projectUuid } = details
  return {
    ...seen,
    details: { ...details, projectName: projectName ?? project.name, projectUuid: projectUuid ?? project.uuid },
  }
}
