import { WebAPIRateLimitedError, type WebClient } from '@slack/web-api'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  createHomes,
  REFRESH_DELAY_MS,
  SWEEP_EVERY_MS,
  WATCHED_FOR_MS,
  WATCHED_MAX,
  type Homes,
} from '../../src/features/home/watch.ts'
import type { HomeOutcome } from '../../src/features/home/home.ts'
import { until } from '../support/app.ts'
import { T0 } from '../support/build-events.ts'
import { createHandClock, type HandClock } from '../support/hand-clock.ts'
import { EMPTY_HOME } from './home-states.ts'

const ADA = 'U0ADA00001'

interface Stage {
  homes: Homes
  clock: HandClock
  /** the users whose Home was drawn, in order */
  drawn: string[]
  /** changes what Home shows */
  change(outcome?: HomeOutcome | Error): void
  /** what Slack answers to the next draw */
  failNext(error: Error): void
  /** the users whose Home was read */
  read: string[]
}

/** The watch with a test clock and a Slack that only counts; `app/home` tests it over the real endpoints. */
function openStage(): Stage {
  const clock = createHandClock(T0)
  const drawn: string[] = []
  const read: string[] = []
  const failures: Error[] = []
  let claims = 0
  let outcome: HomeOutcome | Error = { kind: 'home', home: EMPTY_HOME }
  let references = 0
  const homes = createHomes({
    operations: {
      async home(user) {
        read.push(user)
        if (outcome instanceof Error) throw outcome
        return outcome
      },
    },
    client: {
      async apiCall(method: string, { user_id: user }: { user_id: string }) {
        expect(method).toBe('views.publish')
        const failure = failures.shift()
        if (failure) throw failure
        drawn.push(user)
        return { ok: true }
      },
    } as unknown as WebClient,
    clock,
    log: { error: () => {}, info: () => {} },
    newReference: () => `reference-${(references += 1)}`,
  })
  onTestFinished(() => homes.stop())
  return {
    homes,
    clock,
    drawn,
    read,
    failNext: (error) => void failures.push(error),
    change(to) {
      claims += 1
      const me = { ...EMPTY_HOME.me, handles: [{ handle: `ada${claims}`, at: T0 }] }
      outcome = to ?? { kind: 'home', home: { ...EMPTY_HOME, me } }
    },
  }
}

describe('an open Home', () => {
  it('is redrawn once changes have settled, however many there were', async () => {
    const { homes, clock, drawn, change } = openStage()
    await homes.open(ADA, null)
    change()
    for (let told = 0; told < 100; told++) homes.wake()
    await clock.advance(REFRESH_DELAY_MS - 1)
    expect(drawn).toEqual([ADA])
    await clock.advance(1)
    expect(drawn).toEqual([ADA, ADA])
  })

  it('is not redrawn if nothing changed', async () => {
    const { homes, clock, drawn, read } = openStage()
    await homes.open(ADA, null)
    homes.wake()
    await clock.advance(REFRESH_DELAY_MS)
    expect([drawn.length, read.length]).toEqual([1, 2])
  })

  it('is drawn once more, with the newest state, however often it is opened during a draw', async () => {
    const { homes, drawn, read, change } = openStage()
    const first = homes.open(ADA, null)
    await until('it is read', () => read.length === 1)
    change()
    await Promise.all([first, ...Array.from({ length: 500 }, () => homes.open(ADA, null))])
    expect([drawn.length, read.length]).toEqual([2, 2])
  })

  it('is kept up to date for an hour after it was last opened', async () => {
    const { homes, clock, drawn, change } = openStage()
    await homes.open(ADA, null)
    await clock.advance(WATCHED_FOR_MS - REFRESH_DELAY_MS)
    await homes.open(ADA, null)
    await clock.advance(2 * SWEEP_EVERY_MS)
    change()
    homes.wake()
    await clock.advance(REFRESH_DELAY_MS)
    expect(drawn).toHaveLength(3)
  })

  it('is redrawn after a change that nobody reported', async () => {
    const { homes, clock, drawn, change } = openStage()
    await homes.open(ADA, null)
    change()
    await clock.advance(SWEEP_EVERY_MS + REFRESH_DELAY_MS)
    expect(drawn).toEqual([ADA, ADA])
  })

  it('is forgotten after an hour, and no timer remains', async () => {
    const { homes, clock, drawn, read, change } = openStage()
    await homes.open(ADA, null)
    await clock.advance(WATCHED_FOR_MS - REFRESH_DELAY_MS)
    change()
    homes.wake()
    await clock.advance(REFRESH_DELAY_MS)
    expect(drawn).toHaveLength(2)
    await clock.advance(2 * SWEEP_EVERY_MS)
    change()
    const before = read.length
    homes.wake()
    await clock.advance(10 * SWEEP_EVERY_MS)
    expect([drawn.length, read.length]).toEqual([2, before])
  })

  it('is among a limited number, of which the newest are kept', async () => {
    const { homes, clock, drawn, change } = openStage()
    for (let at = 0; at <= WATCHED_MAX; at++) await homes.open(`U${at}`, null)
    expect(drawn).toHaveLength(WATCHED_MAX + 1)
    change()
    homes.wake()
    await clock.advance(REFRESH_DELAY_MS + WATCHED_MAX * 2_000)
    const again = drawn.slice(WATCHED_MAX + 1)
    expect(again).toHaveLength(WATCHED_MAX)
    expect(again).not.toContain('U0')
  })

  it.each(['it has changed', 'nothing has changed'])('is read at a rate that Slack allows, if %s', async (state) => {
    const { homes, clock, read, change } = openStage()
    for (let at = 0; at < 100; at++) await homes.open(`U${at}`, null)
    if (state === 'it has changed') change()
    homes.wake()
    await clock.advance(REFRESH_DELAY_MS + 60_000 - 1)
    expect(read.slice(100)).toHaveLength(50)
  })

  it('is drawn at once when its person opens it or clicks in it, while others wait their turn', async () => {
    const { homes, clock, drawn, change } = openStage()
    for (let at = 0; at < 100; at++) await homes.open(`U${at}`, null)
    change()
    homes.wake()
    await clock.advance(REFRESH_DELAY_MS)
    await Promise.all([homes.open('U98', null), homes.redraw('U99')])
    expect(drawn.slice(100)).toEqual(['U0', 'U98', 'U99'])
  })

  it('is drawn later if Slack was rate-limiting', async () => {
    const { homes, clock, drawn, change, failNext } = openStage()
    await homes.open(ADA, null)
    change()
    failNext(Object.assign(Object.create(WebAPIRateLimitedError.prototype) as Error, { retryAfter: 5 }))
    homes.wake()
    await clock.advance(REFRESH_DELAY_MS)
    expect(drawn).toHaveLength(1)
    await clock.advance(SWEEP_EVERY_MS + REFRESH_DELAY_MS)
    expect(drawn).toHaveLength(2)
  })

  it('that cannot be read says so once, not again for each new reference', async () => {
    const { homes, clock, drawn, change } = openStage()
    change(new Error('the store is away'))
    await homes.open(ADA, null)
    homes.wake()
    await clock.advance(2 * REFRESH_DELAY_MS)
    expect(drawn).toHaveLength(1)
    change()
    homes.wake()
    await clock.advance(REFRESH_DELAY_MS)
    expect(drawn).toHaveLength(2)
  })

  it('is not drawn after the bot stops', async () => {
    const { homes, clock, drawn, change } = openStage()
    await homes.open(ADA, null)
    change()
    homes.stop()
    homes.wake()
    await clock.advance(SWEEP_EVERY_MS * 2)
    expect(drawn).toHaveLength(1)
  })
})

describe('a Home that waits to be drawn', () => {
  it('is not drawn after the bot stops, since its store is closed', async () => {
    const { homes, read, drawn } = openStage()
    const first = homes.open(ADA, null)
    await until('it is read', () => read.length === 1)
    const next = homes.open(ADA, null)
    homes.stop()
    await Promise.all([first, next])
    expect([drawn.length, read.length]).toEqual([1, 1])
  })
})

describe('a Home that nobody opened', () => {
  it('is neither read nor drawn', async () => {
    const { homes, clock, read } = openStage()
    homes.wake()
    await homes.redraw(ADA)
    await clock.advance(SWEEP_EVERY_MS * 2)
    expect(read).toEqual([])
  })
})
