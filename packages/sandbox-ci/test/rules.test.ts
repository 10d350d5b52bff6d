import { describe, expect, it } from 'vitest'
import { isBranchBuilt, ruleSelectsBranch } from '../src/branches.ts'
import { verdictOf } from '../src/rules.ts'
import { BUILD_STATUSES } from '../src/state.ts'
import type { BuildStatus, NotificationRule } from '../src/state.ts'

const ALL = ['started', 'failed', 'success', 'recovered']

const rule = (changes: Partial<NotificationRule>): NotificationRule => ({
  notifier: 'webhook',
  target: 'all',
  branch: null,
  branch_match: 'exact',
  build_statuses: ALL,
  options: { url: 'http://127.0.0.1/' },
  ...changes,
})

const sent = (statuses: string[], isRecovered: boolean, deliverEverything: boolean): BuildStatus[] =>
  BUILD_STATUSES.filter((status) => {
    const question = { branch: 'main', status, isRecovered: isRecovered && status === 'success' }
    return verdictOf(rule({ build_statuses: statuses }), question, deliverEverything).kind === 'send'
  })

describe('the events of a rule decide which statuses are sent', () => {
  it.each([
    [['started'], ['initiated']],
    [['success'], ['success']],
    [['failed'], ['error', 'ignored', 'blocked', 'infrastructure_failure']],
    [['recovered'], []],
    [['waiting'], ['waiting']],
    [
      ['started', 'failed', 'success'],
      ['initiated', 'success', 'error', 'ignored', 'blocked', 'infrastructure_failure'],
    ],
    [[], []],
  ])('%j sends %j, whatever deliverEverything says', (statuses, expected) => {
    expect(sent(statuses, false, true)).toEqual(expected)
    expect(sent(statuses, false, false)).toEqual(expected)
  })

  it('all four events send every status', () => {
    expect(sent(ALL, false, true)).toEqual([...BUILD_STATUSES])
  })

  it('without deliverEverything all four events send neither waiting nor stopped', () => {
    expect(sent(ALL, false, false)).toEqual([
      'initiated',
      'success',
      'error',
      'ignored',
      'blocked',
      'infrastructure_failure',
    ])
  })

  it('recovered alone sends a success only if it is recovered', () => {
    expect(sent(['recovered'], true, false)).toEqual(['success'])
    expect(sent(['recovered'], false, false)).toEqual([])
  })
})

describe('the branch of a rule decides which branches are sent', () => {
  it.each([
    [null, 'exact', 'main', true],
    ['', 'regex', 'main', true],
    ['main', 'exact', 'main', true],
    ['main', 'exact', 'main2', false],
    ['release/*', 'exact', 'release/1', false],
    ['release/*', 'exact', 'release/*', true],
    ['release/*', 'wildcard', 'release/1/hotfix', true],
    ['release/*', 'wildcard', 'old-release/1', false],
    ['*fix*', 'wildcard', 'a/fix/b', true],
    ['a.c', 'wildcard', 'abc', false],
    ['release-[0-9]+', 'regex', 'release-12', true],
    ['release-[0-9]+', 'regex', 'release-12-x', false],
    ['([', 'regex', 'main', false],
    ['(a+)+$', 'regex', `${'a'.repeat(40)}b`, false],
  ])('%j as %s on %s: %j', (branch, match, name, expected) => {
    expect(ruleSelectsBranch({ branch, branch_match: match }, name)).toBe(expected)
    const verdict = verdictOf(
      rule({ branch, branch_match: match }),
      { branch: name, status: 'error', isRecovered: false },
      true,
    )
    expect(verdict.kind).toBe(expected ? 'send' : 'silent')
  })
})

describe("a project's branch filter", () => {
  it.each([
    ['include', [], 'main', true],
    ['exclude', [], 'main', true],
    ['include', ['main'], 'main', true],
    ['include', ['main'], 'other', false],
    ['exclude', ['main'], 'main', false],
    ['exclude', ['^wip/.*$'], 'wip/x', false],
    ['exclude', ['^wip/.*$'], 'main', true],
    ['include', ['^v[0-9]+$', 'main'], 'v12', true],
  ] as const)('%s %j lets %s be built: %j', (match, branches, name, expected) => {
    expect(isBranchBuilt({ branch_match: match, branches: [...branches] }, name)).toBe(expected)
  })
})
