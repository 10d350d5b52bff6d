import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { createScenario } from './scenario.ts'
import { play, simulate } from './simulate.ts'

// SEED=17 plays one seed again, SEEDS=5000 plays that many; `npm run simulate` plays ten thousand.
const { SEED, QUICK, SEEDS = QUICK ? '10' : '30' } = process.env

const ONCE_FAILED = [
  // A process without its lease asked for its next step in a loop, without letting time pass.
  1813,
  // No thread said that somebody had taken a red branch: its card no longer showed the failure.
  2075,
  // A success of a branch that was gone by then was judged again, and posted as a fix.
  6633,
  // A failure turned out to have been a stop, but the attempt after it was still called a fix.
  6481,
  // The channel's line said that a commit had passed, though its newest attempt had failed.
  9215,
  // A branch was gone: an attempt that had ended after the next one began was judged again, and shown as a fix.
  3848,
  // A machine error that turned out to be a failure of the commit, after the next attempt had begun, lost its line in the channel.
  21131,
]

const first = Array.from({ length: Number(SEEDS) }, (_, i) => i + 1)
const seeds = SEED === undefined ? [...first, ...ONCE_FAILED] : [Number(SEED)]

const SEED_MAX_MS = 60_000

test(
  'whatever is shuffled, repeated, lost, late or killed, Slack agrees with the build events in the end',
  { timeout: seeds.length * SEED_MAX_MS },
  async () => {
    const failed: string[] = []
    for (const seed of seeds) {
      const wrongs = await simulate(seed).then(
        (played) => played.wrongs,
        (error: unknown) => [String(error)],
      )
      if (wrongs.length > 0) failed.push([`SEED=${seed}`, ...wrongs].join('\n  '))
    }
    expect(failed.join('\n')).toBe('')
  },
)

test(
  'the same seed gives the same run, call by call, and another seed another run',
  { timeout: 8 * SEED_MAX_MS },
  async () => {
    // One process that dies often, and three that share a store.
    for (const seed of [3, 14]) {
      const { trace } = await simulate(seed)
      expect((await simulate(seed)).trace, `SEED=${seed}`).toBe(trace)
      expect((await simulate(seed + 1)).trace, `SEED=${seed + 1}`).not.toBe(trace)
    }
  },
)

test(
  'a finished simulation can be garbage-collected, with all its dead processes',
  { timeout: 3 * SEED_MAX_MS },
  async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const worlds = [await playAndLetGo(3), await playAndLetGo(14)]
    // The last writes of a simulation may still be in progress.
    for (let tries = 0; tries < 20 && worlds.some((world) => world.deref()); tries++) {
      await setTimeout(50)
      collect()
    }
    expect(worlds.map((world) => world.deref())).toEqual([undefined, undefined])
  },
)

/** @returns the simulation's random generator, to which all its processes have references */
async function playAndLetGo(seed: number): Promise<WeakRef<object>> {
  const scenario = createScenario(seed)
  const { deaths } = await play(scenario)
  expect(deaths, `SEED=${seed}`).toBeGreaterThan(0)
  return new WeakRef(scenario.random)
}
