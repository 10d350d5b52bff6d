import { array, assert, constantFrom, integer, nat, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import { foldBuild } from '../../src/domain/builds/attempt.ts'
import { numbered } from '../../src/sources/attempt-number.ts'
import { toBuildEvent, type BuildEvent } from '../../src/domain/builds/build-event.ts'
import { toStatus } from '../../src/domain/builds/status.ts'
import { MINUTE, SECOND, story, T0 } from '../support/build-events.ts'

/** What GitLab says about a pipeline: a word, and when it last ended (ms; 0: never). */
type Said = readonly [word: string, lastEndAt: number | null]

const [FIRST_END, SECOND_END, THIRD_END] = [T0 + MINUTE, T0 + 10 * MINUTE, T0 + 20 * MINUTE]

/** The build events of one pipeline, received in this order. */
function received(said: readonly Said[]): BuildEvent[] {
  const known: BuildEvent[] = []
  for (const [seq, [word, lastEndAt]] of said.entries()) {
    const [event] = story({ word, details: { lastEndAt } })
    known.push(toBuildEvent(numbered(event!, known), seq, T0 + seq * SECOND))
  }
  return known
}

const attemptsOf = (...said: readonly Said[]) => {
  const events = received(said)
  return foldBuild(events).attempts.map(({ n, status }) => `${n} ${status}`)
}

test('an event after an end belongs to the next attempt', () => {
  expect(
    attemptsOf(
      ['initiated', 0],
      ['error', FIRST_END],
      ['queued', FIRST_END],
      ['initiated', FIRST_END],
      ['success', SECOND_END],
    ),
  ).toEqual(['1 failed', '2 success'])
})

test('an end that arrives after the retry has begun is that of the attempt before', () => {
  expect(attemptsOf(['initiated', 0], ['initiated', FIRST_END], ['error', FIRST_END])).toEqual([
    '1 failed',
    '2 started',
  ])
})

test('a second end is a second attempt, even if its start never arrived', () => {
  expect(attemptsOf(['error', FIRST_END], ['error', SECOND_END])).toEqual(['1 failed', '2 failed'])
})

test('an end that is received twice is one end', () => {
  expect(attemptsOf(['initiated', 0], ['error', FIRST_END], ['error', FIRST_END])).toEqual(['1 failed'])
})

test('an end before all known ones is that of an earlier attempt', () => {
  expect(attemptsOf(['success', SECOND_END], ['error', FIRST_END], ['initiated', FIRST_END])).toEqual([
    '0 failed',
    '1 success',
  ])
})

test('two attempts may end within one second', () => {
  expect(attemptsOf(['error', FIRST_END], ['initiated', FIRST_END], ['stopped', FIRST_END])).toEqual([
    '1 failed',
    '2 stopped',
  ])
})

test('an end without a time ends the open attempt', () => {
  expect(attemptsOf(['queued', 0], ['skipped', null], ['queued', 0])).toEqual(['1 skipped'])
})

test('an attempt number given by the source is kept', () => {
  const [event] = story({ word: 'error', details: { attempt: 4 } })
  expect(numbered(event!, []).details.attempt).toBe(4)
  const [unnumbered] = story({ word: 'error' })
  expect(numbered(unnumbered!, []).details.attempt).toBeNull()
})

const word = constantFrom('error', 'success', 'stopped')
const lives = array(word, { minLength: 1, maxLength: 3 })
  .map((words) => ({
    words,
    said: words.flatMap((ended, i): Said[] => {
      const ends = [0, FIRST_END, SECOND_END, THIRD_END]
      return [
        ['queued', ends[i]!],
        ['initiated', ends[i]!],
        [ended, ends[i + 1]!],
      ]
    }),
  }))
  .chain(({ words, said }) =>
    record({
      others: array(integer({ min: 0, max: said.length - 1 }), { maxLength: 12 }),
      at: nat(),
    }).map(({ others, at }) => {
      const order = others.toSpliced(at % (others.length + 1), 0, said.length - 1)
      return { last: words.at(-1)!, received: order.map((i) => said[i]!) }
    }),
  )

test("whatever deliveries are lost, repeated or reordered, the last end decides a pipeline's status", () => {
  assert(
    property(lives, ({ last, received: said }) => {
      const { attempts } = foldBuild(received(said))
      expect(attempts.at(-1)!.status).toBe(toStatus(last))
    }),
    { numRuns: 2_000 },
  )
})
