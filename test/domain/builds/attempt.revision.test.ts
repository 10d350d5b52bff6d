import { describe, expect, it } from 'vitest'
import { compareAttempts, foldAttempts, attemptKey } from '../../../src/domain/builds/attempt.ts'
import { briefly, buildId, attemptsOf, SECOND, story, T0 } from '../../support/build-events.ts'

describe('the attempts of a revision', () => {
  it('are ordered by build id as a number, then by attempt number', () => {
    const attempts = attemptsOf({ word: 'error', build: '1000' }, { word: 'error', build: '999' }, 'error', 'success')
    expect(briefly(attempts)).toEqual(['512.1 failed', '512.2 success', '999.1 failed', '1000.1 failed'])
  })

  it('have different build ids even beyond 2^53', () => {
    const attempts = attemptsOf(
      { word: 'error', build: '9007199254740993' },
      { word: 'success', build: '9007199254740992' },
    )
    expect(briefly(attempts)).toEqual(['9007199254740992.1 success', '9007199254740993.1 failed'])
  })

  it('include a restart with a new build id as a build of its own', () => {
    const buildEvents = story(
      'initiated',
      'error',
      { word: 'initiated', build: '513' },
      { word: 'success', build: '513' },
    )
    expect(briefly(foldAttempts(buildEvents))).toEqual(['512.1 failed', '513.1 success'])
  })

  it('are kept apart for builds that run at the same time', () => {
    const attempts = attemptsOf(
      { word: 'initiated', build: '512' },
      { word: 'initiated', build: '513' },
      { word: 'success', build: '513' },
      { word: 'waiting', build: '512' },
      { word: 'error', build: '512' },
    )
    expect(briefly(attempts)).toEqual(['512.1 failed', '513.1 success'])
  })

  it('are not affected by the restart request of another build', () => {
    const buildEvents = story({ word: 'success', build: '512' }, { word: 'success', build: '513' }, 'initiated', {
      word: 'initiated',
      build: '513',
    })
    const attempts = foldAttempts(buildEvents, [{ buildId: buildId('513'), at: T0 + 1.5 * SECOND }])
    expect(briefly(attempts)).toEqual(['512.1 success', '513.1 success', '513.2 started'])
  })

  it('have names of build id and number', () => {
    const attempts = attemptsOf('initiated', 'error', 'initiated', { word: 'success', build: '513' })
    expect(attempts.map(attemptKey)).toEqual(['512.1', '512.2', '513.1'])
  })

  it('are neither newer nor older than themselves', () => {
    const [attempt] = attemptsOf('success')
    expect(compareAttempts(attempt!, attempt!)).toBe(0)
  })
})
