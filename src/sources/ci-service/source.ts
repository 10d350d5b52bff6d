import { knownAs } from '../../domain/project.ts'
import type { Source } from '../source.ts'
import type { ClientLegacy } from './client-legacy.ts'
import type { ClientV2 } from './client-v2.ts'

/** The CI service: its legacy interface shows builds and restarts them, its v2 interface stops them. Null: not configured. */
export function createCiServiceSource({
  v2,
  legacy,
}: {
  v2: Pick<ClientV2, 'stopBuild'> | null
  legacy: Pick<ClientLegacy, 'getProject' | 'restartBuild'> | null
}): Source {
  return {
    getProject:
      legacy &&
      (async (id, { branch, builds = [] } = {}, signal) => {
        const project = await legacy.getProject(id, branch === undefined ? {} : { branch }, signal)
        return { ...project, builds: knownAs(builds, project.builds) }
      }),
    restart:
      legacy &&
      (async ({ buildId, buildUuid }) => {
        const { id, uuid } = await legacy.restartBuild(buildId)
        const isSame = id === null && uuid !== null && uuid === buildUuid
        return { newBuildId: isSame ? buildId : id, newBuildUuid: uuid }
      }),
    // The CI service's badges come from its site: `badge.ts`.
    badge: null,
    stop: v2 && (({ projectUuid, buildUuid }) => v2.stopBuild({ projectUuid: projectUuid!, buildUuid: buildUuid! })),
  }
}
