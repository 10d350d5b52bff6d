import { describe, expect, it } from 'vitest'
import { compareRuns, foldRuns, runKey } from '../../src/domain/run.ts'
import { briefly, buildId, runsOf, SECOND, story, T0 } from '../support/facts.ts'

describe('the runs of a revision', () => {
  it('puts the newest last: by build id as a number, then by run', () => {
    const runs = runsOf({ word: 'error', build: '1000' }, { word: 'error', build: '999' }, 'error', 'success')
    expect(briefly(runs)).toEqual(['512.1 failed', '512.2 success', '999.1 failed', '1000.1 failed'])
  })

  it('tells build ids beyond 2^53 apart', () => {
    const runs = runsOf({ word: 'error', build: '9007199254740993' }, { word: 'success', build: '9007199254740992' })
    expect(briefly(runs)).toEqual(['9007199254740992.1 success', '9007199254740993.1 failed'])
  })

  it('takes a restart with a new build id for a build of its own', () => {
    const facts = story('initiated', 'error', { word: 'initiated', build: '513' }, { word: 'success', build: '513' })
    expect(briefly(foldRuns(facts))).toEqual(['512.1 failed', '513.1 success'])
  })

  it('keeps two builds apart that run at the same time', () => {
    const runs = runsOf(
      { word: 'initiated', build: '512' },
      { word: 'initiated', build: '513' },
      { word: 'success', build: '513' },
      { word: 'waiting', build: '512' },
      { word: 'error', build: '512' },
    )
    expect(briefly(runs)).toEqual(['512.1 failed', '513.1 success'])
  })

  it('does not let the restart request of one build restart another', () => {
    const facts = story({ word: 'success', build: '512' }, { word: 'success', build: '513' }, 'initiated', {
      word: 'initiated',
      build: '513',
    })
    const runs = foldRuns(facts, [{ buildId: buildId('513'), at: T0 + 1.5 * SECOND }])
    expect(briefly(runs)).toEqual(['512.1 success', '513.1 success', '513.2 started'])
  })

  it('names each run by build and number', () => {
    const runs = runsOf('initiated', 'error', 'initiated', { word: 'success', build: '513' })
    expect(runs.map(runKey)).toEqual(['512.1', '512.2', '513.1'])
  })

  it('does not take a run for newer or older than itself', () => {
    const [run] = runsOf('success')
    expect(compareRuns(run!, run!)).toBe(0)
  })
})
