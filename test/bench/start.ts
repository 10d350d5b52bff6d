import { setTimeout as sleep } from 'node:timers/promises'
import { asRatio, atMost, below, inMs, note, type Benchmark, type Stage } from './benchmark.ts'
import { DELIVERY_PATH, spawnBot } from './bot.ts'
import { streamBody } from './delivery.ts'
import { openSlack } from './slack.ts'
import { median } from './statistics.ts'
import { openWire, type Wire } from './wire.ts'

const ROUNDS = 9
const FEW = 1_000
const MANY = 1_000_000

const FIRST_MAX_MS = 600
const RATIO_MAX = 1.2

const TRIES_MAX = 5_000
const TRY_AGAIN_MS = 2

export const start: Benchmark = {
  name: 'start',
  about: `Time from the start of the process to its first 202, with ${FEW.toLocaleString('en-US')} and with ${MANY.toLocaleString('en-US')} builds stored.`,
  async run(stage) {
    const [few, many] = [await stage.filled(FEW), await stage.filled(MANY)]
    const slack = await openSlack(0)
    const times = { few: [] as number[], many: [] as number[] }
    for (let round = 0; round < ROUNDS; round++) {
      times.few.push(await startOnce(stage, few, slack.sandbox.apiUrl, round))
      times.many.push(await startOnce(stage, many, slack.sandbox.apiUrl, round))
    }
    await slack.sandbox.stop()
    return [
      below('start to first 202', median(times.few), FIRST_MAX_MS, inMs),
      note('start to first 202, a million builds stored', inMs(median(times.many))),
      atMost('start to first 202: ratio', median(times.many) / median(times.few), RATIO_MAX, asRatio),
    ]
  },
}

async function startOnce(stage: Stage, database: string, slackUrl: string, round: number): Promise<number> {
  const startedAt = performance.now()
  const bot = await spawnBot(stage, { name: 'start', slackUrl, database })
  const wire = await untilOpen(bot.port)
  const status = await wire.post(streamBody(0, 100_000_000 + round))
  const tookMs = performance.now() - startedAt
  wire.close()
  await bot.stop()
  if (status !== 202) throw new Error(`the first delivery was answered ${status}`)
  return tookMs
}

async function untilOpen(port: number): Promise<Wire> {
  for (let tries = 1; ; tries++) {
    try {
      return await openWire(port, DELIVERY_PATH)
    } catch (error) {
      if (tries >= TRIES_MAX) throw error
      await sleep(TRY_AGAIN_MS)
    }
  }
}
