import { isProjectId } from '../domain/ids.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { CiError, isAway } from '../sources/http/errors.ts'
import type { Sources } from '../sources/source.ts'
import type { KnownProject, ProjectClaim } from '../store/records.ts'
import type { Store } from '../store/store.ts'

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
