import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  leftAway,
  matchRule,
  rulesFor,
  selectEverything,
  slackRules,
  type ChannelRule,
  type NotificationRule,
  type RuleVerdict,
  type Selectable,
} from '../../../src/domain/rules/rule.ts'

const rule = (parts: Partial<NotificationRule> = {}): NotificationRule => ({
  notifier: 'slack',
  target: null,
  branch: null,
  branchMatch: null,
  buildStatuses: ['failed'],
  ...parts,
})

const on = (
  branch: string | null,
  branchMatch: string | null,
  events: ChannelRule['events'] = ['failed'],
): ChannelRule => ({ branch, branchMatch, events })

const FOUR = ['started', 'failed', 'success', 'recovered']

describe("the project's rules for Slack", () => {
  it('are those with notifier slack, all of them, in their order', () => {
    const rules = [
      rule({ branch: 'main', branchMatch: 'exact' }),
      rule({ notifier: 'email' }),
      rule({ notifier: 'webhook' }),
      rule({ branch: 'release/*', buildStatuses: ['success', 'recovered'] }),
    ]
    expect(slackRules(rules)).toEqual([
      { branch: 'main', branchMatch: 'exact', events: ['failed'] },
      { branch: 'release/*', branchMatch: null, events: ['success', 'recovered'] },
    ])
  })

  it.each(['Slack', 'SLACK'])('may have the notifier %s: case does not matter', (notifier) => {
    expect(slackRules([rule({ notifier })])).toHaveLength(1)
  })

  it.each(['email', 'campfire', 'flowdock', 'webhook', 'status_report', '', 'slack2'])(
    'are empty if the only notifier is %j',
    (notifier) => {
      expect(slackRules([rule({ notifier })])).toEqual([])
    },
  )

  it('are none if there are no rules', () => {
    expect(slackRules([])).toEqual([])
  })

  it.each(['all', 'committer', null, 'everyone'])(
    'do not depend on the target, which is for e-mail only: %s',
    (target) => {
      expect(slackRules([rule({ target })])).toHaveLength(1)
    },
  )

  it.each<[claim: string, buildStatuses: string[], events: ChannelRule['events']]>([
    ['all four statuses that CI offers stay four events', FOUR, FOUR],
    [
      'statuses keep their order, also beside others',
      ['waiting', 'failed', 'started'],
      ['waiting', 'failed', 'started'],
    ],
    ["a status in the webhook's words is the event that it causes", ['error', 'initiated'], ['failed', 'started']],
    ['a synonym of it is the same event', ['testing'], ['started']],
    ["a machine error has no word among CI's rules", ['infrastructure_failure'], ['infrastructure_failure']],
    ['the long form of success is success', ['succeeded'], ['success']],
    ['a pause for approval is waiting', ['requires approval', 'requires_approval'], ['waiting', 'waiting']],
    ['case and outer blanks do not matter', [' Failed '], ['failed']],
    ['an unknown word stays as it is', ['Deployed'], ['Deployed']],
    ['no word gives no event', [], []],
    ['the word "every" has no special meaning', ['every'], ['every']],
  ])('read their statuses: %s', (_, buildStatuses, events) => {
    expect(slackRules([rule({ buildStatuses })])[0]!.events).toEqual(events)
  })
})

describe('one rule, applied to one build event,', () => {
  it.each<[claim: string, ChannelRule, branch: string | null, Selectable[], RuleVerdict]>([
    ['selects its event on every branch', on(null, null), 'main', ['failed'], 'selects'],
    ['selects its event if the branch is unknown', on(null, null), null, ['failed'], 'selects'],
    ['selects its event on its branch', on('main', 'exact'), 'main', ['failed'], 'selects'],
    ['selects one of two events', on(null, null, ['recovered']), 'main', ['success', 'recovered'], 'selects'],
    ['does not select another event', on('main', 'exact'), 'main', ['success'], 'event-not-selected'],
    ['does not select on another branch', on('main', 'exact'), 'dev', ['failed'], 'branch-not-matched'],
    ['gives the branch as the first reason', on('main', 'exact'), 'dev', ['success'], 'branch-not-matched'],
    ['says that the branch is unknown', on('main', 'exact'), null, ['failed'], 'branch-unknown'],
    ['says that its pattern is invalid', on('(', 'regex'), 'main', ['failed'], 'pattern-invalid'],
    ['says that its mode is unknown', on('main', 'glob'), 'main', ['failed'], 'pattern-invalid'],
    ['selects nothing if the build event has no events', on(null, null, FOUR), 'main', [], 'event-not-selected'],
    ['selects nothing of it by every event either', on(null, null, 'every'), 'main', [], 'event-not-selected'],
    ['selects nothing without events', on(null, null, []), 'main', ['failed'], 'event-not-selected'],
    ['selects stopped builds only by name', on(null, null, ['stopped']), 'main', ['stopped'], 'selects'],
    ['does not select them by other events', on(null, null, FOUR), 'main', ['stopped'], 'event-not-selected'],
    ['does not select unknown words by them', on(null, null, FOUR), 'main', ['unknown'], 'event-not-selected'],
    ['does not select waiting as started', on(null, null, ['started']), 'main', ['waiting'], 'event-not-selected'],
    ['selects waiting by name', on(null, null, ['waiting']), 'main', ['waiting'], 'selects'],
    ['needs its branch even if it has every event', on('main', null, 'every'), 'dev', ['failed'], 'branch-not-matched'],
  ])('%s', (_, channelRule, branch, selectable, verdict) => {
    expect(matchRule(channelRule, branch, selectable)).toBe(verdict)
  })

  it.each<Selectable>(['started', 'waiting', 'success', 'recovered', 'failed', 'stopped', 'unknown'])(
    'for every event selects %s',
    (selectable) => {
      expect(matchRule(on(null, null, 'every'), 'main', [selectable])).toBe('selects')
    },
  )

  it('selects exactly the events that it names', () => {
    const buildEvent = fc.constantFrom<Selectable>('started', 'waiting', 'success', 'failed', 'stopped', 'unknown')
    const events = fc.uniqueArray(buildEvent)
    fc.assert(
      fc.property(events, buildEvent, (names, selectable) => {
        const verdict = matchRule(on(null, null, names), 'main', [selectable])
        expect(verdict).toBe(names.includes(selectable) ? 'selects' : 'event-not-selected')
      }),
    )
  })
})

describe('rules that together select everything', () => {
  const some = (events: ChannelRule['events'], branch: string | null = null, branchMatch: string | null = null) =>
    on(branch, branchMatch, events)
  const [early, late] = [some(['started', 'failed']), some(['success', 'recovered'])]

  it.each<[claim: string, ChannelRule[], branch: string | null]>([
    ['may have all four statuses in one rule', [some(FOUR)], 'main'],
    ['may have them in any order and more', [some(['waiting', ...FOUR.toReversed()])], 'main'],
    ['may have them spread over two rules', [early, late], 'main'],
    ['may have them in overlapping rules', [some(FOUR.slice(0, 3)), some(FOUR.slice(1))], 'main'],
    ['may have a rule with every event', [some(['failed']), some('every')], 'main'],
    ['may have some of them only on this branch', [early, some(['success', 'recovered'], 'release/*')], 'release/1'],
    ['may have them for all branches if the branch is unknown', [early, some(['success', 'recovered'], '*')], null],
  ])('%s', (_, rules, branch) => {
    expect(selectEverything(rules, branch)).toBe(true)
    expect(selectEverything(rules.toReversed(), branch)).toBe(true)
  })

  it.each<[claim: string, ChannelRule[], branch: string | null]>([
    ['are none', [], 'main'],
    ['lack one of the four', [some(FOUR.slice(1))], 'main'],
    ['lack one but have others', [some(['waiting', 'stopped', 'unknown', ...FOUR.slice(1)])], 'main'],
    ['have some of them on another branch', [early, some(['success', 'recovered'], 'release/*')], 'main'],
    ['have some of them for one branch if the branch is unknown', [early, some('every', 'main')], null],
    ['have some of them with an invalid pattern', [early, some('every', '(', 'regex')], 'main'],
    ['have every event on another branch', [some('every', 'dev')], 'main'],
  ])('do not select everything if they %s', (_, rules, branch) => {
    expect(selectEverything(rules, branch)).toBe(false)
    expect(selectEverything(rules.toReversed(), branch)).toBe(false)
  })
})

describe('the events that rules leave out', () => {
  const selecting = (events: ChannelRule['events'], branch: string | null = null): ChannelRule => ({
    branch,
    branchMatch: null,
    events,
  })

  it.each<[claim: string, ChannelRule[], branch: string | null, events: string[]]>([
    ['all of them if there are no rules', [], 'main', ['started', 'failed', 'success', 'recovered']],
    ['those that no rule selects', [selecting(['failed']), selecting(['recovered'])], 'main', ['started', 'success']],
    [
      'for all branches, those that rules select on some branches only',
      [selecting(['started', 'failed', 'success']), selecting('every', 'main')],
      null,
      ['recovered'],
    ],
    ['none if one rule selects all', [selecting(['failed']), selecting('every')], null, []],
  ])('is %s', (_, rules, branch, events) => {
    expect(leftAway(rules, branch)).toEqual(events)
  })

  it("are those of one notifier in any case, in CI's words", () => {
    const sent = (notifier: string, buildStatuses: string[]): NotificationRule => ({
      notifier,
      target: null,
      branch: null,
      branchMatch: null,
      buildStatuses,
    })
    const rules = [sent('Webhook', ['succeeded']), sent('slack', ['failed'])]
    expect(rulesFor('webhook', rules)).toEqual([selecting(['success'])])
    expect(rulesFor('slack', rules)).toEqual(slackRules(rules))
  })
})
