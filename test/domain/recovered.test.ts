import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { recoveredFrom, recoveringFrom, recoveryOf, redStreakTo } from '../../src/domain/recovered.ts'
import { foldAttempts, attemptKey, type Attempt } from '../../src/domain/attempt.ts'
import { isRed, isVerdict } from '../../src/domain/status.ts'
import { MINUTE, attemptsOf, SECOND, story, T0, type Said } from '../support/build-events.ts'

const built = (build: string, word: string, after?: number): Said => ({
  word,
  build,
  commit: build,
  ...(after === undefined ? {} : { after }),
})

/** The attempts of a branch that recovered, as `512.1`, after all of its deliveries were received in this order. */
function recovered(...said: Said[]): string[] {
  const attempts = attemptsOf(...said)
  return attempts.filter((attempt) => recoveryOf(attempt, attempts)).map(attemptKey)
}

/** The recovery of the newest attempt of a branch. */
function recoveryNow(...said: Said[]) {
  const attempts = attemptsOf(...said)
  return recoveryOf(attempts.at(-1)!, attempts)
}

describe('recovered', () => {
  it.each<[claim: string, said: Said[], attempts: string[]]>([
    ['is a success after a failure', [built('1', 'error'), built('2', 'success')], ['2.1']],
    [
      'is a success after a failure that was there before the first look',
      [{ ...built('1', 'error'), origin: 'history' }, built('2', 'success')],
      ['2.1'],
    ],
    [
      'is not a success by what is recorded after it as no news',
      [built('2', 'success'), { ...built('1', 'error'), origin: 'history' }],
      [],
    ],
    ['is a success after a machine error', [built('1', 'infrastructure_failure'), built('2', 'success')], ['2.1']],
    ['is not a success without history', [built('1', 'success')], []],
    ['is not a success after a success', [built('1', 'success'), built('2', 'success')], []],
    ['is not the second success', [built('1', 'error'), built('2', 'success'), built('3', 'success')], ['2.1']],
    ['is not a failure after a failure', [built('1', 'error'), built('2', 'error')], []],
    ['is not a failure after a success', [built('1', 'success'), built('2', 'error')], []],
    ['is not a running build after a failure', [built('1', 'error'), built('2', 'initiated')], []],
    ['is not a stopped build after a failure', [built('1', 'error'), built('2', 'stopped')], []],
    [
      'happens again after each red streak',
      ['error', 'success', 'error', 'success'].map((w, i) => built(`${i}`, w)),
      ['1.1', '3.1'],
    ],
    ['is a restart that passes after its own failure', [built('1', 'error'), built('1', 'success')], ['1.2']],
    [
      'is a restart that passes after its own failure and starts in between',
      [built('1', 'initiated'), built('1', 'error'), built('1', 'initiated'), built('1', 'success')],
      ['1.2'],
    ],
    ['is decided by number, not by text', [built('9', 'error'), built('10', 'success')], ['10.1']],
    [
      'is decided by ids beyond 2^53',
      [built('9007199254740992', 'error'), built('9007199254740993', 'success')],
      ['9007199254740993.1'],
    ],
  ])('%s', (_, said, attempts) => {
    expect(recovered(...said)).toEqual(attempts)
  })

  it.each(['stopped', 'ignored', 'blocked', 'waiting', 'initiated', 'paused'])('is not made by %s', (word) => {
    expect(recovered(built('1', 'success'), built('2', word), built('3', 'success'))).toEqual([])
    expect(recovered(built('1', word), built('2', 'success'))).toEqual([])
  })

  it.each(['stopped', 'ignored', 'blocked', 'waiting', 'initiated', 'paused'])('is not broken by %s', (word) => {
    expect(recovered(built('1', 'error'), built('2', word), built('3', 'success'))).toEqual(['3.1'])
  })
})

describe('two overlapping builds of one branch', () => {
  it('do not recover a newer failure by the late success of the older one', () => {
    expect(
      recovered(built('1', 'initiated'), built('2', 'initiated'), built('2', 'error'), built('1', 'success')),
    ).toEqual([])
  })

  it('do not recover an older failure by it, either, once a newer one has failed', () => {
    expect(recovered(built('1', 'error'), built('3', 'error'), built('2', 'success'))).toEqual([])
  })

  it('recover by the older one when it passes before the newer one fails', () => {
    expect(recovered(built('1', 'error'), built('2', 'success'), built('3', 'error'))).toEqual(['2.1'])
  })

  it('recover by the older one while the newer one is still running, or was stopped', () => {
    expect(recovered(built('1', 'error'), built('3', 'initiated'), built('2', 'success'))).toEqual(['2.1'])
    expect(recovered(built('1', 'error'), built('3', 'stopped'), built('2', 'success'))).toEqual(['2.1'])
  })

  it('count the failure of the older one that is received last as the one before', () => {
    expect(recovered(built('2', 'success'), built('1', 'error'))).toEqual(['2.1'])
  })

  it('do not recover a newer failure by restarting an older build', () => {
    expect(recovered(built('1', 'error'), built('2', 'error'), built('1', 'success'))).toEqual([])
  })

  it('are recovered by the build after both', () => {
    const said = [built('1', 'initiated'), built('2', 'error'), built('1', 'success'), built('3', 'success')]
    expect(recovered(...said)).toEqual(['3.1'])
  })

  it('stay recovered by the newer one when the older one passes late', () => {
    expect(recovered(built('1', 'error'), built('3', 'success'), built('2', 'success'))).toEqual(['3.1'])
  })

  it('stay recovered though a restart of the failed one passes after it', () => {
    expect(recovered(built('1', 'error'), built('2', 'success'), built('1', 'success'))).toEqual(['2.1'])
  })

  it('do not recover by the newer one when the older one had passed before it', () => {
    expect(recovered(built('1', 'error'), built('2', 'success'), built('3', 'success'))).toEqual(['2.1'])
  })

  it('count a late failure between a late success and the newer one', () => {
    expect(recovered(built('4', 'success'), built('2', 'success'), built('3', 'error'))).toEqual(['4.1'])
    expect(recovered(built('4', 'success'), built('2', 'success'), built('1', 'error'))).toEqual(['4.1'])
  })

  it('count a late failure only after the last success that had come in time', () => {
    expect(recovered(built('2', 'success'), built('3', 'success'), built('1', 'error'))).toEqual(['2.1'])
    expect(recovered(built('1', 'success'), built('3', 'success'), built('2', 'error'))).toEqual(['3.1'])
  })

  it('tell the same red streak after a late success as before it', () => {
    const said = [built('1', 'error'), built('3', 'error'), built('4', 'success')]
    const before = attemptsOf(...said)
    const after = attemptsOf(...said, built('2', 'success'))
    const of = (attempts: typeof before) =>
      recoveryOf(
        attempts.find(({ buildId }) => buildId === '4')!,
        attempts,
      )
    expect(of(before)).toMatchObject({ sinceAt: T0, builds: 2 })
    expect(of(after)).toEqual(of(before))
  })
})

describe('a recovery', () => {
  it('says since when the branch was red and how many builds it was', () => {
    const said = [built('1', 'success', 0), built('2', 'error', MINUTE), built('3', 'error'), built('4', 'success')]
    expect(recoveryNow(...said)).toEqual({ sinceAt: T0 + MINUTE, builds: 2, atLeast: false })
  })

  it('counts a build once that failed in each of its attempts', () => {
    const said = ['initiated', 'error', 'initiated', 'error', 'initiated', 'success'].map((word) => built('1', word))
    expect(recoveryNow(...said)).toEqual({ sinceAt: T0 + SECOND, builds: 1, atLeast: false })
  })

  it('does not count what is neither red nor green', () => {
    const words = ['error', 'stopped', 'error', 'ignored', 'success']
    expect(recoveryNow(...words.map((word, i) => built(`${i}`, word)))).toMatchObject({ builds: 2 })
  })

  it.each([
    [['infrastructure_failure', 'error', 'infrastructure_failure', 'error', 'success'], T0 + SECOND],
    [['infrastructure_failure', 'infrastructure_failure', 'success'], T0],
  ])('counts the errors of machines only where nothing failed: %j', (words, sinceAt) => {
    const said = words.map((word, i) => built(`${i}`, word))
    expect(recoveryNow(...said)).toEqual({ sinceAt, builds: 2, atLeast: false })
  })

  it("takes CI's own time for the beginning of the red streak", () => {
    const said = { ...built('1', 'error', MINUTE), details: { finishedAt: T0 + SECOND } }
    expect(recoveryNow(said, built('2', 'success'))).toMatchObject({ sinceAt: T0 + SECOND })
  })

  it.each<[claim: string, words: string[], atLeast: boolean]>([
    ['reaches the end of a history that was cut', ['error', 'success'], true],
    ['begins within a history that was cut', ['success', 'error', 'success'], false],
  ])('knows whether the streak %s', (_, words, atLeast) => {
    const attempts = attemptsOf(...words.map((word, i) => built(`${i}`, word)))
    expect(recoveryOf(attempts.at(-1)!, attempts, true)).toMatchObject({ atLeast, builds: 1 })
  })

  it('needs the attempt itself not to be part of the history', () => {
    const attempts = attemptsOf(built('1', 'error'), built('2', 'success'))
    expect(recoveryOf(attempts[1]!, attempts.slice(0, 1))).toEqual(recoveryOf(attempts[1]!, attempts))
  })
})

describe('any history', () => {
  const word = fc.constantFrom('success', 'error', 'infrastructure_failure', 'stopped', 'ignored', 'blocked', 'waiting')
  const said = fc.array(fc.record({ build: fc.integer({ min: 1, max: 9 }).map(String), word }), { maxLength: 12 })

  it('is read the same in any order', () => {
    const shuffled = said.chain((each) => {
      const attempts = foldAttempts(story(...each))
      return fc.shuffledSubarray(attempts, { minLength: attempts.length }).map((mixed) => ({ attempts, mixed }))
    })
    fc.assert(
      fc.property(shuffled, ({ attempts, mixed }) => {
        for (const attempt of attempts) expect(recoveryOf(attempt, mixed)).toEqual(recoveryOf(attempt, attempts))
      }),
    )
  })

  it('is the same without the attempts that are neither red nor green', () => {
    fc.assert(
      fc.property(said, (each) => {
        const attempts = foldAttempts(story(...each))
        const verdicts = attempts.filter(({ status }) =>
          ['success', 'failed', 'infrastructure_failure'].includes(status),
        )
        for (const attempt of attempts) expect(recoveryOf(attempt, verdicts)).toEqual(recoveryOf(attempt, attempts))
      }),
    )
  })

  it('recovers at the passing builds that follow a red one, when builds end in their order', () => {
    const words = fc.array(word, { maxLength: 12 })
    fc.assert(
      fc.property(words, (each) => {
        let red = false
        const expected: string[] = []
        for (const [i, status] of each.entries()) {
          if (status === 'success' && red) expected.push(`${i + 1}.1`)
          if (status === 'success') red = false
          if (status === 'error' || status === 'infrastructure_failure') red = true
        }
        expect(recovered(...each.map((status, i) => built(`${i + 1}`, status)))).toEqual(expected)
      }),
    )
  })

  it('recovers only builds that passed, after a red one that no success in between had overcome in time', () => {
    fc.assert(
      fc.property(said, (each) => {
        const attempts = foldAttempts(story(...each))
        for (const attempt of attempts.filter((one) => recoveryOf(one, attempts))) {
          const inTime = (other: Attempt) => other.status !== 'success' || other.finalSeq! < attempt.finalSeq!
          const before = attempts.slice(0, attempts.indexOf(attempt)).filter(inTime)
          expect(attempt.status).toBe('success')
          expect(before.findLast(({ status }) => isVerdict(status))!.status).not.toBe('success')
        }
      }),
    )
  })

  it('loses no recovery by another success that is received', () => {
    const build = fc.integer({ min: 1, max: 9 }).map(String)
    fc.assert(
      fc.property(said, build, (each, late) => {
        expect(recovered(...each, { word: 'success', build: late })).toEqual(expect.arrayContaining(recovered(...each)))
      }),
    )
  })
})

describe('the red streak that a red run stands in', () => {
  /** How long the branch had been red when this build ended, by all of the deliveries. */
  function streakTo(build: string, ...said: Said[]) {
    const attempts = attemptsOf(...said)
    return redStreakTo(
      attempts.find((attempt) => attempt.buildId === build)!,
      attempts,
      false,
    )
  }

  it.each<[claim: string, said: Said[], builds: number]>([
    ['begins with itself after a success', [built('1', 'success'), built('2', 'error')], 1],
    [
      'is as long as the builds before it were red',
      [built('0', 'success'), built('1', 'error'), built('2', 'error')],
      2,
    ],
    [
      'counts a build that failed twice once',
      [built('1', 'error'), built('1', 'infrastructure_failure'), built('2', 'error')],
      2,
    ],
    ['passes over the error of a machine', [built('1', 'error'), built('2', 'infrastructure_failure')], 1],
    ['passes over what was stopped', [built('0', 'error'), built('1', 'stopped'), built('2', 'error')], 2],
    ['counts no newer build', [built('2', 'error'), built('3', 'error')], 1],
    ['is not ended by a newer success', [built('1', 'error'), built('2', 'error'), built('3', 'success')], 2],
  ])('%s', (_, said, builds) => {
    expect(streakTo('2', ...said)).toMatchObject({ builds, atLeast: false })
  })

  it('began when its first red build ended', () => {
    const said = [built('0', 'success', 0), built('1', 'error', MINUTE), built('2', 'error', 9 * MINUTE)]
    expect(streakTo('2', ...said)).toMatchObject({ sinceAt: T0 + MINUTE })
  })

  it('is at least so long when the history ends before it', () => {
    const attempts = attemptsOf(built('1', 'error'), built('2', 'error'))
    expect(redStreakTo(attempts[1]!, attempts, true)).toMatchObject({ builds: 2, atLeast: true })
    const ended = attemptsOf(built('0', 'success'), built('1', 'error'), built('2', 'error'))
    expect(redStreakTo(ended[2]!, ended, true)).toMatchObject({ builds: 2, atLeast: false })
  })

  it('is none for an attempt that passed', () => {
    expect(streakTo('2', built('1', 'error'), built('2', 'success'))).toBeNull()
  })
})

describe('what recovered from a red outcome', () => {
  /** The builds that recovered from this one, of what was received in this order. */
  function recovering(build: string, ...said: Said[]): string[] {
    const buildEvents = story(...said)
    const red = buildEvents.find((buildEvent) => buildEvent.buildId === build && isRed(buildEvent.status))!
    const later = buildEvents.filter(({ buildId }) => Number(buildId) >= Number(build)).toSorted(inOrder)
    return recoveringFrom(red, later).map(({ buildId }) => buildId)
  }

  const inOrder = (a: Placed, b: Placed) => Number(a.buildId) - Number(b.buildId) || a.seq - b.seq
  type Placed = { buildId: string; seq: number }

  it.each<[claim: string, said: Said[], builds: string[]]>([
    ['is the next that passed', [built('1', 'error'), built('2', 'error'), built('3', 'success')], ['3']],
    ['is not the second', [built('1', 'error'), built('2', 'success'), built('3', 'success')], ['2']],
    ['is nothing where nothing passed', [built('1', 'error'), built('2', 'error')], []],
    ['is itself, restarted', [built('1', 'error'), built('1', 'success')], ['1']],
    ['is not itself before it failed', [built('1', 'success'), built('1', 'error')], []],
    [
      'is what had passed before the one in between did',
      [built('1', 'error'), built('3', 'success'), built('2', 'success')],
      ['2', '3'],
    ],
  ])('%s', (_, said, builds) => {
    expect(recovering('1', ...said)).toEqual(builds)
  })

  it('is all that recovered, and would have recovered from less or from nothing without it; it knows the same of itself', () => {
    const order = fc.shuffledSubarray(['1', '2', '3', '4', '5', '6', '7', '8'])
    const word = fc.constantFrom('success', 'error', 'infrastructure_failure')
    const branch = order.chain((builds) => fc.tuple(...builds.map((build) => word.map((w) => built(build, w)))))
    fc.assert(
      fc.property(branch, (said) => {
        const attempts = attemptsOf(...said)
        const buildEvents = attempts.flatMap((attempt) => attempt.buildEvents).toSorted(inOrder)
        const fixed = attempts.filter((attempt) => recoveryOf(attempt, attempts) !== null)
        for (const red of attempts.filter(({ status }) => isRed(status))) {
          const without = attempts.filter((attempt) => attempt !== red)
          const telling = (attempt: Attempt, history: readonly Attempt[]) =>
            JSON.stringify(recoveryOf(attempt, history))
          const changed = fixed.filter((attempt) => telling(attempt, attempts) !== telling(attempt, without))
          const builds = new Set(recovering(red.buildId, ...said))
          const kept = fixed.map(({ buildId }) => buildId).filter((build) => builds.has(build))
          for (const attempt of fixed) {
            const green = attempt.buildEvents.at(-1)!
            const earlier = buildEvents.slice(0, buildEvents.indexOf(green) + 1).toReversed()
            const from = recoveredFrom(green, earlier).map(({ buildId }) => buildId)
            expect(from.includes(red.buildId)).toBe(kept.includes(attempt.buildId))
          }
          // A machine's error is no part of what they tell where something failed.
          const told = changed.map(({ buildId }) => buildId)
          if (red.status === 'failed') expect(kept).toEqual(told)
          else expect(kept).toEqual(expect.arrayContaining(told))
        }
      }),
    )
  })
})
