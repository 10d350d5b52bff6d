import { describe, expect, it } from 'vitest'
import type { Attempt } from '../../../src/domain/builds/attempt.ts'
import { postedAttemptOf, type Story } from '../../../src/domain/cards/story.ts'
import { MINUTE, attemptsOf, SECOND, type Said } from '../../support/build-events.ts'
import { ADA, slots, told, toldOfBorn } from '../support/telling.ts'

describe('the thread', () => {
  it.each<[claim: string, said: (string | Said)[], replies: string[]]>([
    ['has a reply for an attempt that passed', ['initiated', 'success'], ['run:512.1 passed']],
    ['has a reply for an attempt that failed', ['initiated', 'error'], ['run:512.1 failed']],
    ['has a reply for a machine error', ['initiated', 'infrastructure_failure'], ['run:512.1 infrastructure_failure']],
    ['has a reply for a stopped attempt', ['initiated', 'stopped'], ['run:512.1 stopped']],
    ['has none for an ignored build', ['ignored'], []],
    ['has none for a blocked build', ['blocked'], []],
    ['has none for an unknown word', ['initiated', 'paused'], []],
    ['has one reply if the end was received twice', ['initiated', 'error', 'failed'], ['run:512.1 failed']],
    [
      'has one for each attempt',
      ['initiated', 'error', 'initiated', 'success'],
      ['run:512.1 failed', 'run:512.2 flaky'],
    ],
    ['has none for an attempt that is running', ['initiated', 'error', 'initiated'], ['run:512.1 failed']],
    [
      'has one for each build of the commit, oldest first',
      [
        { word: 'success', build: '514' },
        { word: 'error', build: '513' },
      ],
      ['run:513.1 failed', 'run:514.1 flaky'],
    ],
  ])('%s', (_, said, replies) => {
    expect(slots(told(said))).toEqual(replies)
  })

  it('has no reply for an outcome that this channel did not select', () => {
    const story = told(['initiated', 'error', 'initiated', 'success'], {
      isAnnounced: (attempt) => attempt.status === 'success',
    })
    expect(slots(story)).toEqual(['run:512.2 flaky'])
    expect(told(['initiated', 'error'], { isAnnounced: () => false }).replies).toEqual([])
  })

  it('says in each reply which attempt it is about, how long it took, and whether it is the newest', () => {
    const said = ['initiated', { word: 'error', after: MINUTE }, 'initiated', { word: 'success', after: 3 * MINUTE }]
    const { replies } = told(said)
    expect(replies.map(({ newest, view }) => [newest, view.attemptNumber, view.durationMs])).toEqual([
      [false, 1, MINUTE],
      [true, 2, 2 * MINUTE - SECOND],
    ])
  })

  it('marks a reply that is no longer the newest', () => {
    expect(told(['initiated', 'error']).replies.at(-1)!.newest).toBe(true)
    expect(told(['initiated', 'error', 'initiated']).replies.at(-1)!.newest).toBe(false)
  })

  it('has the length of the red streak in the reply about the success that ended it', () => {
    const { replies } = told(['error', 'success'])
    expect(replies.map(({ view }) => view.streak)).toEqual([null, { forMs: SECOND, builds: 1, atLeast: false }])
  })
})

/** A start that is too late to count as a late start of the attempt before. */
const restart: Said = { word: 'initiated', after: 2 * MINUTE }

describe('a card that was posted after the end of its newest attempt', () => {
  it.each(['success', 'error', 'infrastructure_failure', 'stopped'])('has no reply for that attempt: %s', (word) => {
    expect(toldOfBorn([word]).replies).toEqual([])
    expect(told([word]).replies).toHaveLength(1)
  })

  it.each<[claim: string, said: (string | Said)[], replies: string[]]>([
    ['has none while that attempt is the newest', ['error', 'initiated', 'error', 'waiting'], []],
    ['has a reply once another attempt is on the card', ['error', restart], ['run:512.1 failed']],
    [
      'has one for each attempt once another has ended',
      ['error', restart, 'success'],
      ['run:512.1 failed', 'run:512.2 flaky'],
    ],
    ["has both if only the other attempt's end arrived", ['error', 'success'], ['run:512.1 failed', 'run:512.2 flaky']],
    [
      'has a reply once another build is on the card',
      ['success', { word: 'initiated', build: '513' }],
      ['run:512.1 passed'],
    ],
    ['has none when an older build is received', ['success', { word: 'initiated', build: '511' }], []],
    [
      'has a reply only for an older build that ends',
      ['success', { word: 'error', build: '511' }],
      ['run:511.1 failed'],
    ],
    ['has none for a replaced ignored build', ['ignored', 'initiated', 'success'], ['run:512.2 passed']],
  ])('%s', (_, said, replies) => {
    expect(slots(toldOfBorn(said, 1))).toEqual(replies)
  })

  it('has no reply for that attempt if the channel did not select it, even if it was replaced', () => {
    const isAnnounced = (attempt: Attempt) => attempt.status === 'success'
    expect(slots(toldOfBorn(['error', restart, 'success'], 1, { isAnnounced }))).toEqual(['run:512.2 flaky'])
  })

  it('marks the reply about that attempt as late, and no other', () => {
    const late = ({ replies }: Story) => replies.map(({ view }) => view.isLate)
    expect(late(toldOfBorn(['error', restart, 'success'], 1))).toEqual([true, false])
    expect(late(told(['error', restart, 'success']))).toEqual([false, false])
  })

  it('mentions and notifies nobody in the reply about that attempt', () => {
    const { replies } = toldOfBorn(['error', restart], 1)
    expect(replies).toMatchObject([{ newest: false, view: { shown: 'failed', mention: null, broadcast: false } }])
  })

  it('mentions the committer on the card while it shows that attempt', () => {
    expect(toldOfBorn(['error'], 1).card.mention).toBe(ADA)
    expect(toldOfBorn(['error', restart], 1).card.mention).toBeNull()
  })

  it('has a reply about an earlier attempt, which only the thread can show', () => {
    expect(slots(toldOfBorn(['error', 'success']))).toEqual(['run:512.1 failed'])
  })

  it('has announced nothing if its newest attempt was still running', () => {
    expect(postedAttemptOf(attemptsOf('initiated'))).toBeNull()
    expect(postedAttemptOf(attemptsOf('waiting'))).toBeNull()
    expect(postedAttemptOf(attemptsOf('paused'))).toBeNull()
    expect(postedAttemptOf(attemptsOf('initiated', 'error', 'initiated'))).toBeNull()
  })

  it.each(['success', 'error', 'infrastructure_failure', 'stopped', 'ignored', 'blocked'])(
    'has announced that attempt if its outcome was %s',
    (word) => {
      expect(postedAttemptOf(attemptsOf('initiated', word))).toBe('512.1')
    },
  )
})
