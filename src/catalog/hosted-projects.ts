import { isDeepStrictEqual } from 'node:util'
import { sourceOf } from '../domain/ids.ts'
import type { LegacyProject } from '../domain/project.ts'
import type { Clock } from '../lib/clock.ts'
import type { KnownProject } from '../store/records.ts'
import type { Store } from '../store/store.ts'

// Projects of GitHub and GitLab. Nobody lists them, so they are stored as deliveries name them. A known one changes only
// by what its source shows: a delivery may be forged.

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

/** Stores the name under which its source shows a project now. @returns whether it was stored under another one */
export async function takesOtherName(
  { store, clock }: { store: Pick<Store, 'read' | 'write'>; clock: Pick<Clock, 'now'> },
  { id, uuid, name }: LegacyProject,
): Promise<boolean> {
  if (sourceOf(id) === 'ci') return false
  const stored = await store.read.project({ uuid, legacyId: id, names: [] })
  if (!stored || stored.name.toLowerCase() === name.toLowerCase()) return false
  await store.write((tx) => tx.saveProject({ ...stored, name, readAt: clock.now() }))
  return true
}
