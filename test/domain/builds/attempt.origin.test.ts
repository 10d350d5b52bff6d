import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Origin } from '../../../src/domain/builds/build-event.ts'
import { effectsOf, foldBuild, LATE_START_MS } from '../../../src/domain/builds/attempt.ts'
import { briefly, buildId, MINUTE, SECOND, story, T0, type Said } from '../../support/build-events.ts'

// Lin requests a restart of build 512 two minutes after it began, one minute after it failed.
const REQUESTED_AT = 2 * MINUTE
const ASKED = [{ buildId: buildId('512'), at: T0 + REQUESTED_AT }]

const failed: readonly Said[] = [
  { word: 'initiated', after: 0 },
  { word: 'error', after: MINUTE },
]
/** The event that Buildline records when CI accepts the restart. */
const ours = (after = REQUESTED_AT + SECOND): Said => ({ word: 'initiated', after, origin: 'action' })
const said = (word: string, after: number): Said => ({ word, after: REQUESTED_AT + after })
const snapshot = (word: string, after: number): Said => ({ ...said(word, after), origin: 'poll' })

describe('in the fold of a build that was restarted through us', () => {
  it.each<[claim: string, said: Said[], attempts: string[], effects: string[]]>([
    ['our own event opens the attempt', [ours()], ['512.1 failed', '512.2 started'], ['opened']],
    [
      'a start that CI delivers after our event is the same start',
      [ours(), said('initiated', 2 * SECOND)],
      ['512.1 failed', '512.2 started'],
      ['opened', 'duplicate'],
    ],
    [
      'a start that CI delivered before our event is the same start',
      [said('initiated', 0), ours()],
      ['512.1 failed', '512.2 started'],
      ['opened', 'duplicate'],
    ],
    [
      'a start that is delivered late, after the end, opens no attempt',
      [ours(), said('success', 5 * SECOND), said('initiated', 6 * SECOND)],
      ['512.1 failed', '512.2 success'],
      ['opened', 'moved', 'late'],
    ],
    [
      'a start after one that was delivered in time is a restart',
      [ours(), said('initiated', 2 * SECOND), said('error', 5 * SECOND), said('initiated', 6 * SECOND)],
      ['512.1 failed', '512.2 failed', '512.3 started'],
      ['opened', 'duplicate', 'moved', 'opened'],
    ],
    [
      'a start after one that only a lookup has shown may be the same start',
      [ours(), snapshot('initiated', 2 * SECOND), said('error', 5 * SECOND), said('initiated', 6 * SECOND)],
      ['512.1 failed', '512.2 failed'],
      ['opened', 'duplicate', 'moved', 'duplicate'],
    ],
    [
      'a start long after the end is a restart, whatever came before',
      [ours(), said('error', 5 * SECOND), said('initiated', 6 * SECOND + LATE_START_MS)],
      ['512.1 failed', '512.2 failed', '512.3 started'],
      ['opened', 'moved', 'opened'],
    ],
    [
      'our event opens no attempt if it comes after the end of its attempt',
      [said('initiated', SECOND), said('error', 2 * SECOND), ours(REQUESTED_AT + 3 * SECOND)],
      ['512.1 failed', '512.2 failed'],
      ['opened', 'moved', 'late'],
    ],
    [
      'our event opens no attempt even long after that end',
      [said('initiated', SECOND), said('success', 2 * SECOND), ours(REQUESTED_AT + 3 * SECOND + LATE_START_MS)],
      ['512.1 failed', '512.2 success'],
      ['opened', 'moved', 'late'],
    ],
    [
      'an end that a lookup shows ends the attempt',
      [ours(), snapshot('success', 5 * SECOND)],
      ['512.1 failed', '512.2 success'],
      ['opened', 'moved'],
    ],
    [
      'a delivery of the end that a lookup has shown is a duplicate',
      [ours(), snapshot('success', 5 * SECOND), said('success', 6 * SECOND)],
      ['512.1 failed', '512.2 success'],
      ['opened', 'moved', 'duplicate'],
    ],
    [
      'deliveries long after a lookup has shown the end belong to the same attempt',
      [
        ours(),
        snapshot('success', 5 * SECOND),
        said('initiated', 6 * SECOND + LATE_START_MS),
        said('success', 7 * SECOND + LATE_START_MS),
      ],
      ['512.1 failed', '512.2 success'],
      ['opened', 'moved', 'late', 'duplicate'],
    ],
    [
      'after a lookup has shown the end, the second delivered start is a restart',
      [
        ours(),
        snapshot('success', 5 * SECOND),
        said('initiated', 6 * SECOND + LATE_START_MS),
        said('initiated', 7 * SECOND + LATE_START_MS),
      ],
      ['512.1 failed', '512.2 success', '512.3 started'],
      ['opened', 'moved', 'late', 'opened'],
    ],
    [
      'an attempt whose end arrives before its start is one attempt',
      [said('success', 5 * SECOND), said('initiated', 6 * SECOND)],
      ['512.1 failed', '512.2 success'],
      ['opened', 'late'],
    ],
  ])('%s', (_, more, attempts, effects) => {
    const buildEvents = story(...failed, ...more)
    expect(briefly(foldBuild(buildEvents, ASKED).attempts)).toEqual(attempts)
    expect(foldBuild(buildEvents, ASKED).effects).toEqual(['opened', 'moved', ...effects])
  })

  it('a new build id has a first attempt, whether our event or one of CI comes first', () => {
    const anew = (more: Said[]) => briefly(foldBuild(story(...more), ASKED).attempts)
    expect(anew([ours()])).toEqual(['512.1 started'])
    expect(anew([ours(), said('initiated', 2 * SECOND), said('error', 3 * SECOND)])).toEqual(['512.1 failed'])
    expect(anew([said('initiated', 0), said('error', SECOND), ours(REQUESTED_AT + 2 * SECOND)])).toEqual([
      '512.1 failed',
    ])
  })

  it('our event opens no attempt after an end without a request', () => {
    expect(briefly(foldBuild(story(...failed, ours())).attempts)).toEqual(['512.1 failed'])
  })
})

describe('in the fold of a build that a lookup has shown', () => {
  const shown = (word: string, after: number, origin: Origin = 'poll'): Said => ({ word, after, origin })
  const delivered = (word: string, after: number): Said => ({ word, after })
  const LONG = 10 * MINUTE

  it.each<[claim: string, said: Said[], attempts: string[], effects: string[]]>([
    [
      'later deliveries belong to the same attempt, however late they are',
      [shown('error', 0), delivered('initiated', LONG), delivered('error', LONG + SECOND)],
      ['512.1 failed'],
      ['opened', 'late', 'duplicate'],
    ],
    [
      'later deliveries also belong to it if an earlier lookup has shown the start',
      [shown('initiated', 0), shown('error', MINUTE), delivered('initiated', LONG), delivered('error', LONG + SECOND)],
      ['512.1 failed'],
      ['opened', 'moved', 'late', 'duplicate'],
    ],
    [
      'the second delivered start is a restart',
      [shown('error', 0), delivered('initiated', LONG), delivered('initiated', LONG + MINUTE)],
      ['512.1 failed', '512.2 started'],
      ['opened', 'late', 'opened'],
    ],
    [
      'an end may be delivered before its start',
      [shown('initiated', 0), delivered('error', SECOND), delivered('initiated', 2 * SECOND)],
      ['512.1 failed'],
      ['opened', 'moved', 'late'],
    ],
    [
      'a lookup just after a delivered end may still show the state before it',
      [delivered('initiated', 0), delivered('error', MINUTE), shown('initiated', MINUTE + SECOND)],
      ['512.1 failed'],
      ['opened', 'moved', 'late'],
    ],
    [
      'a start that a lookup shows long after the end is a restart',
      [delivered('initiated', 0), delivered('error', MINUTE), shown('initiated', LONG), shown('error', LONG)],
      ['512.1 failed', '512.2 failed'],
      ['opened', 'moved', 'opened', 'moved'],
    ],
    [
      'a delivered end is news even if it is recorded as history already',
      [shown('error', 0, 'history'), delivered('initiated', LONG), delivered('error', LONG + SECOND)],
      ['512.1 failed'],
      ['opened', 'late', 'moved'],
    ],
    [
      'a start that is recorded as history is news only once',
      [shown('initiated', 0, 'history'), delivered('initiated', SECOND), delivered('initiated', 2 * SECOND)],
      ['512.1 started'],
      ['opened', 'moved', 'duplicate'],
    ],
    [
      'an end that is recorded as history is not news if a lookup shows it again',
      [shown('error', 0, 'history'), shown('error', LONG)],
      ['512.1 failed'],
      ['opened', 'duplicate'],
    ],
  ])('%s', (_, all, attempts, effects) => {
    const buildEvents = story(...all)
    expect(briefly(foldBuild(buildEvents).attempts)).toEqual(attempts)
    expect(foldBuild(buildEvents).effects).toEqual(effects)
  })
})

describe('an attempt that was restarted through us', () => {
  const second = (...more: Said[]) => foldBuild(story(...failed, ...more), ASKED).attempts[1]!

  it.each<[claim: string, more: Said[], isConfirmedByCi: boolean]>([
    ['only our own event', [ours()], false],
    ['a start that CI delivers', [ours(), said('initiated', 2 * SECOND)], true],
    ['a start that a lookup shows', [ours(), snapshot('initiated', 2 * SECOND)], true],
    ['an end that CI delivers', [ours(), said('error', 2 * SECOND)], true],
    ['no event of our own', [said('initiated', 0)], true],
  ])('is confirmed by CI after %s: %s', (_, more, isConfirmedByCi) => {
    expect(second(...more).isConfirmedByCi).toBe(isConfirmedByCi)
  })

  it('started when our event says, until CI gives the time', () => {
    expect(second(ours(REQUESTED_AT)).startedAt).toBe(T0 + REQUESTED_AT)
    expect(second(ours(REQUESTED_AT), said('initiated', SECOND)).startedAt).toBe(T0 + REQUESTED_AT + SECOND)
    expect(second(ours(REQUESTED_AT), said('success', MINUTE), said('initiated', MINUTE + SECOND)).startedAt).toBe(
      T0 + REQUESTED_AT,
    )
  })
})

describe('any sequence of events of one build', () => {
  const word = fc.constantFrom('initiated', 'waiting', 'success', 'error', 'stopped', 'paused')
  const step = fc.record({ word, gap: fc.nat(2 * LATE_START_MS), origin: fc.constantFrom<Origin>('delivery', 'poll') })
  const anyStory = fc.array(step, { maxLength: 10 }).map((steps) => {
    let after = 0
    return steps.map(({ gap, ...one }): Said => ({ ...one, after: (after += gap) }))
  })
  const asking = fc.option(
    fc.nat(10 * MINUTE).map((after) => [{ buildId: buildId('512'), at: T0 + after }]),
    { nil: [] },
  )

  it('has no more attempts if some of them come from a lookup and not from a delivery', () => {
    fc.assert(
      fc.property(anyStory, asking, (steps, asked) => {
        const delivered = steps.map((one): Said => ({ ...one, origin: 'delivery' }))
        const { length } = foldBuild(story(...delivered), asked).attempts
        expect(foldBuild(story(...steps), asked).attempts.length).toBeLessThanOrEqual(length)
      }),
    )
  })

  it('gets at most one attempt more from our own event, and none without a request', () => {
    fc.assert(
      fc.property(
        anyStory.filter((steps) => steps.length > 0),
        asking,
        fc.nat(10),
        (steps, asked, place) => {
          const before = steps.slice(0, place)
          const last = steps[Math.min(place, steps.length) - 1]?.after ?? 0
          const buildEvents = story(...before, ours(last), ...steps.slice(place))
          const isFirst = before.length === 0
          const effect = foldBuild(buildEvents, asked).effects[before.length]!
          if (effect === 'opened' && !isFirst) expect(asked).not.toEqual([])
          const attempts = foldBuild(buildEvents, asked).attempts.length
          expect(attempts).toBeLessThanOrEqual(foldBuild(story(...steps), asked).attempts.length + 1)
        },
      ),
    )
  })

  it('has the same effects in effectsOf as in the fold', () => {
    fc.assert(
      fc.property(anyStory, asking, (steps, asked) => {
        const buildEvents = story(...steps)
        expect(effectsOf(buildEvents, asked)).toEqual(foldBuild(buildEvents, asked).effects)
      }),
    )
  })
})
