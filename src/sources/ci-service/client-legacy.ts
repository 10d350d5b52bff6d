import type { BuildId, ProjectId } from '../../domain/ids.ts'
import type { LegacyProject, LegacyProjectList, RestartedBuild } from '../../domain/project.ts'
import { findJson } from '../../lib/json.ts'
import { addressOf, parseHttpUrl } from '../http/address.ts'
import { readAnswer, type CiRequest, type CiResponse } from '../http/exchange.ts'
import { followPages, type LoadedPage } from './pages.ts'
import type { Transport } from '../http/transport.ts'
import { readLegacyProject, readProjectPage, readRestartedBuild } from './wire.ts'

/** The largest list that is read. It contains the builds of every project. */
export const LIST_BYTES_MAX = 64 * 1024 * 1024

export interface ClientLegacy {
  /** Every Basic project with the builds that CI shows of it. Throws a CiError. Source: interface, E7. */
  listProjects(signal?: AbortSignal): Promise<LegacyProjectList>
  /** One Basic project, with the builds of one branch if given. Throws a CiError. Source: interface, E8. */
  getProject(id: ProjectId, options?: { branch?: string }, signal?: AbortSignal): Promise<LegacyProject>
  /**
   * Asks CI to restart a finished build. Returns the new build, as far as CI names it. Sends one request; after a
   * failure `certainlyUndone` says whether CI may have done it. Throws a CiError. Source: interface, E9.
   */
  restartBuild(id: BuildId, signal?: AbortSignal): Promise<RestartedBuild>
}

interface LegacyAccess {
  apiKey: string
  transport: Transport
}

/** The legacy interface: Basic projects only. `baseUrl` may have a path prefix, with or without a slash at the end. */
export function createClientLegacy({ baseUrl, ...access }: LegacyAccess & { baseUrl: string }): ClientLegacy {
  const base = parseHttpUrl(baseUrl)
  return {
    async listProjects(signal) {
      const first = addressOf(base, ['api', 'v1', 'projects.json'])
      const load = (url: URL) => loadProjects(access, url, signal)
      const { items: projects, ...rest } = await followPages({ base, first, load, isPaged: false })
      return { projects, ...rest }
    },
    async getProject(id, { branch } = {}, signal) {
      const url = addressOf(base, ['api', 'v1', 'projects', `${id}.json`], { branch })
      const purpose = 'get a project'
      return readAnswer(await sendKeyed(access, { method: 'GET', url, purpose }, signal), purpose, readLegacyProject)
    },
    async restartBuild(id, signal) {
      const url = addressOf(base, ['api', 'v1', 'builds', id, 'restart.json'])
      const request = { method: 'POST', url, purpose: 'restart a build', statusSuffices: true } as const
      return readRestartedBuild(findJson((await sendKeyed(access, request, signal)).text))
    },
  }
}

async function loadProjects(access: LegacyAccess, url: URL, signal?: AbortSignal): Promise<LoadedPage<LegacyProject>> {
  const purpose = 'list projects (legacy)'
  const request = { method: 'GET', url, purpose, responseBytesMax: LIST_BYTES_MAX } as const
  const response = await sendKeyed(access, request, signal)
  const page = readAnswer(response, purpose, (json) => readProjectPage(json, readLegacyProject, ({ id }) => id))
  return { ...page, link: response.link }
}

// The key is added only here, so that no address but the one that is sent ever contains it.
function sendKeyed(
  { apiKey, transport }: LegacyAccess,
  request: Omit<CiRequest, 'secrets'>,
  signal?: AbortSignal,
): Promise<CiResponse> {
  const keyed = new URL(request.url)
  keyed.searchParams.set('api_key', apiKey)
  return transport.send({ ...request, url: keyed, secrets: [apiKey] }, signal)
}
