import { describe, expect, test } from 'vitest'
import { follower, openStage, type Stage } from '../alerts/stage.ts'
import { MINUTE, SECOND, T0 } from '../support/build-events.ts'
import type { Call, Fate } from '../support/fake-notifier.ts'
import { CLOSED_WORKSPACE, limited, refusedByRates, UNCLEAR_LOST, UNSENT } from '../support/fake-notifier.ts'
import * as team from './team.ts'

const { BACK_AT, CHANNELS, GOES_AT, OUTAGE_MS } = team

/** The maximum time from Slack's return to the first message. */
const FIRST_MAX_MS = 2 * SECOND
/** A closed workspace is asked only every half minute, since a person must install a new token first. */
const FIRST_CLOSED_MAX_MS = 31 * SECOND

/** Only calls that were in flight when Slack went away. */
const CALLS_IN_VAIN_MAX = 40

const HANGS: Partial<Fate> = { ...UNCLEAR_LOST, answersAfterMs: 10 * SECOND }
const ANSWERS_LOST: Partial<Fate> = { landsAfterMs: 0, answersAfterMs: 10 * SECOND, failure: HANGS.failure! }

interface Kind {
  name: string
  fate: (call: Call) => Partial<Fate>
  firstMaxMs?: number
  builds?: number
}

/** `BUILDS=2000` plays each of them larger. */
const BUILDS = Number(process.env['BUILDS'] ?? 90)

const KINDS: readonly Kind[] = [
  { name: 'refuses connections', fate: () => UNSENT, builds: Math.max(BUILDS, 300) },
  { name: 'answers 500', fate: () => UNCLEAR_LOST },
  { name: 'takes what is sent and never answers', fate: () => HANGS },
  { name: 'does what is asked and never answers', fate: () => ANSWERS_LOST },
  { name: 'says 429 until it is back', fate: ({ at }) => limited(BACK_AT - at) },
  { name: 'has revoked the token', fate: () => CLOSED_WORKSPACE, firstMaxMs: FIRST_CLOSED_MAX_MS },
]

describe.each(KINDS)('a Slack that $name for ten minutes', ({ fate, firstMaxMs = FIRST_MAX_MS, builds = BUILDS }) => {
  test('gets everything when it is back: at once, failures first, within its limits, each card with its newest state', async () => {
    await using stage = await team.liveThroughOutage(builds, fate)
    const timeoutError = callsFrom(stage, GOES_AT, BACK_AT)
    expect(timeoutError.filter(isWrite).length).toBeLessThanOrEqual(CALLS_IN_VAIN_MAX)
    expect(timeoutError.length).toBeLessThanOrEqual(OUTAGE_MS / SECOND + CALLS_IN_VAIN_MAX)
    await stage.clock.advance(10 * MINUTE)
    const first = callsFrom(stage, BACK_AT).find(isWrite)
    expect(first!.at - BACK_AT).toBeLessThanOrEqual(firstMaxMs)
    expect(team.cardsShown(stage).toSorted()).toEqual(team.cardsWanted(builds).toSorted())
    expect(CHANNELS.filter((channel) => !team.isRedFirst(stage, channel))).toEqual([])
    expect(refusedByRates(callsFrom(stage, BACK_AT))).toEqual([])
    expect(team.repliesShown(stage).toSorted()).toEqual(team.repliesWanted(stage, builds).toSorted())
    // Builds without a card get only their newest state, and no state is sent twice.
    const after = callsFrom(stage, BACK_AT).filter(isWrite)
    expect(after.filter((call) => call.name === 'edit' && !team.stoodBefore(stage, buildOf(call)))).toEqual([])
    expect(callsFrom(stage, GOES_AT).filter((call) => team.isEnded(buildOf(call)))).toEqual([])
    const calls = stage.slack.calls.length
    await stage.clock.advance(10 * MINUTE)
    expect(stage.slack.calls.length).toBe(calls)
  })
})

const isWrite = ({ name }: Call): boolean => name === 'post' || name === 'edit'

const buildOf = ({ view }: Call): string => (view?.kind === 'card' || view?.kind === 'reply' ? view.build.buildId : '')

const callsFrom = ({ slack }: Stage, from: number, to = Number.POSITIVE_INFINITY): Call[] =>
  slack.calls.filter(({ at }) => at >= from && at < to)

test('a Slack that fails twice and then answers is not asked, and gets messages at once', async () => {
  await using stage = await openStage({ subscriptions: team.CHANNELS.map((channel) => follower(channel)) })
  stage.slack.meet(UNSENT, UNSENT)
  await stage.live()
  await stage.hear('error')
  await stage.clock.advance(2 * SECOND)
  expect(stage.slack.calls.filter(({ name }) => name === 'ping')).toEqual([])
  expect(stage.slack.messages).toHaveLength(team.CHANNELS.length)
})

test('a question that is lost while Slack returns is not waited for, nor taken for another outage', async () => {
  await using stage = await openStage()
  const backAt = T0 + 30 * SECOND + 400
  stage.slack.fate(({ at }) => (at < backAt ? HANGS : { landsAfterMs: 50 }))
  const { reconciler } = await stage.live()
  for (const build of ['1', '2', '3']) await stage.hear({ word: 'error', build, commit: build.repeat(40) })
  await stage.clock.advance(backAt - T0)
  expect(reconciler.outage()).toBe('timeout')
  await stage.clock.advance(FIRST_MAX_MS)
  expect(stage.slack.calls.findLast(({ name }) => name !== 'ping')!.at).toBeGreaterThanOrEqual(backAt)
  await stage.clock.advance(20 * SECOND)
  expect(reconciler.outage()).toBe(null)
  expect(stage.slack.messages).toHaveLength(3)
})
