import { describe, expect, it } from 'vitest'
import { HOUR, messageTs, MINUTE, SECOND, T0, type Said } from '../../support/build-events.ts'
import { told } from '../support/telling.ts'

describe('the card', () => {
  it.each([
    ['initiated', 'started'],
    ['testing', 'started'],
    ['waiting', 'waiting'],
    ['success', 'passed'],
    ['error', 'failed'],
    ['failed', 'failed'],
    ['stopped', 'stopped'],
    ['infrastructure_failure', 'infrastructure_failure'],
    ['ignored', 'ignored'],
    ['blocked', 'blocked'],
    ['paused', 'unknown'],
  ])('shows %s as %s', (word, shown) => {
    expect(told([word]).card).toMatchObject({ kind: 'card', shown, word, attemptNumber: 1 })
  })

  it('shows a success after a failure of the same commit as flaky, with the red time before', () => {
    const { card } = told(['error', 'success'])
    expect(card).toMatchObject({ shown: 'flaky', streak: { builds: 1 } })
  })

  it('shows the newest attempt, even if an older one is received later', () => {
    const { card } = told([
      { word: 'initiated', build: '513' },
      { word: 'error', build: '512' },
    ])
    expect(card).toMatchObject({ shown: 'started', attemptNumber: 2, build: { buildId: '513' } })
  })

  it('shows the newest attempt by ids beyond 2^53', () => {
    const { card } = told([
      { word: 'success', build: '9007199254740993' },
      { word: 'error', build: '9007199254740992' },
    ])
    expect(card).toMatchObject({ shown: 'flaky', build: { buildId: '9007199254740993' } })
  })

  it('numbers restarts of the same build and restarts as new builds alike', () => {
    const said = ['initiated', 'error', 'initiated', 'error', { word: 'initiated', build: '513' }]
    expect(told(said).card.attemptNumber).toBe(3)
  })

  it.each(['queued', 'skipped'])('does not count an earlier build that is %s', (word) => {
    expect(told([word, { word: 'initiated', build: '513' }]).card.attemptNumber).toBe(1)
  })

  it.each<[claim: string, said: (string | Said)[], history: object[], durationMs: number | null]>([
    ['a running build started', ['initiated'], [{ what: 'started', at: T0 }], null],
    [
      'a finished build has a start, an end and a duration',
      ['initiated', { word: 'error', after: 7 * MINUTE }],
      [
        { what: 'started', at: T0 },
        { what: 'ended', at: T0 + 7 * MINUTE },
      ],
      7 * MINUTE,
    ],
    ['a build without a known start only ended', ['error'], [{ what: 'ended', at: T0 }], null],
    [
      'a waiting build says since when',
      ['initiated', 'waiting', 'waiting'],
      [
        { what: 'started', at: T0 },
        { what: 'waiting', at: T0 + SECOND },
      ],
      null,
    ],
    [
      'a late start does not say when the build started',
      ['error', { word: 'initiated', after: SECOND }],
      [{ what: 'ended', at: T0 }],
      null,
    ],
    [
      'a build that waited before does not say so',
      ['waiting', 'initiated'],
      [{ what: 'started', at: T0 + SECOND }],
      null,
    ],
    ['an unknown word says when it was received', ['paused'], [{ what: 'received', at: T0 }], null],
    [
      'an end before the start counts as missing',
      [
        { word: 'initiated', after: MINUTE },
        { word: 'error', after: 3 * MINUTE, details: { finishedAt: T0 } },
      ],
      [
        { what: 'started', at: T0 + MINUTE },
        { what: 'ended', at: T0 + 3 * MINUTE },
      ],
      2 * MINUTE,
    ],
    [
      'an end that CI only showed when asked has the time of that answer too',
      ['initiated', { word: 'error', after: 2 * MINUTE, origin: 'poll', details: { finishedAt: T0 + MINUTE } }],
      [
        { what: 'started', at: T0 },
        { what: 'ended', at: T0 + MINUTE },
        { what: 'snapshot', at: T0 + 2 * MINUTE },
      ],
      MINUTE,
    ],
    [
      'an end that CI showed long after it is late',
      ['initiated', { word: 'error', after: HOUR, origin: 'poll', details: { finishedAt: T0 + MINUTE } }],
      [
        { what: 'started', at: T0 },
        { what: 'late', at: T0 + MINUTE },
      ],
      MINUTE,
    ],
    [
      'a source with numbered attempts, asked every minute anyway, is late after five minutes',
      ['initiated', { word: 'error', after: HOUR, details: { attempt: 1, finishedAt: T0 + MINUTE } }],
      [
        { what: 'started', at: T0 },
        { what: 'late', at: T0 + MINUTE },
      ],
      MINUTE,
    ],
    [
      'such a source is not late before that',
      ['initiated', { word: 'error', after: 3 * MINUTE, details: { attempt: 1, finishedAt: T0 + MINUTE } }],
      [
        { what: 'started', at: T0 },
        { what: 'ended', at: T0 + MINUTE },
      ],
      MINUTE,
    ],
    [
      'a look at a build that still runs is not shown',
      ['waiting', { word: 'initiated', after: HOUR, origin: 'poll' }],
      [{ what: 'started', at: T0 + HOUR }],
      null,
    ],
    [
      'only the newest attempt has a history',
      ['initiated', 'error', { word: 'initiated', after: MINUTE }],
      [{ what: 'started', at: T0 + MINUTE }],
      null,
    ],
  ])('has the history: %s', (_, said, history, durationMs) => {
    expect(told(said).card).toMatchObject({ history, durationMs })
  })

  it('links to the card that it replaces', () => {
    const gone = messageTs('1700000000.000100')
    expect(told(['error'], { replaces: gone }).card.replaces).toBe(gone)
    expect(told(['error']).card.replaces).toBeNull()
  })

  it('alone changes while a build starts and waits: there are no replies', () => {
    expect(told(['initiated', 'waiting', 'initiated']).replies).toEqual([])
  })

  it('is equal for equal events, and for repeated events', () => {
    expect(told(['initiated', 'error'])).toEqual(told(['initiated', 'error']))
    expect(told(['initiated', { word: 'error', after: SECOND }, 'error', 'waiting']).replies).toEqual(
      told(['initiated', { word: 'error', after: SECOND }]).replies,
    )
  })
})
