import { describe, expect, it } from 'vitest'
import { decide, type CiRules, type Question } from '../../src/domain/decide.ts'
import { asked, failures, on, subscribed } from './support/question.ts'

const fixed: Partial<Question> = { status: 'success', turn: 'recovered' }

describe('a decision that the channel should notice', () => {
  it.each<[claim: string, question: Partial<Question>, rules: CiRules]>([
    ['is a failure that is selected', {}, failures],
    ['is a failure that is selected by every event', {}, [on(null, 'every')]],
    ['is a failure that nobody had to select', {}, []],
    ['is a failure before the rules could be read', {}, null],
    ['is a machine error that is selected', { status: 'infrastructure_failure' }, failures],
    ['is a failure on a card that is there', { hasCard: true }, failures],
    ['is a recovery that is selected', fixed, [on(null, ['recovered'])]],
    ['is a recovery that is selected by every event', fixed, [on(null, 'every')]],
    ['is a recovery that nobody had to select', fixed, []],
    ['is a recovery that the second rule selects', fixed, [on(null, ['success']), on(null, ['recovered'])]],
    [
      'is a failure by the rules that select everything between them',
      {},
      [on(null, ['started', 'failed']), on(null, ['success', 'recovered'])],
    ],
  ])('%s', (_, question, rules) => {
    expect(decide(asked(question), [subscribed()], rules)).toMatchObject({ verdict: 'tell', loud: true })
  })

  it.each<[claim: string, question: Partial<Question>, rules: CiRules]>([
    ['a plain success that is selected', { status: 'success' }, [on(null, ['success', 'recovered'])]],
    ['a plain success that nobody had to select', { status: 'success' }, []],
    ['a recovery that is selected only as a success', fixed, [on(null, ['success'])]],
    ['a recovery that is selected by recovered on another branch', fixed, [on(null, ['success']), on('dev', 'every')]],
    ['a start that is selected', { status: 'started' }, [on(null, 'every')]],
    ['a waiting build that is selected', { status: 'waiting' }, [on(null, ['waiting'])]],
    ['a stopped build that is selected', { status: 'stopped' }, [on(null, ['stopped', 'failed', 'recovered'])]],
    ['a stopped build that nobody had to select', { status: 'stopped' }, null],
    ['an unknown word that nobody had to select', { status: 'unknown' }, []],
  ])('is not %s', (_, question, rules) => {
    expect(decide(asked(question), [subscribed()], rules)).toMatchObject({ verdict: 'tell', loud: false })
  })

  it.each<[claim: string, question: Partial<Question>, rules: CiRules, verdict: string]>([
    ['a failure that only updates the card', { hasCard: true }, [on(null, ['success'])], 'update'],
    ['a failure that is not selected', {}, [on(null, ['success'])], 'silent'],
    ['a failure on another branch', {}, [on('dev', ['failed'])], 'silent'],
    ['a failure that was heard before', { effect: 'duplicate' }, failures, 'silent'],
    ['a failure that came late', { effect: 'late' }, null, 'silent'],
  ])('is not %s', (_, question, rules, verdict) => {
    expect(decide(asked(question), [subscribed()], rules)).toMatchObject({ verdict, loud: false })
  })

  it('is a failure by one of several subscriptions, not by one that stays silent', () => {
    const [plain, other] = [subscribed(failures), subscribed([on('dev', ['failed'])])]
    expect(decide(asked(), [other, plain], null).loud).toBe(true)
    expect(decide(asked(), [other, other], null).loud).toBe(false)
  })

  // Two subscriptions of one channel select the fixed build, one as a success and one as a recovery: that the channel
  // should notice it must not hang on which of them was made first.
  it('is a recovery by one of several subscriptions, in any order', () => {
    const [green, back] = [subscribed([on(null, ['success'])]), subscribed([on(null, ['recovered'])])]
    expect(decide(asked(fixed), [back, green], null).loud).toBe(true)
    expect(decide(asked(fixed), [green, back], null).loud).toBe(true)
  })
})
