import type { Uuid } from '../../domain/ids.ts'
import type { Project, ProjectCreation, ProjectList } from '../../domain/project.ts'
import { addressOf, parseHttpUrl } from './address.ts'
import { findJson, readAnswer } from './answer.ts'
import { sendAuthorized } from './auth.ts'
import type { Auth, UnauthorizedRequest } from './auth.ts'
import type { CreationForms } from './creation-body.ts'
import { findProject } from './find-project.ts'
import { followPages, toListing } from './pages.ts'
import type { LoadedPage } from './pages.ts'
import type { Transport } from './transport.ts'
import { readAesKey, readProject, readProjectPage } from './wire.ts'
import { creationRequest, resetRequest, updateRequest } from './write-project.ts'

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
  projectUuid: Uuid
  buildUuid: Uuid
}

export interface ClientV2 {
  /** The projects that the credentials may see. Throws a CiError. Source: interface, E2. */
  listProjects(query?: ProjectQuery, signal?: AbortSignal): Promise<ProjectList>
  /**
   * The project of that uuid, by its name, else among all; null when CI does not list it. Throws a CiError, also when CI has
   * more projects than are read and it is not among those. Source: interface, E2.
   */
  getProject(project: Pick<Project, 'name' | 'uuid'>, signal?: AbortSignal): Promise<Project | null>
  /**
   * Asks CI to stop a running build. Resolved means accepted; that it stopped, CI tells later. Asks once, and once more after
   * a 401, which has done nothing; `certainlyUndone` tells of any failure whether CI may have heard. Throws a CiError. Source: interface, E1.
   */
  stopBuild(build: BuildAddress, signal?: AbortSignal): Promise<void>
  /**
   * Creates a project that `checkCreation` found sound. Asks as `stopBuild` does. A 2xx that does not say which project that
   * is, is a CiError `shape`: CI has it, and somebody has to look. Throws a CiError. Source: interface, E3.
   */
  createProject(creation: ProjectCreation, signal?: AbortSignal): Promise<Project>
  /**
   * Makes a project what `project` says: the object as CI sent it (`raw`), changed. Everything is written back, see
   * `updateBody`. Null when CI took it and said nothing more. Asks as `stopBuild` does. Throws a CiError. Source: interface, E4.
   */
  updateProject(uuid: Uuid, project: Record<string, unknown>, signal?: AbortSignal): Promise<Project | null>
  /** Gives a Pro project another AES key: a secret; null when CI did not say which. Asks as `stopBuild` does. Throws a CiError. Source: interface, E5. */
  resetAesKey(uuid: Uuid, signal?: AbortSignal): Promise<{ aesKey: string | null }>
}

interface Access {
  auth: Auth
  transport: Transport
}

/** The v2 interface of one organization. `baseUrl` may carry a path prefix, with or without a last slash. */
export function createClientV2({
  baseUrl,
  organizationUuid,
  auth,
  transport,
  forms = {},
}: Access & {
  baseUrl: string
  organizationUuid: string
  /** how this CI takes what the interface leaves open; as its tables say without it */
  forms?: Partial<CreationForms>
}): ClientV2 {
  const base = parseHttpUrl(baseUrl)
  const projects = (...more: string[]) => ['organizations', organizationUuid, 'projects', ...more]
  const send = (request: UnauthorizedRequest, signal?: AbortSignal) =>
    sendAuthorized({ auth, transport }, request, signal)

  async function listProjects({ name, type, page, perPage }: ProjectQuery = {}, signal?: AbortSignal) {
    const first = addressOf(base, projects(), { name, type, page, per_page: perPage })
    const load = (url: URL) => loadProjects({ auth, transport }, url, signal)
    if (page !== undefined) return onePage(await load(first))
    const { items, ...rest } = await followPages({ base, first, load, isPaged: true })
    return { projects: items, ...rest }
  }

  return {
    listProjects,
    getProject: (project, signal) => findProject((query) => listProjects(query, signal), project),
    async stopBuild({ projectUuid, buildUuid }, signal) {
      await send(stopRequest(addressOf(base, projects(projectUuid, 'builds', buildUuid, 'stop'))), signal)
    },
    async createProject(creation, signal) {
      const request = creationRequest(addressOf(base, projects()), creation, forms)
      return readAnswer(await send(request, signal), request.purpose, readProject)
    },
    async updateProject(uuid, project, signal) {
      const response = await send(updateRequest(addressOf(base, projects(uuid)), project), signal)
      const updated = readProject(findJson(response))
      return updated?.uuid === uuid ? updated : null
    },
    async resetAesKey(uuid, signal) {
      const response = await send(resetRequest(addressOf(base, projects(uuid, 'reset_aes_key'))), signal)
      return { aesKey: readAesKey(findJson(response)) }
    },
  }
}

async function loadProjects(access: Access, url: URL, signal?: AbortSignal): Promise<LoadedPage<Project>> {
  const purpose = 'list projects'
  const response = await sendAuthorized(access, { method: 'GET', url, purpose }, signal)
  const page = readAnswer(response, purpose, (json) => readProjectPage(json, readProject, ({ uuid }) => uuid))
  return { ...page, link: response.link }
}

const stopRequest = (url: URL): UnauthorizedRequest => ({
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
