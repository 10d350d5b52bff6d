import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BuildEvent } from '../../../src/domain/builds/build-event.ts'
import {
  BUILDS_PER_CARD_MAX,
  CARD_MS_MAX,
  EVENTS_PER_CARD_MAX,
  placeEvents,
  REST_MS,
  type NewestCard,
} from '../../../src/domain/builds/revision.ts'
import { foldAttempts, type RestartRequest } from '../../../src/domain/builds/attempt.ts'
import { briefly, buildId, HOUR, MINUTE, SECOND, story, T0, type Said } from '../../support/build-events.ts'

/** The card of each build event of a story whose events are placed one by one. */
function cardNumbersOf(said: readonly (string | Said)[], asked: readonly RestartRequest[] = []): number[] {
  const buildEvents = story(...said)
  const { placed } = placeEvents(buildEvents, null, asked)
  return buildEvents.map(({ seq }) => placed.get(seq)!)
}

const CARD: NewestCard = { cardNumber: 1, firstAt: T0, lastAt: T0, buildEvents: 1, builds: 1 }

describe('the card of a build event', () => {
  const next = (after: number, build = '513') => ({ word: 'initiated', build, after })

  it.each<[claim: string, said: (string | Said)[], cardNumbers: number[]]>([
    ['a first event opens the first card', ['initiated'], [1]],
    ['an attempt stays on its card', ['initiated', 'waiting', 'success'], [1, 1, 1]],
    ['another build of the commit shares the card', ['success', next(HOUR)], [1, 1]],
    ['a build just before the end of the rest shares it', ['success', next(REST_MS - 1)], [1, 1]],
    ['a build at the end of the rest shares it', ['success', next(REST_MS)], [1, 1]],
    ['a build after the rest opens a new card', ['success', next(REST_MS + 1)], [1, 2]],
    [
      'the rest counts from the last event, not from the first',
      ['initiated', { word: 'success', after: 20 * HOUR }, next(40 * HOUR)],
      [1, 1, 1],
    ],
    [
      'the rest counts from a repeated event too',
      ['success', { word: 'success', after: 20 * HOUR }, next(40 * HOUR)],
      [1, 1, 1],
    ],
    [
      'a build that waited for three days continues on its card',
      ['waiting', { word: 'initiated', after: 72 * HOUR }, 'success'],
      [1, 1, 1],
    ],
    ['a repetition stays on the card of its attempt', ['success', { word: 'success', after: 72 * HOUR }], [1, 1]],
    ['a repeated late start stays there', ['success', 'initiated', 'initiated'], [1, 1, 1]],
    [
      'a start that comes late enough to be a restart opens a new card, even after a late start',
      ['success', 'initiated', { word: 'initiated', after: 72 * HOUR }],
      [1, 1, 2],
    ],
    ['a late pause stays on its card', ['success', { word: 'waiting', after: 72 * HOUR }], [1, 1]],
    ['a restart within the day shares the card', ['initiated', 'error', next(HOUR, '512')], [1, 1, 1]],
    ['a restart after the rest opens a new card', ['initiated', 'error', next(30 * HOUR, '512')], [1, 1, 2]],
    ['a different end after the rest opens one', ['error', { word: 'success', after: 30 * HOUR }], [1, 2]],
    ['each nightly build gets a new card', ['success', next(25 * HOUR), next(50 * HOUR, '514')], [1, 2, 3]],
    [
      'an old build that continues does not prolong the newer card',
      ['waiting', next(25 * HOUR), { word: 'initiated', after: 48 * HOUR }, next(50 * HOUR, '514')],
      [1, 2, 1, 3],
    ],
    [
      'a restarted old build goes to the newest card',
      ['initiated', 'error', next(25 * HOUR), next(26 * HOUR, '512')],
      [1, 1, 2, 2],
    ],
  ])('%s', (_, said, cardNumbers) => {
    expect(cardNumbersOf(said)).toEqual(cardNumbers)
  })

  it('is a new one for a requested restart after the rest', () => {
    const said = ['success', { word: 'initiated', after: 30 * SECOND }]
    const asked = [{ buildId: buildId('512'), at: T0 + 10 * SECOND }]
    const rested: NewestCard = { ...CARD, cardNumber: 4, lastAt: T0 - REST_MS, buildEvents: 9 }
    expect(cardNumbersOf(said, asked)).toEqual([1, 1])
    const buildEvents = story(...said).map((buildEvent, i) => ({
      ...buildEvent,
      cardNumber: i === 0 ? 3 : null,
    }))
    expect(placeEvents(buildEvents, rested, asked).placed.get(2)).toBe(5)
    expect(placeEvents(buildEvents, rested, []).placed.get(2)).toBe(3)
  })

  it('stays the same for events that have one', () => {
    const buildEvents = story('initiated', 'success').map((buildEvent) => ({ ...buildEvent, cardNumber: 7 }))
    const newest: NewestCard = { ...CARD, cardNumber: 7, lastAt: T0 + SECOND, buildEvents: 2 }
    expect(placeEvents(buildEvents, newest)).toEqual({ placed: new Map(), newest })
  })

  it('is the newest card afterwards, with its times and counts', () => {
    const { newest } = placeEvents(story('initiated', 'success', 'success'), null)
    expect(newest).toEqual({ cardNumber: 1, firstAt: T0, lastAt: T0 + 2 * SECOND, buildEvents: 3, builds: 1 })
  })

  it('does not get a last time that lies before the previous one', () => {
    const newest: NewestCard = { ...CARD, firstAt: T0 + MINUTE, lastAt: T0 + HOUR }
    expect(placeEvents(story('initiated'), newest).newest).toEqual({
      ...newest,
      firstAt: T0,
      buildEvents: 2,
      builds: 2,
    })
  })

  it.each([
    [EVENTS_PER_CARD_MAX - 1, 1],
    [EVENTS_PER_CARD_MAX, 2],
  ])('is full at a limit: a card with %i events, for a new attempt, leads to card %i', (buildEvents, cardNumber) => {
    const newest: NewestCard = { ...CARD, lastAt: T0 - MINUTE, buildEvents }
    expect(placeEvents(story('initiated'), newest).placed.get(1)).toBe(cardNumber)
  })

  it.each([
    [BUILDS_PER_CARD_MAX - 1, 1],
    [BUILDS_PER_CARD_MAX, 2],
  ])('is full at a limit: a card with %i builds, for another build, leads to card %i', (builds, cardNumber) => {
    expect(placeEvents(story('initiated'), { ...CARD, builds }).placed.get(1)).toBe(cardNumber)
  })

  it('stays the same for a restarted build even if the card has all the builds it may have', () => {
    const [first, end, again] = story('initiated', 'error', { word: 'initiated', after: HOUR })
    const known = [first!, end!].map((buildEvent) => ({ ...buildEvent, cardNumber: 1 }))
    const full: NewestCard = { ...CARD, lastAt: T0 + SECOND, builds: BUILDS_PER_CARD_MAX }
    expect(placeEvents([...known, again!], full).placed.get(again!.seq)).toBe(1)
  })

  it.each([
    [CARD_MS_MAX, 1],
    [CARD_MS_MAX + 1, 2],
  ])('is full at a limit: a card that began %i ms ago, for another build, leads to card %i', (age, cardNumber) => {
    const newest: NewestCard = { ...CARD, firstAt: T0 - age, lastAt: T0 - HOUR }
    expect(placeEvents(story('initiated'), newest).placed.get(1)).toBe(cardNumber)
  })

  it('stays the same for an attempt that has begun, even if the card is full', () => {
    const [first, second] = story('initiated', 'success')
    const buildEvents = [
      { ...first!, cardNumber: 1 },
      { ...second!, cardNumber: null },
    ]
    const full: NewestCard = { ...CARD, buildEvents: EVENTS_PER_CARD_MAX, builds: BUILDS_PER_CARD_MAX }
    expect(placeEvents(buildEvents, full).placed.get(2)).toBe(1)
  })
})

describe('any story of a revision', () => {
  const step = fc.record({
    word: fc.constantFrom('initiated', 'waiting', 'success', 'error', 'stopped', 'paused'),
    build: fc.constantFrom('512', '513'),
    gap: fc.oneof(fc.nat(2 * MINUTE), fc.nat(2 * REST_MS)),
  })
  const revision = fc.array(step, { minLength: 1, maxLength: 14 }).map((steps) => {
    let after = 0
    return story(...steps.map(({ word, build, gap }) => ({ word, build, after: (after += gap) })))
  })

  it('is placed the same all at once and event by event', () => {
    fc.assert(
      fc.property(revision, (buildEvents) => {
        const atOnce = placeEvents(buildEvents, null)
        let newest: NewestCard | null = null
        const placed: BuildEvent[] = []
        for (const buildEvent of buildEvents) {
          const one = placeEvents([...placed, buildEvent], newest)
          placed.push({ ...buildEvent, cardNumber: one.placed.get(buildEvent.seq)! })
          newest = one.newest
        }
        expect(placed.map(({ cardNumber }) => cardNumber)).toEqual(buildEvents.map(({ seq }) => atOnce.placed.get(seq)))
        expect(newest).toEqual(atOnce.newest)
      }),
    )
  })

  it('never splits an attempt between two cards', () => {
    fc.assert(
      fc.property(revision, (buildEvents) => {
        const { placed } = placeEvents(buildEvents, null)
        const cards = [...Map.groupBy(buildEvents, ({ seq }) => placed.get(seq)!).values()]
        const statusesOf = (some: readonly BuildEvent[]) =>
          briefly(foldAttempts(some))
            .map((attempt) => attempt.replace(/\.\d+/, ''))
            .sort()
        expect(cards.flatMap(statusesOf).sort()).toEqual(statusesOf(buildEvents))
      }),
    )
  })

  it('numbers its cards from 1 without gaps', () => {
    fc.assert(
      fc.property(revision, (buildEvents) => {
        const { placed, newest } = placeEvents(buildEvents, null)
        const used = [...new Set(placed.values())].sort((a, b) => a - b)
        expect(used).toEqual(Array.from({ length: newest!.cardNumber }, (_, i) => i + 1))
      }),
    )
  })
})
