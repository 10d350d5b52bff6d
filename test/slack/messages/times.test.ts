import { expect, test } from 'vitest'
import { afterWords, clockTime, dayTime, durationWords, timeIn } from '../../../src/slack/messages/times.ts'

const S = 1_000
const MIN = 60 * S
const H = 60 * MIN
const AT = Date.UTC(2026, 4, 4, 14, 2, 59)

test.each([
  [0, 'under 1 s'],
  [499, 'under 1 s'],
  [42 * S, '42 s'],
  [59.6 * S, '1 min'],
  [7 * MIN, '7 min'],
  [59 * MIN + 59 * S, '59 min'],
  [H, '1 h'],
  [H + 5 * MIN, '1 h 5 min'],
  [24 * H, '1 d'],
  [51 * H, '2 d 3 h'],
])('%d ms are written as "%s"', (durationMs, words) => {
  expect(durationWords(durationMs)).toBe(words)
})

test.each([
  [0, 'within 1 s'],
  [499, 'within 1 s'],
  [500, 'after 1 s'],
  [7 * MIN, 'after 7 min'],
])('a failure %d ms after the start is described as "%s"', (durationMs, words) => {
  expect(afterWords(durationMs)).toBe(words)
})

test('a time is shown in the time zone of the reader, and in UTC if that is not possible', () => {
  expect(clockTime(AT)).toBe('<!date^1777903379^{time}|14:02 UTC>')
  expect(dayTime(AT)).toBe('<!date^1777903379^{date_short_pretty} at {time}|2026-05-04 14:02 UTC>')
})

test.each([
  [0, clockTime(AT)],
  [12 * 60 * MIN, clockTime(AT)],
  [-12 * 60 * MIN, clockTime(AT)],
  [12 * 60 * MIN + 1, dayTime(AT)],
  [-40 * 60 * MIN, dayTime(AT)],
])('a message that is posted %d ms after a time shows it as %s', (after, words) => {
  expect(timeIn(AT, AT + after)).toBe(words)
  expect(timeIn(AT, null)).toBe(clockTime(AT))
})

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 253_402_300_800_000])('%d is not shown as a time', (atMs) => {
  expect(clockTime(atMs)).toBeNull()
  expect(dayTime(atMs)).toBeNull()
})
