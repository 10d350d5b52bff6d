import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decide, RULE_RESULTS_MAX, selectable, type DecisionInput } from '../../../src/domain/rules/decide.ts'
import { selectEverything, type ChannelRule } from '../../../src/domain/rules/rule.ts'
import type { Status } from '../../../src/domain/builds/status.ts'
import { subscribed } from '../support/question.ts'

describe('any decision', () => {
  const events = fc.oneof(
    fc.constant('every' as const),
    fc.subarray(['started', 'failed', 'success', 'recovered', 'waiting', 'stopped']),
  )
  const branch = fc.constantFrom(null, 'main', 'dev', 'release/*', '*', '(')
  const branchMatch = fc.constantFrom(null, 'exact', 'wildcard', 'regex')
  const rules = fc.array(fc.record({ branch, branchMatch, events }), { minLength: 1, maxLength: 4 })
  const question = fc.record<DecisionInput>({
    branch: fc.constantFrom(null, 'main', 'release/1'),
    status: fc.constantFrom<Status>(
      ...(['started', 'waiting', 'success', 'failed', 'stopped', 'infrastructure_failure'] as const),
      ...(['ignored', 'blocked', 'unknown'] as const),
    ),
    effect: fc.constantFrom('opened', 'moved', 'duplicate', 'late'),
    change: fc.constantFrom(null, 'broken', 'recovered'),
    hasCard: fc.boolean(),
  })

  const isEcho = ({ effect }: DecisionInput) => effect === 'duplicate' || effect === 'late'
  const isMiss = (reason: string) =>
    ['event-not-selected', 'branch-not-matched', 'branch-unknown', 'pattern-invalid'].includes(reason)
  const isNamed = (status: Status) => status !== 'stopped' && status !== 'waiting' && status !== 'unknown'

  it('announces what one of several rules would announce, and everything if the rules together select everything', () => {
    fc.assert(
      fc.property(question, rules, rules, (one, left, right) => {
        const tells = (some: ChannelRule[]) => decide(one, [subscribed()], some).verdict === 'post'
        const both = [...left, ...right]
        const tellsAll = selectEverything(both, one.branch) && !isEcho(one)
        expect(tells(both)).toBe(tells(left) || tells(right) || tellsAll)
        expect(tells([...right, ...left])).toBe(tells(both))
        if (isNamed(one.status)) expect(tells(both)).toBe(tells(left) || tells(right))
      }),
    )
  })

  it('keeps the rules in their order, at most LOOKED_MAX, with the rule that decided among them', () => {
    const many = fc.array(fc.record({ branch, branchMatch, events }), { minLength: 1, maxLength: 2 * RULE_RESULTS_MAX })
    fc.assert(
      fc.property(question, many, many, (one, left, right) => {
        const { ruleResults, reason } = decide(one, [subscribed(left), subscribed(right)], null)
        const all: readonly ChannelRule[] = [...left, ...right]
        const places = ruleResults.map(({ rule }) => all.indexOf(rule))
        expect(places).toEqual(places.toSorted((a, b) => a - b))
        expect(ruleResults).toHaveLength(isEcho(one) ? 0 : Math.min(RULE_RESULTS_MAX, all.length))
        const verdicts: string[] = ruleResults.map(({ verdict }) => verdict)
        if (reason === 'event-selected') expect(verdicts).toContain('selects')
        if (isMiss(reason)) expect(verdicts).toContain(reason)
      }),
    )
  })

  it('is loud only if it announces a failure, a recovery or a build that CI refused', () => {
    fc.assert(
      fc.property(question, fc.option(rules), (one, some) => {
        const { verdict, loud } = decide(one, [subscribed()], some)
        const selected = selectable(one)
        if (loud)
          expect([verdict, selected.includes('failed') || selected.includes('recovered')]).toEqual(['post', true])
        if (verdict === 'post' && selected.includes('failed')) expect(loud).toBe(true)
      }),
    )
  })

  it('announces no duplicate and no late build event', () => {
    fc.assert(
      fc.property(question, fc.option(rules), (one, some) => {
        const { verdict, reason } = decide(one, [subscribed()], some)
        if (isEcho(one)) expect([verdict, reason]).toEqual(['silent', one.effect])
        else expect(['duplicate', 'late']).not.toContain(reason)
      }),
    )
  })

  it('always updates the card of a build that moved', () => {
    fc.assert(
      fc.property(question, fc.option(rules), (one, some) => {
        const { verdict } = decide({ ...one, effect: 'moved', hasCard: true }, [subscribed()], some)
        expect(verdict).not.toBe('silent')
      }),
    )
  })

  it('updates no card that does not exist', () => {
    fc.assert(
      fc.property(question, fc.option(rules), (one, some) => {
        expect(decide({ ...one, hasCard: false }, [subscribed()], some).verdict).not.toBe('update')
      }),
    )
  })
})
