import { randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { staticAuth } from '../../../src/sources/ci-service/auth.ts'
import { createClientV2 } from '../../../src/sources/ci-service/client-v2.ts'
import type { ProjectCreation } from '../../../src/sources/ci-service/check-creation.ts'
import { createTransport } from '../../../src/sources/http/transport.ts'
import { toUuid, type Uuid } from '../../../src/domain/ids.ts'
import type { Clock } from '../../../src/lib/clock.ts'
import type { Requester } from '../../../src/projects/outcomes.ts'
import type { ProjectDeps } from '../../../src/features/projects/outcomes.ts'
import { createProject, previewCreation } from '../../../src/features/projects/create.ts'
import { editProject, previewEdit, type EditInput, type PreviewInput } from '../../../src/features/projects/edit.ts'
import { showProject } from '../../../src/features/projects/read.ts'
import { resetAesKey } from '../../../src/features/projects/reset.ts'
import type { SandboxCi } from '../../../packages/sandbox-ci/src/server.ts'
import { openSqlite } from '../../../src/store/sqlite.ts'
import { messageTs } from '../../support/build-events.ts'
import { databasePath, testFolder } from '../../support/app.ts'

export const GRACE = 'U0GRACE001'
export const ADA = 'U0ADA00001'

/** A creation with only a repository and a team. */
export const CREATION: ProjectCreation = {
  repository_url: 'https://host/group/acme/shop.git',
  type: 'basic',
  team_ids: ['7'],
  build_on_pr_only: false,
}

export const T0 = Date.UTC(2026, 4, 4, 14)

/** The project operations over HTTP and a real database, without delays. */
export interface ProjectStage {
  deps: ProjectDeps
  /** who was told what directly, one line each */
  told: readonly string[]
  operations: ReturnType<typeof operationsOf>
  clock: { advance(ms: number): void }
}

export interface CiAddress {
  baseUrl: string
  organizationUuid: string
  authorization: string
}

export async function openProjectStage(address: CiAddress, changes: Partial<ProjectDeps> = {}): Promise<ProjectStage> {
  let at = T0
  const clock: Clock = {
    now: () => at,
    sleep: async (ms) => void (at += ms),
  }
  const store = openSqlite(databasePath(testFolder()))
  await store.migrate()
  const transport = createTransport({ clock, random: () => 0, limits: { headersTimeoutMs: 500 } })
  onTestFinished(async () => {
    await transport.close()
    await store.close()
  })
  const { baseUrl, organizationUuid, authorization } = address
  const told: string[] = []
  const deps: ProjectStage['deps'] = {
    async sendText(to, text) {
      told.push(`${to}: ${text}`)
      return { kind: 'sent', ts: messageTs('1.000001') }
    },
    store,
    clock,
    log: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
    newId: randomUUID,
    processId: 'process-1',
    configured: { v2: true, legacy: false },
    permits: async () => ({ kind: 'yes' }),
    ci: createClientV2({ baseUrl, organizationUuid, auth: staticAuth(authorization), transport }),
    digestKey: 'key of the stage',
    ...changes,
  }
  return {
    deps,
    told,
    operations: operationsOf(deps),
    clock: { advance: (ms) => void (at += ms) },
  }
}

/** What can be done with a project. */
export function operationsOf(deps: ProjectDeps) {
  return {
    show: (project: string, by: Requester) => showProject(deps, project, by),
    preview: (input: PreviewInput, by: Requester) => previewEdit(deps, input, by),
    edit: (input: EditInput, by: Requester) => editProject(deps, input, by),
    previewCreation: (creation: ProjectCreation, by: Requester) => previewCreation(deps, creation, by),
    create: (creation: ProjectCreation, by: Requester, options: { evenIfThere: boolean }) =>
      createProject(deps, creation, by, options.evenIfThere),
    resetAesKey: (uuid: Uuid, by: Requester) => resetAesKey(deps, uuid, by),
  }
}

export const addressOf = (ci: SandboxCi): CiAddress => ci.address()

export const projectOf = (ci: SandboxCi, name = 'acme/web') => {
  const found = ci.state().projects.find((project) => project.name === name)
  if (!found) throw new Error(`no project ${name}`)
  return found
}

export const uuidIn = (ci: SandboxCi, name = 'acme/web'): Uuid => toUuid(projectOf(ci, name).uuid)

let asks = 0

export const requester = (change: Partial<Requester> = {}): Requester => ({
  user: GRACE,
  team: null,
  channel: null,
  via: 'modal',
  interactionKey: `ask ${(asks += 1)}`,
  ...change,
})

export const putsTo = (ci: SandboxCi) => ci.calls().filter(({ method }) => method === 'PUT')

/** Reads all projects that CI lists, as the job does. */
export async function keepAll({ deps }: ProjectStage): Promise<void> {
  const { projects } = (await deps.ci?.listProjects()) ?? { projects: [] }
  await deps.store.write(async (tx) => {
    for (const { uuid, name, type, rules } of projects)
      await tx.saveProject({ uuid, name, type, rules, legacyId: null, readAt: T0 })
  })
}
