import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { asRatio, atMost, inMs, note, type Benchmark, type Stage } from './benchmark.ts'
import { DELIVERY_PATH, startBot } from './bot.ts'
import { deliveryBody, projectName } from './delivery.ts'
import { branchName, PROJECT } from './filled-database.ts'
import { channelId, claimOf, openSlack } from './slack.ts'
import { median } from './statistics.ts'
import { openWire } from './wire.ts'

const FEW = 1_000
const MANY = 1_000_000

/** A channel takes few posts at once: so many channels that none has to wait. */
const CHANNELS = 100
const ROUNDS = 200
const WARM_ROUNDS = 40
const FIRST_BUILD = 200_000_000

const RATIO_MAX = 1.1

export const reconcile: Benchmark = {
  name: 'reconcile',
  about: `Time from the delivery of a new build on a branch with history until decision, claim and post are recorded, with ${FEW.toLocaleString('en-US')} and with ${MANY.toLocaleString('en-US')} builds stored. Slack answers at once.`,
  async run(stage) {
    const databases = { few: await stage.filled(FEW), many: await stage.filled(MANY) }
    const few = await open(stage, 'reconcile-few', databases.few)
    const many = await open(stage, 'reconcile-many', databases.many)
    for (let round = 0; round < WARM_ROUNDS; round++) for (const side of [few, many]) await side.once(round)
    const times = { few: [] as number[], many: [] as number[] }
    for (let round = WARM_ROUNDS; round < WARM_ROUNDS + ROUNDS; round++) {
      times.few.push(await few.once(round))
      times.many.push(await many.once(round))
    }
    await Promise.all([few.close(), many.close()])
    return [
      note('one reconcile, a thousand builds stored', inMs(median(times.few))),
      note('one reconcile, a million builds stored', inMs(median(times.many))),
      atMost('one reconcile: ratio', median(times.many) / median(times.few), RATIO_MAX, asRatio),
    ]
  },
}

async function open(stage: Stage, name: string, database: string) {
  const slack = await openSlack(CHANNELS, { rates: 'off' })
  const subscriptions = Array.from({ length: CHANNELS }, (_, i) => ({
    channel: channelId(i + 1),
    project: projectName(PROJECT + i),
    events: ['success', 'failed'],
  }))
  const bot = await startBot(stage, { name, slackUrl: slack.sandbox.apiUrl, database, subscriptions })
  const wire = await openWire(bot.port, DELIVERY_PATH)
  const db = new DatabaseSync(database, { readOnly: true })
  const recorded = db.prepare("select 1 from message where key = ? and state = 'posted'")

  return {
    async once(round: number): Promise<number> {
      const project = PROJECT + (round % CHANNELS)
      const body = deliveryBody({ project, build: FIRST_BUILD + round, branch: branchName(project) }, 'success')
      const before = slack.writes.length
      const startedAt = performance.now()
      const status = await wire.post(body)
      if (status !== 202) throw new Error(`a delivery was answered ${status}`)
      const key = claimOf(await slack.until(() => slack.writes[before]))
      while (!recorded.get(key)) await nextTurn()
      return performance.now() - startedAt
    },
    async close(): Promise<void> {
      wire.close()
      db.close()
      await bot.stop()
      await slack.sandbox.stop()
    },
  }
}
