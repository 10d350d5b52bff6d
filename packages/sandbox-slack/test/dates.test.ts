import { describe, expect, test } from 'vitest'
import { dateText } from '../page/slack/dates.ts'
import { parseMrkdwn } from '../page/slack/mrkdwn.ts'

// Monday, 2 March 2026, in the time zone of the machine, as the page uses the reader's.
const NOW = new Date(2026, 2, 2, 14, 2, 5)
const at = (day: number, hour = 14, month = 2, year = 2026): Date => new Date(year, month, day, hour, 2, 5)
const before = (ms: number): Date => new Date(NOW.getTime() - ms)
const [MIN, H, DAY] = [60_000, 3_600_000, 86_400_000]

describe('Slack’s date tokens', () => {
  test.each([
    ['{date_num}', at(3, 9, 1, 2014), '2014-02-03'],
    ['{date}', at(18, 9, 1, 2014), 'February 18th, 2014'],
    ['{date_short}', at(18, 9, 1, 2014), 'Feb 18, 2014'],
    ['{date_long}', at(18, 9, 1, 2014), 'Tuesday, February 18th, 2014'],
    ['{date_pretty}', at(18, 9, 1, 2014), 'February 18th, 2014'],
    ['{date_short_pretty}', at(18, 9, 1, 2014), 'Feb 18, 2014'],
    ['{date_long_pretty}', at(18, 9, 1, 2014), 'Tuesday, February 18th, 2014'],
    ['{time}', at(2, 9), '09:02'],
    ['{time_secs}', at(2, 0), '00:02:05'],
    ['{date_short} at {time}, {nothing} {constructor}', at(1, 9), 'Mar 1 at 09:02, {nothing} {constructor}'],
  ])('%s', (format, date, text) => expect(dateText(date, format, NOW.getTime())).toBe(text))

  test.each([
    [at(1, 0), 'yesterday'],
    [at(1, 23), 'yesterday'],
    [at(2, 0), 'today'],
    [at(2, 23), 'today'],
    [at(3, 0), 'tomorrow'],
    [at(3, 23), 'tomorrow'],
  ])('%s is %s for pretty tokens, and a date for others', (date, word) => {
    const format = '{date_pretty} {date_short_pretty} {date_long_pretty} {date_num}'
    const [day, month] = [date.getDate(), date.getMonth() + 1].map((part) => String(part).padStart(2, '0'))
    expect(dateText(date, format, NOW.getTime())).toBe(`${word} ${word} ${word} 2026-${month}-${day}`)
  })

  test.each([
    [at(28, 23, 1), 'February 28th · Feb 28 · Saturday, February 28th'],
    [at(4, 0), 'March 4th · Mar 4 · Wednesday, March 4th'],
    [at(22, 9, 10, 2025), 'November 22nd · Nov 22 · Saturday, November 22nd'],
    [at(1, 9, 6, 2025), 'July 1st, 2025 · Jul 1, 2025 · Tuesday, July 1st, 2025'],
  ])('%s is a date, with its year if it is half a year away', (date, text) =>
    expect(dateText(date, '{date_pretty} · {date_short_pretty} · {date_long_pretty}', NOW.getTime())).toBe(text),
  )

  test.each([
    [before(59_000), 'just now'],
    [before(-59_000), 'just now'],
    [before(MIN), '1 minute ago'],
    [before(3 * MIN + 59_000), '3 minutes ago'],
    [before(59 * MIN), '59 minutes ago'],
    [before(H), '1 hour ago'],
    [before(4 * H), '4 hours ago'],
    [before(2 * DAY), '2 days ago'],
    [before(-3 * MIN), 'in 3 minutes'],
  ])('{ago} of %s is %s', (date, text) => expect(dateText(date, '{ago}', NOW.getTime())).toBe(text))

  test('without the current time, nothing is called today, and {ago} shows its fallback', () => {
    const seconds = at(2).getTime() / 1_000
    expect(dateText(at(2), '{date_short_pretty}')).toBe('Mar 2, 2026')
    expect(parseMrkdwn(`<!date^${seconds}^{ago}|14:02 UTC>`)).toEqual([{ kind: 'text', text: '14:02 UTC' }])
  })
})
