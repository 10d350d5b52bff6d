import type { ClientLegacy } from '../ci/client-legacy.ts'
import type { ClientV2 } from '../ci/client-v2.ts'
import { matchBranch } from '../domain/pattern.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Store } from '../store/store.ts'

/** A project that CI has not listed for so long is forgotten, and with it its rules. */
const FORGET_AFTER_MS = 7 * 24 * 60 * 60_000

export interface RefreshProjects {
  store: Store
  clock: Clock
  log: Log
  v2: Pick<ClientV2, 'listProjects'> | null
  legacy: Pick<ClientLegacy, 'listProjects'> | null
}

/**
 * Reads the projects and their rules from every CI interface that is configured and keeps them. What cannot be read
 * leaves what was read before as it is. @returns whether everything could be read
 */
export async function refreshProjects(deps: RefreshProjects): Promise<boolean> {
  const readAt = deps.clock.now()
  const readV2 = await attempt(deps, 'the v2 interface', () => refreshV2(deps, readAt))
  const readLegacy = await attempt(deps, 'the legacy interface', () => refreshLegacy(deps, readAt))
  if (readV2 && readLegacy)
    await deps.store.write(async (tx) => {
      await tx.forgetProjects(readAt - FORGET_AFTER_MS)
      await tx.setLastDoneAt('refresh-projects', readAt)
    })
  return readV2 && readLegacy
}

async function attempt({ log }: RefreshProjects, what: string, read: () => Promise<void>): Promise<boolean> {
  try {
    await read()
    return true
  } catch (error) {
    log.warn({ err: error }, `could not read the projects from ${what}; the rules read before stay in force`)
    return false
  }
}

async function refreshV2({ store, log, v2 }: RefreshProjects, readAt: number): Promise<void> {
  if (!v2) return
  const { projects, truncated, skipped } = await v2.listProjects()
  if (truncated || skipped > 0)
    log.warn({ projects: projects.length, truncated, skipped }, 'some projects could not be read')
  for (const { name, rules } of projects)
    for (const { branch, branchMatch } of rules)
      if (matchBranch(branch, branchMatch, 'main') === 'invalid-pattern')
        log.warn({ project: name }, 'a notification rule in CI has an invalid branch pattern, which matches nothing')
  await store.write(async (tx) => {
    for (const { uuid, name, rules } of projects) await tx.keepProject({ uuid, name, rules, legacyId: null, readAt })
  })
}

// The legacy list is what ties a project's integer id, which deliveries carry, to its uuid, which the rules hang on.
async function refreshLegacy({ store, legacy }: RefreshProjects, readAt: number): Promise<void> {
  if (!legacy) return
  const { projects } = await legacy.listProjects()
  await store.write(async (tx) => {
    for (const { id, uuid, name } of projects) {
      if (!uuid) continue
      const known = await tx.project({ uuid, legacyId: id, names: [] })
      if (known?.uuid === uuid) await tx.linkLegacyProject(uuid, id, readAt)
      else await tx.keepProject({ uuid, name, rules: null, legacyId: id, readAt })
    }
  })
}
