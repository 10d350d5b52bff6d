import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openStreakOf } from '../../../src/domain/builds/streak.ts'
import { branchKey } from '../../../src/domain/builds/revision.ts'
import type { CardView } from '../../../src/domain/cards/view.ts'
import { changeStreak, redNow } from '../../../src/projects/streaks.ts'
import { HOUR, LIN, MINUTE, projectId, SECOND, T0, WEB, type Said } from '../../support/build-events.ts'
import { inBrief } from '../../support/fake-notifier.ts'
import { follower, ingestDue, openStage, RELEASES, type Stage } from '../stage.ts'

const MAIN = branchKey(projectId(WEB), 'main')

const built = (build: number, word: string): Said => ({
  word,
  build: String(build),
  commit: `${build}`.repeat(40).slice(0, 40),
})

const streaks = ({ sql }: Stage) =>
  (sql('select * from breakage order by began_order') as Record<string, string | number | null>[]).map(
    ({ began_order: began, builds, newest_order: newest, ended_build: ended }) =>
      `${Number(began)}-${Number(newest)} (${builds})${ended === null ? '' : ` ended by ${ended}`}`,
  )

const heard = (stage: Stage, ...said: Said[]): Promise<void> => heardInGroups(stage, 1, said)

/** Ingests the events in groups of this size, each group in one step. */
async function heardInGroups(stage: Stage, size: number, said: readonly Said[]): Promise<void> {
  const { deps } = stage.embody()
  for (let at = 0; at < said.length; at += size) {
    for (const one of said.slice(at, at + size)) await stage.hear(one)
    // A wake may hide new build events until the next round.
    while ((await stage.store.read.dueIngest(stage.clock.now(), 1)).length > 0) await ingestDue(deps)
  }
}

describe('the stored breakages', () => {
  test('are one for each red streak, with the build that ended it', async () => {
    await using stage = await openStage()
    const words = ['error', 'error', 'infrastructure_failure', 'success', 'success', 'error', 'stopped', 'error']
    await heard(stage, ...words.map((word, at) => built(at + 1, word)))
    expect(streaks(stage)).toEqual(['1-2 (2) ended by 4', '6-8 (2)'])
  })

  test('leave out machine errors, and builds whose branch is unknown', async () => {
    await using stage = await openStage()
    await heard(stage, built(1, 'infrastructure_failure'), { ...built(2, 'error'), branch: null })
    expect(streaks(stage)).toEqual([])
  })

  test('keep their identity when a late event moves their beginning', async () => {
    await using stage = await openStage()
    await heard(stage, built(1, 'error'), built(5, 'error'), built(3, 'success'))
    expect(streaks(stage)).toEqual(['5-5 (1)'])
    await heard(stage, built(4, 'error'))
    expect(streaks(stage)).toEqual(['4-5 (2)'])
  })

  test('leave out the late failure of an attempt that was followed by another', async () => {
    await using stage = await openStage()
    const [first, second] = [{ details: { attempt: 1 } }, { details: { attempt: 2 } }]
    const before = [built(1, 'error'), { ...built(2, 'initiated'), ...second }]
    await heard(stage, ...before, { ...built(2, 'error'), ...first })
    expect(streaks(stage)).toEqual(['1-1 (1)'])
    await heard(stage, { ...built(2, 'error'), ...second })
    expect(streaks(stage)).toEqual(['1-2 (2)'])
  })

  test('count the builds of a long streak correctly', async () => {
    await using stage = await openStage()
    await heard(stage, ...Array.from({ length: 30 }, (_, at) => built(at + 1, 'error')), built(12, 'error'))
    expect(streaks(stage)).toEqual(['1-30 (30)'])
    await heard(stage, built(20, 'success'))
    expect(streaks(stage)).toEqual(['21-30 (10)'])
  })

  test('are the same for any order and any groups of events, with at most one open', { timeout: 60_000 }, async () => {
    const word = fc.constantFrom('success', 'error', 'error', 'infrastructure_failure')
    const order = fc.array(fc.record({ build: fc.integer({ min: 1, max: 30 }), word }), { minLength: 8, maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(order, fc.integer({ min: 1, max: 8 }), async (ends, together) => {
        await using stage = await openStage({ subscriptions: [] })
        const all = ends.map(({ build, word: how }) => built(build, how))
        await heardInGroups(stage, together, all)
        const open = await stage.store.read.openStreak(MAIN)
        const streak = openStreakOf(await stage.store.read.verdictsBefore(MAIN, '~', 100))
        expect(open && [open.beganAt, open.builds, open.newestOrder]).toEqual(
          streak && [streak.first.at, streak.builds, streak.newest.buildOrder],
        )
        expect(stage.sql('select 1 from breakage where ended_at is null').length).toBe(streak ? 1 : 0)
      }),
      { numRuns: 40 },
    )
  })
})

describe('the card of a red branch', () => {
  const told = (stage: Stage) =>
    stage.slack.messages.filter(({ view }) => view.kind === 'card').map(({ view }) => view as CardView)

  const briefs = (stage: Stage) =>
    told(stage).map(
      ({ build, ownership }) => `${build.buildId} ${ownership ? (ownership.owner?.user ?? 'nobody') : 'no button'}`,
    )

  async function take(stage: Stage, until: number): Promise<void> {
    const at = stage.clock.now()
    await stage.store.write(async (tx) => {
      const open = (await tx.openStreak(MAIN))!
      const taken = { ...open, owner: LIN, ownedAt: at, ownerUntil: until }
      const change = { id: 'c1', interactionKey: 'k1', kind: 'taken', by: LIN, to: null, until, at } as const
      await changeStreak(tx, taken, change)
    })
    await stage.clock.advance(5 * SECOND)
  }

  test('names its owner until their time is over, and the thread says once who took it', async () => {
    await using stage = await openStage()
    await stage.live()
    await stage.hear(built(1, 'error'))
    await stage.clock.advance(5 * SECOND)
    expect(briefs(stage)).toEqual(['1 nobody'])
    await take(stage, T0 + HOUR)
    expect(briefs(stage)).toEqual([`1 ${LIN}`])
    await stage.clock.advance(HOUR - MINUTE)
    expect(briefs(stage)).toEqual([`1 ${LIN}`])
    await stage.clock.advance(MINUTE)
    expect(briefs(stage)).toEqual(['1 nobody'])
    const replies = stage.slack.messages.filter(({ thread }) => thread !== null)
    expect(replies.map(({ view }) => inBrief(view))).toEqual([`note taken ${LIN}`])
    expect(Object.values(await stage.store.read.backlog(stage.clock.now()))).toEqual([0, 0, 0, 0])
  })

  test('has the button and the owner only if it shows the newest failure, and never after the branch is green', async () => {
    await using stage = await openStage()
    await stage.live()
    await stage.hear(built(1, 'error'))
    await stage.clock.advance(5 * SECOND)
    await take(stage, T0 + HOUR)
    await stage.hear(built(2, 'error'))
    await stage.clock.advance(5 * SECOND)
    expect(briefs(stage)).toEqual(['1 no button', `2 ${LIN}`])
    await stage.hear(built(3, 'infrastructure_failure'))
    await stage.clock.advance(5 * SECOND)
    expect(briefs(stage)).toEqual(['1 no button', `2 ${LIN}`, '3 no button'])
    await stage.hear(built(4, 'success'))
    await stage.clock.advance(5 * SECOND)
    expect(briefs(stage)).toEqual(['1 no button', '2 no button', '3 no button', '4 no button'])
  })

  test('loses its button when the branch is fixed, and a channel that subscribed later does not get this card', async () => {
    await using stage = await openStage()
    await stage.live()
    await stage.hear(built(1, 'error'))
    await stage.clock.advance(5 * SECOND)
    stage.subscriptions.push(follower(RELEASES))
    await stage.hear(built(2, 'success'))
    await stage.clock.advance(5 * SECOND)
    const shown = stage.slack.messages.map(({ channel, view }) => `${channel} ${inBrief(view)}`)
    expect(shown).toEqual(['C0BUILDS01 card 1 failed', 'C0BUILDS01 card 2 fixed', 'C0RELEASE1 card 2 fixed'])
    expect(briefs(stage)[0]).toBe('1 no button')
  })
})

test('the list of red branches says how many it leaves out, however many there are', async () => {
  await using stage = await openStage()
  const branches = Array.from({ length: 105 }, (_, at) => ({ ...built(at + 1, 'error'), branch: `fix/${at}` }))
  await heardInGroups(stage, branches.length, branches)
  const { builds, more } = await redNow(
    { ...stage, configured: { v2: false, legacy: false }, endGone: async () => {} },
    { only: [projectId(WEB)] },
  )
  expect([builds.length, more]).toEqual([10, 95])
})
