import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runKey } from '../../src/domain/run.ts'
import { isAccountNotice, isFinal } from '../../src/domain/status.ts'
import { bornRunOf } from '../../src/domain/view.ts'
import { runsOf, type Said } from '../support/facts.ts'
import { told } from './support/telling.ts'

describe('any story', () => {
  const words = ['initiated', 'waiting', 'paused', 'success', 'error', 'stopped', 'infrastructure_failure', 'ignored']
  const word = fc.constantFrom(...words, 'blocked')
  const said = fc.array(fc.record({ word, build: fc.constantFrom('512', '513', '9007199254740993') }), {
    minLength: 1,
    maxLength: 12,
  })
  const scene = fc.record({ said, quiet: fc.boolean(), bornAfter: fc.nat(12) })
  const tell = ({ said: all, quiet, bornAfter }: { said: Said[]; quiet: boolean; bornAfter: number }) => {
    const runs = runsOf(...all)
    const bornRun = bornAfter === 0 ? null : bornRunOf(runsOf(...all.slice(0, bornAfter)))
    return { runs, bornRun, story: told(all, { quiet, bornRun }) }
  }

  it('has one reply for each finished run, but the newest that it was born with and those of the account', () => {
    fc.assert(
      fc.property(scene, (each) => {
        const { runs, bornRun, story } = tell(each)
        const expected = runs
          .filter(({ status }) => isFinal(status) && !isAccountNotice(status))
          .map((run) => `run:${runKey(run)}`)
          .filter((slot) => slot !== `run:${bornRun}` || bornRun !== runKey(runs.at(-1)!))
        expect(story.replies.map(({ slot }) => slot)).toEqual(expected)
      }),
    )
  })

  it('calls a person at most once, and only for the newest run, failed', () => {
    fc.assert(
      fc.property(scene, (each) => {
        const { runs, story } = tell(each)
        const calls = [story.card, ...story.replies.map(({ view }) => view)].filter(({ mention }) => mention !== null)
        expect(calls).toHaveLength(runs.at(-1)!.status === 'failed' ? 1 : 0)
        expect(calls.every(({ shown, attempt }) => shown === 'failed' && attempt === runs.length)).toBe(true)
      }),
    )
  })

  it('sends at most its last reply to the channel, and none when it is quiet', () => {
    fc.assert(
      fc.property(scene, (each) => {
        const sent = tell(each).story.replies.filter(({ view }) => view.broadcast)
        expect(sent.length).toBeLessThanOrEqual(each.quiet ? 0 : 1)
        for (const { newest, view } of sent)
          expect([newest, ['failed', 'infrastructure_failure', 'fixed'].includes(view.shown)]).toEqual([true, true])
      }),
    )
  })

  it('tells every finished run in one place: on its card, or in its thread', () => {
    fc.assert(
      fc.property(scene, (each) => {
        const { runs, story } = tell(each)
        const inThread = new Set(story.replies.map(({ view }) => view.attempt))
        for (const [i, run] of runs.entries())
          if (isFinal(run.status) && !isAccountNotice(run.status))
            expect(inThread.has(i + 1) || story.card.attempt === i + 1).toBe(true)
      }),
    )
  })

  it('shows the newest run on its card, by its place in the revision', () => {
    fc.assert(
      fc.property(scene, (each) => {
        const { runs, story } = tell(each)
        const newest = runs.at(-1)!
        expect(story.card).toMatchObject({
          attempt: runs.length,
          word: newest.word,
          build: { buildId: newest.buildId },
        })
      }),
    )
  })
})
