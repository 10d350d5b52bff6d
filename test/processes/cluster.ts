import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createSandboxCi, type SandboxCi } from '../../packages/sandbox-ci/src/server.ts'
import { botSettings } from '../../packages/sandbox-ci/src/settings.ts'
import type { BuildSnapshot } from '../../packages/sandbox-ci/src/snapshot.ts'
import { createSandboxSlack, type SandboxSlack } from '../../packages/sandbox-slack/src/sandbox-slack.ts'
import { createChannel, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { messagesIn, push } from '../../packages/demo/src/stage.ts'
import { agrees, both, compare, type Agreement } from '../../packages/demo/src/demo/agreement.ts'
import { settingsWith, testFolder, until, WEBHOOK_SECRET } from '../support/app.ts'
import { queryOnce } from '../support/postgres.ts'
import { startProcess, type Process } from '../support/process.ts'
import { startBalancer } from './balancer.ts'
import { layCable, type Cable } from './cable.ts'

/** One process of the bot, with its own connection to the database. */
export interface Member extends Process {
  cable: Cable
}

export interface Cluster {
  ci: SandboxCi
  slack: SandboxSlack
  /** where the balancer listens */
  url: string
  members: readonly Member[]
  /** Pushes builds with their own commits that fail at once. */
  fail(count: number): BuildSnapshot[]
  /** Compares all channels with what CI did. */
  compare(): Agreement
  /** Resolves when all channels show what CI did. */
  agreed(withinMs: number): Promise<void>
  query(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>
}

/** For four starts at once on a busy machine. */
const START_MAX_MS = 120_000

/** Several real processes behind a balancer, on one database, between the sandbox CI and the sandbox Slack. */
export async function startCluster(
  databaseUrl: string,
  { processes, channels }: { processes: number; channels: number },
): Promise<Cluster> {
  const slack = createSandboxSlack()
  // This CI must never repeat itself, since equal commits would share a card.
  const ci = createSandboxCi({ switches: { deliveryRetriesMax: 8, deliveryRetryMs: 250 } })
  await Promise.all([slack.start(), ci.start()])
  onTestFinished(async () => void (await Promise.all([slack.stop(), ci.stop()])))
  const ids = openChannels(slack, channels)
  const folder = testFolder()
  const file = join(folder, 'subscriptions.yml')
  writeFileSync(
    file,
    `subscriptions:\n${ids.map((id, i) => `  - { channel: ${id}, project: all${i < 2 ? '' : ', events: [failed, recovered]'} }\n`).join('')}`,
  )
  const settings = settingsWith(folder, {
    SLACK_API_URL: slack.apiUrl,
    SLACK_SIGNING_SECRET: slack.signingSecret,
    SUBSCRIPTIONS_FILE: file,
    LOG_LEVEL: 'info',
    ...botSettings(ci),
  })
  const members = await Promise.all(
    Array.from({ length: processes }, async (): Promise<Member> => {
      const cable = await layCable(databaseUrl)
      const member = startProcess(folder, { ...settings, DATABASE_URL: cable.url })
      await until('it opens its doors', () => member.output().includes('"port"'), START_MAX_MS)
      return { ...member, cable }
    }),
  )
  const urls = await Promise.all(members.map((member) => member.url()))
  const { url } = await startBalancer(() => urls)
  ci.setWebhookUrl(`${url}/webhooks/builds/${WEBHOOK_SECRET}`)
  slack.connectBot(`${url}/slack/events`)
  const compareAll = () =>
    ids
      .map((id) => compare(ci.state().builds, messagesIn(slack, id)))
      .reduce(both, { lost: [], doubled: [], wrong: [] })
  return {
    ci,
    slack,
    url,
    members,
    fail: (count) =>
      Array.from({ length: count }, (_, i) =>
        push(ci, i % 2 === 0 ? 'acme/web' : 'acme/api', { message: 'Fix login', outcome: 'error', ms: 50 }),
      ),
    compare: compareAll,
    agreed: async (withinMs) =>
      void (await until('all channels show what CI did', () => agrees(compareAll()), withinMs).catch(
        async (error: unknown) => {
          const cards = await queryOnce(databaseUrl, 'select * from card where post_at is not null')
          throw new Error(JSON.stringify([compareAll(), cards, Date.now()], null, 1), { cause: error })
        },
      )),
    query: async (text, values = []) => (await queryOnce(databaseUrl, text, values)) as Record<string, unknown>[],
  }
}

function openChannels({ workspace }: SandboxSlack, count: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    const id = `C0SHARE${String(i).padStart(3, '0')}`
    workspace.channels.set(id, createChannel(id, `builds-${i}`, [...Object.values(PEOPLE), workspace.bot.userId]))
    return id
  })
}
