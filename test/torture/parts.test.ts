import { describe, expect, it } from 'vitest'
import { partsOf, readClaims, readGoals, readSweep, verdictOf } from './parts.ts'

const [sweep, , claims, , strangers] = partsOf(200)

const SWEPT = '  500 builds, 1,203 deliveries, 40 presses of a button\nlost 0 · doubled 0 · wrong 0\n'
const CLAIMED = (failed: number, skipped = 0) =>
  `tells each build once\n${JSON.stringify({ numTotalTestSuites: 1, numPassedTests: 3, numFailedTests: failed, numPendingTests: skipped })}\n`

describe('a verdict', () => {
  it('takes its counts from the end of the output of the kill sweep, the claims and the benchmark', () => {
    expect(readSweep(SWEPT)).toEqual({ lost: 0, doubled: 0, wrong: 0 })
    expect(readClaims(CLAIMED(1, 2))).toEqual({ passed: 3, failed: 1, skipped: 2 })
    expect(readGoals('…\nAll 27 goals are met.\n')).toEqual({ goals: 27, missed: 0 })
    expect(readGoals('…\nMISSED: 2 of 27 goals.\n')).toEqual({ goals: 27, missed: 2 })
  })

  it.each([
    ['no item lost, doubled or wrong', sweep!, 0, SWEPT, true],
    ['one item lost', sweep!, 1, SWEPT.replace('lost 0', 'lost 1'), false],
    [
      'one item doubled, although the program ended successfully',
      sweep!,
      0,
      SWEPT.replace('doubled 0', 'doubled 1'),
      false,
    ],
    ['all claims passed', claims!, 0, CLAIMED(0), true],
    ['one claim failed', claims!, 1, CLAIMED(1), false],
    ['one claim skipped', claims!, 0, CLAIMED(0, 1), false],
    ['all goals are met', strangers!, 0, 'All 27 goals are met.\n', true],
    ['one goal is missed', strangers!, 0, 'MISSED: 1 of 27 goals.\n', false],
    ['a program that failed after it had printed its counts', sweep!, 1, SWEPT, false],
    ['a program that broke off', sweep!, null, '  12 s  killed after an acknowledgement\n', false],
  ])('is right for %s', (_, part, code, printed, ok) => {
    expect(verdictOf(part, code, printed).ok).toBe(ok)
  })
})
