import { describe, expect, test } from 'vitest'
import type { Judgement } from '../../../src/domain/builds/streak.ts'
import type { Subscription } from '../../../src/domain/rules/subscription.ts'
import { BUILDS_PER_CARD_MAX } from '../../../src/domain/builds/revision.ts'
import { MINUTE, SECOND, T0, type Said } from '../../support/build-events.ts'
import { inBrief } from '../../support/fake-notifier.ts'
import { BUILDS, cardKey, follower, openStage, RELEASES, ingestDue, type Stage } from '../stage.ts'

const REDS_AND_RECOVERIES: Partial<Subscription> = {
  rules: [{ branch: null, branchMatch: null, events: ['failed', 'recovered'] }],
}

const build = (id: number, word: string): Said => ({ word, build: String(id), commit: String(id).repeat(10) })

const shownIn = ({ slack }: Stage, channel = BUILDS) =>
  slack.messages.filter((message) => message.channel === channel).map(({ view }) => inBrief(view))

/** Records these builds one after the other, with time to send what each brings. */
async function hearInTurn(stage: Stage, ...said: readonly Said[]): Promise<void> {
  for (const each of said) {
    await stage.hear(each)
    await stage.clock.advance(10 * SECOND)
  }
}

test("a project name that arrives during the ingest of the build's first event reaches the channels that follow that name", async () => {
  const byName = follower(BUILDS, { follows: { what: 'project', name: 'acme/web' } })
  await using stage = await openStage({ subscriptions: [byName] })
  const { deps } = stage.embody()
  let isFirst = true
  const write: typeof deps.store.write = async (work, options) => {
    if (isFirst) {
      isFirst = false
      await stage.hear({ word: 'error', details: { projectName: 'acme/web' } })
    }
    return deps.store.write(work, options)
  }
  await stage.hear('initiated')
  await ingestDue({ ...deps, store: { ...deps.store, write } })
  await stage.live()
  await stage.clock.advance(5 * SECOND)
  expect(shownIn(stage)).toEqual(['card 512 failed'])
})

describe('a failure that arrives late', () => {
  test('turns the newer success into a recovery, also in a channel that had not shown that success', async () => {
    await using stage = await openStage({ subscriptions: [follower(BUILDS), follower(RELEASES, REDS_AND_RECOVERIES)] })
    await stage.live()
    await hearInTurn(stage, build(503, 'success'), build(501, 'error'))
    expect(shownIn(stage)).toEqual(['card 503 fixed', 'card 501 failed'])
    expect(shownIn(stage, RELEASES).sort()).toEqual(['card 501 failed', 'card 503 fixed'])
  })

  test('makes the streak that a success ended longer, even if another failed build lies between', async () => {
    await using stage = await openStage()
    await stage.live()
    await hearInTurn(stage, build(502, 'error'), build(503, 'success'), build(501, 'error'))
    const fixed = stage.slack.messages.find(({ view }) => view.kind === 'card' && view.shown === 'fixed')
    expect(fixed!.view).toMatchObject({ streak: { builds: 2 } })
  })

  test('fixes the newer success even if a success between them arrived first, which does not count', async () => {
    await using stage = await openStage({ subscriptions: [follower(BUILDS, REDS_AND_RECOVERIES)] })
    await stage.live()
    await hearInTurn(stage, build(503, 'success'), build(502, 'success'), build(501, 'error'))
    expect(shownIn(stage)).toContain('card 503 fixed')
  })

  test('does not change a newer success if an older success between them was known first', async () => {
    await using stage = await openStage()
    await stage.live()
    await hearInTurn(stage, build(502, 'success'), build(503, 'success'), build(501, 'error'))
    expect(shownIn(stage).filter((shown) => shown.includes('503'))).toEqual(['card 503 passed'])
  })
})

test('a failure of an older build after a newer one has passed does not break the branch', async () => {
  const broken = [{ branch: null, branchMatch: null, events: ['broken'] as const }]
  await using stage = await openStage({ subscriptions: [follower(BUILDS, { rules: broken })] })
  await stage.live()
  await hearInTurn(stage, build(501, 'success'), build(502, 'initiated'), build(503, 'success'), build(502, 'error'))
  expect(shownIn(stage)).toEqual([])
  await hearInTurn(stage, build(504, 'error'))
  expect(shownIn(stage)).toEqual(['card 504 failed'])
})

describe('a recovery', () => {
  test('stays a recovery when older builds pass later, however many', async () => {
    await using stage = await openStage()
    await stage.live()
    const running = [502, 503, 504, 505, 506, 507].map((id) => build(id, 'initiated'))
    const passed = [502, 503, 504, 505, 506, 507].map((id) => build(id, 'success'))
    await hearInTurn(stage, build(501, 'error'), ...running, build(508, 'success'), ...passed, build(508, 'initiated'))
    await hearInTurn(stage, build(508, 'success'))
    const story = shownIn(stage).filter((shown) => shown.includes('508'))
    expect(story).toContain('card 508 passed')
    expect(stage.slack.messages.some(({ view }) => view.kind === 'reply' && view.shown === 'fixed')).toBe(true)
  })
})

describe('what an outcome did to its branch', () => {
  const judged = (stage: Stage) =>
    (stage.sql('select build_id, judgement from fact where verdict = 1 order by seq') as Judged[]).map((row) => {
      const { change, streak } = JSON.parse(row.judgement) as Judgement
      return `${row.build_id} ${change} ${streak?.builds}`
    })
  type Judged = { build_id: string; judgement: string }
  const BRANCH = [build(501, 'success'), build(502, 'error'), build(504, 'error'), build(505, 'success')]
  const JUDGED = ['501 null undefined', '502 broken 1', '504 null 2', '505 recovered 2']

  test('is stored with the extent of its streak, and again for newer builds when an older one ends late', async () => {
    await using stage = await openStage()
    await stage.live()
    await hearInTurn(stage, ...BRANCH)
    expect(judged(stage)).toEqual(JUDGED)
    await hearInTurn(stage, build(503, 'error'))
    expect(judged(stage)).toEqual([...JUDGED.slice(0, 2), '504 null 3', '505 recovered 3', '503 null 2'])
  })

  test('is not judged again for another reason, so it needs no older builds', async () => {
    await using stage = await openStage()
    await stage.live()
    await hearInTurn(stage, ...BRANCH)
    stage.sql("update fact set verdict = 0 where build_id in ('502', '504')")
    await stage.clock.advance(5 * MINUTE)
    await hearInTurn(stage, build(505, 'initiated'), build(505, 'success'))
    expect(judged(stage)).toEqual([JUDGED[0], JUDGED[3], '505 null undefined'])
  })

  test('is judged when its card is next ingested if it is from before judgements were stored, and shown meanwhile', async () => {
    await using stage = await openStage()
    await stage.live()
    await hearInTurn(stage, ...BRANCH)
    const shown = stage.slack.messages.map(({ view }) => view)
    stage.sql('update fact set judgement = null')
    const keys = stage.sql('select distinct lineage_key as key from fact') as { key: string }[]
    await stage.store.write(async (tx) => {
      for (const { key } of keys) await tx.touchCards(`${key}/1`, 0, 1)
    })
    await stage.clock.advance(10 * SECOND)
    expect(stage.slack.messages.map(({ view }) => view)).toEqual(shown)
    await stage.store.write(async (tx) => {
      for (const { key } of keys) await tx.wakeRevision(key, 0, 1)
    })
    await stage.clock.advance(10 * SECOND)
    expect(judged(stage)).toEqual(JUDGED)
  })
})

describe('a delivery that leaves out the name of its project', () => {
  const named = { follows: { what: 'project', name: 'acme/web' } } as const
  const details = { projectName: 'acme/web' }

  test('reaches channels that follow the project by name if an earlier delivery of its build had the name', async () => {
    await using stage = await openStage({ subscriptions: [follower(BUILDS, named)] })
    await stage.live()
    await hearInTurn(stage, { word: 'initiated', details }, { word: 'error' })
    expect(shownIn(stage)).toEqual(['card 512 failed', 'reply 512 failed'])
  })

  test('reaches them if a delivery of another build of the commit had the name', async () => {
    await using stage = await openStage({ subscriptions: [follower(BUILDS, named)] })
    await stage.live()
    await hearInTurn(stage, { word: 'initiated', details }, { word: 'error', build: '513' })
    expect(shownIn(stage)).toEqual(['card 513 failed', 'reply 513 failed'])
  })

  test("reaches them if a delivery of a build on the commit's previous card had the name", async () => {
    await using stage = await openStage({ subscriptions: [follower(BUILDS, named)] })
    const yesterday = await stage.live()
    await hearInTurn(stage, { word: 'success', details })
    yesterday.kill()
    await stage.clock.advance(25 * 60 * MINUTE)
    await stage.live()
    await hearInTurn(stage, { word: 'initiated', build: '513' }, { word: 'error', build: '513' })
    await hearInTurn(stage, { word: 'error', build: '514' })
    expect(shownIn(stage)).toEqual(['card 512 passed', 'card 514 failed', 'reply 513 failed', 'reply 514 failed'])
  })

  test('reaches none of them while no delivery has the name', async () => {
    await using stage = await openStage({ subscriptions: [follower(BUILDS, named)] })
    await stage.live()
    await hearInTurn(stage, { word: 'error' })
    expect(shownIn(stage)).toEqual([])
  })
})

describe("the project's own rules", () => {
  const byRules = [follower(BUILDS, { rules: null })]

  test('delay an alert only for a moment if CI is slow', async () => {
    await using stage = await openStage({ subscriptions: byRules })
    await stage.live({ rulesOf: async () => 'wait' })
    await stage.hear('error')
    await stage.clock.advance(3 * SECOND)
    expect(shownIn(stage)).toEqual(['card 512 failed'])
    expect(await stage.store.read.decisionsOf(cardKey())).toMatchObject([{ reason: 'rules-unread' }])
  })

  test('decide if they arrive in time', async () => {
    await using stage = await openStage({ subscriptions: byRules })
    const rules = [{ branch: null, branchMatch: null, events: ['success'] }]
    let asked = 0
    const { reconciler } = await stage.live({ rulesOf: async () => (++asked > 2 ? rules : 'wait') })
    await stage.hear('error')
    reconciler.wake('ingest')
    await stage.clock.advance(MINUTE)
    expect(shownIn(stage)).toEqual([])
    expect(stage.counted).toContainEqual({ what: 'decision', reason: 'event-not-selected' })
  })
})

test.each([
  { how: 'alone', shared: false },
  { how: 'together with others', shared: true },
])('a revision that cannot be ingested $how is retried, and holds up no other', async ({ shared }) => {
  await using stage = await openStage({ shared })
  await stage.hear('error')
  await stage.hear(build(513, 'error'))
  stage.sql("update fact set details = 'broken' where build_id = '512'")
  await stage.live()
  await stage.clock.advance(MINUTE)
  expect(shownIn(stage)).toEqual(['card 513 failed'])
  stage.sql("update fact set details = '{}' where build_id = '512'")
  await stage.clock.advance(MINUTE)
  expect(shownIn(stage)).toEqual(['card 513 failed', 'card 512 failed'])
})

test('ingesting pauses as long as deliveries wait at the endpoint', async () => {
  await using stage = await openStage()
  for (let id = 1; id <= 12; id++) await stage.hear(build(id, 'initiated'))
  let isPressed = true
  // Each write takes 10 ms; while deliveries wait, ingesting pauses many times as long.
  const write: typeof stage.store.write = async (work, options) => {
    const written = await stage.store.write(work, options)
    await stage.clock.sleep(10)
    return written
  }
  await stage.live({ hasWaitingDeliveries: () => isPressed, store: { ...stage.store, write } })
  const ingested = () => stage.log.filter(({ text }) => text === 'ingested').length
  await stage.clock.advance(60)
  const first = ingested()
  await stage.clock.advance(400)
  expect([first > 0, ingested()]).toEqual([true, first])
  isPressed = false
  await stage.clock.advance(150)
  expect(ingested()).toBe(12)
})

test('what is stored is sent at once; if the wake-up is lost, at the next sweep', async () => {
  await using stage = await openStage()
  const { reconciler } = await stage.live()
  await stage.clock.advance(300)
  await stage.hear('error')
  await stage.clock.settle()
  expect(stage.slack.calls.map(({ at }) => at - T0)).toEqual([300])
  await reconciler.stop()
  const deaf = stage.embody({ store: { ...stage.store, listen: () => async () => {} } })
  void deaf.reconciler.start()
  await stage.clock.advance(2 * SECOND)
  await stage.hear(build(513, 'error'))
  const receivedAt = stage.clock.now()
  await stage.clock.advance(20 * SECOND)
  const waitedMs = stage.slack.calls[1]!.at - receivedAt
  expect([waitedMs > SECOND, waitedMs <= 15 * SECOND]).toEqual([true, true])
})

test.each([1, 2, 3])(
  'what becomes due while the queue is read does not wait for the next sweep: a timer %i ms early',
  async (by) => {
    await using stage = await openStage({ subscriptions: [follower(BUILDS, { rules: null })] })
    const { store, clock } = stage
    // Timers fire a little early, and a read takes a moment.
    const early = { ...clock, sleep: (ms: number, signal?: AbortSignal) => clock.sleep(ms - by, signal) }
    async function dueIngest(...asked: Parameters<typeof store.read.dueIngest>) {
      const due = await store.read.dueIngest(...asked)
      await clock.sleep(1)
      return due
    }
    const slow = { ...store, read: { ...store.read, dueIngest } }
    await stage.live({ clock: early, store: slow, rulesOf: async () => 'wait' })
    await stage.hear('error')
    await clock.advance(3 * SECOND)
    expect(shownIn(stage)).toEqual(['card 512 failed'])
  },
)

test('builds that CI ignored or blocked are collected in one notice per channel and day, and get no card', async () => {
  await using stage = await openStage()
  await stage.live()
  await hearInTurn(stage, build(501, 'ignored'), build(502, 'ignored'), build(503, 'blocked'))
  expect(stage.slack.messages.map(({ view }) => view)).toMatchObject([{ kind: 'notice', ignored: 2, blocked: 1 }])
})

test('a commit that is built again and again continues on a new card that links to the previous one', async () => {
  await using stage = await openStage()
  await stage.live()
  for (let n = 0; n <= BUILDS_PER_CARD_MAX; n++)
    await stage.hear({ word: 'success', build: String(500 + n), commit: 'a'.repeat(10), after: n * MINUTE })
  await stage.clock.advance(MINUTE)
  const cards = stage.slack.messages.filter(({ view }) => view.kind === 'card')
  expect(cards.map(({ view }) => inBrief(view))).toEqual([
    `card ${500 + BUILDS_PER_CARD_MAX - 1} passed`,
    `card ${500 + BUILDS_PER_CARD_MAX} passed`,
  ])
  expect(cards.map(({ view }) => view.kind === 'card' && view.replaces)).toEqual([null, cards[0]!.ts])
})

describe('an attempt whose number the source gives', () => {
  const attempt = (id: number, n: number, word: string): Said => ({
    ...build(id, word),
    project: 'github:1:77',
    details: { attempt: n },
  })

  test('does not count for its branch once a later attempt has begun', async () => {
    await using stage = await openStage()
    await stage.live()
    await hearInTurn(stage, attempt(501, 2, 'initiated'), attempt(501, 1, 'error'), attempt(502, 1, 'success'))
    expect(shownIn(stage)).toContain('card 502 passed')
  })

  test('counts for its branch even if the next attempt ends the same', async () => {
    await using stage = await openStage()
    await stage.live()
    await hearInTurn(stage, attempt(501, 1, 'error'), attempt(501, 2, 'error'), attempt(502, 1, 'success'))
    expect(shownIn(stage)).toContain('card 502 fixed')
  })
})
