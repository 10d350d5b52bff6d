import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  NEWS_MS,
  withCredibleTimes,
  type BuildEvent,
  type ReceivedEvent,
  type Origin,
  revisionKey,
} from '../domain/builds/build-event.ts'
import { sourceOf } from '../domain/ids.ts'
import { foldBuild, hasEnded, type Attempt } from '../domain/builds/attempt.ts'
import { knownAs, type ProjectWithBuilds } from '../domain/ci-project/project.ts'
import { restartRequests } from '../domain/cards/request.ts'
import { isFinal, isRed, isVerdict, toStatus } from '../domain/builds/status.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { KnownBuild, ListedProject } from '../store/records.ts'
import type { Reads, Store, Tx } from '../store/store.ts'
import { deliveredById } from '../projects/followers.ts'
import { asEvent, insertNews, namesAttempt, oldestFirst } from './ci-snapshot.ts'

// Builds that CI shows when asked, but did not deliver.

/** The most builds of a project that one look stores, newest first. */
const LISTED_BUILDS_MAX = 200

/** If a build cannot be stored, the others go on. After this many failures in a project, the database is at fault. */
const FAILURES_MAX = 3

/** Ingested after deliveries. */
const INGEST_PRIORITY = 3

export interface RecordListedDeps {
  store: Store
  clock: Clock
  log: Log
}

/** An answer from CI: `requestedAt` is when it was asked (ms); `isWhole`: it covers all branches of these projects. */
export interface ListedBuilds {
  projects: readonly ProjectWithBuilds[]
  requestedAt: number
  isWhole: boolean
}

/**
 * Stores builds that CI shows and the store does not know. The first look at a project is its baseline: the builds that
 * it finds are stored, but no message is sent about them.
 * @returns how many builds had news
 */
export async function recordListedBuilds(
  deps: RecordListedDeps,
  { projects, requestedAt, isWhole }: ListedBuilds,
): Promise<number> {
  const { store, clock, log } = deps
  let recorded = 0
  for (let at = 0; at < projects.length; at += LOOKED_UP_AT_ONCE) {
    const some = projects.slice(at, at + LOOKED_UP_AT_ONCE)
    const listed = await knownByUuid(store.read, some)
    const delivered = await deliveredById(
      store.read,
      some.map(({ id }) => id),
    )
    for (const project of some) {
      const known = listed.get(project.uuid ?? '')
      if (!known) continue
      const isBaseline = known.buildsReadAt === null
      // GitHub and GitLab say with each build what its project is called. CI's list may leave out the owner.
      const name = sourceOf(project.id) === 'ci' ? (delivered.get(project.id)?.name ?? known.name) : project.name
      const named = { ...project, name }
      recorded += await recordListedProject(deps, { project: named, requestedAt, isBaseline })
      // SQLite's reads block the event loop, so yield between two projects.
      await nextTurn()
      if (isBaseline && isWhole)
        await store.write((tx) => tx.setBuildsReadAt(known.uuid, clock.now()), { canBeRedone: true })
    }
  }
  if (recorded > 0) log.info({ builds: recorded }, 'CI showed builds that it had not delivered')
  return recorded
}

/** Listed projects that are looked up at once. */
const LOOKED_UP_AT_ONCE = 100

async function knownByUuid(reads: Reads, projects: readonly ProjectWithBuilds[]): Promise<Map<string, ListedProject>> {
  const uuids = projects.flatMap(({ uuid }) => uuid ?? [])
  const listed = uuids.length === 0 ? [] : await reads.listedAs(uuids, uuids.length)
  return new Map(listed.map((project) => [project.uuid, project]))
}

interface ListedProjectBuilds {
  project: ProjectWithBuilds
  requestedAt: number
  isBaseline: boolean
}

async function recordListedProject(deps: RecordListedDeps, look: ListedProjectBuilds): Promise<number> {
  const { store, clock, log } = deps
  const { id, builds } = look.project
  const newest = oldestFirst(builds).slice(-LISTED_BUILDS_MAX)
  const known = await store.read.buildsOf(
    id,
    newest.flatMap(({ buildId, details: { buildUuid } }) => (buildUuid === null ? [buildId] : [buildId, buildUuid])),
  )
  const stored = new Map(known.map((build) => [build.buildId, build]))
  const shown = knownAs([...stored.keys()], newest)
  let recorded = 0
  let failures = 0
  for (const build of shown) {
    if (!mayBeNews(build, stored.get(build.buildId))) continue
    try {
      const revision = await store.write((tx) => recordListedBuild(tx, look, build, clock.now()), { canBeRedone: true })
      if (revision === null) continue
      recorded++
    } catch (error) {
      if (++failures === FAILURES_MAX) throw error
      log.warn({ err: error, project: id, build: build.buildId }, 'a build that CI showed could not be recorded')
    }
  }
  return recorded
}

// Cheap and in memory, since it runs for every build at every look.
const mayBeNews = (build: ReceivedEvent, known: KnownBuild | undefined): boolean =>
  known === undefined || known.status !== toStatus(build.rawStatus) || (lastTimeOf(build) ?? 0) > known.at

const lastTimeOf = ({ details: { startedAt, finishedAt } }: ReceivedEvent): number | null => finishedAt ?? startedAt

/** Stores a build's news. @returns the key of its revision; null: there was no news */
async function recordListedBuild(
  tx: Tx,
  { project, requestedAt, isBaseline }: ListedProjectBuilds,
  listed: ReceivedEvent,
  at: number,
): Promise<string | null> {
  const build = { ...listed, details: withCredibleTimes(listed.details, at) }
  const known = await tx.eventsOfBuild(project.id, build.buildId)
  // An event that was received after CI was asked is newer than CI's answer.
  if (known.some((buildEvent) => buildEvent.at > requestedAt)) return null
  const restarts = restartRequests(await tx.restartsOf(project.id, build.buildId))
  const attempt = foldBuild(known, restarts).attempts.at(-1)
  const isNews = (attempt !== undefined || !isBaseline) && requestedAt - (lastTimeOf(build) ?? requestedAt) <= NEWS_MS
  const origin: Origin = isNews ? 'poll' : 'history'
  const observed = newStatuses(build, attempt).map((rawStatus) => ({
    event: ofProject(project, { ...build, rawStatus }, known),
    origin,
  }))
  const key = known.at(-1)?.revisionKey ?? revisionKey(ofProject(project, build, known))
  const isRecorded = await insertNews(tx, observed, {
    known,
    restarts,
    at,
    priority: INGEST_PRIORITY,
    revisionKey: key,
  })
  return isRecorded ? key : null
}

/** The statuses that CI would have delivered between the known state of a build and the shown one. */
function newStatuses(build: ReceivedEvent, attempt: Attempt | undefined): string[] {
  if (!attempt || namesAttempt(build)) return [build.rawStatus]
  // We know this attempt only by our own `action` event: CI may show the one before. `builds/confirm` tells them apart.
  if (!attempt.isConfirmedByCi || toStatus(build.rawStatus) === 'unknown') return []
  if (!hasEnded(attempt)) return [build.rawStatus]
  if (!hasBegunAgain(build, attempt)) return []
  return isFinal(toStatus(build.rawStatus)) ? ['initiated', build.rawStatus] : [build.rawStatus]
}

function hasBegunAgain({ rawStatus, details: { startedAt } }: ReceivedEvent, { status, details }: Attempt): boolean {
  // Both times come from CI, so clocks do not matter.
  const lastAt = details.finishedAt ?? details.startedAt
  if (startedAt !== null && lastAt !== null) return startedAt > lastAt
  const now = toStatus(rawStatus)
  // CI's two interfaces may use different words for one end, but never one red and one green.
  return !isFinal(now) || (isVerdict(now) && isVerdict(status) && isRed(now) !== isRed(status))
}

function ofProject(
  { uuid, name }: ProjectWithBuilds,
  build: ReceivedEvent,
  known: readonly BuildEvent[],
): ReceivedEvent {
  const event = asEvent(build, known, known.at(-1) ?? build)
  const { projectName, projectUuid } = event.details
  return { ...event, details: { ...event.details, projectName: projectName ?? name, projectUuid: projectUuid ?? uuid } }
}
