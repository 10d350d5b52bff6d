import type { Source, Sources } from '../sources/source.ts'
import { CiError } from '../sources/http/errors.ts'
import { sourceOf, type SourceName } from '../domain/ids.ts'
import type { LegacyBuild } from '../domain/project.ts'
import { toStatus } from '../domain/status.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { KnownBuild } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { insertSnapshot } from '../catalog/ci-snapshot.ts'

/** A build that runs or waits is asked about when nothing was heard of it for this long, and again after as long. */
export const SILENT_MS = 3 * 60 * 60_000

/** A build that was silent for this long is no longer asked about: what CI has not said by then it will not say. */
export const LET_BE_MS = 7 * 24 * 60 * 60_000

/** In one round CI is asked at most this many times, each about one branch, and this many builds are looked at. */
export const CALLS_MAX = 5
export const BUILDS_MAX = 100

export const REFRESH_SILENT_EVERY_MS = 5 * 60_000

/** What came of asking: `no-news`: it stands as we know; `not-shown`: CI does not show it; `no-answer`: CI did not say. */
export type SilentEnd = 'news' | 'no-news' | 'not-shown' | 'no-answer'

export interface RefreshSilent {
  store: Store
  clock: Clock
  log: Log
  wake: (revisionKey: string) => void
  sources: Sources
  count: (end: SilentEnd) => void
}

/**
 * Asks CI how builds stand that have been silent for too long: a delivery may have been lost for good. What CI says
 * becomes a build event like any other, and the card says that CI was asked; of what it does not show nothing is made up.
 */
export async function refreshSilent(deps: RefreshSilent, signal: AbortSignal): Promise<void> {
  const { store, clock, sources } = deps
  const now = clock.now()
  const silent = await store.read.silentBuilds({ notAfter: now - SILENT_MS, notBefore: now - LET_BE_MS }, BUILDS_MAX)
  const branches = [...Map.groupBy(silent, ({ projectId, branch }) => JSON.stringify([projectId, branch])).values()]
  const away = new Set<SourceName>()
  let calls = 0
  for (const builds of branches) {
    const { projectId } = builds[0]!
    const source = sources(projectId)
    const name = sourceOf(projectId)
    if (!source?.getProject) {
      // Else they would come first in every round, and fill it.
      await store.write((tx) => tx.setAsked(builds, now))
      continue
    }
    // The next round asks the same; another source may answer now.
    if (away.has(name)) continue
    if (signal.aborted || calls++ === CALLS_MAX) return
    const shown = await ask(deps, source.getProject, builds)
    if (shown === 'away') away.add(name)
    else for (const build of builds) await keep(deps, build, shown)
  }
}

async function ask(
  { log, count }: RefreshSilent,
  getProject: NonNullable<Source['getProject']>,
  builds: readonly KnownBuild[],
): Promise<readonly LegacyBuild[] | 'away'> {
  const { projectId, branch } = builds[0]!
  const wanted = builds.map(({ buildId }) => buildId)
  try {
    return (await getProject(projectId, { builds: wanted, ...(branch === null ? {} : { branch }) })).builds
  } catch (error) {
    if (!(error instanceof CiError)) throw error
    // A Pro project is not there, and will not be at the next round.
    if (error.kind === 'not-found' || error.kind === 'bad-request') return []
    log.warn({ err: error, project: projectId }, 'CI could not be asked about builds that have been silent for long')
    for (const _ of builds) count('no-answer')
    return 'away'
  }
}

async function keep(
  { store, clock, log, wake, count }: RefreshSilent,
  silent: KnownBuild,
  shown: readonly LegacyBuild[],
): Promise<void> {
  const { projectId, buildId, revisionKey, word } = silent
  const build = shown.find(({ id }) => id === buildId)
  const at = clock.now()
  // No word at all would only hide the one that we know.
  const isKnown = build !== undefined && toStatus(build.status) !== 'unknown'
  const isNews = await store.write(async (tx) => {
    await tx.setAsked([silent], at)
    return isKnown && (await insertSnapshot(tx, silent, { build, begunAgain: false, at }))
  })
  count(isNews ? 'news' : isKnown ? 'no-news' : 'not-shown')
  if (!isNews) return
  log.info({ project: projectId, build: buildId, revision: revisionKey, was: word, is: build?.status }, 'CI was asked')
  wake(revisionKey)
}
