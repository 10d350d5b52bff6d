import type { BuildId, ProjectId } from '../../domain/ids.ts'
import type { ProjectWithBuilds, ProjectList, RestartedBuild } from '../../domain/ci-project/project.ts'
import { findJson } from '../../lib/json.ts'
import { addressOf, parseHttpUrl } from '../http/address.ts'
import { readAnswer, type CiRequest } from '../http/exchange.ts'
import { followPages } from './pages.ts'
import type { Transport } from '../http/transport.ts'
import { readLegacyProject, readRestartedBuild } from './wire.ts'

/** The largest list that is read. It contains the builds of every project. */
export const LIST_BYTES_MAX = 64 * 1024 * 1024

export type ClientLegacy = ReturnType<typeof createClientLegacy>

/**
 * The legacy interface: Basic projects only. Every method throws CiErrors.
 * @param access `baseUrl` may have a path prefix, with or without a slash at the end
 */
export function createClientLegacy({
  baseUrl,
  apiKey,
  transport,
}: {
  baseUrl: string
  apiKey: string
  transport: Transport
}) {
  const base = parseHttpUrl(baseUrl)
  const addressIn = (path: readonly string[], query = {}) => addressOf(base, ['api', 'v1', ...path], query)

  // The key is added only here, so that no address but the one that is sent ever contains it.
  function send(request: Omit<CiRequest, 'secrets'>, signal?: AbortSignal) {
    const keyed = new URL(request.url)
    keyed.searchParams.set('api_key', apiKey)
    return transport.send({ ...request, url: keyed, secrets: [apiKey] }, signal)
  }

  return {
    /** Every Basic project with the builds that CI shows of it. Source: interface, E7. */
    listProjects(signal?: AbortSignal): Promise<ProjectList<ProjectWithBuilds>> {
      const purpose = 'list projects (legacy)'
      const load = (url: URL) => send({ method: 'GET', url, purpose, responseBytesMax: LIST_BYTES_MAX }, signal)
      const first = addressIn(['projects.json'])
      return followPages({ base, first, isPaged: false, purpose, load, read: readLegacyProject, idOf: ({ id }) => id })
    },

    /** One Basic project, with the builds of one branch if given. Source: interface, E8. */
    async getProject(
      id: ProjectId,
      { branch }: { branch?: string } = {},
      signal?: AbortSignal,
    ): Promise<ProjectWithBuilds> {
      const purpose = 'get a project'
      const url = addressIn(['projects', `${id}.json`], { branch })
      return readAnswer(await send({ method: 'GET', url, purpose }, signal), purpose, readLegacyProject)
    },

    /**
     * Asks CI to restart a finished build. Returns the new build, as far as CI names it. Sends one request; after a
     * failure `certainlyUndone` says whether CI may have done it. Source: interface, E9.
     */
    async restartBuild(id: BuildId, signal?: AbortSignal): Promise<RestartedBuild> {
      const url = addressIn(['builds', id, 'restart.json'])
      const request = { method: 'POST', url, purpose: 'restart a build', statusSuffices: true } as const
      return readRestartedBuild(findJson((await send(request, signal)).text))
    },
  }
}
