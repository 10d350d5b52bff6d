import { hash } from 'node:crypto'
import { toUuid, type ProjectId, type SourceName, type Uuid } from '../domain/ids.ts'
import type { ProjectWithBuilds } from '../domain/ci-project/project.ts'
import type { KnownProject } from '../store/records.ts'
import type { Reads } from '../store/store.ts'
import { CiError } from './http/errors.ts'
import type { ShownBuild } from './source.ts'

// Projects of sources that do not list their projects: they are stored as their builds describe them.

/** Not a valid branch name in Git. */
const NO_BRANCH = 'HEAD'

/** Whether the default branch is known. If not, no branch counts as the default. */
export const knowsDefaultBranch = ({ rules }: KnownProject): boolean => rules?.[0]?.branch !== NO_BRANCH

/** Such a project has no rules in CI, so it gets these: failures and recoveries of its default branch. */
export const projectOf = (
  legacyId: ProjectId,
  { type, name, defaultBranch }: { type: SourceName; name: string; defaultBranch: string | null },
): KnownProject => ({
  uuid: uuidOf(legacyId),
  name,
  legacyId,
  type,
  rules: [
    {
      notifier: 'slack',
      target: null,
      branch: defaultBranch ?? NO_BRANCH,
      branchMatch: 'exact',
      buildStatuses: ['failed', 'recovered'],
    },
  ],
})

/** The project as last stored. Throws a CiError if it was never stored. */
export async function storedProject(reads: Pick<Reads, 'project'>, projectId: ProjectId): Promise<KnownProject> {
  const project = await reads.project({ uuid: null, legacyId: projectId, names: [] })
  if (!project) throw new CiError({ kind: 'not-found', purpose: 'find a project', isUndone: true })
  return project
}

/**
 * A project with its builds, under the name that the source gives it now. The stored name may be another project's, so
 * builds with another project id are left out.
 */
export function shownProject(id: ProjectId, stored: KnownProject, all: readonly ShownBuild[]): ProjectWithBuilds {
  const own = all.filter(({ event }) => event.projectId === id)
  const builds = own.map(({ event }) => event)
  return { id, uuid: stored.uuid, name: own[0]?.project.name ?? stored.name, builds }
}

/** Projects are stored under a uuid. These sources have none, so it is derived from the id. */
function uuidOf(projectId: ProjectId): Uuid {
  const hex = hash('sha256', projectId)
  return toUuid([hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-'))
}
