import { describe, expect, test } from 'vitest'
import { cronOf, DAY_MS, digestDue, periodOf, zoneNamed, type Schedule } from '../../../src/domain/rules/digest.ts'

const at = (iso: string): number => Date.parse(iso)
const iso = (ms: number): string => new Date(ms).toISOString()

const BERLIN = 'Europe/Berlin'
const daily = (time: string, zone = BERLIN): Schedule => ({
  kind: 'daily',
  weekday: null,
  minute: minuteOf(time),
  zone,
})
const weekly = (weekday: number, time: string, zone = BERLIN): Schedule => ({
  kind: 'weekly',
  weekday,
  minute: minuteOf(time),
  zone,
})

function minuteOf(time: string): number {
  const [hour, minute] = time.split(':').map(Number)
  return hour! * 60 + minute!
}

describe('a digest is due', () => {
  test.each<[when: string, schedule: Schedule, now: string, last: string, next: string]>([
    ['daily, before its time', daily('9:00'), '2026-11-25T07:59:59Z', '2026-11-24T08:00:00Z', '2026-11-25T08:00:00Z'],
    ['daily, at its time', daily('9:00'), '2026-11-25T08:00:00Z', '2026-11-25T08:00:00Z', '2026-11-26T08:00:00Z'],
    ['at midnight', daily('0:00'), '2026-11-25T22:59:59Z', '2026-11-24T23:00:00Z', '2026-11-25T23:00:00Z'],
    ['just before midnight', daily('23:59'), '2026-11-25T23:00:00Z', '2026-11-25T22:59:00Z', '2026-11-26T22:59:00Z'],
    ['weekly, on its day', weekly(1, '9:00'), '2026-11-23T08:00:00Z', '2026-11-23T08:00:00Z', '2026-11-30T08:00:00Z'],
    ['weekly, on the eve', weekly(1, '9:00'), '2026-11-22T22:00:00Z', '2026-11-16T08:00:00Z', '2026-11-23T08:00:00Z'],
    [
      'while Monday is still Sunday there',
      weekly(7, '18:00', 'America/Los_Angeles'),
      '2026-11-23T03:00:00Z',
      '2026-11-23T02:00:00Z',
      '2026-11-30T02:00:00Z',
    ],
    ['on a day without 2:30', daily('2:30'), '2026-03-29T12:00:00Z', '2026-03-29T01:30:00Z', '2026-03-30T00:30:00Z'],
    [
      'before the first of two 2:30s',
      daily('2:30'),
      '2026-10-25T00:29:00Z',
      '2026-10-24T00:30:00Z',
      '2026-10-25T00:30:00Z',
    ],
    ['between two 2:30s', daily('2:30'), '2026-10-25T01:00:00Z', '2026-10-25T00:30:00Z', '2026-10-26T01:30:00Z'],
    ['after the second 2:30', daily('2:30'), '2026-10-25T01:31:00Z', '2026-10-25T00:30:00Z', '2026-10-26T01:30:00Z'],
  ])('%s', (_, schedule, now, last, next) => {
    const due = digestDue(schedule, at(now))
    expect([iso(due.last), iso(due.next)]).toEqual([iso(at(last)), iso(at(next))])
  })

  test.each([daily('2:30'), daily('0:00'), weekly(7, '2:30'), daily('9:00', 'Australia/Lord_Howe')])(
    'exactly once a day or week through a whole year, whatever the clocks do: %j',
    (schedule) => {
      const dues = new Set<number>()
      const [from, to] = [at('2026-01-01T00:00:00Z'), at('2027-01-01T00:00:00Z')]
      for (let now = from; now < to; now += 60 * 60_000) {
        const { last, next } = digestDue(schedule, now)
        dues.add(last).add(next)
      }
      const inYear = [...dues].filter((due) => due >= from && due < to)
      expect(inYear).toHaveLength(schedule.kind === 'daily' ? 365 : 52)
    },
  )
})

test.each([
  [daily('9:00'), '0 9 * * *'],
  [daily('0:05'), '5 0 * * *'],
  [weekly(1, '9:30'), '30 9 * * 1'],
  [weekly(7, '23:59'), '59 23 * * 0'],
])('the schedule %j is the cron expression %s', (schedule, cron) => {
  expect(cronOf(schedule)).toBe(cron)
})

describe('a digest covers', () => {
  test('the seven days before the day on which it is due', () => {
    const { period, before, days, dayNames, ...rest } = periodOf(weekly(1, '9:00'), at('2026-11-23T08:00:00Z'))
    expect(rest).toEqual({ name: '2026-11-23-weekly', kind: 'weekly', firstDay: '2026-11-16', lastDay: '2026-11-22' })
    expect([period.from, period.to].map(iso)).toEqual(['2026-11-15T23:00:00.000Z', '2026-11-22T23:00:00.000Z'])
    expect([before.from, before.to].map(iso)).toEqual(['2026-11-08T23:00:00.000Z', '2026-11-15T23:00:00.000Z'])
    expect([days[0], dayNames[0], dayNames.at(-1)]).toEqual([period.from, '2026-11-16', '2026-11-22'])
  })

  test('the whole day before, which may be longer than 24 hours, with the last seven days for its chart', () => {
    const { period, before, days, name } = periodOf(daily('9:00'), at('2026-10-26T08:00:00Z'))
    expect([period.to - period.from, before.to - before.from]).toEqual([DAY_MS + 3_600_000, DAY_MS])
    expect([days.length, days.at(-1), name]).toEqual([7, period.from, '2026-10-26-daily'])
  })
})

test.each([
  ['Europe/Berlin', 'Europe/Berlin'],
  ['europe/berlin', 'Europe/Berlin'],
  ['Etc/UTC', 'UTC'],
  ['+05:00', '+05:00'],
  ['SystemV/EST5', null],
  ['Mars/Olympus', null],
  ['', null],
])('the time zone %s reads as %s', (name, zone) => {
  expect(zoneNamed(name)).toBe(zone)
})
