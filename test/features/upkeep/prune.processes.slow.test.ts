import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { prune } from '../../../src/jobs/retention.ts'
import { recordDelivery } from '../../../src/alerts/record.ts'
import { takeIn } from '../../../src/alerts/intake.ts'
import type { Working } from '../../../src/alerts/deps.ts'
import type { Store } from '../../../src/store/store.ts'
import { BUILDS, follower } from '../../alerts/stage.ts'
import { MINUTE, story, T0, WEB } from '../../support/facts.ts'
import { createFakeNotifier } from '../../support/fake-notifier.ts'
import { createHandClock } from '../../support/hand-clock.ts'
import { startPostgres } from '../../support/postgres.ts'
import { postgresPlaces, type Places } from '../../support/stores.ts'
import { DAY, of, RETENTION_DAYS } from './stage.ts'

const server = await startPostgres()

if ('impossible' in server) {
  console.warn(`\nNOT TESTED: removing what is old while others write. ${server.impossible}\n`)
  test.skip(`removing what is old while others write is NOT TESTED here: ${server.impossible}`)
} else {
  describe('removing what is old while others write', () => {
    let places: Places
    beforeAll(async () => {
      places = await postgresPlaces(server)
    })
    afterAll(() => server[Symbol.asyncDispose]())
    claims(() => places)
  })
}

/** Time that passes by itself: nobody has to turn it. */
const hurrying = (startAt: number) => ({ ...createHandClock(startAt), sleep: async () => {} })

const MUTE = { debug() {}, info() {}, warn() {}, error() {} }

const BUILDS_OLD = 30

function working(store: Store, at: number): Working {
  const clock = hurrying(at)
  return {
    store,
    clock,
    notifier: createFakeNotifier(clock),
    log: MUTE,
    random: () => 0.5,
    newKey: () => 'key',
    processId: 'process-1',
    subscriptions: async () => [follower(BUILDS)],
    rulesOf: async () => null,
    interfaces: { v2: false, legacy: false },
    isPressed: () => false,
    count: () => {},
    isUnderWay: () => false,
  }
}

/** A build's end comes in at this moment and is taken in. */
async function heard(store: Store, at: number, build: string, word: string): Promise<void> {
  const deps = working(store, at)
  await recordDelivery({ store, clock: deps.clock, wake: () => {} }, { seen: story(of(build, word))[0]!, body: '{}' })
  for (const due of await store.read.dueIntake(at, 100)) await takeIn(deps, due)
}

function claims(places: () => Places): void {
  test('two processes remove each story once, and what comes in meanwhile is whole', async () => {
    await using place = await places().open()
    const { store } = place
    for (let i = 0; i < BUILDS_OLD; i++) await heard(store, T0 + i * MINUTE, String(100 + i), 'error')
    // The first of them was fixed after all these, and goes with them.
    for (const build of ['800', '900', '901']) await heard(store, T0 + DAY, build, 'success')
    // Told long ago: nothing of them waits.
    await place.sql('update card set post_at = null, edit_at = null, look_at = null')
    const now = T0 + (RETENTION_DAYS + 2) * DAY
    const pruning = [place.another(), place.another()].map((own) =>
      prune(
        { store: own, clock: hurrying(now), log: MUTE, retentionDays: RETENTION_DAYS, isPressed: () => false },
        new AbortController().signal,
      ),
    )
    // Builds that are being removed are run again.
    const again = Array.from({ length: 10 }, (_, i) => heard(store, now, String(100 + i * 3), 'success'))
    const pruned = await Promise.all([...pruning, ...again]).then(([one, two]) => [one, two].map((done) => done!.cards))
    const { read } = store
    for (let i = 0; i < 10; i++) {
      const build = String(100 + i * 3)
      const facts = await read.factsOfBuild(WEB, build)
      expect(facts.at(-1)).toMatchObject({ word: 'success' })
      expect(await read.build(WEB, build)).toMatchObject({ status: 'success' })
      for (const { lineageKey, episode } of facts)
        expect(await read.cardsOf(`${lineageKey}/${episode}`)).toHaveLength(1)
    }
    expect(pruned.reduce((sum, cards) => sum + cards)).toBeGreaterThanOrEqual(BUILDS_OLD - 10)
    expect(pruned.reduce((sum, cards) => sum + cards)).toBeLessThanOrEqual(BUILDS_OLD + 1)
    const left = await place.sql(`select count(*) as n from card where not exists
      (select 1 from fact where fact.lineage_key || '/' || fact.episode = card.subject)`)
    expect(Number(left[0]!['n'])).toBe(0)
  })
}
