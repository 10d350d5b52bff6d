import { describe, expect, it } from 'vitest'
import { boundForOneEvent, decide, type CiRules } from '../../../src/domain/rules/decide.ts'
import { REGEXES_MAX } from '../../../src/domain/rules/pattern.ts'
import { slackRules, type ChannelRule, type NotificationRule } from '../../../src/domain/rules/rule.ts'
import type { Status } from '../../../src/domain/builds/status.ts'
import { asked, failures, on, subscribed } from '../support/question.ts'

describe('the rules of a decision', () => {
  it.each<[claim: string, own: readonly ChannelRule[] | null, ci: CiRules, from: string]>([
    ["are the project's", null, failures, 'ci'],
    ["are the channel's own, even if the project has some", failures, failures, 'channel'],
    ["are nobody's if the project has none", null, [], 'nobody'],
    ["are nobody's if they cannot be read", null, null, 'nobody'],
  ])('%s', (_, own, ci, from) => {
    expect(decide(asked(), [subscribed(own)], ci).rulesFrom).toBe(from)
  })

  it("are not the project's for a channel that has its own", () => {
    const own = [on(null, ['success'])]
    expect(decide(asked(), [subscribed(own)], failures)).toMatchObject({
      verdict: 'silent',
      reason: 'event-not-selected',
    })
    expect(decide(asked({ status: 'success' }), [subscribed(own)], failures).verdict).toBe('post')
  })

  it('are empty, so that every event counts, if the project has rules for other notifiers only', () => {
    const mail = { notifier: 'email', target: 'committer', branch: 'dev', branchMatch: null, buildStatuses: ['failed'] }
    expect(decide(asked({ status: 'started' }), [subscribed()], slackRules([mail]))).toMatchObject({
      verdict: 'post',
      reason: 'every-event',
    })
  })
})

describe('the rules of a project that together select every event', () => {
  const rule = { notifier: 'slack', target: null, branch: null, branchMatch: null }
  const four = ['started', 'failed', 'success', 'recovered']
  const verdictOn = (status: Status, ...rules: readonly Partial<NotificationRule>[]) =>
    decide(
      asked({ status }),
      [subscribed()],
      slackRules(rules.map((each) => ({ ...rule, buildStatuses: [], ...each }))),
    ).verdict

  it.each<Status>(['stopped', 'waiting', 'unknown', 'started', 'failed'])('announce %s', (status) => {
    expect(verdictOn(status, { buildStatuses: four })).toBe('post')
    expect(verdictOn(status, { buildStatuses: four.slice(0, 2) }, { buildStatuses: four.slice(2) })).toBe('post')
  })

  it.each<Status>(['stopped', 'waiting', 'unknown'])('announce %s only if all four are there', (status) => {
    for (const missing of four)
      expect(verdictOn(status, { buildStatuses: four.filter((word) => word !== missing) })).toBe('silent')
  })

  it('are only those that match the branch', () => {
    const [here, there] = [{ buildStatuses: four.slice(0, 2) }, { buildStatuses: four.slice(2), branch: 'dev' }]
    expect(verdictOn('stopped', here, there)).toBe('silent')
    expect(verdictOn('stopped', here, { ...there, branch: 'm*' })).toBe('post')
  })

  it('are only those for Slack', () => {
    const mail = { notifier: 'email', buildStatuses: four.slice(2) }
    expect(verdictOn('stopped', { buildStatuses: four.slice(0, 2) }, mail)).toBe('silent')
  })

  it('announce no duplicate and no late event', () => {
    const rules = slackRules([{ ...rule, buildStatuses: four }])
    const verdicts = (['duplicate', 'late'] as const).map(
      (effect) => decide(asked({ status: 'stopped', effect }), [subscribed()], rules).verdict,
    )
    expect(verdicts).toEqual(['silent', 'silent'])
  })
})

describe('several subscriptions of one channel', () => {
  const quietly = subscribed([on('dev', ['failed'])])
  const plainly = subscribed(failures)

  it('announce what one of them announces, in any order', () => {
    expect(decide(asked(), [quietly, plainly], null)).toMatchObject({ verdict: 'post', reason: 'event-selected' })
    expect(decide(asked(), [plainly, quietly], null)).toMatchObject({ verdict: 'post', reason: 'event-selected' })
  })

  it('announce nothing if none of them does', () => {
    expect(decide(asked({ status: 'success' }), [quietly, plainly], null).verdict).toBe('silent')
  })

  it('give the nearest miss as the reason if none of them announces, in any order', () => {
    const [far, near] = [subscribed([on('dev', ['failed'])]), subscribed([on('main', ['success'])])]
    for (const both of [
      [far, near],
      [near, far],
    ])
      expect(decide(asked(), both, null).reason).toBe('event-not-selected')
    expect(decide(asked(), [far, far], null).reason).toBe('branch-not-matched')
  })

  it('update the card if none of them announces', () => {
    expect(decide(asked({ status: 'success', hasCard: true }), [quietly, plainly], null).verdict).toBe('update')
  })

  it('announce only the events that they name, even if these are all that CI offers', () => {
    const four = [on(null, ['started', 'failed']), on(null, ['success', 'recovered'])]
    expect(decide(asked({ status: 'stopped' }), [subscribed(four)], null).verdict).toBe('silent')
    expect(decide(asked({ status: 'waiting' }), [subscribed(four)], null).verdict).toBe('silent')
    expect(decide(asked({ status: 'stopped' }), [subscribed()], four).verdict).toBe('post')
  })

  it('must be at least one', () => {
    expect(() => decide(asked(), [], failures)).toThrow('broken invariant: a channel without a subscription')
    expect(() => decide(asked({ effect: 'late' }), [], null)).toThrow('broken invariant')
    expect(decide(asked(), [subscribed()], []).verdict).toBe('post')
  })
})

it('that are too large as regexes are left out, but not exact rules with the same text', () => {
  const [regex, exact] = (['regex', 'exact'] as const).map((branchMatch) =>
    Array.from({ length: REGEXES_MAX + 1 }, (_, n) => ({ ...on(`v${n}`, ['failed']), branchMatch })),
  )
  const bound = boundForOneEvent({ subscriptions: [subscribed(regex), subscribed(exact)], rules: null })
  const [ofRegexes, ofExact] = bound.subscriptions.map(({ rules }) => rules)
  expect(ofRegexes).not.toEqual(regex)
  expect(ofExact).toEqual(exact)
})
