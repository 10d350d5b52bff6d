import { describe, expect, test } from 'vitest'
import { digestDue, type Schedule } from '../../../src/domain/rules/digest.ts'
import type { DigestView } from '../../../src/domain/cards/view.ts'
import { sendDigests, type SendDigests } from '../../../src/features/subscriptions/digest.ts'
import { announceClosings } from '../../../src/features/subscriptions/channel.ts'
import { follower, openStage as openReconcileStage, RELEASES } from '../../alerts/stage.ts'
import { HOUR, MINUTE, T0, SECOND } from '../../support/build-events.ts'
import { REFUSED, type Fate, unclearButLands, UNCLEAR_LOST } from '../../support/fake-notifier.ts'
import { BUILDS } from '../operations-stage.ts'

const ADA = 'U0ADA00001'
const AT_NINE: Schedule = { kind: 'daily', weekday: null, minute: 9 * 60, zone: 'Europe/Berlin' }
/** Tuesday at 9:00 in Berlin, after a Monday with a build that failed and then passed when it was restarted. */
const DUE = Date.UTC(2026, 2, 3, 8)

const GOING_ON = new AbortController().signal

async function openStage(changes: Partial<SendDigests> = {}) {
  const stage = await openReconcileStage({ subscriptions: [follower(BUILDS), follower(RELEASES)] })
  const { store, clock, slack } = stage
  await stage.hear('initiated', { word: 'error', after: 10 * MINUTE })
  await clock.advance(MINUTE)
  await stage.hear('initiated', { word: 'success', after: 20 * MINUTE })
  let life = await stage.live()
  const deps: SendDigests = {
    store,
    clock,
    log: life.deps.log,
    subscriptions: life.deps.subscriptions,
    configured: { v2: false, legacy: false },
    retentionDays: 90,
    chart: async () => 'F0CHART001',
    nameOf: async () => 'Lin',
    endGone: async () => {},
    ...changes,
  }
  const look = () => sendDigests(deps, GOING_ON)
  return {
    ...stage,
    deps,
    look,
    set: (channel = BUILDS, schedule = AT_NINE) =>
      store.write((tx) =>
        tx.saveDigest({ channel, schedule, setBy: ADA, setAt: T0, nextAt: digestDue(schedule, clock.now()).next }),
      ),
    /** Lets time pass without the bot. */
    async restUntil(at: number) {
      life.kill()
      await clock.advance(at - clock.now())
      life = await stage.live()
    },
    /** Lets time pass with the bot running. */
    async runUntil(at: number) {
      while (clock.now() < at) {
        await clock.advance(Math.min(10 * SECOND, at - clock.now()))
        await look()
      }
      await clock.advance(5_000)
    },
    async restart() {
      life.kill()
      life = await stage.live()
    },
    digests: (channel = BUILDS): DigestView[] =>
      slack.messages.flatMap((message) =>
        message.channel === channel && message.view.kind === 'digest' ? [message.view] : [],
      ),
  }
}

describe('a digest', () => {
  test('is posted at its time, about the day before', async () => {
    await using stage = await openStage()
    await stage.set()
    await stage.restUntil(DUE - MINUTE)
    await stage.runUntil(DUE - 1)
    expect(stage.digests()).toEqual([])
    await stage.runUntil(DUE + MINUTE)
    expect(stage.digests()).toMatchObject([
      {
        firstDay: '2026-03-02',
        lastDay: '2026-03-02',
        builds: 2,
        passed: 1,
        before: null,
        since: null,
        flaky: { shown: [{ branch: 'main', commits: 1, flaky: 1 }] },
        redNow: { shown: [] },
        picture: 'F0CHART001',
      },
    ])
  })

  test('is posted once, however often the bot restarts in that minute, and again the next day', async () => {
    await using stage = await openStage()
    await stage.set()
    await stage.restUntil(DUE)
    for (let restarts = 0; restarts < 5; restarts++) {
      await stage.look()
      await stage.restart()
      await stage.clock.advance(3_000)
    }
    expect(stage.digests()).toHaveLength(1)
    await stage.restUntil(DUE + 24 * HOUR)
    await stage.runUntil(DUE + 24 * HOUR + MINUTE)
    expect(stage.digests().map(({ lastDay, builds }) => [lastDay, builds])).toEqual([
      ['2026-03-02', 2],
      ['2026-03-03', 0],
    ])
  })

  test('is planned by one of two processes', async () => {
    let charts = 0
    await using stage = await openStage({ chart: async () => `F0CHART00${++charts}` })
    await stage.set()
    await stage.restUntil(DUE)
    await Promise.all([stage.look(), stage.look()])
    await stage.clock.advance(MINUTE)
    expect([stage.digests().length, charts]).toEqual([1, 2])
  })

  test.each<[what: string, fate: Partial<Fate>]>([
    ['arrived with an unknown outcome', unclearButLands()],
    ['arrives late', unclearButLands(5_000)],
    ['did not arrive', UNCLEAR_LOST],
  ])('whose post %s appears once', async (_, fate) => {
    await using stage = await openStage()
    await stage.set()
    await stage.restUntil(DUE)
    await stage.clock.advance(5_000)
    stage.slack.meet(fate)
    await stage.look()
    await stage.clock.advance(5 * MINUTE)
    expect(stage.digests()).toHaveLength(1)
  })

  test.each([
    ['keeps its chart if Slack needs some seconds for the upload', 5, [...Array(6).fill(false)]],
    ['is posted as text only if Slack keeps refusing the chart', 7, [...Array(7).fill(false), true]],
  ])('%s', async (_, refusals, plain) => {
    await using stage = await openStage()
    await stage.set()
    await stage.restUntil(DUE)
    await stage.clock.advance(5_000)
    stage.slack.meet(...Array(refusals).fill(REFUSED))
    await stage.look()
    await stage.clock.advance(5 * MINUTE)
    const posts = stage.slack.calls.filter(({ name, view }) => name === 'post' && view?.kind === 'digest')
    expect(posts.map((call) => call.plain)).toEqual(plain)
    expect(posts.at(-1)!.at - posts[0]!.at).toBeLessThan(MINUTE)
    expect(stage.digests()).toHaveLength(1)
  })

  test('is posted without a chart if that cannot be drawn', async () => {
    await using stage = await openStage({ chart: async () => null })
    await stage.set()
    await stage.restUntil(DUE)
    await stage.runUntil(DUE + MINUTE)
    expect(stage.digests()).toMatchObject([{ builds: 2, picture: null }])
  })

  test('that fails holds up no other, and is retried', async () => {
    let isBroken = true
    await using stage = await openStage({
      chart: async () => {
        if (isBroken) throw new Error('the chart broke')
        return null
      },
    })
    await stage.set()
    await stage.set(RELEASES, { ...AT_NINE, minute: 9 * 60 + 1 })
    await stage.restUntil(DUE + 2 * MINUTE)
    expect(await stage.look()).toBe('again')
    isBroken = false
    expect(await stage.look()).toBe('done')
    await stage.clock.advance(MINUTE)
    expect([stage.digests().length, stage.digests(RELEASES).length]).toEqual([1, 1])
  })

  test('shows the state from when it was planned, whatever happens later', async () => {
    await using stage = await openStage()
    await stage.set()
    await stage.restUntil(DUE)
    await stage.look()
    await stage.hear({ word: 'error', build: '600', after: 0 })
    await stage.clock.advance(MINUTE)
    await stage.restart()
    await stage.clock.advance(MINUTE)
    expect(stage.digests()).toMatchObject([{ builds: 2 }])
    const edits = stage.slack.calls.filter(
      (call) => call.name === 'edit' && 'view' in call && call.view?.kind === 'digest',
    )
    expect(edits).toEqual([])
  })
})

describe('a digest that was missed', () => {
  test('by 11 h is posted once', async () => {
    await using stage = await openStage()
    await stage.set()
    await stage.restUntil(DUE + 11 * HOUR)
    await stage.runUntil(DUE + 11 * HOUR + MINUTE)
    expect(stage.digests()).toMatchObject([{ lastDay: '2026-03-02', builds: 2 }])
  })

  test('by 13 h is skipped, and the next one is posted at its time', async () => {
    await using stage = await openStage()
    await stage.set()
    await stage.restUntil(DUE + 13 * HOUR)
    await stage.runUntil(DUE + 13 * HOUR + MINUTE)
    expect(stage.digests()).toEqual([])
    expect(await stage.store.read.digest(BUILDS)).toMatchObject({ nextAt: DUE + 24 * HOUR, last: null })
  })

  test('because of a clock that was a year ahead is posted at its time after the clock was corrected', async () => {
    await using stage = await openStage()
    await stage.set()
    await stage.store.write(async (tx) => {
      const digest = (await tx.digest(BUILDS))!
      await tx.advanceDigest(digest, { nextAt: DUE + 365 * 24 * HOUR, planned: null })
    })
    await stage.restUntil(DUE - MINUTE)
    await stage.runUntil(DUE + MINUTE)
    expect(stage.digests()).toMatchObject([{ lastDay: '2026-03-02', builds: 2 }])
  })

  test('for three days is posted once, for the last day', async () => {
    await using stage = await openStage()
    await stage.set()
    await stage.restUntil(DUE + 72 * HOUR + HOUR)
    await stage.runUntil(DUE + 72 * HOUR + 2 * HOUR)
    expect(stage.digests()).toMatchObject([{ lastDay: '2026-03-05', builds: 0 }])
  })
})

describe('in a channel that is closed a digest', () => {
  test('waits, and is posted if the channel opens within 12 h', async () => {
    await using stage = await openStage()
    await stage.set()
    await stage.restUntil(DUE)
    stage.slack.close(BUILDS)
    await stage.runUntil(DUE + MINUTE)
    expect(stage.digests()).toEqual([])
    stage.slack.open(BUILDS)
    await stage.clock.advance(HOUR)
    expect(stage.digests()).toHaveLength(1)
  })

  test('is skipped if the channel opens later', async () => {
    await using stage = await openStage()
    await stage.set()
    await stage.restUntil(DUE)
    stage.slack.close(BUILDS)
    await stage.runUntil(DUE + MINUTE)
    await stage.restUntil(DUE + 13 * HOUR)
    stage.slack.open(BUILDS)
    await stage.clock.advance(HOUR)
    expect(stage.digests()).toEqual([])
  })

  test('is reported to the person who set it, even if nothing else is posted there', async () => {
    await using stage = await openStage()
    await stage.set()
    await stage.restUntil(DUE)
    stage.slack.close(BUILDS)
    await stage.runUntil(DUE + MINUTE)
    const said: string[] = []
    await announceClosings({
      ...stage.deps,
      subscriptions: async () => [],
      admins: [],
      sendText: async (to, text) => {
        said.push(`${to}: ${text}`)
        return { kind: 'unsent', code: 'x' }
      },
    })
    expect(said).toEqual([
      expect.stringMatching(/^U0ADA00001: .*is archived.\nIt gets no digest while it is closed\./s),
    ])
  })
})

test('a digest that is turned off before it is posted is not posted', async () => {
  await using stage = await openStage()
  await stage.set()
  await stage.restUntil(DUE)
  stage.slack.close(BUILDS)
  await stage.runUntil(DUE + MINUTE)
  await stage.store.write((tx) => tx.removeDigest(BUILDS))
  stage.slack.open(BUILDS)
  await stage.clock.advance(HOUR)
  expect(stage.digests()).toEqual([])
})

test('a digest about days without data says since when there is data, and compares with nothing', async () => {
  await using stage = await openStage({ retentionDays: 1 })
  await stage.set()
  await stage.restUntil(DUE)
  await stage.runUntil(DUE + MINUTE)
  const [{ since, before }] = stage.digests() as [DigestView]
  expect(new Date(since!).toISOString().slice(0, 13)).toBe('2026-03-02T08')
  expect(before).toBeNull()
})
