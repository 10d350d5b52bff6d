import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { createSubscriptions } from '../../src/catalog/named-sources.ts'
import { createClients } from '../../src/clients.ts'
import { createTransport } from '../../src/sources/http/transport.ts'
import { readConfig } from '../../src/config.ts'
import { doctorDeps } from '../../src/doctor-deps.ts'
import type { ChannelId, ProjectId } from '../../src/domain/ids.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { CheckName, Finding, CheckResult, DoctorDeps } from '../../src/features/doctor/findings.ts'
import { examine } from '../../src/features/doctor/examine.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import type { DeliveredProject } from '../../src/store/records.ts'
import { follower } from '../alerts/stage.ts'
import { databasePath, WEBHOOK_SECRET, type Settings } from '../support/app.ts'
import { openScene, type Scene } from '../support/world.ts'
import { projectNamed, v2 } from '../../packages/sandbox-ci/test/support.ts'

export interface Surgery extends Scene {
  deps: DoctorDeps
  /** All findings, with these changed dependencies. */
  findings(changes?: Partial<DoctorDeps>): Promise<readonly Finding[]>
  /** The findings of one check. */
  found(check: CheckName, changes?: Partial<DoctorDeps>): Promise<readonly CheckResult[]>
  /** Changes any fields of a project at CI. */
  changeProject(name: string, change: object): Promise<void>
}

/** Buildline's webhook address; nobody listens there. */
export const DOOR = `http://127.0.0.1:9/webhooks/builds/${WEBHOOK_SECRET}`

/** A doctor with everything in order, over real HTTP and a real database. */
export async function openSurgery({ settings }: { settings?: Settings } = {}): Promise<Surgery> {
  const scene = await openScene({ ...(settings && { settings }) })
  scene.ci.setWebhookUrl(DOOR)
  const reading = readConfig(scene.settings)
  if (reading.kind === 'faults') throw new Error(reading.faults.join('\n'))
  const { config } = reading
  const transport = createTransport({ clock: systemClock })
  onTestFinished(() => transport.close())
  const store = openSqlite(databasePath(scene.folder))
  onTestFinished(() => store.close())
  await store.migrate()
  const { id } = projectNamed(scene.ci, 'acme/ios')
  await store.write((tx) => tx.saveDeliveredProject(heard(id, 'acme/ios', Date.now())))
  const clients = createClients(
    config.ci,
    transport,
    () => {},
    () => {},
  )
  const log = { warn: () => {} }
  const { all: subscriptions, namesWithoutSource } = createSubscriptions({
    fixed: config.subscriptions,
    store,
    clock: systemClock,
    log,
  })
  const deps = doctorDeps(config, {
    webhookSecrets: () => config.webhookSecrets,
    clock: systemClock,
    log,
    store,
    subscriptions,
    namesWithoutSource,
    wrongSignatures: async () => 0,
    socketTrouble: async () => null,
    ...clients,
    github: null,
    gitlab: null,
  })
  const findings = async (changes: Partial<DoctorDeps> = {}) => (await examine({ ...deps, ...changes })).findings
  return {
    ...scene,
    deps,
    findings,
    found: async (check, changes) =>
      (await findings(changes)).filter((one) => one.check === check).map(({ what }) => what),
    async changeProject(name, change) {
      const project = (await clients.v2!.listProjects({ name })).projects[0]!
      const answer = await v2(scene.ci, 'PUT', `/projects/${project.uuid}`, { type: project.type, ...change })
      if (answer.status !== 200) throw new Error(answer.text)
    },
  }
}

/** A project that must have sent deliveries, since CI does not show its builds. */
export const heard = (id: string, name: string, at: number): DeliveredProject => ({
  projectId: id as ProjectId,
  name,
  fullName: null,
  projectUuid: null,
  at,
})

export const following = (...channels: readonly string[]) => ({
  subscriptions: async () => channels.map((channel) => follower(channel as ChannelId)),
})

const BUILDLINE = fileURLToPath(new URL('../../packages/build-steps/src/buildline.js', import.meta.url))

interface Said {
  code: number
  out: string
  err: string
}

/** Runs `buildline doctor` as an operator does. */
export const buildlineDoctor = (
  { settings, folder }: Pick<Scene, 'settings' | 'folder'>,
  changes: Settings = {},
  ...args: string[]
) =>
  new Promise<Said>((resolve) => {
    const env = { PATH: process.env['PATH'], ...settings, ...changes }
    execFile(process.execPath, [BUILDLINE, 'doctor', ...args], { env, cwd: folder }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    )
  })
