import { describe, expect, it } from 'vitest'
import type { Attempt } from '../../src/domain/attempt.ts'
import { postedAttemptOf, type Story } from '../../src/domain/story.ts'
import { MINUTE, attemptsOf, SECOND, type Said } from '../support/build-events.ts'
import { ADA, slots, told, toldOfBorn } from './support/telling.ts'

describe('the thread', () => {
  it.each<[claim: string, said: (string | Said)[], replies: string[]]>([
    ['has a reply for a run that passed', ['initiated', 'success'], ['run:512.1 passed']],
    ['has a reply for a run that failed', ['initiated', 'error'], ['run:512.1 failed']],
    ['has a reply for a machine error', ['initiated', 'infrastructure_failure'], ['run:512.1 infrastructure_failure']],
    ['has a reply for a stopped run', ['initiated', 'stopped'], ['run:512.1 stopped']],
    ['has none for an ignored run', ['ignored'], []],
    ['has none for a blocked run', ['blocked'], []],
    ['has none for an unknown word', ['initiated', 'paused'], []],
    ['has one reply, though the end was received twice', ['initiated', 'error', 'failed'], ['run:512.1 failed']],
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

  it('has no reply for an attempt whose outcome this channel did not select', () => {
    const story = told(['initiated', 'error', 'initiated', 'success'], {
      isAnnounced: (attempt) => attempt.status === 'success',
    })
    expect(slots(story)).toEqual(['run:512.2 flaky'])
    expect(told(['initiated', 'error'], { isAnnounced: () => false }).replies).toEqual([])
  })

  it('says which attempt each reply is about, how long it took, and which is the newest', () => {
    const said = ['initiated', { word: 'error', after: MINUTE }, 'initiated', { word: 'success', after: 3 * MINUTE }]
    const { replies } = told(said)
    expect(replies.map(({ newest, view }) => [newest, view.attemptNumber, view.durationMs])).toEqual([
      [false, 1, MINUTE],
      [true, 2, 2 * MINUTE - SECOND],
    ])
  })

  it('knows of a reply that it is no longer the newest', () => {
    expect(told(['initiated', 'error']).replies.at(-1)!.newest).toBe(true)
    expect(told(['initiated', 'error', 'initiated']).replies.at(-1)!.newest).toBe(false)
  })

  it('tells the length of the red streak with the success that ended it', () => {
    const { replies } = told(['error', 'success'])
    expect(replies.map(({ view }) => view.streak)).toEqual([null, { forMs: SECOND, builds: 1, atLeast: false }])
  })
})

/** A start that is no late one of the attempt before. */
const restart: Said = { word: 'initiated', after: 2 * MINUTE }

describe('a card that is born finished', () => {
  it.each(['success', 'error', 'infrastructure_failure', 'stopped'])('has no extra reply: %s', (word) => {
    expect(toldOfBorn([word]).replies).toEqual([])
    expect(told([word]).replies).toHaveLength(1)
  })

  it.each<[claim: string, said: (string | Said)[], replies: string[]]>([
    ['still has none while that run is the newest', ['error', 'initiated', 'error', 'waiting'], []],
    ['has one for it once another run is on the card', ['error', restart], ['run:512.1 failed']],
    [
      'has one for each run once another has ended',
      ['error', restart, 'success'],
      ['run:512.1 failed', 'run:512.2 flaky'],
    ],
    ['has both where the other run only ended', ['error', 'success'], ['run:512.1 failed', 'run:512.2 flaky']],
    [
      'has one once another build is on the card',
      ['success', { word: 'initiated', build: '513' }],
      ['run:512.1 passed'],
    ],
    ['has none when an older build is heard of', ['success', { word: 'initiated', build: '511' }], []],
    [
      'has one for the older build only, when that ends',
      ['success', { word: 'error', build: '511' }],
      ['run:511.1 failed'],
    ],
    ['has none for one of the account, though replaced', ['ignored', 'initiated', 'success'], ['run:512.2 passed']],
  ])('%s', (_, said, replies) => {
    expect(slots(toldOfBorn(said, 1))).toEqual(replies)
  })

  it('has no reply for it that this channel did not select, though it is replaced', () => {
    const isAnnounced = (attempt: Attempt) => attempt.status === 'success'
    expect(slots(toldOfBorn(['error', restart, 'success'], 1, { isAnnounced }))).toEqual(['run:512.2 flaky'])
  })

  it('says that the reply for it came late, and of no other', () => {
    const late = ({ replies }: Story) => replies.map(({ view }) => view.isLate)
    expect(late(toldOfBorn(['error', restart, 'success'], 1))).toEqual([true, false])
    expect(late(told(['error', restart, 'success']))).toEqual([false, false])
  })

  it('calls and wakes nobody with the reply for it', () => {
    const { replies } = toldOfBorn(['error', restart], 1)
    expect(replies).toMatchObject([{ newest: false, view: { shown: 'failed', mention: null, broadcast: false } }])
  })

  it('calls the committer on the card as long as it tells that attempt', () => {
    expect(toldOfBorn(['error'], 1).card.mention).toBe(ADA)
    expect(toldOfBorn(['error', restart], 1).card.mention).toBeNull()
  })

  it('has a reply for the attempt before it, which only the thread can tell', () => {
    expect(slots(toldOfBorn(['error', 'success']))).toEqual(['run:512.1 failed'])
  })

  it('was not born finished while its newest attempt was running', () => {
    expect(postedAttemptOf(attemptsOf('initiated'))).toBeNull()
    expect(postedAttemptOf(attemptsOf('waiting'))).toBeNull()
    expect(postedAttemptOf(attemptsOf('paused'))).toBeNull()
    expect(postedAttemptOf(attemptsOf('initiated', 'error', 'initiated'))).toBeNull()
  })

  it.each(['success', 'error', 'infrastructure_failure', 'stopped', 'ignored', 'blocked'])(
    'was born finished when it told %s',
    (word) => {
      expect(postedAttemptOf(attemptsOf('initiated', word))).toBe('512.1')
    },
  )
})
