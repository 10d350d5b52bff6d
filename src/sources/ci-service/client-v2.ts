import type { Uuid } from '../../domain/ids.ts'
import type { Project, ProjectCreation, ProjectList } from '../../domain/project.ts'
import { addressOf, parseHttpUrl } from '../http/address.ts'
import { readAnswer } from '../http/exchange.ts'
import { sendAuthorized, type Auth, type UnauthorizedRequest } from './auth.ts'
import { type CreationForms, CREATION_FORMS, creationBody } from './check-creation.ts'
import { followPages, toListing, type LoadedPage } from './pages.ts'
import type { Transport } from '../http/transport.ts'
import { readAesKey, readProject, readProjectPage } from './wire.ts'
import { CiError } from '../http/errors.ts'
import { updateBody } from './update-body.ts'
import { isSecretPlace, withoutCredentials } from '../../domain/project-fields.ts'
import { findJson, isRecord } from '../../lib/json.ts'

interface ProjectQuery {
  /** The full repository name; CI answers with exactly that project. */
  name?: string
  type?: 'basic' | 'pro'
  /** From 1. If left out, every page is read. */
  page?: number
  /** CI's own page size if left out. */
  perPage?: number
}

interface BuildAddress {
  projectUuid: Uuid
  buildUuid: Uuid
}

export interface ClientV2 {
  /** The projects that the credentials may see. Throws a CiError. Source: interface, E2. */
  listProjects(query?: ProjectQuery, signal?: AbortSignal): Promise<ProjectList>
  /**
   * Finds the project with this uuid: first by its name, then among all; null if CI does not list it. Throws a CiError,
   * also if CI has more projects than are read and it is not among those. Source: interface, E2.
   */
  getProject(project: Pick<Project, 'name' | 'uuid'>, signal?: AbortSignal): Promise<Project | null>
  /**
   * Asks CI to stop a running build; resolves when CI accepts. Sends one request, and after a 401, which did nothing,
   * one more. Throws a CiError, of which `certainlyUndone` says whether CI may have done it. Source: interface, E1.
   */
  stopBuild(build: BuildAddress, signal?: AbortSignal): Promise<void>
  /**
   * Creates a project that `checkCreation` accepted. A 2xx that does not name the project is a CiError `shape`: CI has
   * created it, and somebody has to look. Otherwise as `stopBuild`. Source: interface, E3.
   */
  createProject(creation: ProjectCreation, signal?: AbortSignal): Promise<Project>
  /**
   * Makes a project equal to `project`: CI's own object (`raw`), changed. Every field is written back, see
   * `updateBody`. Null if CI accepted it and returned no project. Otherwise as `stopBuild`. Source: interface, E4.
   */
  updateProject(uuid: Uuid, project: Record<string, unknown>, signal?: AbortSignal): Promise<Project | null>
  /** Resets a Pro project's AES key, a secret; null if CI returns none. Else as `stopBuild`. Source: interface, E5. */
  resetAesKey(uuid: Uuid, signal?: AbortSignal): Promise<{ aesKey: string | null }>
}

interface Access {
  auth: Auth
  transport: Transport
}

/** The v2 interface of one organization. `baseUrl` may have a path prefix, with or without a slash at the end. */
export function createClientV2({
  baseUrl,
  organizationUuid,
  auth,
  transport,
  forms = {},
}: Access & {
  baseUrl: string
  organizationUuid: string
  /** how this CI expects what the interface leaves open; if left out, as in its tables */
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
      const updated = readProject(findJson(response.text))
      return updated?.uuid === uuid ? updated : null
    },
    async resetAesKey(uuid, signal) {
      const response = await send(resetRequest(addressOf(base, projects(uuid, 'reset_aes_key'))), signal)
      return { aesKey: readAesKey(findJson(response.text)) }
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

type Listing = (query: { name?: string }) => Promise<ProjectList>

/** See `ClientV2.getProject`. The name alone proves nothing: another project may have it by now. */
async function findProject(list: Listing, { name, uuid }: Pick<Project, 'name' | 'uuid'>): Promise<Project | null> {
  const isIt = (project: Project) => project.uuid === uuid
  const named = (await listNamed(list, name)).find(isIt)
  if (named) return named
  const { projects, truncated } = await list({})
  const found = projects.find(isIt) ?? null
  // The project may be among those that were not read: null would be a guess.
  if (found === null && truncated) throw new CiError({ kind: 'too-large', purpose: 'get a project' })
  return found
}

async function listNamed(list: Listing, name: string): Promise<readonly Project[]> {
  try {
    return (await list({ name })).projects
  } catch (error) {
    // Some services answer 404 when no project has the name.
    if (error instanceof CiError && error.kind === 'not-found') return []
    throw error
  }
}

/** How much of the answer to a write is read. The project in a larger answer counts as not returned. */
export const WRITTEN_BYTES_MAX = 4 * 1024 * 1024

/** E3. */
const creationRequest = (url: URL, creation: ProjectCreation, forms: Partial<CreationForms>): UnauthorizedRequest =>
  writing({
    method: 'POST',
    url,
    body: JSON.stringify(creationBody(creation, { ...CREATION_FORMS, ...forms })),
    purpose: 'create a project',
    secrets: secretsIn(creation),
  })

/** E4. All of the project's secrets are hidden in errors: CI may also quote one that was not sent. */
const updateRequest = (url: URL, project: Record<string, unknown>): UnauthorizedRequest =>
  writing({
    method: 'PUT',
    url,
    body: JSON.stringify(updateBody(project)),
    purpose: 'update a project',
    secrets: secretsIn(project),
  })

/** E5. */
const resetRequest = (url: URL): UnauthorizedRequest =>
  writing({ method: 'POST', url, body: '{}', purpose: 'reset an AES key' })

// A 2xx means that it is done, whatever happens to the body.
const writing = (request: UnauthorizedRequest): UnauthorizedRequest => ({
  ...request,
  headers: { 'content-type': 'application/json' },
  statusSuffices: true,
  responseBytesMax: WRITTEN_BYTES_MAX,
})

/**
 * What no error may show of a project or a creation: keys and addresses of rules, values of variables, credentials of
 * deployments, the AES key, and every field with such a name. Of a text with several lines, also each line.
 */
const secretsIn = (value: unknown): string[] => [...new Set(secretsAt(value, []))].filter((text) => text !== '')

function secretsAt(value: unknown, names: readonly string[]): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => secretsAt(item, names))
  if (isRecord(value)) return Object.entries(value).flatMap(([name, item]) => secretsAt(item, [...names, name]))
  const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : ''
  return isSecret(text, names) ? [text, ...linesOf(text)] : []
}

const isSecret = (text: string, names: readonly string[]): boolean =>
  (isSecretPlace(names) && !isVariableName(names)) || withoutCredentials(text) !== text

// CI's reason must be able to name a variable.
const isVariableName = (names: readonly string[]): boolean =>
  names.at(-2) === 'environment_variables' && names.at(-1) === 'name'

const linesOf = (text: string): string[] => (text.includes('\n') ? text.split('\n').map((line) => line.trim()) : [])
