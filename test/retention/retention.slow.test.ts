import { revisionKey } from '../../src/domain/builds/build-event.ts'
import { describe, expect, test } from 'vitest'
import { REST_MS, revisionSubject } from '../../src/domain/builds/revision.ts'
import type { Judgement, StreakExtent } from '../../src/domain/builds/streak.ts'
import { extentAt, judgementsOf } from '../../src/domain/builds/history.ts'
import { readRevision } from '../../src/store/revision.ts'
import { ROWS_MAX } from '../../src/retention/retention.ts'
import { BRANCH_TIMES } from '../../src/retention/retained.ts'
import { BUILDS, follower, RELEASES } from '../alerts/stage.ts'
import { projectRequest } from '../store/given.ts'
import { buildId, MINUTE, projectId, request, story, T0, WEB, type Said } from '../support/build-events.ts'
import { buildsLeft, commitOf, DAY, left, of, openStage, pruneNow, RETENTION_DAYS, tell, type Stage } from './stage.ts'

const OLD = RETENTION_DAYS * DAY

/** Each build of acme/web `main` ended with its word, one after the other. */
const ended = (...builds: readonly (readonly [build: string, word: string])[]): Said[] =>
  builds.map(([build, word]) => of(build, word))

const keyOf = (said: Said): string => revisionKey(story(said)[0]!)

/** Two later passing builds, so that one that passed before them no longer matters for the branch. */
const GREENS = ended(['900', 'success'], ['901', 'success'])

async function askedOf(stage: Stage, said: Said, change: Parameters<typeof request>[0] = {}): Promise<void> {
  const key = keyOf(said)
  const asked = request({
    buildId: buildId(said.build!),
    revisionKey: key,
    subject: revisionSubject(key, 1),
    requestedAt: stage.clock.now(),
    state: 'refused',
    ...change,
  })
  await stage.store.write((tx) => tx.insertRequest(asked))
}

describe('a card older than the retention', () => {
  test('is removed with everything: build events, decisions, messages, build, requests and delivery bodies', async () => {
    await using stage = await openStage({ subscriptions: [follower(BUILDS), follower(RELEASES)] })
    await tell(stage, of('512', 'initiated'), of('512', 'success'))
    await askedOf(stage, of('512', 'success'))
    expect(left(stage)).toEqual({ delivery: 2, fact: 2, decision: 4, card: 2, message: 2, build: 1, request: 1 })
    await tell(stage, ...GREENS)
    await stage.clock.advance(OLD)
    const pruned = await pruneNow(stage)
    expect(pruned).toEqual({ cards: 1, rows: 16 })
    expect(buildsLeft(stage)).toEqual(['900', '901'])
    expect(left(stage)).toEqual({ delivery: 0, fact: 2, decision: 4, card: 4, message: 4, build: 2, request: 0 })
  })

  test('stays at exactly that age, and is removed a millisecond later', async () => {
    await using stage = await openStage()
    await stage.hear(of('512', 'success'))
    await tell(stage, ...GREENS)
    await stage.clock.advance(T0 + OLD - stage.clock.now())
    expect((await pruneNow(stage)).cards).toBe(0)
    await stage.clock.advance(T0 + OLD + 1 - stage.clock.now())
    expect((await pruneNow(stage)).cards).toBe(1)
    expect(buildsLeft(stage)).toEqual(['900', '901'])
  })

  test('has the age of its last event: with news from yesterday it stays completely', async () => {
    await using stage = await openStage()
    await tell(stage, of('512', 'waiting'), ...GREENS)
    await stage.clock.advance(OLD)
    await tell(stage, of('512', 'initiated'), of('512', 'success'))
    expect((await pruneNow(stage)).cards).toBe(0)
    expect(await stage.store.read.eventsOfCard(keyOf(of('512', 'success')), 1)).toHaveLength(3)
  })

  test('is removed by itself if its commit has newer cards; requests are removed with the last one', async () => {
    await using stage = await openStage()
    const key = keyOf(of('512', 'success'))
    await tell(stage, of('512', 'success'), ...GREENS)
    await askedOf(stage, of('512', 'success'))
    await stage.clock.advance(REST_MS * 2)
    await tell(stage, of('513', 'success', { commit: commitOf('512') }))
    await stage.clock.advance(OLD - REST_MS)
    expect((await pruneNow(stage)).cards).toBe(1)
    expect(await stage.store.read.requestsOf(key)).toHaveLength(1)
    expect(buildsLeft(stage)).toEqual(['513', '900', '901'])
    await stage.clock.advance(REST_MS)
    expect((await pruneNow(stage)).cards).toBe(1)
    expect(await stage.store.read.newestCard(key)).toBeNull()
    expect(await stage.store.read.requestsOf(key)).toEqual([])
  })

  test('leaves a build that was restarted on a later card', async () => {
    await using stage = await openStage()
    await tell(stage, of('512', 'initiated'), of('512', 'success'), ...GREENS)
    await stage.clock.advance(REST_MS * 2)
    await tell(stage, of('512', 'initiated'), of('512', 'success'))
    await stage.clock.advance(OLD - REST_MS)
    expect((await pruneNow(stage)).cards).toBe(1)
    expect(await stage.store.read.build(WEB, '512')).toMatchObject({ cardNumber: 2, status: 'success' })
  })
})

describe('retention keeps at any age', () => {
  const stays: readonly [string, (stage: Stage) => Promise<unknown>][] = [
    [
      'a card with a message to post',
      (stage) =>
        stage.store.write((tx) =>
          tx.setQueues(
            { subject: revisionSubject(keyOf(of('512', 'success')), 1), channel: BUILDS },
            { post: { at: T0, priority: 0 }, edit: null, look: null },
          ),
        ),
    ],
    [
      'a card that was edited within the last day',
      async (stage) =>
        stage.sql(
          'update message set written_at = ? where subject like ?',
          stage.clock.now() - REST_MS,
          `${keyOf(of('512', 'success'))}%`,
        ),
    ],
    [
      'a revision that was woken',
      (stage) => stage.store.write((tx) => tx.wakeRevision(keyOf(of('512', 'success')), T0, 0)),
    ],
    ['a build with events that are not ingested', (stage) => stage.hear(of('512', 'initiated'), of('512', 'success'))],
    [
      'a build with an open request',
      (stage) => askedOf(stage, of('512', 'success'), { state: 'accepted', requestedAt: T0 }),
    ],
    ['a build with a recent request', (stage) => askedOf(stage, of('512', 'success'))],
  ]

  test.each(stays)('%s', async (_, happens) => {
    await using stage = await openStage()
    await tell(stage, of('512', 'success'), ...GREENS)
    await stage.clock.advance(OLD)
    await happens(stage)
    expect((await pruneNow(stage)).cards).toBe(0)
    expect(buildsLeft(stage)).toContain('512')
  })

  test('no card that was edited more than a day ago', async () => {
    await using stage = await openStage()
    await tell(stage, of('512', 'success'), ...GREENS)
    await stage.clock.advance(OLD)
    stage.sql('update message set written_at = ?', stage.clock.now() - REST_MS - 1)
    expect((await pruneNow(stage)).cards).toBe(1)
  })

  test('no card in a channel that has been closed for as long', async () => {
    await using stage = await openStage()
    stage.slack.close(BUILDS, 'is_archived')
    await tell(stage, of('512', 'success'))
    stage.subscriptions.splice(0)
    await tell(stage, ...GREENS)
    await stage.clock.advance(OLD)
    expect(await stage.store.read.channelsToPost()).toEqual([BUILDS])
    expect((await pruneNow(stage)).cards).toBe(1)
    expect(await stage.store.read.channelsToPost()).toEqual([])
  })

  test('a card in a channel that was closed but is open again', async () => {
    await using stage = await openStage()
    stage.slack.close(BUILDS, 'is_archived')
    await tell(stage, of('512', 'success'))
    stage.subscriptions.splice(0)
    await tell(stage, ...GREENS)
    await stage.store.write((tx) => tx.reopenChannel(BUILDS))
    await stage.clock.advance(OLD)
    expect((await pruneNow(stage)).cards).toBe(0)
  })
})

describe('a branch after retention', () => {
  test('remembers its red streak even if it had no builds for longer than the retention', async () => {
    await using stage = await openStage()
    await tell(
      stage,
      ...ended(['510', 'success'], ['511', 'success'], ['512', 'error'], ['513', 'stopped'], ['514', 'error']),
    )
    const redAt = (await stage.store.read.eventsOfBuild(WEB, '512'))[0]!.at
    await stage.clock.advance(OLD * 2)
    expect((await pruneNow(stage)).cards).toBe(1)
    await tell(stage, ...ended(['520', 'success']))
    const { attempts } = await readRevision(stage.store.read, keyOf(of('520', 'success')), 1)
    expect([...(await judgementsOf(stage.store.read, attempts)).values()]).toEqual([
      { change: 'recovered', streak: { at: redAt, builds: 2, atLeast: false } },
    ])
    expect(stage.slack.messages.at(-1)?.view).toMatchObject({ kind: 'card', shown: 'fixed' })
  })

  test('has its newest build, whatever its status, with its card', async () => {
    await using stage = await openStage()
    await tell(stage, ...GREENS, ...ended(['902', 'stopped']))
    await stage.clock.advance(OLD)
    expect((await pruneNow(stage)).cards).toBe(0)
    expect(await stage.store.read.newestBuild(WEB, 'main')).toMatchObject({ buildId: '902', status: 'stopped' })
  })

  test(`is forgotten after ${BRANCH_TIMES} times the retention without builds, and not before`, async () => {
    await using stage = await openStage()
    await tell(stage, ...GREENS)
    await stage.clock.advance(OLD * BRANCH_TIMES - MINUTE)
    await pruneNow(stage)
    expect(buildsLeft(stage)).toEqual(['900', '901'])
    await stage.clock.advance(MINUTE)
    await pruneNow(stage)
    expect(left(stage)).toEqual({ delivery: 0, fact: 0, decision: 0, card: 0, message: 0, build: 0, request: 0 })
  })

  test('still has its last passing build as fixed, if it was fixed', async () => {
    await using stage = await openStage()
    await tell(stage, ...ended(['509', 'success'], ['510', 'success'], ['511', 'error'], ['512', 'success']))
    await stage.clock.advance(OLD)
    const before = await standingOf(stage)
    expect((await pruneNow(stage)).cards).toBe(1)
    const key = revisionSubject(keyOf(of('512', 'success')), 1)
    expect((await standingOf(stage)).get(key)).toEqual(before.get(key))
    expect(before.get(key)?.says).toMatchObject([{ change: 'recovered', streak: { builds: 1 } }])
  })

  test('still has a fixed build as fixed on a card that stays for a newer build of its commit', async () => {
    await using stage = await openStage()
    const commit = commitOf('503')
    await tell(stage, of('503', 'success'), of('505', 'success', { commit }), of('504', 'success', { commit }))
    await tell(stage, of('502', 'error'))
    const fixed = () => stage.slack.messages.filter(({ view }) => 'shown' in view && view.shown === 'fixed')
    expect(fixed().map(({ view }) => view)).toMatchObject([{ build: { buildId: '503' }, streak: { builds: 1 } }])
    await stage.clock.advance(OLD)
    expect((await pruneNow(stage)).cards).toBe(1)
    await wakeAll(stage)
    expect(fixed()).toHaveLength(1)
  })

  const FIXED = ended(['510', 'success'], ['511', 'error'], ['512', 'infrastructure_failure'], ['513', 'success'])

  test('still has a fixed build as fixed without the red builds before it, also if it is restarted', async () => {
    await using stage = await openStage()
    await tell(stage, ...FIXED, ...GREENS)
    await stage.clock.advance(OLD)
    await askedOf(stage, of('513', 'success'))
    expect((await pruneNow(stage)).cards).toBe(3)
    expect(buildsLeft(stage)).toEqual(['513', '900', '901'])
    await wakeAll(stage)
    const shown = (build: string) =>
      stage.slack.messages.map(({ view }) => view).find((view) => view.kind === 'card' && view.build.buildId === build)
    expect(shown('513')).toMatchObject({ shown: 'fixed', streak: { builds: 1 } })
    const decided = () => stage.sql('select fact_seq, recovered from decision where fact_seq in (4, 5, 6) order by 1')
    const before = decided()
    await tell(stage, of('513', 'initiated', { after: OLD + DAY }), of('513', 'success', { after: OLD + DAY + MINUTE }))
    expect(decided()).toEqual(before)
    expect(shown('900')).toMatchObject({ shown: 'passed', streak: null })
  })

  test('loses red builds that the kept build did not fix, since a newer build had passed before it', async () => {
    await using stage = await openStage()
    await tell(stage, ...ended(['511', 'error'], ['600', 'success']), ...GREENS, of('513', 'success'))
    await stage.clock.advance(OLD)
    await askedOf(stage, of('513', 'success'))
    expect((await pruneNow(stage)).cards).toBe(2)
    expect(buildsLeft(stage)).toEqual(['513', '900', '901'])
  })

  test('has a fixed build while a red build before it has a recent request, or the next success would be fixed', async () => {
    await using stage = await openStage()
    await tell(stage, ...FIXED, ...GREENS)
    await stage.clock.advance(OLD)
    await askedOf(stage, of('511', 'error'))
    expect((await pruneNow(stage)).cards).toBe(2)
    expect(buildsLeft(stage)).toEqual(['511', '513', '900', '901'])
    await wakeAll(stage)
    const of900 = stage.slack.messages
      .map(({ view }) => view)
      .find((view) => view.kind === 'card' && view.build.buildId === '900')
    expect(of900).toMatchObject({ shown: 'passed', streak: null })
  })

  test('loses red builds and the fixed build together if there is no request', async () => {
    await using stage = await openStage()
    await tell(stage, ...FIXED, ...GREENS)
    await stage.clock.advance(OLD)
    expect((await pruneNow(stage)).cards).toBe(4)
    expect(buildsLeft(stage)).toEqual(['900', '901'])
  })

  test('loses the red builds before its last but one success, which is still fixed', async () => {
    await using stage = await openStage()
    await tell(stage, ...ended(['510', 'success'], ['511', 'error'], ['512', 'success'], ['513', 'success']))
    await stage.clock.advance(OLD)
    const before = await standingOf(stage)
    expect((await pruneNow(stage)).cards).toBe(2)
    expect(buildsLeft(stage)).toEqual(['512', '513'])
    const key = revisionSubject(keyOf(of('512', 'success')), 1)
    expect((await standingOf(stage)).get(key)).toEqual(before.get(key))
  })

  test('does not exist for builds without a branch', async () => {
    await using stage = await openStage()
    await tell(stage, of('512', 'error', { branch: null }))
    await stage.clock.advance(OLD)
    expect((await pruneNow(stage)).cards).toBe(1)
  })

  test.each(Array.from({ length: 12 }, (_, i) => i + 1))(
    'looks the same as before, in whatever order events came (seed %i)',
    async (seed) => {
      await using stage = await openStage()
      const next = mulberry(seed)
      const builds: string[] = []
      for (let day = 0; day < 240; day += Math.ceil(next() * 9)) {
        await stage.clock.advance(T0 + day * DAY - stage.clock.now())
        const build = String(100 + builds.length * 3 + Math.floor(next() * 7))
        builds.push(build)
        await tell(
          stage,
          of(build, ['success', 'error', 'error', 'stopped', 'infrastructure_failure'][Math.floor(next() * 5)]!),
        )
      }
      await tell(stage, of('5000', 'success'), of('5001', 'error'))
      const before = await standingOf(stage)
      const pruned = await pruneNow(stage, { retentionDays: 90 })
      const after = await standingOf(stage)
      expect(pruned.cards).toBeGreaterThan(0)
      const young = [...before].filter(([, { at }]) => at >= stage.clock.now() - 90 * DAY)
      expect(young.length).toBeGreaterThan(3)
      expect(young.map(([key]) => [key, after.get(key)])).toEqual(young)
      // Old cards that are left say the same, too, apart from what an attempt without an outcome left as it was.
      const said = (standing: typeof after) => [...standing].map(([key, { says }]) => [key, says] as const)
      expect(said(after)).toEqual(said(before).filter(([key]) => after.has(key)))
    },
  )
})

/** Plans every card again, as a request or a late event would. */
async function wakeAll(stage: Stage): Promise<void> {
  const keys = stage.sql('select distinct lineage_key from fact') as { lineage_key: string }[]
  await stage.store.write(async (tx) => {
    for (const { lineage_key: key } of keys) await tx.wakeRevision(key, stage.clock.now(), 0)
  })
  await tell(stage)
}

interface Standing {
  at: number
  says: Judgement[]
  red: StreakExtent | null
}

/** What each card says about recoveries and red streaks, and the time of its last event, by revision. */
async function standingOf(stage: Stage): Promise<Map<string, Standing>> {
  const { read } = stage.store
  const cards = stage.sql('select lineage_key, episode, max(at) as at from fact group by 1, 2') as {
    lineage_key: string
    episode: number
    at: number
  }[]
  const standing = new Map<string, Standing>()
  for (const { lineage_key: key, episode: cardNumber, at } of cards) {
    const { attempts } = await readRevision(read, key, cardNumber)
    const says = [...(await judgementsOf(read, attempts)).values()]
    standing.set(revisionSubject(key, cardNumber), { at, says, red: await extentAt(read, attempts.at(-1)!) })
  }
  return standing
}

function mulberry(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

describe('other old rows', () => {
  test("include a day's notice, removed together with the builds that it counts", async () => {
    await using stage = await openStage()
    await tell(stage, of('512', 'ignored', { branch: null }))
    // The day of the notice is not over when the build has reached the age.
    await stage.clock.advance(OLD)
    expect(await pruneNow(stage)).toMatchObject({ cards: 0, rows: 1 })
    await stage.clock.advance(DAY)
    expect((await pruneNow(stage)).cards).toBe(1)
    expect(left(stage)).toMatchObject({ card: 0, message: 0, decision: 0 })
  })

  test('include ended requests about projects, but no open ones', async () => {
    await using stage = await openStage()
    await stage.store.write(async (tx) => {
      await tx.insertRequest(projectRequest({ id: 'ended', state: 'confirmed' }))
      await tx.insertRequest(projectRequest({ id: 'open', state: 'unclear' }))
    })
    await stage.clock.advance(OLD)
    expect((await pruneNow(stage)).rows).toBe(0)
    await stage.clock.advance(1)
    expect((await pruneNow(stage)).rows).toBe(1)
    expect(await stage.store.read.newestRequests(9)).toMatchObject([{ id: 'open' }])
  })
})

describe('removing', () => {
  async function manyOld(stage: Stage, builds: number): Promise<void> {
    await stage.store.write(async (tx) => {
      for (let i = 0; i < builds; i++)
        await tx.insertDelivery({ receivedAt: T0, answer: 'recorded', eventSeq: 1, body: '{}' })
    })
    await stage.clock.advance(OLD + 1)
  }

  test(`takes ${ROWS_MAX} rows in one transaction, and one more in the next`, async () => {
    await using stage = await openStage()
    await manyOld(stage, ROWS_MAX + 1)
    const taken: number[] = []
    const { write } = stage.store
    const store: Stage['store'] = {
      ...stage.store,
      write: (work, options) =>
        write(
          (tx) =>
            work({
              ...tx,
              removeDeliveries: async (before, limit) => {
                const rows = await tx.removeDeliveries(before, limit)
                taken.push(rows)
                return rows
              },
            }),
          options,
        ),
    }
    await pruneNow({ ...stage, store })
    expect(taken).toEqual([ROWS_MAX, 1])
  })

  test('pauses while deliveries wait at the endpoint, and continues afterwards', async () => {
    await using stage = await openStage()
    await manyOld(stage, 3)
    let isPressed = true
    const pruning = pruneNow(stage, { isPressed: () => isPressed })
    await stage.clock.advance(MINUTE)
    expect(left(stage)).toMatchObject({ delivery: 3 })
    isPressed = false
    expect((await pruning).rows).toBe(3)
  })

  test('stops at once when the process stops, paused or not, and continues the next time', async () => {
    await using stage = await openStage()
    await manyOld(stage, ROWS_MAX + 1)
    const stopping = new AbortController()
    const pruning = pruneNow(stage, { isPressed: () => true, signal: stopping.signal })
    await stage.clock.advance(MINUTE)
    stopping.abort()
    expect(await pruning).toEqual({ cards: 0, rows: 0 })
    expect((await pruneNow(stage)).rows).toBe(ROWS_MAX + 1)
  })

  test('loses no delivery that arrives while its build is being removed', async () => {
    await using stage = await openStage()
    await tell(stage, of('512', 'error'), ...GREENS)
    await stage.clock.advance(OLD)
    const pruning = pruneNow(stage)
    await stage.hear(of('512', 'success', { project: WEB }))
    await pruning
    expect((await stage.store.read.eventsOfBuild(projectId(WEB), '512')).at(-1)?.rawStatus).toBe('success')
  })
})
