import { setTimeout as sleep } from 'node:timers/promises'
import { asRatio, atMost, below, inMB, note, type Benchmark } from './benchmark.ts'
import { DELIVERY_PATH, startBot } from './bot.ts'
import { sendLoad } from './load-order.ts'
import { residentMB } from './processes.ts'
import { openSlack } from './slack.ts'

const EVENTS = 100_000
const CONNECTIONS = 32
const IDLE_MS = 3_000
const AFTER_MS = 5_000
const LOOK_MS = 250

const IDLE_MAX_MB = 120
const RATIO_MAX = 2

export const memory: Benchmark = {
  name: 'memory',
  about: `Resident memory with ${EVENTS.toLocaleString('en-US')} build events waiting while Slack is down, beside the idle bot: the highest value while the build events arrive and afterwards.`,
  async run(stage) {
    const slack = await openSlack(0)
    slack.sandbox.faults.add({ kind: 'down' })
    const bot = await startBot(stage, { name: 'memory', slackUrl: slack.sandbox.apiUrl })
    await sleep(IDLE_MS)
    const idleMB = residentMB(bot.pid)
    let highestMB = 0
    const looking = setInterval(() => (highestMB = Math.max(highestMB, residentMB(bot.pid))), LOOK_MS)
    const path = DELIVERY_PATH
    const { accepted, elapsedMs } = await sendLoad({
      port: bot.port,
      path,
      connections: CONNECTIONS,
      firstBuild: 1,
      count: EVENTS,
    })
    if (accepted < EVENTS) throw new Error(`only ${accepted} events were accepted`)
    await sleep(AFTER_MS)
    clearInterval(looking)
    const afterMB = residentMB(bot.pid)
    await Promise.all([bot.stop(), slack.sandbox.stop()])
    return [
      below('memory: idle', idleMB, IDLE_MAX_MB, inMB),
      note(`memory: highest, while they came (${Math.round(elapsedMs / 1_000)} s) and after`, inMB(highestMB)),
      note('memory: after', inMB(afterMB)),
      atMost('memory: highest to idle', highestMB / idleMB, RATIO_MAX, asRatio),
    ]
  },
}
