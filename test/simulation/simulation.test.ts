import { expect, test } from 'vitest'
import { simulate } from './simulate.ts'

// SEED=17 plays one seed again, SEEDS=5000 plays so many.
const { SEED, SEEDS = '150' } = process.env

const seeds = SEED === undefined ? Array.from({ length: Number(SEEDS) }, (_, i) => i + 1) : [Number(SEED)]

const SEED_MAX_MS = 20_000

test(
  'whatever is shuffled, repeated, lost, late or killed, Slack agrees with the facts in the end',
  { timeout: seeds.length * SEED_MAX_MS },
  async () => {
    const failed: string[] = []
    for (const seed of seeds) {
      const wrongs = await simulate(seed).catch((error: unknown) => [String(error)])
      if (wrongs.length > 0) failed.push([`SEED=${seed}`, ...wrongs].join('\n  '))
    }
    expect(failed.join('\n')).toBe('')
  },
)
