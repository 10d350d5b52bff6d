import { onTestFinished } from 'vitest'
import { projectNamed } from '../../../packages/sandbox-ci/test/support.ts'
import { CHANNELS } from '../../../packages/sandbox-slack/src/workspace.ts'
import { HEALTHY } from '../../../packages/demo/src/samples/healthy.ts'
import { examine, type Found } from '../../../src/features/doctor/examine.ts'
import { type Check, type DoctorDeps, IN_PLAIN_TEXT } from '../../../src/features/kit/check.ts'
import { readConfig } from '../../../src/config/config.ts'
import type { ChannelId, ProjectId } from '../../../src/domain/ids.ts'
import { createClients } from '../../../src/runtime/clients.ts'
import { createSlackExaminer } from '../../../src/slack/api/examiner.ts'
import { openSqlite } from '../../../src/store/sqlite.ts'
import type { Store } from '../../../src/store/store.ts'
import { follower } from '../../alerts/stage.ts'
import { databasePath, WEBHOOK_SECRET, type Settings } from '../../support/app.ts'
import { openScene, type Scene } from '../../support/world.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createTransport, type Transport } from '../../../src/sources/http/transport.ts'

/** Each finding as `wrong: what. remedy`. */
export const linesOf = (findings: readonly Found[]): string[] =>
  findings.map(({ verdict, what, remedy }) => [`${verdict}: ${what}`, remedy ?? ''].join(' ').trim())

/** What one check finds where only this is not in order. */
export async function said(check: Check, changes: Partial<DoctorDeps> = {}): Promise<string[]> {
  const { findings } = await examine({ ...HEALTHY, ...changes }, IN_PLAIN_TEXT, [check])
  return linesOf(findings)
}

/** Ends with the test. */
export function openTransport(): Transport {
  const transport = createTransport({ clock: systemClock })
  onTestFinished(() => transport.close())
  return transport
}

export interface Examined extends Scene {
  store: Store
  deps: DoctorDeps
  found(check: Check, changes?: Partial<DoctorDeps>): Promise<string[]>
}

/** Buildline's webhook address; nobody listens there. */
export const WEBHOOK_URL = `http://127.0.0.1:9/webhooks/builds/${WEBHOOK_SECRET}`

/** Everything in order, over real HTTP and a real database. */
export async function openHealthy(settings?: Settings): Promise<Examined> {
  const scene = await openScene({ ...(settings && { settings }) })
  scene.ci.setWebhookUrl(WEBHOOK_URL)
  const reading = readConfig(scene.settings)
  if (reading.kind === 'faults') throw new Error(reading.faults.join('\n'))
  const { config } = reading
  const store = openSqlite(databasePath(scene.folder))
  onTestFinished(() => store.close())
  await store.migrate()
  const { botToken, appToken, apiUrl } = config.slack
  const deps: DoctorDeps = {
    ...HEALTHY,
    config,
    clock: systemClock,
    slack: createSlackExaminer({ token: botToken, appToken, apiUrl, clock: systemClock }),
    store,
    ...following(CHANNELS.builds),
    ...createClients(config.ci, openTransport()),
    github: null,
    gitlab: null,
    webhookSecrets: config.webhookSecrets,
  }
  await hear({ ...scene, store }, 'acme/ios', Date.now())
  return { ...scene, deps, store, found: (check, changes) => said(check, { ...deps, ...changes }) }
}

/** The project has sent a delivery then (ms). */
export const hear = ({ store, ci }: Pick<Examined, 'store' | 'ci'>, name: string, at: number) =>
  store.write((tx) => tx.saveDeliveredProject(delivered(projectNamed(ci, name).id, name, at)))

export const delivered = (id: string, name: string, at: number) => ({
  projectId: id as ProjectId,
  name,
  fullName: null,
  projectUuid: null,
  at,
})

export const following = (...all: readonly string[]) => ({
  subscriptions: async () => all.map((channel) => follower(channel as ChannelId)),
})
