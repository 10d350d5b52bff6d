import type { Source, Sources } from '../sources/source.ts'
import { CiError } from '../sources/http/errors.ts'
import { sourceOf, type SourceName } from '../domain/ids.ts'
import type { ReceivedEvent } from '../domain/builds/build-event.ts'
import { toStatus } from '../domain/builds/status.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { KnownBuild } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { insertSnapshot } from './ci-snapshot.ts'

/** CI is asked about a running or waiting build when no event of it came for this long, and again after as long. */
export const SILENT_MS = 3 * 60 * 60_000

/** CI is no longer asked about a build that was silent for this long: it will never show an end. */
export const LET_BE_MS = 7 * 24 * 60 * 60_000

/** One round makes at most this many calls to CI, each about one branch, and reads this many builds. */
export const CALLS_MAX = 5
export const SILENT_BUILDS_MAX = 100

/** What CI showed of a build. `no-news`: nothing new. `not-shown`: CI does not list it. `no-answer`: CI failed. */
export type SilentEnd = 'news' | 'no-news' | 'not-shown' | 'no-answer'

interface RefreshSilent {
  store: Store
  clock: Clock
  log: Log
  sources: Sources
  count: (end: SilentEnd) => void
}

/**
 * Asks CI for the state of builds that were silent for too long: a delivery may have been lost. The answer becomes a
 * ordinary build event, and the card says that CI was asked. Builds that CI does not show stay unchanged.
 */
export async function refreshSilent(deps: RefreshSilent, signal: AbortSignal): Promise<void> {
  const { store, clock, sources } = deps
  const now = clock.now()
  const silent = await store.read.silentBuilds(
    { notAfter: now - SILENT_MS, notBefore: now - LET_BE_MS },
    SILENT_BUILDS_MAX,
  )
  const branches = [...Map.groupBy(silent, ({ projectId, branch }) => JSON.stringify([projectId, branch])).values()]
  const away = new Set<SourceName>()
  let calls = 0
  for (const builds of branches) {
    const { projectId } = builds[0]!
    const source = sources(projectId)
    const name = sourceOf(projectId)
    if (!source?.getProject) {
      // Otherwise these builds would come first in every round and fill it.
      await store.write((tx) => tx.setCiCheckedAt(builds, now))
      continue
    }
    // The source failed in this round. The next round asks it again; other sources may still answer now.
    if (away.has(name)) continue
    if (signal.aborted || calls++ === CALLS_MAX) return
    const shown = await readBuilds(deps, source.getProject, builds)
    if (shown === 'away') away.add(name)
    else for (const build of builds) await recordSilent(deps, build, shown)
  }
}

async function readBuilds(
  { log, count }: RefreshSilent,
  getProject: NonNullable<Source['getProject']>,
  builds: readonly KnownBuild[],
): Promise<readonly ReceivedEvent[] | 'away'> {
  const { projectId, branch } = builds[0]!
  const ids = builds.map(({ buildId }) => buildId)
  try {
    return (await getProject(projectId, { builds: ids, ...(branch === null ? {} : { branch }) })).builds
  } catch (error) {
    if (!(error instanceof CiError)) throw error
    // CI's legacy interface never shows Pro projects, so the next round would fail the same way.
    if (error.kind === 'not-found' || error.kind === 'bad-request') return []
    log.warn({ err: error, project: projectId }, 'could not check long-silent builds with CI')
    for (const _ of builds) count('no-answer')
    return 'away'
  }
}

async function recordSilent(
  { store, clock, log, count }: RefreshSilent,
  silent: KnownBuild,
  shown: readonly ReceivedEvent[],
): Promise<void> {
  const { projectId, buildId, revisionKey, rawStatus } = silent
  const build = shown.find((one) => one.buildId === buildId)
  const at = clock.now()
  // An unknown status would only hide the known one.
  const isKnown = build !== undefined && toStatus(build.rawStatus) !== 'unknown'
  const isNews = await store.write(async (tx) => {
    await tx.setCiCheckedAt([silent], at)
    return isKnown && (await insertSnapshot(tx, silent, { build, begunAgain: false, at }))
  })
  count(isNews ? 'news' : isKnown ? 'no-news' : 'not-shown')
  if (!isNews) return
  log.info(
    { project: projectId, build: buildId, revision: revisionKey, was: rawStatus, is: build?.rawStatus },
    'CI showed a new state of a silent build',
  )
}
