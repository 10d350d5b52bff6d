import { describe, expect, it } from 'vitest'
import { foldBuild, LATE_START_MS } from '../../../src/domain/builds/attempt.ts'
import { briefly, buildId, MINUTE, attemptsOf, SECOND, story, T0, type Said } from '../../support/build-events.ts'

const requestedAt = (after: number, build = '512') => [{ buildId: buildId(build), at: T0 + after }]

describe('the fold of one build', () => {
  it.each<[claim: string, said: (string | Said)[], attempts: string[], effects: string[]]>([
    ['a start opens an attempt', ['initiated'], ['512.1 started'], ['opened']],
    ['a start and an end are one attempt', ['initiated', 'success'], ['512.1 success'], ['opened', 'moved']],
    ['the first event may be final', ['error'], ['512.1 failed'], ['opened']],
    ['the first event may be waiting', ['waiting'], ['512.1 waiting'], ['opened']],
    ['the first event may be an unknown word', ['paused'], ['512.1 unknown'], ['opened']],
    [
      'of two statuses that are not final, the later-received one counts',
      ['initiated', 'waiting', 'initiated'],
      ['512.1 started'],
      ['opened', 'moved', 'moved'],
    ],
    ['a late start does not reopen a finished build', ['success', 'initiated'], ['512.1 success'], ['opened', 'late']],
    ['waiting after the end is late', ['initiated', 'error', 'waiting'], ['512.1 failed'], ['opened', 'moved', 'late']],
    [
      'an unknown word after the end is late',
      ['initiated', 'success', 'paused'],
      ['512.1 success'],
      ['opened', 'moved', 'late'],
    ],
    [
      'a start that arrives late and twice does not reopen a finished build',
      ['success', 'initiated', 'initiated'],
      ['512.1 success'],
      ['opened', 'late', 'duplicate'],
    ],
    [
      'a late synonym of a start, or a third start, does not reopen it either',
      ['error', 'initiated', 'testing', 'initiated'],
      ['512.1 failed'],
      ['opened', 'late', 'late', 'duplicate'],
    ],
    [
      'an attempt whose start arrived in time is restarted by the next start, even with a late event in between',
      ['initiated', 'success', 'waiting', 'initiated'],
      ['512.1 success', '512.2 started'],
      ['opened', 'moved', 'late', 'opened'],
    ],
    [
      'the late start of one attempt is not the start of the next',
      ['success', 'initiated', 'error', 'initiated'],
      ['512.1 success', '512.2 failed'],
      ['opened', 'late', 'opened', 'late'],
    ],
    ['the same start again is a duplicate', ['initiated', 'initiated'], ['512.1 started'], ['opened', 'duplicate']],
    [
      'a synonym of the same status is a duplicate',
      ['initiated', 'testing'],
      ['512.1 started'],
      ['opened', 'duplicate'],
    ],
    ['the synonym of the same end is a duplicate', ['error', 'failed'], ['512.1 failed'], ['opened', 'duplicate']],
    [
      'the same end again is a duplicate, even an hour later',
      ['initiated', 'success', { word: 'success', after: 60 * MINUTE }],
      ['512.1 success'],
      ['opened', 'moved', 'duplicate'],
    ],
    ['the same unknown word is a duplicate', ['paused', 'paused'], ['512.1 unknown'], ['opened', 'duplicate']],
    ['two unknown words are two states', ['paused', 'resumed'], ['512.1 unknown'], ['opened', 'moved']],
    ['any event after an unknown word counts', ['paused', 'success'], ['512.1 success'], ['opened', 'moved']],
    [
      'a start after the end of an attempt that had started is a restart',
      ['initiated', 'error', 'initiated'],
      ['512.1 failed', '512.2 started'],
      ['opened', 'moved', 'opened'],
    ],
    [
      'a restarted attempt ends on its own',
      ['initiated', 'error', 'testing', 'success'],
      ['512.1 failed', '512.2 success'],
      ['opened', 'moved', 'opened', 'moved'],
    ],
    [
      'a restart that fails again is an attempt, not a duplicate',
      ['initiated', 'error', 'initiated', 'error'],
      ['512.1 failed', '512.2 failed'],
      ['opened', 'moved', 'opened', 'moved'],
    ],
    [
      'a restart that waits first begins with its start',
      ['initiated', 'error', 'waiting', 'initiated'],
      ['512.1 failed', '512.2 started'],
      ['opened', 'moved', 'late', 'opened'],
    ],
    ['a different end is a new attempt', ['error', 'success'], ['512.1 failed', '512.2 success'], ['opened', 'opened']],
    [
      'the late start of an attempt that began with its end is late',
      ['initiated', 'error', 'success', 'initiated'],
      ['512.1 failed', '512.2 success'],
      ['opened', 'moved', 'opened', 'late'],
    ],
    [
      'two failures of different kinds are two attempts',
      ['error', 'infrastructure_failure'],
      ['512.1 failed', '512.2 infrastructure_failure'],
      ['opened', 'opened'],
    ],
    [
      'a build that was ignored at first can start at once',
      ['ignored', 'initiated'],
      ['512.1 ignored', '512.2 started'],
      ['opened', 'opened'],
    ],
    [
      'a build that was blocked at first can start at once',
      ['blocked', 'initiated'],
      ['512.1 blocked', '512.2 started'],
      ['opened', 'opened'],
    ],
    [
      'a stopped build that never started is not started by a late start',
      ['stopped', 'initiated'],
      ['512.1 stopped'],
      ['opened', 'late'],
    ],
  ])('%s', (_, said, attempts, effects) => {
    const folded = foldBuild(story(...said))
    expect(briefly(folded.attempts)).toEqual(attempts)
    expect(folded.effects).toEqual(effects)
  })

  it('has no attempts without build events', () => {
    expect(foldBuild([])).toEqual({ attempts: [], effects: [] })
  })

  it.each(['success', 'error', 'stopped', 'infrastructure_failure', 'ignored', 'blocked'])(
    '%s ends a running build',
    (word) => {
      const [attempt] = attemptsOf('initiated', word)
      expect(attempt).toMatchObject({ n: 1, rawStatus: word, finalSeq: 2, finalAt: T0 + SECOND })
    },
  )

  it.each(['initiated', 'testing', 'waiting', 'paused'])('%s does not end a running build', (word) => {
    expect(attemptsOf(word)[0]).toMatchObject({ finalSeq: null, finalAt: null })
  })

  it("keeps CI's own word for the status", () => {
    expect(attemptsOf('initiated', 'Paused by Grace')[0]).toMatchObject({
      status: 'unknown',
      rawStatus: 'Paused by Grace',
    })
  })
})

describe('a start after an attempt whose start was never received', () => {
  const startedAfter = (afterEnd: number) => foldBuild(story('success', { word: 'initiated', after: afterEnd }))

  it.each([
    [0, 'late'],
    [LATE_START_MS - 1, 'late'],
    [LATE_START_MS, 'late'],
    [LATE_START_MS + 1, 'opened'],
  ])('%i ms after the end is %s', (afterEnd, effect) => {
    expect(startedAfter(afterEnd).effects).toEqual(['opened', effect])
  })

  it('counts from the end itself, not from a repeated end', () => {
    const buildEvents = story(
      'success',
      { word: 'success', after: 50 * SECOND },
      { word: 'initiated', after: 61 * SECOND },
    )
    expect(foldBuild(buildEvents).effects).toEqual(['opened', 'duplicate', 'opened'])
  })

  it('counts from the end of the newest attempt', () => {
    const buildEvents = story(
      'error',
      { word: 'success', after: 50 * SECOND },
      { word: 'initiated', after: 70 * SECOND },
    )
    expect(foldBuild(buildEvents).effects).toEqual(['opened', 'opened', 'late'])
  })

  it('counts from the end even if a late start came in between', () => {
    const within = story('success', 'initiated', { word: 'initiated', after: LATE_START_MS })
    const beyond = story('success', 'initiated', { word: 'initiated', after: LATE_START_MS + 1 })
    expect(foldBuild(within).effects).toEqual(['opened', 'late', 'duplicate'])
    expect(foldBuild(beyond).effects).toEqual(['opened', 'late', 'opened'])
  })

  it('is late if our clock went back', () => {
    expect(startedAfter(-MINUTE * 10).effects).toEqual(['opened', 'late'])
  })
})

describe('an open restart request', () => {
  const buildEvents = story('error', { word: 'initiated', after: 30 * SECOND })

  it('makes the next start a new attempt, however soon it comes', () => {
    expect(foldBuild(buildEvents, requestedAt(10 * SECOND)).effects).toEqual(['opened', 'opened'])
  })

  it.each([
    ['at the moment of the end', 0],
    ['at the moment of the start', 30 * SECOND],
  ])('counts if it was made %s', (_, after) => {
    expect(foldBuild(buildEvents, requestedAt(after)).effects).toEqual(['opened', 'opened'])
  })

  it.each([
    ['before the end', requestedAt(-1)],
    ['after the start', requestedAt(30 * SECOND + 1)],
    ['for another build', requestedAt(10 * SECOND, '513')],
  ])('does not count if it was made %s', (_, asked) => {
    expect(foldBuild(buildEvents, asked).effects).toEqual(['opened', 'late'])
  })

  it('makes one new attempt, not two', () => {
    const again = story(
      'error',
      { word: 'initiated', after: 30 * SECOND },
      { word: 'testing', after: 31 * SECOND },
      { word: 'error', after: 40 * SECOND },
    )
    expect(foldBuild(again, requestedAt(10 * SECOND)).effects).toEqual(['opened', 'opened', 'duplicate', 'moved'])
  })

  it('makes the next start a new attempt even if a late start came before the request', () => {
    const said = story('error', 'initiated', { word: 'initiated', after: 30 * SECOND })
    expect(foldBuild(said, requestedAt(10 * SECOND)).effects).toEqual(['opened', 'late', 'opened'])
    expect(foldBuild(said).effects).toEqual(['opened', 'late', 'duplicate'])
  })

  it('opens no attempt by itself, and none by an event that is no start', () => {
    const waiting = story('error', { word: 'waiting', after: 30 * SECOND })
    expect(foldBuild(waiting, requestedAt(10 * SECOND)).effects).toEqual(['opened', 'late'])
  })
})

describe('build events with an attempt number', () => {
  const named = (attempt: number, word: string): Said => ({ word, details: { attempt } })

  it.each<[claim: string, said: Said[], attempts: string[], effects: string[]]>([
    [
      'go forward within an attempt',
      [named(1, 'queued'), named(1, 'initiated'), named(1, 'error')],
      ['512.1 failed'],
      ['opened', 'moved', 'moved'],
    ],
    [
      'do not reopen an attempt that has ended, nor move it back into the queue',
      [named(1, 'initiated'), named(1, 'queued'), named(1, 'success'), named(1, 'initiated')],
      ['512.1 success'],
      ['opened', 'late', 'moved', 'late'],
    ],
    [
      'open the attempt with their number at once',
      [named(1, 'error'), named(2, 'initiated'), named(2, 'success')],
      ['512.1 failed', '512.2 success'],
      ['opened', 'opened', 'moved'],
    ],
    [
      'go to the attempt that they name, whichever came first',
      [named(2, 'success'), named(2, 'initiated'), named(1, 'error'), named(1, 'initiated')],
      ['512.1 failed', '512.2 success'],
      ['opened', 'late', 'opened', 'late'],
    ],
    [
      'do not reopen an attempt that ended with an unknown word',
      [{ word: 'odd', details: { attempt: 1, finishedAt: T0 } }, named(1, 'initiated'), named(1, 'success')],
      ['512.1 success'],
      ['opened', 'late', 'moved'],
    ],
    ['may be repeated', [named(1, 'error'), named(1, 'error')], ['512.1 failed'], ['opened', 'duplicate']],
  ])('%s', (_, said, attempts, effects) => {
    const fold = foldBuild(story(...said))
    expect(briefly(fold.attempts)).toEqual(attempts)
    expect(fold.effects).toEqual(effects)
  })
})
