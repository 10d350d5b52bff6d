import { describe, expect, it } from 'vitest'
import { HOUR, messageTs, MINUTE, SECOND, T0, type Said } from '../support/build-events.ts'
import { told } from './support/telling.ts'

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

  it('shows a success after a failure of the same commit as flaky, and how long it was red', () => {
    const { card } = told(['error', 'success'])
    expect(card).toMatchObject({ shown: 'flaky', streak: { builds: 1 } })
  })

  it('shows the newest attempt, whichever was heard of last', () => {
    const { card } = told([
      { word: 'initiated', build: '513' },
      { word: 'error', build: '512' },
    ])
    expect(card).toMatchObject({ shown: 'started', attemptNumber: 2, build: { buildId: '513' } })
  })

  it('shows the newest attempt beyond 2^53', () => {
    const { card } = told([
      { word: 'success', build: '9007199254740993' },
      { word: 'error', build: '9007199254740992' },
    ])
    expect(card).toMatchObject({ shown: 'flaky', build: { buildId: '9007199254740993' } })
  })

  it('counts restarts that keep the build id and restarts that bring a new one as attempts', () => {
    const said = ['initiated', 'error', 'initiated', 'error', { word: 'initiated', build: '513' }]
    expect(told(said).card.attemptNumber).toBe(3)
  })

  it.each<[claim: string, said: (string | Said)[], history: object[], durationMs: number | null]>([
    ['a running build started', ['initiated'], [{ what: 'started', at: T0 }], null],
    [
      'a finished build started, ended, and took some time',
      ['initiated', { word: 'error', after: 7 * MINUTE }],
      [
        { what: 'started', at: T0 },
        { what: 'ended', at: T0 + 7 * MINUTE },
      ],
      7 * MINUTE,
    ],
    ['a build of which only the end is known only ended', ['error'], [{ what: 'ended', at: T0 }], null],
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
      'a build that no longer waits does not say so',
      ['waiting', 'initiated'],
      [{ what: 'started', at: T0 + SECOND }],
      null,
    ],
    ['an unknown word says when it was heard', ['paused'], [{ what: 'received', at: T0 }], null],
    [
      'an end before the start took no time that we know',
      [
        { word: 'initiated', after: MINUTE },
        { word: 'error', details: { finishedAt: T0 } },
      ],
      [
        { what: 'started', at: T0 + MINUTE },
        { what: 'ended', at: T0 },
      ],
      null,
    ],
    [
      'an end that CI told only when it was asked says so, and when',
      ['initiated', { word: 'error', after: 2 * MINUTE, origin: 'poll', details: { finishedAt: T0 + MINUTE } }],
      [
        { what: 'started', at: T0 },
        { what: 'ended', at: T0 + MINUTE },
        { what: 'snapshot', at: T0 + 2 * MINUTE },
      ],
      MINUTE,
    ],
    [
      'and long after it that it is told late',
      ['initiated', { word: 'error', after: HOUR, origin: 'poll', details: { finishedAt: T0 + MINUTE } }],
      [
        { what: 'started', at: T0 },
        { what: 'late', at: T0 + MINUTE },
      ],
      MINUTE,
    ],
    [
      'a source that names attempts and is asked every minute in any case is late after five',
      ['initiated', { word: 'error', after: HOUR, details: { attempt: 1, finishedAt: T0 + MINUTE } }],
      [
        { what: 'started', at: T0 },
        { what: 'late', at: T0 + MINUTE },
      ],
      MINUTE,
    ],
    [
      'and not before',
      ['initiated', { word: 'error', after: 3 * MINUTE, details: { attempt: 1, finishedAt: T0 + MINUTE } }],
      [
        { what: 'started', at: T0 },
        { what: 'ended', at: T0 + MINUTE },
      ],
      MINUTE,
    ],
    [
      'that it was asked about a build that runs still is no news',
      ['waiting', { word: 'initiated', after: HOUR, origin: 'poll' }],
      [{ what: 'started', at: T0 + HOUR }],
      null,
    ],
    [
      'only the newest run has its history told',
      ['initiated', 'error', { word: 'initiated', after: MINUTE }],
      [{ what: 'started', at: T0 + MINUTE }],
      null,
    ],
  ])('tells what happened: %s', (_, said, history, durationMs) => {
    expect(told(said).card).toMatchObject({ history, durationMs })
  })

  it('names the card that it replaces', () => {
    const gone = messageTs('1700000000.000100')
    expect(told(['error'], { replaces: gone }).card.replaces).toBe(gone)
    expect(told(['error']).card.replaces).toBeNull()
  })

  it('is all that changes while a build starts and waits', () => {
    expect(told(['initiated', 'waiting', 'initiated']).replies).toEqual([])
  })

  it('is equal for equal build events, and for build events that were repeated', () => {
    expect(told(['initiated', 'error'])).toEqual(told(['initiated', 'error']))
    expect(told(['initiated', { word: 'error', after: SECOND }, 'error', 'waiting']).replies).toEqual(
      told(['initiated', { word: 'error', after: SECOND }]).replies,
    )
  })
})
