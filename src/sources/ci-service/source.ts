import { knownAs, type ProjectWithBuilds } from '../../domain/ci-project/project.ts'
import type { KnownProject } from '../../store/records.ts'
import type { Reads } from '../../store/store.ts'
import { CiError, unlessMissing } from '../http/errors.ts'
import type { ReadBuild, SeenBuild, Source } from '../source.ts'
import type { ClientLegacy } from './client-legacy.ts'
import type { ClientV2 } from './client-v2.ts'

interface Clients {
  v2: Pick<ClientV2, 'stopBuild' | 'listProjects'> | null
  legacy: Pick<ClientLegacy, 'getProject' | 'restartBuild'> | null
}

/**
 * The CI service: its legacy interface shows builds and restarts them, its v2 interface stops them. Null: not configured.
 * @param reads finds the project as CI listed it
 */
export function createCiServiceSource({ v2, legacy }: Clients, reads: Pick<Reads, 'project'>): Source {
  const getProject: Source['getProject'] =
    legacy &&
    (async (id, { branch, builds = [] } = {}, signal) => {
      const project = await legacy.getProject(id, branch === undefined ? {} : { branch }, signal)
      if (project.id !== id) throw new CiError({ kind: 'shape', purpose: 'get a project' })
      return { ...project, builds: knownAs(builds, project.builds) }
    })

  return {
    getProject,
    async readBuild(seen, signal) {
      const project = await listedProject(v2, reads, seen, signal)
      if (!project) return null
      if (!getProject || project.type === 'pro') return { project, event: null }
      const { projectId, buildId, branch } = seen
      const query = { builds: [buildId], ...(branch === null ? {} : { branch }) }
      const shown = await unlessMissing(getProject(projectId, query, signal))
      if (!shown) return project.type === 'basic' ? null : { project, event: null }
      return buildIn(shown, project, seen)
    },
    readEnd: null,
    readFailures: null,
    readBranch: null,
    // CI lists its projects.
    readProject: null,
    restart:
      legacy &&
      (async ({ buildId, buildUuid }) => {
        const { id, uuid } = await legacy.restartBuild(buildId)
        const isSame = id === null && uuid !== null && uuid === buildUuid
        return { newBuildId: isSame ? buildId : id, newBuildUuid: uuid }
      }),
    starter: null,
    // The CI service's badges come from its site: `badge.ts`.
    badge: null,
    decide: null,
    readDecisions: null,
    stop: v2 && (({ projectUuid, buildUuid }) => v2.stopBuild({ projectUuid: projectUuid!, buildUuid: buildUuid! })),
  }
}

/** The project as CI lists it: from the list that was read last, else from a new request. */
async function listedProject(
  v2: Clients['v2'],
  reads: Pick<Reads, 'project'>,
  { projectId, projectUuid: uuid, project: name }: SeenBuild,
  signal?: AbortSignal,
): Promise<KnownProject | null> {
  const known = await reads.project({ uuid, legacyId: projectId, names: [name] })
  if (known || !v2) return known
  const { projects } = await v2.listProjects({ name }, signal)
  const listed = projects.find((project) => project.name === name)
  return listed ? { ...listed, legacyId: listed.id } : null
}

function buildIn(shown: ProjectWithBuilds, project: KnownProject, { buildId }: SeenBuild): ReadBuild | null {
  const event = shown.builds.find((build) => build.buildId === buildId)
  if (!event || (shown.uuid !== null && shown.uuid !== project.uuid)) return null
  return { project, event }
}
