import { expect, test } from 'vitest'
import { githubProjectId } from '../../src/domain/ids.ts'
import { buildId, HOUR, MINUTE, SECOND, T0 } from '../support/build-events.ts'
import { CiError } from '../../src/sources/http/errors.ts'
import type { Rate } from '../../src/sources/http/exchange.ts'
import type { ListedBuild } from '../../src/sources/poll.ts'
import { openPollStage } from './poll-stage.ts'

/** A source with these projects. The job runs every five seconds, as in the bot. */
async function openPolled({ projects = 1 } = {}) {
  const { clock, begin } = await openPollStage(T0)
  const source = { runs: false, rate: null as Rate | null, fails: false, looks: [] as number[] }
  const listed = (): ListedBuild => ({
    projectId: githubProjectId('1', '77'),
    buildId: buildId('1'),
    state: source.runs ? 'running' : 'ended',
    isOpen: source.runs,
    read: async () => null,
    readEnd: null,
  })
  const watch = (name: string) => async () => {
    if (name === 'acme/p0') source.looks.push(clock.now())
    if (source.fails) throw new CiError({ kind: 'server', purpose: 'list the runs of a repository' })
    return { builds: [listed()], isWhole: true, done() {} }
  }
  const names = Array.from({ length: projects }, (_, n) => `acme/p${n}`)
  const poll = begin({ source: 'github', projects: names, watch, rate: () => source.rate })
  return {
    source,
    /** The seconds between the looks at the first project in this time. */
    async intervals(ms: number): Promise<number[]> {
      source.looks = []
      for (let passed = 0; passed < ms; passed += 5 * SECOND) {
        await poll()
        await clock.advance(5 * SECOND)
      }
      const between = source.looks.slice(1).map((at, i) => (at - source.looks[i]!) / SECOND)
      return [...new Set(between)]
    },
  }
}

test('a project is polled every 5 s while a build runs, every 10 s for an hour after a change, and then every 15 s', async () => {
  const { source, intervals } = await openPolled()
  source.runs = true
  expect(await intervals(5 * MINUTE)).toEqual([5])
  source.runs = false
  await intervals(10 * SECOND)
  expect(await intervals(HOUR - MINUTE)).toEqual([10])
  await intervals(2 * MINUTE)
  expect(await intervals(HOUR)).toEqual([15])
})

test('with 40 projects, each is polled half as often', async () => {
  const { source, intervals } = await openPolled({ projects: 40 })
  source.runs = true
  expect(await intervals(5 * MINUTE)).toEqual([10])
})

test('after a failure, and while half of the token’s calls are used, a project is polled once a minute', async () => {
  const { source, intervals } = await openPolled()
  source.runs = true
  source.rate = { limit: 5_000, left: 2_499, resetAt: T0 + HOUR }
  expect(await intervals(10 * MINUTE)).toEqual([60])
  source.rate = { limit: 5_000, left: 2_500, resetAt: T0 + HOUR }
  await intervals(MINUTE)
  expect(await intervals(10 * MINUTE)).toEqual([5])
  source.fails = true
  await intervals(10 * SECOND)
  expect(await intervals(10 * MINUTE)).toEqual([60])
})
