import { expect, test } from 'vitest'
import { BUILDS, follower } from '../alerts/stage.ts'
import { SECOND } from '../support/build-events.ts'
import { detailsOf, type Delivery } from './builds.ts'
import { createRandom } from './random.ts'
import type { Scenario } from './scenario.ts'
import { play } from './simulate.ts'

// One short story, in which a process dies at one step. A step is each start and each end of an awaited call to the
// store, Slack, CI or the clock. STRIDE=1 tries every step; by default, only every 29th is tried.
const { STRIDE = '29' } = process.env

const STEPS_MAX = 3_000
const STORY_MAX_MS = 20 * 60_000

const said = (word: string, after: number): Delivery => ({
  after,
  said: { word, build: '512', project: '41', branch: 'main', commit: '1'.repeat(40), details: detailsOf('41', '512') },
})

const STORY = [said('initiated', 500), said('error', 2 * SECOND), said('stopped', 14 * SECOND)]

/** A build fails, somebody restarts it, and CI is slow. The first process dies at this step. */
function dyingAt(step: number): Scenario {
  const subscriptions = [follower(BUILDS, { mention: 'committer' })]
  const fuses = [step]
  return {
    random: createRandom(7),
    chapters: [
      {
        fromMs: 0,
        subscriptions,
        builds: { deliveries: STORY, truth: STORY },
        losses: [],
        frosts: [],
        promises: [],
        gone: new Map(),
        presses: [{ after: 5 * SECOND, times: 2 }],
        calmAfterMs: 16 * SECOND,
        endsCalm: false,
      },
    ],
    weather: { trouble: 0, slowMs: 300, lags: false, refusals: 0, closed: null, revoked: null },
    fuse: () => fuses.shift() ?? Number.POSITIVE_INFINITY,
    downMs: () => 500,
    processes: 1,
    stalls: false,
    configured: { v2: true, legacy: true },
    wakes: 1,
  }
}

test(
  'a process that dies at any step leaves nothing that the next one does not repair',
  { timeout: STORY_MAX_MS },
  async () => {
    const failed: string[] = []
    let tried = 0
    for (let step = 1; step < STEPS_MAX; step += Number(STRIDE)) {
      const { wrongs, deaths } = await play(dyingAt(step))
      if (wrongs.length > 0) failed.push([`died at step ${step}`, ...wrongs].join('\n  '))
      if (deaths === 0) break
      tried++
    }
    expect(failed.join('\n')).toBe('')
    expect(tried, 'steps at which it died').toBeGreaterThan(10)
    expect(tried * Number(STRIDE), 'steps of the story').toBeLessThan(STEPS_MAX - Number(STRIDE))
  },
)
