import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nextReminder, reminderHolds, withinHours, type ReminderRule } from '../../../src/domain/builds/reminder.ts'
import type { Streak, StreakChange } from '../../../src/domain/builds/streak.ts'
import { streak } from '../../support/streaks.ts'
import { HOUR, LIN, MINUTE, T0, channelId } from '../../support/build-events.ts'

const BUILDS = channelId('C0BUILDS01')
const RELEASES = channelId('C0RELEASE1')

// T0 is a Monday, 14:00.

const rule = (change: Partial<ReminderRule> = {}): ReminderRule => ({
  afterMs: 2 * HOUR,
  fromHour: 9,
  toHour: 18,
  days: 'weekdays',
  zone: 'UTC',
  ...change,
})

const changed = (change: Partial<StreakChange> & Pick<StreakChange, 'kind' | 'at'>): StreakChange => ({
  id: `change-${change.at}`,
  streakId: '7',
  interactionKey: null,
  by: LIN,
  to: null,
  until: null,
  subject: 'revision/1',
  channel: null,
  number: null,
  ...change,
})

const reminded = (at: number, channel = BUILDS) => changed({ kind: 'reminded', at, channel })

const at = (text: string): number => Date.parse(`${text}Z`)
const iso = (ms: number | undefined): string | undefined =>
  ms === undefined ? ms : new Date(ms).toISOString().slice(0, 16)

const next = (about: Partial<Streak> = {}, changes: readonly StreakChange[] = [], of = rule()) => {
  const found = nextReminder(of, streak(about), changes, BUILDS)
  return found && `${found.kind === 'owner' ? 'owner' : found.number} ${iso(found.at)}`
}

describe('the next reminder of a channel', () => {
  test('is due when the branch has been red for the set time and has no owner', () => {
    expect(next()).toBe('1 2026-03-02T16:00')
  })

  test('is due in the next allowed hours if that time is outside of them', () => {
    expect(next({}, [], rule({ afterMs: 5 * HOUR }))).toBe('1 2026-03-03T09:00')
    expect(next({ beganAt: at('2026-03-06T17:00') })).toBe('1 2026-03-09T09:00')
    expect(next({ beganAt: at('2026-03-06T17:00') }, [], rule({ days: 'daily' }))).toBe('1 2026-03-07T09:00')
  })

  test('is due the same time after the previous one, three times, whatever other channels got', () => {
    const [first, second, third] = [T0 + 2 * HOUR, T0 + 30 * HOUR, T0 + 40 * HOUR].map((when) => reminded(when))
    expect(next({}, [reminded(T0 + HOUR, RELEASES)])).toBe('1 2026-03-02T16:00')
    expect(next({}, [first!])).toBe('2 2026-03-03T09:00')
    expect(next({}, [first!, second!])).toBe('3 2026-03-04T09:00')
    expect(next({}, [first!, second!, third!])).toBeNull()
  })

  test('waits for the set time after an owner let go, for the end of a snooze, and is none after the fix', () => {
    expect(next({}, [changed({ kind: 'let-go', at: T0 + HOUR })])).toBe('1 2026-03-02T17:00')
    expect(next({}, [changed({ kind: 'left', at: T0 + HOUR })])).toBe('1 2026-03-02T17:00')
    expect(next({ snoozedUntil: at('2026-03-05T11:30') })).toBe('1 2026-03-05T11:30')
    expect(next({ endedAt: T0 + HOUR })).toBeNull()
  })

  test('goes first to an owner whose time ends, once, and to the channel after the set time', () => {
    const owned = { owner: LIN, ownedAt: T0, ownerUntil: T0 + HOUR }
    expect(next(owned)).toBe('owner 2026-03-02T15:00')
    const told = changed({ kind: 'lapsed', at: T0 + HOUR + MINUTE, until: T0 + HOUR })
    expect(next(owned, [told])).toBe('1 2026-03-02T17:01')
    expect(next({ ...owned, ownerUntil: T0 + 3 * HOUR }, [told])).toBe('owner 2026-03-02T17:00')
  })

  test('is dropped if the branch was fixed, taken or snoozed while it waited', () => {
    const holds = (change: Partial<Streak>) => reminderHolds({ at: T0 + HOUR }, streak(change))
    expect(holds({ ownerUntil: T0 + HOUR, snoozedUntil: T0 })).toBe(true)
    expect([{ endedAt: T0 }, { ownerUntil: T0 + 2 * HOUR }, { snoozedUntil: T0 + 2 * HOUR }].map(holds)).toEqual([
      false,
      false,
      false,
    ])
  })
})

describe('the allowed hours', () => {
  test.each<[about: string, rule: Partial<ReminderRule>, from: string, to: string]>([
    ['are those of the zone', { zone: 'Europe/Berlin' }, '2026-03-02T07:59', '2026-03-02T08:00'],
    ['begin an hour earlier in summer time', { zone: 'Europe/Berlin' }, '2026-03-29T20:00', '2026-03-30T07:00'],
    ['that span midnight hold after it', { fromHour: 22, toHour: 6 }, '2026-03-03T05:59', '2026-03-03T05:59'],
    ['that span midnight end', { fromHour: 22, toHour: 6 }, '2026-03-03T06:00', '2026-03-03T22:00'],
    ['of Friday continue into Saturday', { fromHour: 22, toHour: 6 }, '2026-03-07T03:00', '2026-03-07T03:00'],
    ['do not begin on a Sunday', { fromHour: 22, toHour: 6 }, '2026-03-09T03:00', '2026-03-09T22:00'],
    ['to 24 end at midnight', { fromHour: 20, toHour: 24 }, '2026-03-03T00:00', '2026-03-03T20:00'],
    [
      'that the clocks skip do not exist on that day',
      { fromHour: 2, toHour: 3, days: 'daily', zone: 'Europe/Berlin' },
      '2026-03-29T00:30',
      '2026-03-30T00:00',
    ],
    [
      'that occur twice are twice as long',
      { fromHour: 2, toHour: 3, days: 'daily', zone: 'Europe/Berlin' },
      '2026-10-25T01:30',
      '2026-10-25T01:30',
    ],
  ])('%s', (_, change, from, to) => {
    expect(iso(withinHours(rule(change), at(from)))).toBe(to)
  })

  const hour = fc.integer({ min: 0, max: 23 })
  const anyRule = fc
    .record({
      afterMs: fc.integer({ min: 30 * MINUTE, max: 7 * 24 * HOUR }),
      fromHour: hour,
      toHour: fc.integer({ min: 1, max: 24 }),
      days: fc.constantFrom('weekdays' as const, 'daily' as const),
      zone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'Asia/Kathmandu'),
    })
    .filter(({ fromHour, toHour }) => fromHour !== toHour)
  const anyTime = fc.integer({ min: Date.UTC(2025, 0, 1), max: Date.UTC(2028, 0, 1) })

  test('contain every due time, which is the first allowed time from the set time on', () => {
    fc.assert(
      fc.property(anyRule, anyTime, anyTime, (of, beganAt, snoozedUntil) => {
        const due = nextReminder(of, streak({ beganAt, snoozedUntil }), [], BUILDS)!.at
        const earliest = Math.max(beganAt + of.afterMs, snoozedUntil)
        expect(due).toBeGreaterThanOrEqual(earliest)
        expect(isWithin(of, due)).toBe(true)
        for (let before = earliest; before < due; before += 30 * MINUTE) expect(isWithin(of, before)).toBe(false)
      }),
      { numRuns: 400 },
    )
  })
})

/** The same rule, computed from the local time only. */
function isWithin({ fromHour, toHour, days, zone }: ReminderRule, ms: number): boolean {
  const { hour, dayOfWeek } = Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone)
  const isNextDay = toHour < fromHour && hour < toHour
  const begun = isNextDay ? ((dayOfWeek + 5) % 7) + 1 : dayOfWeek
  const isInside = toHour < fromHour ? hour >= fromHour || isNextDay : hour >= fromHour && hour < toHour
  return isInside && (days === 'daily' || begun <= 5)
}
