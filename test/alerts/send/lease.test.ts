import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { LANDING_MAX_MS } from '../../../src/domain/cards/plan.ts'
import type { ReconcileDeps } from '../../../src/alerts/deps.ts'
import { createLease, LEASE_MS, MARGIN_MS, type Term } from '../../../src/alerts/send/lease.ts'
import { sendNext, type StepResult } from '../../../src/alerts/send/send.ts'
import type { Store } from '../../../src/store/store.ts'
import { SECOND, T0 } from '../../support/build-events.ts'
import { inBrief, UNCLEAR_LOST } from '../../support/fake-notifier.ts'
import { sqlitePlaces, type Place } from '../../support/stores.ts'
import { cardKey, openStage, ingestDue, type Stage } from '../stage.ts'

const CARD = cardKey()
const NAME = 'sender'
const SILENT = { debug() {}, info() {}, warn() {}, error() {} }

const places = await sqlitePlaces()
afterAll(() => places[Symbol.asyncDispose]())

/** A process whose lease loop continues only when the test wakes it. */
async function openProcess(
  place: Place,
  name: string,
  time: { now: number },
  store: Pick<Store, 'write'> = place.store,
) {
  const terms: Term[] = []
  let wake = () => {}
  const clock = {
    now: () => time.now,
    sleep: (_: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        wake = resolve
        signal?.addEventListener('abort', () => resolve(), { once: true })
      }),
  }
  const lease = createLease({
    store,
    clock,
    syncClock: async () => {},
    log: SILENT,
    monotonic: () => time.now,
    newId: () => `${name}-${terms.length + 1}`,
    onTerm: (term) => void terms.push(term),
  })
  await lease.start()
  onTestFinished(() => lease.stop())
  return { lease, terms, wake: () => wake() }
}

const isHeld = (place: Place, term: Term): Promise<boolean> => place.store.write((tx) => term.holds(tx))

describe('the lease', () => {
  test('is held by one process; another gets it when it has expired, and not before', async () => {
    await using place = await places.open()
    const time = { now: T0 }
    const first = await openProcess(place, 'first', time)
    const second = await openProcess(place, 'second', time)
    expect([first.terms.length, second.terms.length]).toEqual([1, 0])
    time.now += LEASE_MS - 1
    await openProcess(place, 'early', time).then(({ terms }) => expect(terms).toEqual([]))
    time.now += 1
    second.wake()
    await expect.poll(() => second.terms.length).toBe(1)
    expect(await isHeld(place, first.terms[0]!)).toBe(false)
    expect(await isHeld(place, second.terms[0]!)).toBe(true)
  })

  test('allows calls until MARGIN_MS before another process may take it, and none after', async () => {
    await using place = await places.open()
    const time = { now: T0 }
    const { terms } = await openProcess(place, 'first', time)
    time.now += LEASE_MS - MARGIN_MS - 1
    expect(terms[0]!.isValid()).toBe(true)
    time.now += 1
    expect(terms[0]!.isValid()).toBe(false)
  })

  test('starts when the database is asked, even if a renewal is answered late', async () => {
    await using place = await places.open()
    const time = { now: T0 }
    let lateMs = 0
    const write: Store['write'] = async (work, options) => {
      const done = await place.store.write(work, options)
      time.now += lateMs
      return done
    }
    const { terms, wake } = await openProcess(place, 'first', time, { write })
    lateMs = 2 * SECOND
    time.now += SECOND
    const askedAt = time.now
    wake()
    await expect.poll(() => time.now).toBe(askedAt + lateMs)
    await new Promise(setImmediate)
    time.now = askedAt + LEASE_MS - MARGIN_MS - 1
    expect(terms[0]!.isValid()).toBe(true)
    time.now += 1
    expect(terms[0]!.isValid()).toBe(false)
    lateMs = 0
  })

  test('is renewed at once if taking it took too long', async () => {
    await using place = await places.open()
    const time = { now: T0 }
    let isFirst = true
    const write: Store['write'] = async (work, options) => {
      const done = await place.store.write(work, options)
      if (isFirst) time.now += LEASE_MS
      isFirst = false
      return done
    }
    const { terms } = await openProcess(place, 'first', time, { write })
    expect(terms[0]!.isValid()).toBe(true)
  })

  test('of a process that slept continues if no other process took it', async () => {
    await using place = await places.open()
    const time = { now: T0 }
    const { terms, wake } = await openProcess(place, 'first', time)
    time.now += LEASE_MS * 2
    expect(terms[0]!.isValid()).toBe(false)
    wake()
    await expect.poll(() => terms[0]!.isValid()).toBe(true)
    expect(terms[0]!.over.aborted).toBe(false)
  })

  test('of a process that slept is over if another took it, and its next term has another id', async () => {
    await using place = await places.open()
    const time = { now: T0 }
    const first = await openProcess(place, 'first', time)
    time.now += LEASE_MS
    const second = await openProcess(place, 'second', time)
    expect(second.terms).toHaveLength(1)
    first.wake()
    await expect.poll(() => first.terms[0]!.over.aborted).toBe(true)
    expect(first.terms[0]!.isValid()).toBe(false)
    await second.lease.stop()
    first.wake()
    await expect.poll(() => first.terms.map(({ id }) => id)).toEqual(['first-1', 'first-2'])
  })

  test('is free at once when its holder stops', async () => {
    await using place = await places.open()
    const time = { now: T0 }
    const first = await openProcess(place, 'first', time)
    await first.lease.stop()
    expect(first.terms[0]!.over.aborted).toBe(true)
    expect((await openProcess(place, 'second', time)).terms).toHaveLength(1)
  })

  test('is not held while the database is away; nothing fails or hangs', async () => {
    await using place = await places.open()
    const { terms } = await openProcess(place, 'first', { now: T0 }, { write: () => Promise.reject(new Error('away')) })
    expect(terms).toEqual([])
  })
})

test('a process that slept stays drowsy for a moment after it wakes up', async () => {
  await using place = await places.open()
  const time = { now: T0 }
  const { lease, wake, terms } = await openProcess(place, 'first', time)
  time.now += LEASE_MS - MARGIN_MS - 1
  expect(lease.wasJustPaused()).toBe(false)
  time.now += 1
  expect(lease.wasJustPaused()).toBe(true)
  wake()
  await expect.poll(() => terms[0]!.isValid()).toBe(true)
  expect(lease.wasJustPaused()).toBe(true)
  time.now += 2 * SECOND
  expect(lease.wasJustPaused()).toBe(false)
})

/** Two processes that share a database; the first one holds the lease. One running build is known. */
async function openTwo() {
  const stage = await openStage({ shared: true })
  const isAsleep = { now: false }
  const termOf = (id: string, isValid: () => boolean): Term => ({
    id,
    over: new AbortController().signal,
    isValid,
    holds: (tx) => tx.holdsLease({ name: NAME, heldBy: id }),
  })
  const sleeper: ReconcileDeps = { ...stage.embody().deps, term: termOf('sleeper', () => !isAsleep.now) }
  const other: ReconcileDeps = { ...stage.embody().deps, term: termOf('other', () => true) }
  await takeLease(stage, sleeper)
  await stage.hear('initiated')
  await ingestDue(sleeper)

  async function oversleep(): Promise<void> {
    isAsleep.now = true
    await stage.clock.advance(LEASE_MS)
    await takeLease(stage, other)
  }

  const tell = (deps: ReconcileDeps, queue: 'post' | 'edit' | 'look'): Promise<StepResult> =>
    sendNext(deps, CARD, queue)
  return { stage, sleeper, other, oversleep, tell }
}

async function takeLease({ store, clock }: Stage, { term }: ReconcileDeps): Promise<void> {
  const lease = { name: NAME, heldBy: term.id, heldUntil: clock.now() + LEASE_MS }
  expect(await store.write((tx) => tx.takeLease(lease, { now: clock.now(), longestMs: 10 * LEASE_MS }))).toBe(true)
}

const shown = ({ slack }: Stage) => slack.messages.map(({ view }) => inBrief(view))
const callsOf = ({ slack }: Stage) => slack.calls.map(({ name }) => name)

/** Sleeps through its lease as soon as its claim is on disk. */
const asleepAfterClaim = (deps: ReconcileDeps, oversleep: () => Promise<void>): ReconcileDeps => {
  let writes = 0
  const write: typeof deps.store.write = async (work, options) => {
    const written = await deps.store.write(work, options)
    if (++writes === 1) await oversleep()
    return written
  }
  return { ...deps, store: { ...deps.store, write } }
}

describe('a holder that slept while another process took the lease', () => {
  test('posts nothing if it slept between claim and call', async () => {
    const { stage, sleeper, other, oversleep, tell } = await openTwo()
    await using _ = stage
    expect(await tell(asleepAfterClaim(sleeper, oversleep), 'post')).toEqual({ kind: 'lost' })
    expect(callsOf(stage)).toEqual([])
    await tell(other, 'look')
    await stage.clock.advance(LANDING_MAX_MS)
    await tell(other, 'look')
    await tell(other, 'post')
    expect(callsOf(stage)).toEqual(['find', 'find', 'post'])
    expect(shown(stage)).toHaveLength(1)
    expect(await stage.messagesOf(CARD)).toMatchObject([{ state: 'posted', claimedBy: other.term.id }])
  })

  test('has its late post deleted again', async () => {
    const { stage, sleeper, other, oversleep, tell } = await openTwo()
    await using _ = stage
    const post: typeof sleeper.notifier.post = async (message) => {
      await oversleep()
      await tell(other, 'look')
      await stage.clock.advance(LANDING_MAX_MS)
      await tell(other, 'look')
      await tell(other, 'post')
      stage.slack.meet({ listedAfterMs: 4 * SECOND })
      return stage.slack.post(message)
    }
    await tell({ ...sleeper, notifier: { ...sleeper.notifier, post } }, 'post')
    expect(shown(stage)).toHaveLength(2)
    expect(await tell(other, 'look')).toEqual({ kind: 'nothing' })
    await stage.clock.advance(LANDING_MAX_MS)
    await tell(other, 'look')
    expect(shown(stage)).toHaveLength(1)
    const [left] = stage.slack.messages
    expect(await stage.messagesOf(CARD)).toMatchObject([{ state: 'posted', ts: left!.ts, doubtAt: null }])
  })

  test('keeps its post if that is the only one that arrived', async () => {
    const { stage, sleeper, other, oversleep, tell } = await openTwo()
    await using _ = stage
    const post: typeof sleeper.notifier.post = async (message) => {
      await oversleep()
      await stage.hear({ word: 'error', after: SECOND })
      await ingestDue(other)
      await tell(other, 'look')
      await stage.clock.advance(LANDING_MAX_MS)
      await tell(other, 'look')
      stage.slack.meet(UNCLEAR_LOST)
      await tell(other, 'post')
      expect(await stage.messagesOf(CARD)).toMatchObject([{ state: 'unclear', postedAttempt: '512.1' }])
      return stage.slack.post(message)
    }
    await tell({ ...sleeper, notifier: { ...sleeper.notifier, post } }, 'post')
    const [arrived] = stage.slack.messages
    expect(await stage.messagesOf(CARD)).toMatchObject([{ state: 'posted', ts: arrived!.ts, postedAttempt: null }])
  })

  test('has its edit overwritten with the newest state', async () => {
    const { stage, sleeper, other, oversleep, tell } = await openTwo()
    await using _ = stage
    await tell(sleeper, 'post')
    await stage.hear({ word: 'stopped', after: SECOND })
    await ingestDue(sleeper)
    const edit: typeof sleeper.notifier.edit = async (message) => {
      await oversleep()
      return stage.slack.edit(message)
    }
    await tell({ ...sleeper, notifier: { ...sleeper.notifier, edit } }, 'edit')
    expect(await stage.messagesOf(CARD)).toMatchObject([{ digest: null }])
    expect(await tell(other, 'edit')).toMatchObject({ kind: 'done', outcome: { kind: 'sent' } })
  })
})

test('a process without the lease claims nothing and ingests nothing', async () => {
  const { stage, other, tell } = await openTwo()
  await using _ = stage
  expect(await tell(other, 'post')).toEqual({ kind: 'lost' })
  await stage.hear({ word: 'error', after: SECOND })
  await ingestDue(other)
  expect(await stage.store.read.dueIngest(stage.clock.now(), 1)).toHaveLength(1)
  expect([callsOf(stage), await stage.messagesOf(CARD)]).toEqual([[], []])
})
