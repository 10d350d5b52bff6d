import { describe, expect, it } from 'vitest'
import {
  decide,
  RULE_RESULTS_MAX,
  selectable,
  type CiRules,
  type DecisionInput,
  type Reason,
} from '../../../src/domain/rules/decide.ts'
import { PATTERN_CHARS_MAX } from '../../../src/domain/rules/pattern.ts'
import type { ChannelRule } from '../../../src/domain/rules/rule.ts'
import type { Status } from '../../../src/domain/builds/status.ts'
import { asked, failures, on, subscribed } from '../support/question.ts'

type Row = [claim: string, question: Partial<DecisionInput>, rules: CiRules, verdict: string, reason: Reason]

const ROWS: Row[] = [
  ['a selected event is announced', {}, failures, 'post', 'event-selected'],
  ['an event that is not selected is not announced', { status: 'success' }, failures, 'silent', 'event-not-selected'],
  ['an unselected event updates a card', { status: 'success', hasCard: true }, failures, 'update', 'updates-card'],
  ['a selected event is announced even if there is a card', { hasCard: true }, failures, 'post', 'event-selected'],
  ['without rules every event is announced', { status: 'started' }, [], 'post', 'every-event'],
  ['with unread rules every event is announced', { status: 'started' }, null, 'post', 'rules-unread'],
  ['without rules a stopped build is announced', { status: 'stopped' }, [], 'post', 'every-event'],
  ['without rules an unknown word is announced', { status: 'unknown' }, [], 'post', 'every-event'],
  ['every event includes a stopped build', { status: 'stopped' }, [on(null, 'every')], 'post', 'event-selected'],
  [
    'with every event between two rules a stopped build is announced',
    { status: 'stopped' },
    [on(null, ['started', 'failed']), on(null, ['success', 'recovered'])],
    'post',
    'every-event',
  ],
  [
    'with every event between rules for different branches it is not announced',
    { status: 'stopped' },
    [on(null, ['started', 'failed']), on('dev', ['success', 'recovered'])],
    'silent',
    'event-not-selected',
  ],
  ['with some events a stopped build is silent', { status: 'stopped' }, failures, 'silent', 'event-not-selected'],
  ['with some events it updates a card', { status: 'stopped', hasCard: true }, failures, 'update', 'updates-card'],
  ['a stopped build can be selected', { status: 'stopped' }, [on(null, ['stopped'])], 'post', 'event-selected'],
  ['an unknown word is silent with failures only', { status: 'unknown' }, failures, 'silent', 'event-not-selected'],
  ['an unknown word updates a card', { status: 'unknown', hasCard: true }, failures, 'update', 'updates-card'],
  ['a machine error is a failure', { status: 'infrastructure_failure' }, failures, 'post', 'event-selected'],
  [
    'a machine error is not a success',
    { status: 'infrastructure_failure' },
    [on(null, ['success'])],
    'silent',
    'event-not-selected',
  ],
  ['an ignored build is announced with failures', { status: 'ignored' }, failures, 'post', 'account-notice'],
  ['a blocked build is announced with failures', { status: 'blocked' }, failures, 'post', 'account-notice'],
  ['an ignored build is announced without rules', { status: 'ignored' }, [], 'post', 'account-notice'],
  ['a blocked build is announced with unread rules', { status: 'blocked' }, null, 'post', 'account-notice'],
  [
    'an ignored build is not announced without failures',
    { status: 'ignored' },
    [on(null, ['success'])],
    'silent',
    'event-not-selected',
  ],
  ['a waiting build is announced by name', { status: 'waiting' }, [on(null, ['waiting'])], 'post', 'event-selected'],
  ['every event includes a waiting build', { status: 'waiting' }, [on(null, 'every')], 'post', 'event-selected'],
  [
    'a waiting build is not announced with starts',
    { status: 'waiting' },
    [on(null, ['started'])],
    'silent',
    'event-not-selected',
  ],
  [
    'a recovered build is announced as recovered',
    { status: 'success', change: 'recovered' },
    [on(null, ['recovered'])],
    'post',
    'event-selected',
  ],
  ['and as a success', { status: 'success', change: 'recovered' }, [on(null, ['success'])], 'post', 'event-selected'],
  [
    'a build that passes again is not announced as recovered',
    { status: 'success' },
    [on(null, ['recovered'])],
    'silent',
    'event-not-selected',
  ],
  ['another branch is not announced', {}, [on('dev', ['failed'])], 'silent', 'branch-not-matched'],
  [
    'a card is updated even if its branch is no longer selected',
    { hasCard: true },
    [on('dev', ['failed'])],
    'update',
    'updates-card',
  ],
  ['a build without a branch is announced by a rule for all', { branch: null }, failures, 'post', 'event-selected'],
  ['a build without a branch matches a star', { branch: null }, [on('*', ['failed'])], 'post', 'event-selected'],
  [
    'a build without a branch is not announced by a rule for one branch',
    { branch: null },
    [on('main', ['failed'])],
    'silent',
    'branch-unknown',
  ],
  ['an invalid pattern is named as the reason', {}, [on('(', ['failed'], 'regex')], 'silent', 'pattern-invalid'],
  [
    'an invalid pattern does not affect the next rule',
    {},
    [on('(', ['failed'], 'regex'), ...failures],
    'post',
    'event-selected',
  ],
  ['a duplicate is not announced', { effect: 'duplicate' }, failures, 'silent', 'duplicate'],
  ['a duplicate changes no card', { effect: 'duplicate', hasCard: true }, failures, 'silent', 'duplicate'],
  ['a late event is not announced', { effect: 'late', status: 'started' }, [], 'silent', 'late'],
  ['a late event changes no card', { effect: 'late', status: 'started', hasCard: true }, null, 'silent', 'late'],
  ['an event recorded as no news is silent', { effect: 'history' }, failures, 'silent', 'history'],
  ['an event recorded as no news updates a card', { effect: 'history', hasCard: true }, failures, 'update', 'history'],
  [
    'a queued build gets no card, even if every event is announced',
    { status: 'queued' },
    [],
    'silent',
    'event-not-selected',
  ],
  ['neither does a skipped one, with unread rules', { status: 'skipped' }, null, 'silent', 'event-not-selected'],
  ['a card shows that its build was skipped', { status: 'skipped', hasCard: true }, failures, 'update', 'updates-card'],
  ['the first event of an attempt is announced', { effect: 'opened' }, failures, 'post', 'event-selected'],
]

describe('a decision', () => {
  it.each(ROWS)("%s, by CI's rules", (_, question, rules, verdict, reason) => {
    expect(decide(asked(question), [subscribed()], rules)).toMatchObject({ verdict, reason })
  })

  it.each(ROWS.filter(([, , rules, , reason]) => rules !== null && (rules.length === 0 || reason !== 'every-event')))(
    "%s, by the channel's own",
    (_, question, rules, verdict, reason) => {
      const decision = decide(asked(question), [subscribed(rules)], null)
      expect(decision).toMatchObject({ verdict, reason, rulesFrom: 'channel' })
    },
  )

  it('is tested here for every reason', () => {
    const reasons: Record<Reason, true> = {
      'event-selected': true,
      'every-event': true,
      'rules-unread': true,
      'account-notice': true,
      'updates-card': true,
      'event-not-selected': true,
      'branch-not-matched': true,
      'branch-unknown': true,
      'pattern-invalid': true,
      duplicate: true,
      late: true,
      history: true,
    }
    expect([...new Set(ROWS.map((row) => row[4]))].sort()).toEqual(Object.keys(reasons).sort())
  })

  it('has the nearest miss of several rules as its reason', () => {
    const misses: ChannelRule[] = [on('dev', ['failed']), on('(', ['failed'], 'regex'), on('main', ['success'])]
    const reasons = [3, 2, 1].map((count) => decide(asked(), [subscribed()], misses.slice(0, count)).reason)
    expect(reasons).toEqual(['event-not-selected', 'pattern-invalid', 'branch-not-matched'])
  })

  it('records each rule, its source and its verdict', () => {
    const [dev, greens, reds] = [on('dev', ['failed']), on('main', ['success']), on(null, ['failed'])]
    const looked = (from: 'ci' | 'channel' | 'file') => [
      { rule: dev, from, verdict: 'branch-not-matched' },
      { rule: greens, from, verdict: 'event-not-selected' },
      { rule: reds, from, verdict: 'selects' },
    ]
    expect(decide(asked(), [subscribed()], [dev, greens, reds]).ruleResults).toEqual(looked('ci'))
    const own = subscribed([dev, greens, reds])
    expect(decide(asked(), [own], null).ruleResults).toEqual(looked('channel'))
    expect(decide(asked(), [{ ...own, source: 'file' }], null).ruleResults).toEqual(looked('file'))
  })

  it("records the rules of all the channel's subscriptions, whichever decided", () => {
    const [dev, greens] = [on('dev', ['failed']), on('main', ['success'])]
    const { ruleResults, reason, rulesFrom } = decide(asked(), [subscribed([dev]), subscribed()], [greens])
    expect([reason, rulesFrom]).toEqual(['event-not-selected', 'ci'])
    expect(ruleResults).toEqual([
      { rule: dev, from: 'channel', verdict: 'branch-not-matched' },
      { rule: greens, from: 'ci', verdict: 'event-not-selected' },
    ])
  })

  it("records the project's rules once, even if two subscriptions use them", () => {
    const { ruleResults } = decide(asked(), [subscribed(), subscribed(failures), subscribed()], failures)
    expect(ruleResults.map(({ from }) => from)).toEqual(['ci', 'channel'])
  })

  it('records no rules if none was looked at', () => {
    expect(decide(asked(), [subscribed()], null).ruleResults).toEqual([])
    expect(decide(asked({ effect: 'late' }), [subscribed()], failures).ruleResults).toEqual([])
  })

  const misses = (count: number): ChannelRule[] => Array.from({ length: count }, (_, n) => on(`dev-${n}`, ['failed']))
  const keptOf = (rules: readonly ChannelRule[]) =>
    decide(asked(), [subscribed()], rules).ruleResults.map(({ rule }) => rule)

  it(`records the first ${RULE_RESULTS_MAX} rules of more`, () => {
    expect(keptOf(misses(RULE_RESULTS_MAX))).toEqual(misses(RULE_RESULTS_MAX))
    expect(keptOf(misses(RULE_RESULTS_MAX + 1))).toEqual(misses(RULE_RESULTS_MAX))
  })

  it('records the rule that selects, however many come before it', () => {
    const last = on('main', ['failed'])
    expect(keptOf([...misses(RULE_RESULTS_MAX - 1), last, last])).toEqual([...misses(RULE_RESULTS_MAX - 1), last])
    expect(keptOf([...misses(RULE_RESULTS_MAX), last])).toEqual([...misses(RULE_RESULTS_MAX - 1), last])
    expect(keptOf([...misses(900), last, ...misses(900)])).toEqual([...misses(RULE_RESULTS_MAX - 1), last])
  })

  it('records the nearest miss, which is its reason, however many rules come before it', () => {
    const near = on('main', ['success'])
    const decision = decide(asked(), [subscribed()], [...misses(RULE_RESULTS_MAX), near])
    expect(decision.reason).toBe('event-not-selected')
    expect(decision.ruleResults.at(-1)).toEqual({ rule: near, from: 'ci', verdict: 'event-not-selected' })
    expect(decision.ruleResults).toHaveLength(RULE_RESULTS_MAX)
  })

  it('cuts a pattern that is too long to one character over the limit', () => {
    const branchOf = (chars: number) => keptOf([on('b'.repeat(chars), ['failed'])])[0]!.branch!.length
    expect(branchOf(PATTERN_CHARS_MAX)).toBe(PATTERN_CHARS_MAX)
    expect(branchOf(PATTERN_CHARS_MAX * 9)).toBe(PATTERN_CHARS_MAX + 1)
    const { ruleResults } = decide(asked(), [subscribed()], [on('b'.repeat(PATTERN_CHARS_MAX * 9), ['failed'])])
    expect(ruleResults.map(({ verdict }) => verdict)).toEqual(['pattern-invalid'])
    expect(decide(asked(), [subscribed()], keptOf([on('b'.repeat(9_999), [])])).reason).toBe('pattern-invalid')
  })
})

describe('the events that rules can select', () => {
  it.each<[Status, change: DecisionInput['change'], events: string[]]>([
    ['started', null, ['started']],
    ['waiting', null, ['waiting']],
    ['success', null, ['success']],
    ['success', 'recovered', ['success', 'recovered']],
    ['failed', null, ['failed']],
    ['failed', 'broken', ['failed', 'broken']],
    ['infrastructure_failure', null, ['failed']],
    ['infrastructure_failure', 'broken', ['failed', 'broken']],
    ['stopped', null, ['stopped']],
    ['ignored', null, ['failed', 'broken']],
    ['blocked', null, ['failed', 'broken']],
    ['unknown', null, ['unknown']],
  ])('of %s (change: %s) are %j', (status, change, events) => {
    expect(selectable({ status, change })).toEqual(events)
  })
})
