import type { Uuid } from '../../domain/ids.ts'
import type { Project, ProjectList } from '../../domain/ci-project/project.ts'
import { addressOf, parseHttpUrl } from '../http/address.ts'
import { readAnswer, type CiRequest } from '../http/exchange.ts'
import { sendAuthorized, type Auth } from './auth.ts'
import { creationBody, type ProjectCreation } from './check-creation.ts'
import { followPages } from './pages.ts'
import type { Transport } from '../http/transport.ts'
import { readAesKey, readProject, updateBody } from './wire.ts'
import { CiError } from '../http/errors.ts'
import { isSecretPlace, withoutCredentials } from '../../domain/ci-project/project-fields.ts'
import { findJson, isRecord } from '../../lib/json.ts'

export type ClientV2 = ReturnType<typeof createClientV2>

/**
 * The v2 interface of one organization. Every method throws CiErrors. A write sends one request, and after a 401, which
 * did nothing, one more; after a failure `certainlyUndone` says whether CI may have done it.
 */
export function createClientV2({
  baseUrl,
  organizationUuid,
  ...access
}: {
  /** may have a path prefix, with or without a slash at the end */
  baseUrl: string
  organizationUuid: string
  auth: Auth
  transport: Transport
}) {
  const base = parseHttpUrl(baseUrl)
  const addressIn = (segments: readonly string[], query = {}) =>
    addressOf(base, ['organizations', organizationUuid, 'projects', ...segments], query)

  /** The projects that the credentials may see, or those with this full name. Source: interface, E2. */
  async function listProjects({ name }: { name?: string } = {}, signal?: AbortSignal): Promise<ProjectList<Project>> {
    const purpose = 'list projects'
    const load = (url: URL) => sendAuthorized(access, { method: 'GET', url, purpose }, signal)
    const first = addressIn([], { name })
    try {
      return await followPages({
        base,
        first,
        isPaged: true,
        purpose,
        load,
        read: readProject,
        idOf: ({ uuid }) => uuid,
      })
    } catch (error) {
      // Some services answer 404 when no project has the name.
      if (name !== undefined && error instanceof CiError && error.kind === 'not-found') return NO_PROJECTS
      throw error
    }
  }

  const write = ({ body, ...request }: WriteRequest, signal?: AbortSignal) =>
    sendAuthorized(
      access,
      {
        ...request,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        // A 2xx means that it is done, even if the body is unreadable.
        statusSuffices: true,
        responseBytesMax: WRITTEN_BYTES_MAX,
      },
      signal,
    )

  return {
    listProjects,

    /**
     * Finds the project with this uuid: first by its name, which another project may have by now, then among all; null
     * if CI does not list it. Throws if CI has more projects than are read and it is not among those.
     */
    async getProject({ name, uuid }: Pick<Project, 'name' | 'uuid'>, signal?: AbortSignal): Promise<Project | null> {
      const isIt = (project: Project) => project.uuid === uuid
      const named = await listProjects({ name }, signal)
      const listed = named.projects.some(isIt) ? named : await listProjects({}, signal)
      const found = listed.projects.find(isIt) ?? null
      if (found === null && listed.truncated) throw new CiError({ kind: 'too-large', purpose: 'get a project' })
      return found
    },

    /** Asks CI to stop a running build; resolves when CI accepts. Source: interface, E1. */
    async stopBuild(
      { projectUuid, buildUuid }: { projectUuid: Uuid; buildUuid: Uuid },
      signal?: AbortSignal,
    ): Promise<void> {
      const url = addressIn([projectUuid, 'builds', buildUuid, 'stop'])
      await write({ method: 'POST', url, body: {}, purpose: 'stop a build' }, signal)
    },

    /**
     * Creates a project in which `checkCreation` finds no fault. A 2xx that does not name the project is a CiError `shape`: CI
     * has created it, and a person has to check. Source: interface, E3.
     */
    async createProject(creation: ProjectCreation, signal?: AbortSignal): Promise<Project> {
      const purpose = 'create a project'
      const [body, secrets] = [creationBody(creation), secretsIn(creation)]
      const response = await write({ method: 'POST', url: addressIn([]), body, purpose, secrets }, signal)
      return readAnswer(response, purpose, readProject)
    },

    /**
     * Makes a project equal to `project`: CI's own object (`raw`), changed. Every field is written back, see
     * `updateBody`. Null if CI accepted it and returned no project. Source: interface, E4.
     */
    async updateProject(uuid: Uuid, project: Record<string, unknown>, signal?: AbortSignal): Promise<Project | null> {
      // All of the project's secrets are hidden in errors: CI may also quote one that was not sent.
      const [body, secrets] = [updateBody(project), secretsIn(project)]
      const request = { method: 'PUT', url: addressIn([uuid]), body, purpose: 'update a project', secrets } as const
      const updated = readProject(findJson((await write(request, signal)).text))
      return updated?.uuid === uuid ? updated : null
    },

    /** Resets a Pro project's AES key, a secret; null if CI returns none. Source: interface, E5. */
    async resetAesKey(uuid: Uuid, signal?: AbortSignal): Promise<{ aesKey: string | null }> {
      const url = addressIn([uuid, 'reset_aes_key'])
      const response = await write({ method: 'POST', url, body: {}, purpose: 'reset an AES key' }, signal)
      return { aesKey: readAesKey(findJson(response.text)) }
    },
  }
}

const NO_PROJECTS: ProjectList<Project> = { projects: [], truncated: false, skipped: 0 }

type WriteRequest = Pick<CiRequest, 'url' | 'purpose'> & {
  method: 'POST' | 'PUT'
  body: object
  /** those in its body */
  secrets?: readonly string[]
}

/** How much of the answer to a write is read. The project in a larger answer counts as not returned. */
export const WRITTEN_BYTES_MAX = 4 * 1024 * 1024

/**
 * The secrets of a project or a creation, which no error may show: keys and addresses of rules, values of variables,
 * credentials of deployments, the AES key, and every field with such a name. Each line of a text is also a secret.
 */
const secretsIn = (value: unknown): string[] => [...new Set(secretsAt(value, []))].filter((text) => text !== '')

function secretsAt(value: unknown, names: readonly string[]): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => secretsAt(item, names))
  if (isRecord(value)) return Object.entries(value).flatMap(([name, item]) => secretsAt(item, [...names, name]))
  const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : ''
  return isSecret(text, names) ? [text, ...text.split('\n').map((line) => line.trim())] : []
}

const isSecret = (text: string, names: readonly string[]): boolean =>
  (isSecretPlace(names) && !isVariableName(names)) || withoutCredentials(text) !== text

// CI's reason must be able to name a variable.
const isVariableName = (names: readonly string[]): boolean =>
  names.at(-2) === 'environment_variables' && names.at(-1) === 'name'
