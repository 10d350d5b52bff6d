import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { attemptKey } from '../../../src/domain/builds/attempt.ts'
import { isAccountNotice, isFinal } from '../../../src/domain/builds/status.ts'
import { postedAttemptOf } from '../../../src/domain/cards/story.ts'
import { attemptsOf, type Said } from '../../support/build-events.ts'
import { told } from '../support/telling.ts'

describe('any story', () => {
  const words = ['initiated', 'waiting', 'paused', 'success', 'error', 'stopped', 'infrastructure_failure', 'ignored']
  const word = fc.constantFrom(...words, 'blocked')
  const said = fc.array(fc.record({ word, build: fc.constantFrom('512', '513', '9007199254740993') }), {
    minLength: 1,
    maxLength: 12,
  })
  const scene = fc.record({ said, quiet: fc.boolean(), bornAfter: fc.nat(12) })
  const tell = ({ said: all, quiet, bornAfter }: { said: Said[]; quiet: boolean; bornAfter: number }) => {
    const attempts = attemptsOf(...all)
    const postedAttempt = bornAfter === 0 ? null : postedAttemptOf(attemptsOf(...all.slice(0, bornAfter)))
    return { attempts, postedAttempt, story: told(all, { quiet, postedAttempt }) }
  }

  it('has a reply for each finished attempt, except a newest one that the card announced and builds that CI refused', () => {
    fc.assert(
      fc.property(scene, (each) => {
        const { attempts, postedAttempt, story } = tell(each)
        const expected = attempts
          .filter(({ status }) => isFinal(status) && !isAccountNotice(status))
          .map((attempt) => `run:${attemptKey(attempt)}`)
          .filter((slot) => slot !== `run:${postedAttempt}` || postedAttempt !== attemptKey(attempts.at(-1)!))
        expect(story.replies.map(({ slot }) => slot)).toEqual(expected)
      }),
    )
  })

  it('mentions a person at most once, and only for a newest attempt that failed', () => {
    fc.assert(
      fc.property(scene, (each) => {
        const { attempts, story } = tell(each)
        const calls = [story.card, ...story.replies.map(({ view }) => view)].filter(({ mention }) => mention !== null)
        expect(calls).toHaveLength(attempts.at(-1)!.status === 'failed' ? 1 : 0)
        expect(calls.every(({ shown, attemptNumber }) => shown === 'failed' && attemptNumber === attempts.length)).toBe(
          true,
        )
      }),
    )
  })

  it('broadcasts at most its last reply, and none if it is quiet', () => {
    fc.assert(
      fc.property(scene, (each) => {
        const sent = tell(each).story.replies.filter(({ view }) => view.broadcast)
        expect(sent.length).toBeLessThanOrEqual(each.quiet ? 0 : 1)
        for (const { newest, view } of sent)
          expect([newest, ['failed', 'infrastructure_failure', 'fixed', 'flaky'].includes(view.shown)]).toEqual([
            true,
            true,
          ])
      }),
    )
  })

  it('shows every finished attempt on its card or in its thread', () => {
    fc.assert(
      fc.property(scene, (each) => {
        const { attempts, story } = tell(each)
        const inThread = new Set(story.replies.map(({ view }) => view.attemptNumber))
        for (const [i, attempt] of attempts.entries())
          if (isFinal(attempt.status) && !isAccountNotice(attempt.status))
            expect(inThread.has(i + 1) || story.card.attemptNumber === i + 1).toBe(true)
      }),
    )
  })

  it('shows the newest attempt of the revision on its card', () => {
    fc.assert(
      fc.property(scene, (each) => {
        const { attempts, story } = tell(each)
        const newest = attempts.at(-1)!
        expect(story.card).toMatchObject({
          attemptNumber: attempts.length,
          word: newest.rawStatus,
          build: { buildId: newest.buildId },
        })
      }),
    )
  })
})
