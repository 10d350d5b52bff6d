import * as fc from 'fast-check'
import { createTask } from 'node-cron'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { dueTimes } from '../../src/lib/cron.ts'

const at = (iso: string): number => Date.parse(iso)
const iso = (ms: number): string => new Date(ms).toISOString()

describe('a cron expression is due', () => {
  test.each([
    ['*/5 * * * * *', 'UTC', '2026-11-25T08:00:07.900Z', '2026-11-25T08:00:05Z', '2026-11-25T08:00:10Z'],
    ['*/5 * * * * *', 'UTC', '2026-11-25T00:00:00Z', '2026-11-25T00:00:00Z', '2026-11-25T00:00:05Z'],
    ['*/15 * * * * *', 'UTC', '2026-11-25T00:00:59.999Z', '2026-11-25T00:00:45Z', '2026-11-25T00:01:00Z'],
    ['0 * * * *', 'Asia/Kolkata', '2026-11-25T08:29:59Z', '2026-11-25T07:30:00Z', '2026-11-25T08:30:00Z'],
    ['30 3 * * *', 'UTC', '2026-11-25T03:29:59Z', '2026-11-24T03:30:00Z', '2026-11-25T03:30:00Z'],
    ['0 9 * * mon-fri', 'Europe/Berlin', '2026-11-22T12:00:00Z', '2026-11-20T08:00:00Z', '2026-11-23T08:00:00Z'],
    ['0 18 * * 7', 'America/Los_Angeles', '2026-11-23T03:00:00Z', '2026-11-23T02:00:00Z', '2026-11-30T02:00:00Z'],
    ['0 0 1 1,7 *', 'UTC', '2026-06-30T23:59:59Z', '2026-01-01T00:00:00Z', '2026-07-01T00:00:00Z'],
    ['0 0 29 2 *', 'UTC', '2026-06-30T00:00:00Z', '2024-02-29T00:00:00Z', '2028-02-29T00:00:00Z'],
    ['@daily', 'UTC', '2026-11-25T00:00:00Z', '2026-11-25T00:00:00Z', '2026-11-26T00:00:00Z'],
  ])('%s in %s, seen at %s', (cron, zone, now, last, next) => {
    const due = dueTimes({ cron, zone }, at(now))
    expect([iso(due.last), iso(due.next)]).toEqual([iso(at(last)), iso(at(next))])
  })

  test.each(['0 0 31 2 *', '60 * * * *', '0 9 * *', 'daily'])('never if node-cron does not accept it: %s', (cron) => {
    expect(() => dueTimes({ cron, zone: 'UTC' }, 0)).toThrow()
  })
})

describe('node-cron', () => {
  beforeAll(() => void vi.useFakeTimers({ toFake: ['Date'] }))
  afterAll(() => void vi.useRealTimers())

  const nextOf = (cron: string, timezone: string, now: number): number => {
    vi.setSystemTime(now)
    return createTask(cron, () => {}, { timezone })
      .getNextRuns(1)[0]!
      .getTime()
  }

  test('says the same of the next time, wherever no clock is changed', () => {
    const list = (max: number) => fc.uniqueArray(fc.nat(max), { minLength: 1, maxLength: 4 }).map(String)
    const field = (max: number) =>
      fc.oneof(
        fc.constant('*'),
        list(max),
        fc.integer({ min: 2, max: 20 }).map((step) => `*/${step}`),
      )
    const expression = fc
      .tuple(field(59), field(59), field(23), fc.constantFrom('*', '1', '15,28'), fc.constantFrom('*', '1-6'), field(6))
      .map((fields) => fields.join(' '))
    const time = fc.integer({ min: at('2026-01-01T00:00:00Z'), max: at('2028-01-01T00:00:00Z') })
    fc.assert(
      fc.property(expression, fc.constantFrom('UTC', 'Asia/Tokyo', 'Asia/Kathmandu'), time, (cron, zone, now) => {
        const { last, next } = dueTimes({ cron, zone }, now)
        expect([last <= now, next > now, nextOf(cron, zone, now)]).toEqual([true, true, next])
      }),
      { numRuns: 200 },
    )
  })

  // Why node-cron reads the expressions and does not run the jobs (decision 7).
  test('leaves out a day on which a clock change skips the time', () => {
    const now = at('2026-03-28T12:00:00Z')
    expect(iso(nextOf('30 2 * * *', 'Europe/Berlin', now))).toBe('2026-03-30T00:30:00.000Z')
    expect(iso(dueTimes({ cron: '30 2 * * *', zone: 'Europe/Berlin' }, now).next)).toBe('2026-03-29T01:30:00.000Z')
  })
})
