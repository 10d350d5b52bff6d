import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Fact } from '../../src/domain/fact.ts'
import { FACTS_PER_CARD_MAX, placeFacts, REST_MS, type Episode, type PlacedFact } from '../../src/domain/revision.ts'
import { foldRuns, type RestartAsked } from '../../src/domain/run.ts'
import { briefly, buildId, HOUR, MINUTE, SECOND, story, T0, type Said } from '../support/facts.ts'

const unplaced = (facts: readonly Fact[]): PlacedFact[] => facts.map((fact) => ({ ...fact, episode: null }))

/** The episode of each fact of a story that is placed at once. */
function episodesOf(said: readonly (string | Said)[], asked: readonly RestartAsked[] = []): number[] {
  const facts = unplaced(story(...said))
  const { placed } = placeFacts(facts, null, asked)
  return facts.map(({ seq }) => placed.get(seq)!)
}

describe('the place of a fact', () => {
  const next = (after: number, build = '513') => ({ word: 'initiated', build, after })

  it.each<[claim: string, said: (string | Said)[], episodes: number[]]>([
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
  ])('%s', (_, said, episodes) => {
    expect(episodesOf(said)).toEqual(episodes)
  })

  it('knows a restart that was asked for', () => {
    const said = ['success', { word: 'initiated', after: 30 * SECOND }]
    const asked = [{ buildId: buildId('512'), at: T0 + 10 * SECOND }]
    const rested: Episode = { episode: 4, lastAt: T0 - REST_MS, facts: 9 }
    expect(episodesOf(said, asked)).toEqual([1, 1])
    const facts = unplaced(story(...said)).map((fact, i) => ({ ...fact, episode: i === 0 ? 3 : null }))
    expect(placeFacts(facts, rested, asked).placed.get(2)).toBe(5)
    expect(placeFacts(facts, rested, []).placed.get(2)).toBe(3)
  })

  it('leaves facts alone that have theirs', () => {
    const facts = story('initiated', 'success').map((fact) => ({ ...fact, episode: 7 }))
    const newest: Episode = { episode: 7, lastAt: T0 + SECOND, facts: 2 }
    expect(placeFacts(facts, newest)).toEqual({ placed: new Map(), newest })
  })

  it('says where the revision stands afterwards', () => {
    const { newest } = placeFacts(unplaced(story('initiated', 'success', 'success')), null)
    expect(newest).toEqual({ episode: 1, lastAt: T0 + 2 * SECOND, facts: 3 })
  })

  it('does not let our clock run back', () => {
    const newest: Episode = { episode: 1, lastAt: T0 + HOUR, facts: 1 }
    expect(placeFacts(unplaced(story('initiated')), newest).newest).toEqual({ ...newest, facts: 2 })
  })

  it.each([
    [FACTS_PER_CARD_MAX - 1, 1],
    [FACTS_PER_CARD_MAX, 2],
  ])('finds a card that holds %i facts when the next run opens: it goes to card %i', (facts, episode) => {
    const newest: Episode = { episode: 1, lastAt: T0 - MINUTE, facts }
    expect(placeFacts(unplaced(story('initiated')), newest).placed.get(1)).toBe(episode)
  })

  it('does not move a run in the middle to a new card because the old one is full', () => {
    const [first, second] = story('initiated', 'success')
    const facts = [
      { ...first!, episode: 1 },
      { ...second!, episode: null },
    ]
    const full: Episode = { episode: 1, lastAt: T0, facts: FACTS_PER_CARD_MAX }
    expect(placeFacts(facts, full).placed.get(2)).toBe(1)
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

  it('is placed the same at once and fact by fact', () => {
    fc.assert(
      fc.property(revision, (facts) => {
        const atOnce = placeFacts(unplaced(facts), null)
        let newest: Episode | null = null
        const placed: PlacedFact[] = []
        for (const fact of facts) {
          const one = placeFacts([...placed, { ...fact, episode: null }], newest)
          placed.push({ ...fact, episode: one.placed.get(fact.seq)! })
          newest = one.newest
        }
        expect(placed.map(({ episode }) => episode)).toEqual(facts.map(({ seq }) => atOnce.placed.get(seq)))
        expect(newest).toEqual(atOnce.newest)
      }),
    )
  })

  it('never tears a run apart: each card folds into the runs that the whole story has', () => {
    fc.assert(
      fc.property(revision, (facts) => {
        const { placed } = placeFacts(unplaced(facts), null)
        const cards = [...Map.groupBy(facts, ({ seq }) => placed.get(seq)!).values()]
        const statusesOf = (some: readonly Fact[]) =>
          briefly(foldRuns(some))
            .map((run) => run.replace(/\.\d+/, ''))
            .sort()
        expect(cards.flatMap(statusesOf).sort()).toEqual(statusesOf(facts))
      }),
    )
  })

  it('counts its cards from 1 without a gap', () => {
    fc.assert(
      fc.property(revision, (facts) => {
        const { placed, newest } = placeFacts(unplaced(facts), null)
        const used = [...new Set(placed.values())].sort((a, b) => a - b)
        expect(used).toEqual(Array.from({ length: newest!.episode }, (_, i) => i + 1))
      }),
    )
  })
})
