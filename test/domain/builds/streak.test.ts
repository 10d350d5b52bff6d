import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openStreakOf, changesAt, ownershipOf } from '../../../src/domain/builds/streak.ts'
import type { BuildEvent } from '../../../src/domain/builds/build-event.ts'
import { untilOf } from '../../../src/features/streaks/action.ts'
import { streak } from '../../support/streaks.ts'
import { HOUR, LIN, MINUTE, story, T0, type Said } from '../../support/build-events.ts'

const built = (build: string, word: string): Said => ({ word, build, commit: build })

/** `1-3 (2)`: the first and the newest build, and how many builds failed. */
function said(outcomes: readonly BuildEvent[]): string | null {
  const open = openStreakOf(outcomes)
  return open && `${open.first.buildId}-${open.newest.buildId} (${open.builds})`
}

describe('a streak', () => {
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

const RED = streak({ owner: LIN, ownedAt: T0, ownerUntil: T0 + HOUR, snoozedUntil: T0 + 2 * HOUR })

describe('the time for which somebody owns a branch', () => {
  it('is shown until it has passed, and then ends by itself', () => {
    const before = ownershipOf(RED, T0 + HOUR - 1)
    expect([before.owner?.user, changesAt(before)]).toEqual([LIN, T0 + HOUR])
    const after = ownershipOf(RED, T0 + HOUR)
    expect([after.owner, changesAt(after)]).toEqual([null, T0 + 2 * HOUR])
    expect(changesAt(ownershipOf(RED, T0 + 2 * HOUR))).toBeNull()
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
