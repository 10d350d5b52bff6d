import * as fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import {
  breakageOf,
  changesAt,
  shownBreakage,
  type Breakage,
  type BreakageChange,
  nextReminder,
  reminderHolds,
  withinHours,
  type ReminderRule,
} from '../../../src/domain/builds/breakage.ts'
import type { BuildEvent } from '../../../src/domain/builds/build-event.ts'
import { untilOf } from '../../../src/features/breakages/action.ts'
import { breakage } from '../../support/breakages.ts'
import { HOUR, LIN, MINUTE, story, T0, type Said, channelId } from '../../support/build-events.ts'

const built = (build: string, word: string): Said => ({ word, build, commit: build })

/** `1-3 (2)`: the first and the newest build, and how many builds failed. */
function said(outcomes: readonly BuildEvent[]): string | null {
  const streak = breakageOf(outcomes)
  return streak && `${streak.first.buildId}-${streak.newest.buildId} (${streak.builds})`
}

describe('a breakage', () => {
  it.each<[claim: string, builds: Said[], is: string | null]>([
    ['begins with the first failure', [built('1', 'success'), built('2', 'error'), built('3', 'error')], '2-3 (2)'],
    ['begins with the first known build if that failed', [built('1', 'error')], '1-1 (1)'],
    ['ends with the next success', [built('1', 'error'), built('2', 'success')], null],
    ['does not begin with a machine error', [built('1', 'infrastructure_failure')], null],
    [
      'does not end with a machine error, which does not count as a failed build',
      [built('1', 'error'), built('2', 'infrastructure_failure')],
      '1-1 (1)',
    ],
    ['begins after a machine error', [built('1', 'infrastructure_failure'), built('2', 'error')], '2-2 (1)'],
    ['continues over stopped builds', [built('1', 'error'), built('2', 'stopped'), built('3', 'error')], '1-3 (2)'],
    ['is not ended by an older build that passes late', [built('2', 'error'), built('1', 'success')], '2-2 (1)'],
    [
      'begins later if a success in its middle arrives late',
      [built('1', 'error'), built('3', 'error'), built('2', 'success')],
      '3-3 (1)',
    ],
    ['ends with a restart that passes', [built('1', 'error'), built('1', 'success')], null],
    [
      'counts a build once even if it fails twice',
      [built('1', 'error'), built('1', 'success'), built('1', 'error')],
      '1-1 (1)',
    ],
    ['compares build ids as numbers, not as text', [built('9', 'error'), built('10', 'success')], null],
  ])('%s', (_, builds, is) => {
    expect(said(story(...builds))).toBe(is)
  })

  it('is the same in whatever order builds end, and however often each end is received', () => {
    const word = fc.constantFrom('success', 'error', 'infrastructure_failure', 'stopped')
    const outcomes = fc.array(fc.record({ build: fc.integer({ min: 1, max: 12 }), word }), { maxLength: 20 })
    fc.assert(
      fc.property(outcomes, fc.infiniteStream(fc.nat()), (ends, random) => {
        const told = ends.map(({ build, word: how }) => built(String(build), how))
        // The events of one build keep their order.
        const builds = [...Map.groupBy(told, ({ build }) => build).values()]
        const shuffled = builds.toSorted(() => (random.next().value! % 2 === 0 ? 1 : -1)).flat()
        const again = story(...shuffled)
        expect(said([...again, ...again])).toBe(said(story(...told)))
      }),
    )
  })
})

const RED = breakage({ owner: LIN, ownedAt: T0, ownerUntil: T0 + HOUR, snoozedUntil: T0 + 2 * HOUR })

describe('the time for which somebody owns a branch', () => {
  it('is shown until it has passed, and then ends by itself', () => {
    const before = shownBreakage(RED, T0 + HOUR - 1)
    expect([before.owner?.user, changesAt(before)]).toEqual([LIN, T0 + HOUR])
    const after = shownBreakage(RED, T0 + HOUR)
    expect([after.owner, changesAt(after)]).toEqual([null, T0 + 2 * HOUR])
    expect(changesAt(shownBreakage(RED, T0 + 2 * HOUR))).toBeNull()
  })

  it('of some minutes or hours ends at a full minute, so that a second click gives the same time', () => {
    expect([untilOf(1, 'UTC', T0), untilOf(1, 'UTC', T0 + MINUTE - 1)]).toEqual([T0 + MINUTE, T0 + MINUTE])
    expect(untilOf(90, 'UTC', T0 + 1)).toBe(T0 + 90 * MINUTE)
  })

  it.each([
    ['Europe/Berlin', '2026-03-02T14:00:00Z', '2026-03-03T08:00:00Z'],
    ['America/Los_Angeles', '2026-03-02T02:00:00Z', '2026-03-02T17:00:00Z'],
    ['Pacific/Auckland', '2026-03-02T14:00:00Z', '2026-03-03T20:00:00Z'],
    // The night in which the clocks go forward.
    ['Europe/Berlin', '2026-03-28T20:00:00Z', '2026-03-29T07:00:00Z'],
  ])('ends tomorrow at nine in %s', (zone, now, until) => {
    expect(new Date(untilOf('tomorrow', zone, Date.parse(now))).toISOString()).toBe(until.replace('Z', '.000Z'))
  })
})

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

const changed = (change: Partial<BreakageChange> & Pick<BreakageChange, 'kind' | 'at'>): BreakageChange => ({
  id: `change-${change.at}`,
  breakageId: '7',
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

const next = (about: Partial<Breakage> = {}, changes: readonly BreakageChange[] = [], of = rule()) => {
  const found = nextReminder(of, breakage(about), changes, BUILDS)
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
    const holds = (change: Partial<Breakage>) => reminderHolds({ at: T0 + HOUR }, breakage(change))
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
        const due = nextReminder(of, breakage({ beganAt, snoozedUntil }), [], BUILDS)!.at
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
