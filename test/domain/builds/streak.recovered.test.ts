import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { recoveryOf, extentTo } from '../../../src/domain/builds/streak.ts'
import { foldAttempts, attemptKey, type Attempt } from '../../../src/domain/builds/attempt.ts'
import { isVerdict } from '../../../src/domain/builds/status.ts'
import { MINUTE, attemptsOf, SECOND, story, T0, type Said } from '../../support/build-events.ts'

const built = (build: string, word: string, after?: number): Said => ({
  word,
  build,
  commit: build,
  ...(after === undefined ? {} : { after }),
})

/** The attempts that recovered the branch, as `512.1`, once all these deliveries were received in this order. */
function recovered(...said: Said[]): string[] {
  const attempts = attemptsOf(...said)
  return attempts.filter((attempt) => recoveryOf(attempt, attempts)).map(attemptKey)
}

/** The recovery by a branch's newest attempt. */
function recoveryNow(...said: Said[]) {
  const attempts = attemptsOf(...said)
  return recoveryOf(attempts.at(-1)!, attempts)
}

describe('a recovery', () => {
  it.each<[claim: string, said: Said[], attempts: string[]]>([
    ['is a success after a failure', [built('1', 'error'), built('2', 'success')], ['2.1']],
    [
      'is a success after a failure from before the first look at the project',
      [{ ...built('1', 'error'), origin: 'history' }, built('2', 'success')],
      ['2.1'],
    ],
    [
      'is not a success whose earlier failure is recorded after it as no news',
      [built('2', 'success'), { ...built('1', 'error'), origin: 'history' }],
      [],
    ],
    ['is a success after a machine error', [built('1', 'infrastructure_failure'), built('2', 'success')], ['2.1']],
    ['is not a success without earlier builds', [built('1', 'success')], []],
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

  it.each(['stopped', 'ignored', 'blocked', 'waiting', 'initiated', 'paused'])('is not caused by %s', (word) => {
    expect(recovered(built('1', 'success'), built('2', word), built('3', 'success'))).toEqual([])
    expect(recovered(built('1', word), built('2', 'success'))).toEqual([])
  })

  it.each(['stopped', 'ignored', 'blocked', 'waiting', 'initiated', 'paused'])('is not prevented by %s', (word) => {
    expect(recovered(built('1', 'error'), built('2', word), built('3', 'success'))).toEqual(['3.1'])
  })
})

describe('two overlapping builds of one branch', () => {
  it.each<[claim: string, olderEndsAfterMs: number | null, isRecovery: boolean]>([
    ['were red in between if the older one ended first, and was only delivered late', 1, true],
    ['were red in between if nobody knows which ended first', null, true],
    ['were never red if the older one failed after the newer one had passed', 3, false],
  ])('%s', (_, olderEndsAfterMs, isRecovery) => {
    const ending = (finishedAt: number | null) => ({ details: { finishedAt } })
    const said = [
      built('1', 'success'),
      { ...built('3', 'success'), ...ending(T0 + 2) },
      { ...built('2', 'error'), ...ending(olderEndsAfterMs && T0 + olderEndsAfterMs) },
    ]
    expect(recovered(...said)).toEqual(isRecovery ? ['3.1'] : [])
  })

  it('are not fixed by the late success of the older one after the newer one failed', () => {
    expect(
      recovered(built('1', 'initiated'), built('2', 'initiated'), built('2', 'error'), built('1', 'success')),
    ).toEqual([])
  })

  it('do not fix an older failure by a late success either, once a newer one has failed', () => {
    expect(recovered(built('1', 'error'), built('3', 'error'), built('2', 'success'))).toEqual([])
  })

  it('are fixed by the older one if it passes before the newer one fails', () => {
    expect(recovered(built('1', 'error'), built('2', 'success'), built('3', 'error'))).toEqual(['2.1'])
  })

  it('are fixed by the older one if the newer one is still running or was stopped', () => {
    expect(recovered(built('1', 'error'), built('3', 'initiated'), built('2', 'success'))).toEqual(['2.1'])
    expect(recovered(built('1', 'error'), built('3', 'stopped'), built('2', 'success'))).toEqual(['2.1'])
  })

  it('count a failure of the older one that is received last as the earlier one', () => {
    expect(recovered(built('2', 'success'), built('1', 'error'))).toEqual(['2.1'])
  })

  it('are not fixed by a restart of the older one after the newer one failed', () => {
    expect(recovered(built('1', 'error'), built('2', 'error'), built('1', 'success'))).toEqual([])
  })

  it('are fixed by a build after both', () => {
    const said = [built('1', 'initiated'), built('2', 'error'), built('1', 'success'), built('3', 'success')]
    expect(recovered(...said)).toEqual(['3.1'])
  })

  it('stay fixed by the newer one if the older one passes late', () => {
    expect(recovered(built('1', 'error'), built('3', 'success'), built('2', 'success'))).toEqual(['3.1'])
  })

  it('stay fixed if a restart of the failed one passes later', () => {
    expect(recovered(built('1', 'error'), built('2', 'success'), built('1', 'success'))).toEqual(['2.1'])
  })

  it('are not fixed by the newer one if the older one had passed before it', () => {
    expect(recovered(built('1', 'error'), built('2', 'success'), built('3', 'success'))).toEqual(['2.1'])
  })

  it('count a late failure before the newer success, even if a late success lies between', () => {
    expect(recovered(built('4', 'success'), built('2', 'success'), built('3', 'error'))).toEqual(['4.1'])
    expect(recovered(built('4', 'success'), built('2', 'success'), built('1', 'error'))).toEqual(['4.1'])
  })

  it('count a late failure only up to the last success that was received in order', () => {
    expect(recovered(built('2', 'success'), built('3', 'success'), built('1', 'error'))).toEqual(['2.1'])
    expect(recovered(built('1', 'success'), built('3', 'success'), built('2', 'error'))).toEqual(['3.1'])
  })

  it('have the same red streak before and after a late success', () => {
    const said = [built('1', 'error'), built('3', 'error'), built('4', 'success')]
    const before = attemptsOf(...said)
    const after = attemptsOf(...said, built('2', 'success'))
    const of = (attempts: typeof before) =>
      recoveryOf(
        attempts.find(({ buildId }) => buildId === '4')!,
        attempts,
      )
    expect(of(before)).toMatchObject({ at: T0, builds: 2 })
    expect(of(after)).toEqual(of(before))
  })
})

describe('the red streak of a recovery', () => {
  it('says since when the branch was red, and how many builds failed', () => {
    const said = [built('1', 'success', 0), built('2', 'error', MINUTE), built('3', 'error'), built('4', 'success')]
    expect(recoveryNow(...said)).toEqual({ at: T0 + MINUTE, builds: 2, atLeast: false })
  })

  it('counts a build once even if all its attempts failed', () => {
    const said = ['initiated', 'error', 'initiated', 'error', 'initiated', 'success'].map((word) => built('1', word))
    expect(recoveryNow(...said)).toEqual({ at: T0 + SECOND, builds: 1, atLeast: false })
  })

  it('counts no build that is neither red nor green', () => {
    const words = ['error', 'stopped', 'error', 'ignored', 'success']
    expect(recoveryNow(...words.map((word, i) => built(`${i}`, word)))).toMatchObject({ builds: 2 })
  })

  it.each([
    [['infrastructure_failure', 'error', 'infrastructure_failure', 'error', 'success'], T0 + SECOND],
    [['infrastructure_failure', 'infrastructure_failure', 'success'], T0],
  ])('counts machine errors only if nothing else failed: %j', (words, at) => {
    const said = words.map((word, i) => built(`${i}`, word))
    expect(recoveryNow(...said)).toEqual({ at, builds: 2, atLeast: false })
  })

  it('begins at the time that CI gives', () => {
    const said = { ...built('1', 'error', MINUTE), details: { finishedAt: T0 + SECOND } }
    expect(recoveryNow(said, built('2', 'success'))).toMatchObject({ at: T0 + SECOND })
  })

  it.each<[claim: string, words: string[], atLeast: boolean]>([
    ['reaches the end of a truncated history', ['error', 'success'], true],
    ['begins within a truncated history', ['success', 'error', 'success'], false],
  ])('is known to be one that %s', (_, words, atLeast) => {
    const attempts = attemptsOf(...words.map((word, i) => built(`${i}`, word)))
    expect(recoveryOf(attempts.at(-1)!, attempts, true)).toMatchObject({ atLeast, builds: 1 })
  })

  it('is the same if the history does not include the recovered attempt', () => {
    const attempts = attemptsOf(built('1', 'error'), built('2', 'success'))
    expect(recoveryOf(attempts[1]!, attempts.slice(0, 1))).toEqual(recoveryOf(attempts[1]!, attempts))
  })
})

describe('any history', () => {
  const word = fc.constantFrom('success', 'error', 'infrastructure_failure', 'stopped', 'ignored', 'blocked', 'waiting')
  const said = fc.array(fc.record({ build: fc.integer({ min: 1, max: 9 }).map(String), word }), { maxLength: 12 })

  it('gives the same recoveries in any order', () => {
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

  it('gives the same recoveries without attempts that are neither red nor green', () => {
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

  it('has a recovery at each passing build after a red one, if builds end in order', () => {
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

  it('has recoveries only at passing builds after a red one, without an earlier success in between', () => {
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

  it('keeps its recoveries when another success arrives', () => {
    const build = fc.integer({ min: 1, max: 9 }).map(String)
    fc.assert(
      fc.property(said, build, (each, late) => {
        expect(recovered(...each, { word: 'success', build: late })).toEqual(expect.arrayContaining(recovered(...each)))
      }),
    )
  })
})

describe('the red streak up to a red attempt', () => {
  /** How long the branch had been red when this build ended, with all of these deliveries known. */
  function streakTo(build: string, ...said: Said[]) {
    const attempts = attemptsOf(...said)
    return extentTo(
      attempts.find((attempt) => attempt.buildId === build)!,
      attempts,
      false,
    )
  }

  it.each<[claim: string, said: Said[], builds: number]>([
    ['begins with that attempt after a success', [built('1', 'success'), built('2', 'error')], 1],
    ['counts the red builds before it', [built('0', 'success'), built('1', 'error'), built('2', 'error')], 2],
    [
      'counts a build that failed twice only once',
      [built('1', 'error'), built('1', 'infrastructure_failure'), built('2', 'error')],
      2,
    ],
    ['leaves out machine errors', [built('1', 'error'), built('2', 'infrastructure_failure')], 1],
    ['leaves out stopped builds', [built('0', 'error'), built('1', 'stopped'), built('2', 'error')], 2],
    ['leaves out newer builds', [built('2', 'error'), built('3', 'error')], 1],
    ['does not end with a newer success', [built('1', 'error'), built('2', 'error'), built('3', 'success')], 2],
  ])('%s', (_, said, builds) => {
    expect(streakTo('2', ...said)).toMatchObject({ builds, atLeast: false })
  })

  it('begins when its first red build ended', () => {
    const said = [built('0', 'success', 0), built('1', 'error', MINUTE), built('2', 'error', 9 * MINUTE)]
    expect(streakTo('2', ...said)).toMatchObject({ at: T0 + MINUTE })
  })

  it('has at least this length if the history is truncated before its beginning', () => {
    const attempts = attemptsOf(built('1', 'error'), built('2', 'error'))
    expect(extentTo(attempts[1]!, attempts, true)).toMatchObject({ builds: 2, atLeast: true })
    const ended = attemptsOf(built('0', 'success'), built('1', 'error'), built('2', 'error'))
    expect(extentTo(ended[2]!, ended, true)).toMatchObject({ builds: 2, atLeast: false })
  })

  it('does not exist for an attempt that passed', () => {
    expect(streakTo('2', built('1', 'error'), built('2', 'success'))).toBeNull()
  })
})
