import { describe, expect, test } from 'vitest'
import { BUILDS_PER_DAY, NIGHTLY_HOUR, planDay, planEvenly, type PlannedBuild } from './day-builds.ts'
import { playWorkspace, type Played } from './day-workspace.ts'

const HOUR_MS = 60 * 60_000
const MINUTE_MS = 60_000
const EDITS_PER_MINUTE = 50
const TOLD_WITHIN_MS = 10_000

describe('a simulated day', () => {
  test('has a thousand builds, a quarter of them red, most of them in office hours', () => {
    const builds = planDay(1)
    expect(builds).toHaveLength(BUILDS_PER_DAY)
    const red = share(builds, ({ isRed }) => isRed)
    expect(red).toBeGreaterThan(0.2)
    expect(red).toBeLessThan(0.3)
    expect(share(builds, ({ startsAt }) => startsAt >= 8 * HOUR_MS && startsAt < 19 * HOUR_MS)).toBeGreaterThan(0.75)
    expect(share(builds, ({ startsAt }) => Math.floor(startsAt / HOUR_MS) === NIGHTLY_HOUR)).toBeGreaterThan(0.1)
  })

  test('is the same for the same seed, and another one for another', () => {
    expect(planDay(7)).toEqual(planDay(7))
    expect(planDay(7)).not.toEqual(planDay(8))
  })
})

describe('a workspace that is played', () => {
  test('is told of every end on its card, within Slack’s limits and without a complaint', async () => {
    const builds = planEvenly(1, { perMinute: 20, minutes: 2, projects: 10 })
    const played = await playWorkspace({ builds, channels: 10, events: 'every', seed: 1 })
    expect(played.told.filter(({ cardAfterMs }) => cardAfterMs !== null)).toHaveLength(builds.length)
    expect(played.calls).toEqual({
      post: 2 * builds.length,
      edit: builds.length + leftRed(builds),
      find: 0,
      remove: 0,
      ping: 0,
    })
    expect(played).toMatchObject({ limited: 0, complaints: [], editsLeft: 0 })
    expect(played.databaseBytes).toBeGreaterThan(0)
  })

  test('with more ends than Slack takes edits hears of each in its thread, while cards wait', async () => {
    const builds = planEvenly(2, { perMinute: 120, minutes: 2, projects: 100 })
    const played = await playWorkspace({ builds, channels: 100, events: 'every', seed: 2, untilMs: 4 * MINUTE_MS })
    expect(played.calls.edit).toBeLessThanOrEqual(4 * EDITS_PER_MINUTE)
    expect(played.editsLeft).toBeGreaterThan(0)
    expect(played.limited).toBe(0)
    const longEnded = notTold(played).filter(({ build }) => build.endsAt < 4 * MINUTE_MS - TOLD_WITHIN_MS)
    expect(longEnded).toHaveLength(0)
  })

  test('that follows failures alone edits only red cards that a later build leaves behind, and hears of each', async () => {
    const builds = planEvenly(3, { perMinute: 120, minutes: 1, projects: 100 })
    const events = ['failed', 'recovered']
    const played = await playWorkspace({ builds, channels: 100, events, seed: 3 })
    expect(played.calls.edit).toBe(leftRed(builds))
    expect(notTold(played).filter(({ build }) => build.isRed)).toHaveLength(0)
    expect(notTold(played).length).toBeGreaterThan(0)
  })
})

const share = (builds: readonly PlannedBuild[], is: (build: PlannedBuild) => boolean): number =>
  builds.filter(is).length / builds.length

/** Red builds that a later build of their branch follows: their cards no longer offer to look after it. */
const leftRed = (builds: readonly PlannedBuild[]): number =>
  builds.filter((red) =>
    builds.some(
      ({ project, branch, startsAt }) =>
        red.isRed && project === red.project && branch === red.branch && startsAt > red.startsAt,
    ),
  ).length

const notTold = ({ told }: Played) => told.filter(({ newsAfterMs }) => newsAfterMs === null)
