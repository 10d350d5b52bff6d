import { describe, expect, it } from 'vitest'
import { decide, type CiRules, type DecisionInput } from '../../../src/domain/rules/decide.ts'
import { asked, failures, on, subscribed } from '../support/question.ts'

const fixed: Partial<DecisionInput> = { status: 'success', change: 'recovered' }

describe('a loud decision', () => {
  it.each<[claim: string, question: Partial<DecisionInput>, rules: CiRules]>([
    ['is a selected failure', {}, failures],
    ['is a failure selected by a rule for every event', {}, [on(null, 'every')]],
    ['is a failure if there are no rules', {}, []],
    ['is a failure if the rules could not be read', {}, null],
    ['is a selected machine error', { status: 'infrastructure_failure' }, failures],
    ['is a failure that already has a card', { hasCard: true }, failures],
    ['is a selected recovery', fixed, [on(null, ['recovered'])]],
    ['is a recovery selected by a rule for every event', fixed, [on(null, 'every')]],
    ['is a recovery if there are no rules', fixed, []],
    ['is a recovery selected by the second rule', fixed, [on(null, ['success']), on(null, ['recovered'])]],
    [
      'is a failure if the rules together select everything',
      {},
      [on(null, ['started', 'failed']), on(null, ['success', 'recovered'])],
    ],
  ])('%s', (_, question, rules) => {
    expect(decide(asked(question), [subscribed()], rules)).toMatchObject({ verdict: 'post', loud: true })
  })

  it.each<[claim: string, question: Partial<DecisionInput>, rules: CiRules]>([
    ['a selected plain success', { status: 'success' }, [on(null, ['success', 'recovered'])]],
    ['a plain success without rules', { status: 'success' }, []],
    ['a recovery selected only as a success', fixed, [on(null, ['success'])]],
    ['a recovery selected as such only on another branch', fixed, [on(null, ['success']), on('dev', 'every')]],
    ['a selected start', { status: 'started' }, [on(null, 'every')]],
    ['a selected waiting build', { status: 'waiting' }, [on(null, ['waiting'])]],
    ['a selected stopped build', { status: 'stopped' }, [on(null, ['stopped', 'failed', 'recovered'])]],
    ['a stopped build with unread rules', { status: 'stopped' }, null],
    ['an unknown word without rules', { status: 'unknown' }, []],
  ])('is not %s', (_, question, rules) => {
    expect(decide(asked(question), [subscribed()], rules)).toMatchObject({ verdict: 'post', loud: false })
  })

  it.each<[claim: string, question: Partial<DecisionInput>, rules: CiRules, verdict: string]>([
    ['a failure that only updates the card', { hasCard: true }, [on(null, ['success'])], 'update'],
    ['a failure that is not selected', {}, [on(null, ['success'])], 'silent'],
    ['a failure on another branch', {}, [on('dev', ['failed'])], 'silent'],
    ['a repeated failure', { effect: 'duplicate' }, failures, 'silent'],
    ['a late failure', { effect: 'late' }, null, 'silent'],
  ])('is not %s', (_, question, rules, verdict) => {
    expect(decide(asked(question), [subscribed()], rules)).toMatchObject({ verdict, loud: false })
  })

  it('is a failure selected by one of several subscriptions, but not if all of them stay silent', () => {
    const [plain, other] = [subscribed(failures), subscribed([on('dev', ['failed'])])]
    expect(decide(asked(), [other, plain], null).loud).toBe(true)
    expect(decide(asked(), [other, other], null).loud).toBe(false)
  })

  // Two subscriptions of one channel select the fixed build, one as a success and one as a recovery. Their order must
  // not decide whether the channel is notified.
  it('is a recovery selected by one of several subscriptions, in any order', () => {
    const [green, back] = [subscribed([on(null, ['success'])]), subscribed([on(null, ['recovered'])])]
    expect(decide(asked(fixed), [back, green], null).loud).toBe(true)
    expect(decide(asked(fixed), [green, back], null).loud).toBe(true)
  })
})
