import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BuildEvent } from '../../src/domain/build-event.ts'
import {
  BUILDS_PER_CARD_MAX,
  CARD_MS_MAX,
  EVENTS_PER_CARD_MAX,
  placeEvents,
  REST_MS,
  type NewestCard,
  type PlacedEvent,
} from '../../src/domain/revision.ts'
import { foldAttempts, type RestartRequest } from '../../src/domain/attempt.ts'
import { briefly, buildId, HOUR, MINUTE, SECOND, story, T0, type Said } from '../support/build-events.ts'

const unplaced = (buildEvents: readonly BuildEvent[]): PlacedEvent[] =>
  buildEvents.map((buildEvent) => ({ ...buildEvent, cardNumber: null }))

/** The card of each build event of a story that is placed at once. */
function cardNumbersOf(said: readonly (string | Said)[], asked: readonly RestartRequest[] = []): number[] {
  const buildEvents = unplaced(story(...said))
  const { placed } = placeEvents(buildEvents, null, asked)
  return buildEvents.map(({ seq }) => placed.get(seq)!)
}

const CARD: NewestCard = { cardNumber: 1, firstAt: T0, lastAt: T0, buildEvents: 1, builds: 1 }

describe('the place of a build event', () => {
  const next = (after: number, build = '513') => ({ word: 'initiated', build, after })

  it.each<[claim: string, said: (string | Said)[], cardNumbers: number[]]>([
    ['a first fact opens the first card', ['initiated'], [1]],
    ['a run stays on its card', ['initiated', 'waiting', 'success'], [1, 1, 1]],
    ['another build of the commit shares the card', ['success', next(HOUR)], [1, 1]],
    ['one that comes just before the revision rests does, too', ['success', next(REST_MS - 1)], [1, 1]],
    ['the last moment still belongs to the card', ['success', next(REST_MS)], [1, 1]],
    ['one that comes after the rest opens a new card', ['success', next(REST_MS + 1)], [1, 2]],
    [
      'the rest is counted from the last fact, not from the first',
      ['initiated', { word: 'success', after: 20 * HOUR }, next(40 * HOUR)],
      [1, 1, 1],
    ],
    [
      'a repeated fact counts as the last one, too',
      ['success', { word: 'success', after: 20 * HOUR }, next(40 * HOUR)],
      [1, 1, 1],
    ],
    [
      'a build that waited three days goes on, on the card it has',
      ['waiting', { word: 'initiated', after: 72 * HOUR }, 'success'],
      [1, 1, 1],
    ],
    ['a repetition stays on the card of its run', ['success', { word: 'success', after: 72 * HOUR }], [1, 1]],
    ['so does a late start that is repeated', ['success', 'initiated', 'initiated'], [1, 1, 1]],
    [
      'a start that comes so late that it is a restart opens a new card, though one came late before it',
      ['success', 'initiated', { word: 'initiated', after: 72 * HOUR }],
      [1, 1, 2],
    ],
    ['a late pause stays on the card of its run, too', ['success', { word: 'waiting', after: 72 * HOUR }], [1, 1]],
    ['a restart within the day shares the card', ['initiated', 'error', next(HOUR, '512')], [1, 1, 1]],
    ['a restart after the rest opens a new card', ['initiated', 'error', next(30 * HOUR, '512')], [1, 1, 2]],
    ['a different end after the rest does, too', ['error', { word: 'success', after: 30 * HOUR }], [1, 2]],
    ['every night is a card of its own', ['success', next(25 * HOUR), next(50 * HOUR, '514')], [1, 2, 3]],
    [
      'an old build that goes on does not keep the newer card awake',
      ['waiting', next(25 * HOUR), { word: 'initiated', after: 48 * HOUR }, next(50 * HOUR, '514')],
      [1, 2, 1, 3],
    ],
    [
      'an old build that is restarted goes to the newest card',
      ['initiated', 'error', next(25 * HOUR), next(26 * HOUR, '512')],
      [1, 1, 2, 2],
    ],
  ])('%s', (_, said, cardNumbers) => {
    expect(cardNumbersOf(said)).toEqual(cardNumbers)
  })

  it('knows a restart that was asked for', () => {
    const said = ['success', { word: 'initiated', after: 30 * SECOND }]
    const asked = [{ buildId: buildId('512'), at: T0 + 10 * SECOND }]
    const rested: NewestCard = { ...CARD, cardNumber: 4, lastAt: T0 - REST_MS, buildEvents: 9 }
    expect(cardNumbersOf(said, asked)).toEqual([1, 1])
    const buildEvents = unplaced(story(...said)).map((buildEvent, i) => ({
      ...buildEvent,
      cardNumber: i === 0 ? 3 : null,
    }))
    expect(placeEvents(buildEvents, rested, asked).placed.get(2)).toBe(5)
    expect(placeEvents(buildEvents, rested, []).placed.get(2)).toBe(3)
  })

  it('leaves build events alone that have theirs', () => {
    const buildEvents = story('initiated', 'success').map((buildEvent) => ({ ...buildEvent, cardNumber: 7 }))
    const newest: NewestCard = { ...CARD, cardNumber: 7, lastAt: T0 + SECOND, buildEvents: 2 }
    expect(placeEvents(buildEvents, newest)).toEqual({ placed: new Map(), newest })
  })

  it('says where the revision stands afterwards', () => {
    const { newest } = placeEvents(unplaced(story('initiated', 'success', 'success')), null)
    expect(newest).toEqual({ cardNumber: 1, firstAt: T0, lastAt: T0 + 2 * SECOND, buildEvents: 3, builds: 1 })
  })

  it('does not let our clock run back', () => {
    const newest: NewestCard = { ...CARD, firstAt: T0 + MINUTE, lastAt: T0 + HOUR }
    expect(placeEvents(unplaced(story('initiated')), newest).newest).toEqual({
      ...newest,
      firstAt: T0,
      buildEvents: 2,
      builds: 2,
    })
  })

  it.each([
    [EVENTS_PER_CARD_MAX - 1, 1],
    [EVENTS_PER_CARD_MAX, 2],
  ])(
    'finds a card that holds %i build events when the next attempt opens: it goes to card %i',
    (buildEvents, cardNumber) => {
      const newest: NewestCard = { ...CARD, lastAt: T0 - MINUTE, buildEvents }
      expect(placeEvents(unplaced(story('initiated')), newest).placed.get(1)).toBe(cardNumber)
    },
  )

  it.each([
    [BUILDS_PER_CARD_MAX - 1, 1],
    [BUILDS_PER_CARD_MAX, 2],
  ])('finds a card of %i builds when another build starts: it goes to card %i', (builds, cardNumber) => {
    expect(placeEvents(unplaced(story('initiated')), { ...CARD, builds }).placed.get(1)).toBe(cardNumber)
  })

  it('keeps a restarted build on its card, though that one has all the builds it may have', () => {
    const [first, end, again] = unplaced(story('initiated', 'error', { word: 'initiated', after: HOUR }))
    const known = [first!, end!].map((buildEvent) => ({ ...buildEvent, cardNumber: 1 }))
    const full: NewestCard = { ...CARD, lastAt: T0 + SECOND, builds: BUILDS_PER_CARD_MAX }
    expect(placeEvents([...known, again!], full).placed.get(again!.seq)).toBe(1)
  })

  it.each([
    [CARD_MS_MAX, 1],
    [CARD_MS_MAX + 1, 2],
  ])('finds a card that began %i ms ago when another build starts: it goes to card %i', (age, cardNumber) => {
    const newest: NewestCard = { ...CARD, firstAt: T0 - age, lastAt: T0 - HOUR }
    expect(placeEvents(unplaced(story('initiated')), newest).placed.get(1)).toBe(cardNumber)
  })

  it('does not move an attempt in the middle to a new card because the old one is full', () => {
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

  it('is placed the same at once and build event by build event', () => {
    fc.assert(
      fc.property(revision, (buildEvents) => {
        const atOnce = placeEvents(unplaced(buildEvents), null)
        let newest: NewestCard | null = null
        const placed: PlacedEvent[] = []
        for (const buildEvent of buildEvents) {
          const one = placeEvents([...placed, { ...buildEvent, cardNumber: null }], newest)
          placed.push({ ...buildEvent, cardNumber: one.placed.get(buildEvent.seq)! })
          newest = one.newest
        }
        expect(placed.map(({ cardNumber }) => cardNumber)).toEqual(buildEvents.map(({ seq }) => atOnce.placed.get(seq)))
        expect(newest).toEqual(atOnce.newest)
      }),
    )
  })

  it('never tears an attempt apart: each card folds into the attempts that the whole story has', () => {
    fc.assert(
      fc.property(revision, (buildEvents) => {
        const { placed } = placeEvents(unplaced(buildEvents), null)
        const cards = [...Map.groupBy(buildEvents, ({ seq }) => placed.get(seq)!).values()]
        const statusesOf = (some: readonly BuildEvent[]) =>
          briefly(foldAttempts(some))
            .map((attempt) => attempt.replace(/\.\d+/, ''))
            .sort()
        expect(cards.flatMap(statusesOf).sort()).toEqual(statusesOf(buildEvents))
      }),
    )
  })

  it('counts its cards from 1 without a gap', () => {
    fc.assert(
      fc.property(revision, (buildEvents) => {
        const { placed, newest } = placeEvents(unplaced(buildEvents), null)
        const used = [...new Set(placed.values())].sort((a, b) => a - b)
        expect(used).toEqual(Array.from({ length: newest!.cardNumber }, (_, i) => i + 1))
      }),
    )
  })
})
