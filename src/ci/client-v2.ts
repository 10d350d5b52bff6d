import type { Uuid } from '../domain/ids.ts'
import type { Project, ProjectList } from '../domain/project.ts'
import { addressOf, parseHttpUrl } from './address.ts'
import { readAnswer } from './answer.ts'
import { sendAuthorized } from './auth.ts'
import type { Auth } from './auth.ts'
import type { CiRequest } from './exchange.ts'
import { followPages, toListing } from './pages.ts'
import type { LoadedPage } from './pages.ts'
import type { Transport } from './transport.ts'
import { readProject, readProjectPage } from './wire.ts'

export interface ProjectQuery {
  /** The full repository name; CI answers with exactly that project. */
  name?: string
  type?: 'basic' | 'pro'
  /** From 1. Without it every page is read. */
  page?: number
  /** Without it CI's own page size. */
  perPage?: number
}

export interface BuildAddress {
  /** Without it the client's own. */
  organizationUuid?: Uuid | null
  projectUuid: Uuid
  buildUuid: Uuid
}

export interface ClientV2 {
  /** The projects that the credentials may see. Throws a CiError. Source: interface, E2. */
  listProjects(query?: ProjectQuery, signal?: AbortSignal): Promise<ProjectList>
  /**
   * Asks CI to stop a running build. Resolved means accepted; that it stopped, CI tells later. Asks once, and once more after
   * a 401, which has done nothing; `certainlyUndone` tells of any failure whether CI may have heard. Throws a CiError. Source: interface, E1.
   */
  stopBuild(build: BuildAddress, signal?: AbortSignal): Promise<void>
}

/** The v2 interface of one organization. `baseUrl` may carry a path prefix, with or without a last slash. */
export function createClientV2({
  baseUrl,
  organizationUuid,
  auth,
  transport,
}: {
  baseUrl: string
  organizationUuid: string
  auth: Auth
  transport: Transport
}): ClientV2 {
  const base = parseHttpUrl(baseUrl)
  return {
    async listProjects({ name, type, page, perPage } = {}, signal) {
      const query = { name, type, page, per_page: perPage }
      const first = addressOf(base, ['organizations', organizationUuid, 'projects'], query)
      const load = (url: URL) => loadProjects({ auth, transport }, url, signal)
      if (page !== undefined) return onePage(await load(first))
      const { items: projects, ...rest } = await followPages({ first, load, isPaged: true })
      return { projects, ...rest }
    },
    async stopBuild({ organizationUuid: owner, projectUuid, buildUuid }, signal) {
      const path = ['organizations', owner ?? organizationUuid, 'projects', projectUuid, 'builds', buildUuid, 'stop']
      await sendAuthorized({ auth, transport }, stopRequest(addressOf(base, path)), signal)
    },
  }
}

async function loadProjects(
  client: { auth: Auth; transport: Transport },
  url: URL,
  signal?: AbortSignal,
): Promise<LoadedPage<Project>> {
  const purpose = 'list projects'
  const response = await sendAuthorized(client, { method: 'GET', url, purpose }, signal)
  const page = readAnswer(response, purpose, (json) => readProjectPage(json, readProject, ({ uuid }) => uuid))
  return { ...page, link: response.link }
}

const stopRequest = (url: URL): Omit<CiRequest, 'secrets'> => ({
  method: 'POST',
  url,
  headers: { 'content-type': 'application/json' },
  body: '{}',
  purpose: 'stop a build',
  statusSuffices: true,
})

function onePage({ entries, total }: LoadedPage<Project>): ProjectList {
  const { items: projects, skipped } = toListing(entries.map(({ item }) => item))
  return { projects, total, truncated: false, skipped }
}
