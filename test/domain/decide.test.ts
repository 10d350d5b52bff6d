import { describe, expect, it } from 'vitest'
import { decide, LOOKED_MAX, selectable, type CiRules, type Question, type Reason } from '../../src/domain/decide.ts'
import { PATTERN_CHARS_MAX } from '../../src/domain/pattern.ts'
import type { ChannelRule } from '../../src/domain/rule.ts'
import type { Status } from '../../src/domain/status.ts'
import { asked, failures, on, subscribed } from './support/question.ts'

type Row = [claim: string, question: Partial<Question>, rules: CiRules, verdict: string, reason: Reason]

const ROWS: Row[] = [
  ['a selected event is told', {}, failures, 'tell', 'event-selected'],
  ['an event that is not selected is not', { status: 'success' }, failures, 'silent', 'event-not-selected'],
  ['one that is not selected updates a card', { status: 'success', hasCard: true }, failures, 'update', 'updates-card'],
  ['a selected event is told though there is a card', { hasCard: true }, failures, 'tell', 'event-selected'],
  ['without rules every event is told', { status: 'started' }, [], 'tell', 'every-event'],
  ['before the rules could be read every event is told', { status: 'started' }, null, 'tell', 'rules-unread'],
  ['without rules a stopped build is told', { status: 'stopped' }, [], 'tell', 'every-event'],
  ['without rules an unknown word is told', { status: 'unknown' }, [], 'tell', 'every-event'],
  ['with every event a stopped build is told', { status: 'stopped' }, [on(null, 'every')], 'tell', 'event-selected'],
  [
    'with every event between two rules it is, too',
    { status: 'stopped' },
    [on(null, ['started', 'failed']), on(null, ['success', 'recovered'])],
    'tell',
    'every-event',
  ],
  [
    'with every event between rules for different branches it is not',
    { status: 'stopped' },
    [on(null, ['started', 'failed']), on('dev', ['success', 'recovered'])],
    'silent',
    'event-not-selected',
  ],
  ['with some events it is not', { status: 'stopped' }, failures, 'silent', 'event-not-selected'],
  ['but it updates a card', { status: 'stopped', hasCard: true }, failures, 'update', 'updates-card'],
  ['a stopped build can be selected', { status: 'stopped' }, [on(null, ['stopped'])], 'tell', 'event-selected'],
  ['an unknown word is not told by failures', { status: 'unknown' }, failures, 'silent', 'event-not-selected'],
  ['but it updates a card, too', { status: 'unknown', hasCard: true }, failures, 'update', 'updates-card'],
  ['a machine error is a failure', { status: 'infrastructure_failure' }, failures, 'tell', 'event-selected'],
  [
    'a machine error is no success',
    { status: 'infrastructure_failure' },
    [on(null, ['success'])],
    'silent',
    'event-not-selected',
  ],
  ['an ignored build is told where failures are', { status: 'ignored' }, failures, 'tell', 'account-notice'],
  ['a blocked build is told where failures are', { status: 'blocked' }, failures, 'tell', 'account-notice'],
  ['an ignored build is told without rules', { status: 'ignored' }, [], 'tell', 'account-notice'],
  ['a blocked build is told before the rules are read', { status: 'blocked' }, null, 'tell', 'account-notice'],
  [
    'an ignored build is not told to others',
    { status: 'ignored' },
    [on(null, ['success'])],
    'silent',
    'event-not-selected',
  ],
  ['a waiting build is told by name', { status: 'waiting' }, [on(null, ['waiting'])], 'tell', 'event-selected'],
  ['a waiting build is told with every event', { status: 'waiting' }, [on(null, 'every')], 'tell', 'event-selected'],
  [
    'a waiting build is not told by starts',
    { status: 'waiting' },
    [on(null, ['started'])],
    'silent',
    'event-not-selected',
  ],
  [
    'a recovered build is told by recovered',
    { status: 'success', turn: 'recovered' },
    [on(null, ['recovered'])],
    'tell',
    'event-selected',
  ],
  ['and by success', { status: 'success', turn: 'recovered' }, [on(null, ['success'])], 'tell', 'event-selected'],
  [
    'a build that passes again is not told by recovered',
    { status: 'success' },
    [on(null, ['recovered'])],
    'silent',
    'event-not-selected',
  ],
  ['another branch is not told', {}, [on('dev', ['failed'])], 'silent', 'branch-not-matched'],
  [
    'a card is updated though its branch is no longer selected',
    { hasCard: true },
    [on('dev', ['failed'])],
    'update',
    'updates-card',
  ],
  ['an unknown branch is told by a rule for all', { branch: null }, failures, 'tell', 'event-selected'],
  ['an unknown branch is told by a star, too', { branch: null }, [on('*', ['failed'])], 'tell', 'event-selected'],
  [
    'an unknown branch is not told by a rule for one',
    { branch: null },
    [on('main', ['failed'])],
    'silent',
    'branch-unknown',
  ],
  ['an invalid pattern tells nothing, and is named', {}, [on('(', ['failed'], 'regex')], 'silent', 'pattern-invalid'],
  [
    'an invalid pattern does not spoil the next rule',
    {},
    [on('(', ['failed'], 'regex'), ...failures],
    'tell',
    'event-selected',
  ],
  ['a duplicate is not told', { effect: 'duplicate' }, failures, 'silent', 'duplicate'],
  ['a duplicate changes no card', { effect: 'duplicate', hasCard: true }, failures, 'silent', 'duplicate'],
  ['a late fact is not told', { effect: 'late', status: 'started' }, [], 'silent', 'late'],
  ['a late fact changes no card', { effect: 'late', status: 'started', hasCard: true }, null, 'silent', 'late'],
  ['what is recorded as no news is not told', { effect: 'history' }, failures, 'silent', 'history'],
  ['what is recorded as no news changes a card', { effect: 'history', hasCard: true }, failures, 'update', 'history'],
  [
    'a queued build opens no card, even where every event is told',
    { status: 'queued' },
    [],
    'silent',
    'event-not-selected',
  ],
  ['nor does a skipped one, where the rules are unread', { status: 'skipped' }, null, 'silent', 'event-not-selected'],
  ['a card shows that its build was skipped', { status: 'skipped', hasCard: true }, failures, 'update', 'updates-card'],
  ['the first fact of a run is told', { effect: 'opened' }, failures, 'tell', 'event-selected'],
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

  it('has every reason that there is', () => {
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

  it('names the nearest miss of several rules', () => {
    const misses: ChannelRule[] = [on('dev', ['failed']), on('(', ['failed'], 'regex'), on('main', ['success'])]
    const reasons = [3, 2, 1].map((count) => decide(asked(), [subscribed()], misses.slice(0, count)).reason)
    expect(reasons).toEqual(['event-not-selected', 'pattern-invalid', 'branch-not-matched'])
  })

  it('keeps each rule and how it looked at the build event, wherever the rules came from', () => {
    const [dev, greens, reds] = [on('dev', ['failed']), on('main', ['success']), on(null, ['failed'])]
    const looked = (from: 'ci' | 'channel' | 'file') => [
      { rule: dev, from, verdict: 'branch-not-matched' },
      { rule: greens, from, verdict: 'event-not-selected' },
      { rule: reds, from, verdict: 'selects' },
    ]
    expect(decide(asked(), [subscribed()], [dev, greens, reds]).looked).toEqual(looked('ci'))
    const own = subscribed([dev, greens, reds])
    expect(decide(asked(), [own], null).looked).toEqual(looked('channel'))
    expect(decide(asked(), [{ ...own, source: 'file' }], null).looked).toEqual(looked('file'))
  })

  it('keeps the rules of every subscription of the channel, whichever of them decided', () => {
    const [dev, greens] = [on('dev', ['failed']), on('main', ['success'])]
    const { looked, reason, rulesFrom } = decide(asked(), [subscribed([dev]), subscribed()], [greens])
    expect([reason, rulesFrom]).toEqual(['event-not-selected', 'ci'])
    expect(looked).toEqual([
      { rule: dev, from: 'channel', verdict: 'branch-not-matched' },
      { rule: greens, from: 'ci', verdict: 'event-not-selected' },
    ])
  })

  it("keeps the project's rules once, though two subscriptions of the channel go by them", () => {
    const { looked } = decide(asked(), [subscribed(), subscribed(failures), subscribed()], failures)
    expect(looked.map(({ from }) => from)).toEqual(['ci', 'channel'])
  })

  it('keeps no rule where none was looked at', () => {
    expect(decide(asked(), [subscribed()], null).looked).toEqual([])
    expect(decide(asked({ effect: 'late' }), [subscribed()], failures).looked).toEqual([])
  })

  const misses = (count: number): ChannelRule[] => Array.from({ length: count }, (_, n) => on(`dev-${n}`, ['failed']))
  const keptOf = (rules: readonly ChannelRule[]) =>
    decide(asked(), [subscribed()], rules).looked.map(({ rule }) => rule!)

  it(`keeps the first ${LOOKED_MAX} rules of more`, () => {
    expect(keptOf(misses(LOOKED_MAX))).toEqual(misses(LOOKED_MAX))
    expect(keptOf(misses(LOOKED_MAX + 1))).toEqual(misses(LOOKED_MAX))
  })

  it('keeps the rule that selects, however many stand before it', () => {
    const last = on('main', ['failed'])
    expect(keptOf([...misses(LOOKED_MAX - 1), last, last])).toEqual([...misses(LOOKED_MAX - 1), last])
    expect(keptOf([...misses(LOOKED_MAX), last])).toEqual([...misses(LOOKED_MAX - 1), last])
    expect(keptOf([...misses(900), last, ...misses(900)])).toEqual([...misses(LOOKED_MAX - 1), last])
  })

  it('keeps the nearest miss, which the reason names, however many stand before it', () => {
    const near = on('main', ['success'])
    const decision = decide(asked(), [subscribed()], [...misses(LOOKED_MAX), near])
    expect(decision.reason).toBe('event-not-selected')
    expect(decision.looked.at(-1)).toEqual({ rule: near, from: 'ci', verdict: 'event-not-selected' })
    expect(decision.looked).toHaveLength(LOOKED_MAX)
  })

  it('keeps a pattern that is too long as one that is too long, and no longer', () => {
    const branchOf = (chars: number) => keptOf([on('b'.repeat(chars), ['failed'])])[0]!.branch!.length
    expect(branchOf(PATTERN_CHARS_MAX)).toBe(PATTERN_CHARS_MAX)
    expect(branchOf(PATTERN_CHARS_MAX * 9)).toBe(PATTERN_CHARS_MAX + 1)
    const { looked } = decide(asked(), [subscribed()], [on('b'.repeat(PATTERN_CHARS_MAX * 9), ['failed'])])
    expect(looked.map(({ verdict }) => verdict)).toEqual(['pattern-invalid'])
    expect(decide(asked(), [subscribed()], keptOf([on('b'.repeat(9_999), [])])).reason).toBe('pattern-invalid')
  })
})

describe('the events of a build event', () => {
  it.each<[Status, turn: Question['turn'], events: string[]]>([
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
  ])('%s (turn: %s) are %j', (status, turn, events) => {
    expect(selectable({ status, turn })).toEqual(events)
  })
})
