import { describe, expect, it } from 'vitest'
import { attemptKey } from '../../../src/domain/builds/attempt.ts'
import { recoveryOf } from '../../../src/domain/builds/streak.ts'
import { attemptRefText, isResultOf, parseAttemptRef } from '../../../src/domain/cards/request.ts'
import { buildView } from '../../../src/domain/cards/view.ts'
import {
  attemptsOf,
  buildId,
  MINUTE,
  projectId,
  request,
  SECOND,
  T0,
  WEB,
  type Said,
} from '../../support/build-events.ts'

const BUILD = '3f2a1b4c-5d6e-4f70-8192-a3b4c5d6e7f8'

// The last one sorts first.
const [FIRST, SECOND_ONE, THIRD] = ['f', 'c', 'a'].map((digit) => BUILD.replace('3', digit)) as [string, string, string]

describe('recoveries among builds with UUIDs', () => {
  const recovered = (...said: Said[]): string[] => {
    const attempts = attemptsOf(...said.map((one) => ({ ...one, commit: one.build! })))
    return attempts.filter((attempt) => recoveryOf(attempt, attempts)).map(attemptKey)
  }

  it('go by the order in which the builds were first received', () => {
    const said = [
      { build: FIRST, word: 'error' },
      { build: SECOND_ONE, word: 'success' },
      { build: THIRD, word: 'error' },
    ]
    expect(recovered(...said)).toEqual([`${SECOND_ONE}.1`])
    expect(recovered(...said.toReversed())).toEqual([`${SECOND_ONE}.1`])
  })

  it('go by the start times that CI gives, in whatever order the builds are received', () => {
    const green = { build: THIRD, word: 'success', details: { startedAt: T0 - MINUTE } }
    const red = { build: FIRST, word: 'error', details: { startedAt: T0 - 2 * MINUTE } }
    expect(recovered(red, green)).toEqual([`${THIRD}.1`])
    expect(recovered(green, red)).toEqual([`${THIRD}.1`])
  })

  it('do not change when an event is repeated, or a later event has a start time', () => {
    const red = { build: FIRST, word: 'error' }
    const green = { build: SECOND_ONE, word: 'success' }
    const late = { build: FIRST, word: 'error', details: { startedAt: T0 + MINUTE } }
    expect(recovered(red, green, late, green)).toEqual([`${SECOND_ONE}.1`])
  })
})

describe('an attempt of a build with a UUID', () => {
  it('has the UUID in its name, which can be read back', () => {
    const ref = { projectId: projectId(WEB), buildId: buildId(BUILD), attempt: 2 }
    expect(attemptRefText(ref)).toBe(`41/${BUILD}.2`)
    expect(parseAttemptRef(`41/${BUILD}.2`)).toEqual(ref)
  })

  it.each(['41/3f2a1b4c.1', '41/3f2a1b4c-5d6e.1', `41/${BUILD}`, `41/${BUILD}0.1`, `41/${BUILD}.1.1`])(
    'is not named by %s',
    (text) => {
      expect(parseAttemptRef(text)).toBeNull()
    },
  )

  it("shows the first part of the UUID, or the build's number if that is known", () => {
    const [attempt] = attemptsOf({ word: 'error', build: BUILD })
    expect(buildView(attempt!, [attempt!]).buildId).toBe('3f2a1b4c')
    const [numbered] = attemptsOf({ word: 'error', build: BUILD, details: { number: '512' } })
    expect(buildView(numbered!, [numbered!]).buildId).toBe('512')
  })

  it('is the result of a restart of an older, numbered build whose answer was lost', () => {
    const asked = request({ state: 'unclear' })
    const begun = (after: number) => attemptsOf({ word: 'initiated', build: BUILD, after }).at(-1)!
    expect(isResultOf(asked, { ...begun(11 * MINUTE), buildOrder: '00000000000000000512~0' })).toBe(true)
    expect(isResultOf(asked, { ...begun(10 * MINUTE - SECOND), buildOrder: '00000000000000000512~0' })).toBe(false)
    expect(isResultOf(asked, { ...begun(11 * MINUTE), buildOrder: '00000000000000000511~0' })).toBe(false)
  })
})
