import { openStage } from '../alerts/stage.ts'
import { SECOND } from '../support/build-events.ts'
import { asRatio, atMost, inMs, note, type Benchmark } from './benchmark.ts'

const BUILDS = 1_000
const MEASURED = 200
/** Long enough for Slack's limits, and short: the idle bot's sweeps in this time are measured, too. */
const GAP = 4 * SECOND

const RATIO_MAX = 1.2

export const growth: Benchmark = {
  name: 'growth',
  about: `Processor time for the last ${MEASURED} of ${BUILDS.toLocaleString('en-US')} builds of one branch, from two deliveries to the posted card, in one process with a real SQLite file and a clock that the test turns: all builds of one commit beside a commit for each.`,
  async run() {
    const each = await cpuMsOf(({ n }) => n.toString(16).padStart(40, '0'))
    const one = await cpuMsOf(() => 'a'.repeat(40))
    return [
      note('a build, each of its own commit', inMs(each)),
      note('a build, all of one commit', inMs(one)),
      atMost('all of one commit: ratio', one / each, RATIO_MAX, asRatio),
    ]
  },
}

/** One build each GAP. @returns ms of processor time for one of the last builds */
async function cpuMsOf(commitOf: (build: { n: number }) => string): Promise<number> {
  await using stage = await openStage()
  await stage.live()
  // As CI says it with each delivery.
  const details = { projectName: 'acme/web' }
  let beganMs = 0
  for (let n = 0; n < BUILDS; n++) {
    if (n === BUILDS - MEASURED) beganMs = cpuMs()
    const build = { build: String(1_000 + n), commit: commitOf({ n }), details }
    await stage.hear({ word: 'initiated', ...build, after: n * GAP })
    await stage.clock.advance(GAP / 2)
    await stage.hear({ word: n % 4 === 0 ? 'error' : 'success', ...build, after: (n + 0.5) * GAP })
    await stage.clock.advance(GAP / 2)
  }
  return (cpuMs() - beganMs) / MEASURED
}

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
