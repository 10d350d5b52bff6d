import { describe, expect, test } from 'vitest'
import { LANDING_MAX_MS } from '../../src/domain/plan.ts'
import type { ReconcileDeps } from '../../src/alerts/deps.ts'
import { PRESENCE_MS } from '../../src/alerts/presence.ts'
import { takeOver } from '../../src/alerts/shared.ts'
import { tellNext, type Told } from '../../src/alerts/tell.ts'
import { SECOND } from '../support/facts.ts'
import { inBrief, UNCLEAR_LOST } from '../support/fake-notifier.ts'
import { cardKey, openStage, takeInDue, type Stage } from './stage.ts'

const CARD = cardKey()

/** Two processes that share a database, of which the first one sleeps or dies; both know of one build that runs. */
async function openTwo() {
  const stage = await openStage({ shared: true })
  const isAsleep = { now: false }
  const sleeper: ReconcileDeps = {
    ...stage.embody().deps,
    presence: { pass: () => ({ isValid: () => !isAsleep.now }) },
  }
  const other: ReconcileDeps = { ...stage.embody().deps, presence: { pass: () => ({ isValid: () => true }) } }
  await renew(stage, sleeper)
  await renew(stage, other)
  await stage.hear('initiated')
  await takeInDue(other)

  /** The sleeper is not heard of for so long that the other one takes its work over. */
  async function oversleep(): Promise<void> {
    isAsleep.now = true
    await stage.clock.advance(PRESENCE_MS)
    await renew(stage, other)
    expect(await takeOver(other)).toMatchObject([CARD])
  }

  const tell = (deps: ReconcileDeps, lane: 'post' | 'edit' | 'look'): Promise<Told> => tellNext(deps, CARD, lane)
  return { stage, sleeper, other, oversleep, tell }
}

const renew = ({ store, clock }: Stage, { processId }: ReconcileDeps) =>
  store.write((tx) => tx.renewPresence(processId, clock.now() + PRESENCE_MS))

const shown = ({ slack }: Stage) => slack.messages.map(({ view }) => inBrief(view))
const callsOf = ({ slack }: Stage) => slack.calls.map(({ name }) => name)

/** Goes to sleep once its claim is on disk. */
const asleepAfterClaim = (deps: ReconcileDeps, oversleep: () => Promise<void>): ReconcileDeps => {
  let writes = 0
  const write: typeof deps.store.write = async (work, options) => {
    const written = await deps.store.write(work, options)
    if (++writes === 1) await oversleep()
    return written
  }
  return { ...deps, store: { ...deps.store, write } }
}

describe('a process that wakes', () => {
  test('between claim and call posts nothing: another one has the card', async () => {
    const { stage, sleeper, other, oversleep, tell } = await openTwo()
    await using _ = stage
    expect(await tell(asleepAfterClaim(sleeper, oversleep), 'post')).toEqual({ kind: 'overtaken' })
    expect(callsOf(stage)).toEqual([])
    await tell(other, 'look')
    await stage.clock.advance(LANDING_MAX_MS)
    await renew(stage, other)
    await tell(other, 'look')
    await tell(other, 'post')
    expect(callsOf(stage)).toEqual(['find', 'find', 'post'])
    expect(shown(stage)).toHaveLength(1)
    expect(await stage.messagesOf(CARD)).toMatchObject([{ state: 'posted', claimedBy: other.processId }])
  })

  test('in the middle of its call has what came late taken back', async () => {
    const { stage, sleeper, other, oversleep, tell } = await openTwo()
    await using _ = stage
    const post: typeof sleeper.notifier.post = async (message) => {
      await oversleep()
      await tell(other, 'look')
      await stage.clock.advance(LANDING_MAX_MS)
      await renew(stage, other)
      await tell(other, 'look')
      await tell(other, 'post')
      stage.slack.meet({ listedAfterMs: 4 * SECOND })
      return stage.slack.post(message)
    }
    await tell({ ...sleeper, notifier: { ...sleeper.notifier, post } }, 'post')
    expect(shown(stage)).toHaveLength(2)
    await renew(stage, other)
    expect(await tell(other, 'look')).toEqual({ kind: 'nothing' })
    await stage.clock.advance(LANDING_MAX_MS)
    await renew(stage, other)
    await tell(other, 'look')
    expect(shown(stage)).toHaveLength(1)
    const [left] = stage.slack.messages
    expect(await stage.messagesOf(CARD)).toMatchObject([{ state: 'posted', ts: left!.ts, doubtAt: null }])
  })

  test('in the middle of a call that alone arrived has that one stand, known for what it told', async () => {
    const { stage, sleeper, other, oversleep, tell } = await openTwo()
    await using _ = stage
    const post: typeof sleeper.notifier.post = async (message) => {
      await oversleep()
      await stage.hear({ word: 'error', after: SECOND })
      await takeInDue(other)
      await tell(other, 'look')
      await stage.clock.advance(LANDING_MAX_MS)
      await renew(stage, other)
      await tell(other, 'look')
      stage.slack.meet(UNCLEAR_LOST)
      await tell(other, 'post')
      expect(await stage.messagesOf(CARD)).toMatchObject([{ state: 'unclear', bornRun: '512.1' }])
      return stage.slack.post(message)
    }
    await tell({ ...sleeper, notifier: { ...sleeper.notifier, post } }, 'post')
    const [arrived] = stage.slack.messages
    expect(await stage.messagesOf(CARD)).toMatchObject([{ state: 'posted', ts: arrived!.ts, bornRun: null }])
  })

  test('with an older edit than stands by then has it said anew', async () => {
    const { stage, sleeper, other, oversleep, tell } = await openTwo()
    await using _ = stage
    await tell(other, 'post')
    await stage.hear({ word: 'stopped', after: SECOND })
    await takeInDue(other)
    const edit: typeof sleeper.notifier.edit = async (message) => {
      await oversleep()
      return stage.slack.edit(message)
    }
    await renew(stage, sleeper)
    await tell({ ...sleeper, notifier: { ...sleeper.notifier, edit } }, 'edit')
    expect(await stage.messagesOf(CARD)).toMatchObject([{ sending: null, digest: null }])
    await renew(stage, other)
    expect(await tell(other, 'edit')).toMatchObject({ kind: 'done', outcome: { kind: 'sent' } })
  })

  test('and has not told the database yet claims nothing, which it would give back at once and claim again', async () => {
    await using stage = await openStage({ shared: true })
    const asleep: ReconcileDeps = { ...stage.embody().deps, presence: { pass: () => ({ isValid: () => false }) } }
    await renew(stage, asleep)
    await stage.hear('initiated')
    await takeInDue(asleep)
    expect(await tellNext(asleep, CARD, 'post')).toMatchObject({ kind: 'busy' })
    expect(await stage.messagesOf(CARD)).toEqual([])
  })

  test('claims nothing until it is known to be alive again', async () => {
    const { stage, sleeper, tell } = await openTwo()
    await using _ = stage
    await stage.clock.advance(PRESENCE_MS)
    expect(await tell(sleeper, 'post')).toMatchObject({ kind: 'busy' })
    await renew(stage, sleeper)
    expect(await tell(sleeper, 'post')).toMatchObject({ kind: 'done' })
  })
})

describe('a call that one process has under way', () => {
  test('keeps the others from its card and its channel, and is left when it ends', async () => {
    const { stage, sleeper, other, tell } = await openTwo()
    await using _ = stage
    const meanwhile: Told[] = []
    const post: typeof sleeper.notifier.post = async (message) => {
      meanwhile.push(await tell(other, 'post'), await tell(other, 'look'))
      return stage.slack.post(message)
    }
    await tell({ ...sleeper, notifier: { ...sleeper.notifier, post } }, 'post')
    expect(meanwhile).toMatchObject([{ kind: 'busy' }, { kind: 'busy' }])
    expect(callsOf(stage)).toEqual(['post'])
    expect(await tell(other, 'post')).toEqual({ kind: 'nothing' })
  })

  test('holds the channel for a gap after it, for the others too', async () => {
    const { stage, sleeper, other, tell } = await openTwo()
    await using _ = stage
    await stage.hear({ word: 'initiated', build: '513', commit: 'b'.repeat(40) })
    await takeInDue(other)
    await tell(sleeper, 'post')
    const [next] = await stage.store.read.dueCards('post', stage.clock.now(), 10, CARD.channel, [])
    expect(await tellNext(other, next!, 'post')).toMatchObject({ kind: 'busy' })
    await stage.clock.advance(2 * SECOND)
    expect(await tellNext(other, next!, 'post')).toMatchObject({ kind: 'done' })
  })
})
