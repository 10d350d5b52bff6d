import { describe, expect, it } from 'vitest'
import { applyChange, type ProjectChange } from '../../../src/domain/ci-project/project-change.ts'
import type { RuleInput } from '../../../src/domain/rules/rule.ts'
import { sentProject } from '../support/sent-project.ts'

type Raw = Record<string, unknown>

function changed(change: ProjectChange, raw: Raw = sentProject()): Raw {
  const effect = applyChange(raw, change)
  if (effect.kind === 'faults') throw new Error(JSON.stringify(effect.faults))
  return effect.raw
}

const faults = (change: ProjectChange, raw: Raw = sentProject()): string[] => {
  const effect = applyChange(raw, change)
  return effect.kind === 'faults' ? effect.faults.map(({ field, reason }) => `${field} ${reason}`) : []
}

const rulesOf = (raw: Raw): Raw[] => raw['notification_rules'] as Raw[]

const ruleInput = (changes: Partial<RuleInput> = {}): RuleInput => ({
  notifier: 'slack',
  target: null,
  branch: null,
  branchMatch: null,
  events: ['failed'],
  options: {},
  ...changes,
})

describe('a change of the built branches', () => {
  const builds = { what: 'builds', onPullRequestsOnly: true, match: 'exclude', branches: ['wip', '^x.*$'] } as const

  it('sets three fields', () => {
    const fields = { build_on_pr_only: true, branch_match: 'exclude', branches: ['wip', '^x.*$'] }
    expect(changed(builds)).toEqual(sentProject(fields))
  })

  it('may remove all entries, but may not have an empty one', () => {
    expect(changed({ ...builds, branches: [] })['branches']).toEqual([])
    expect(faults({ ...builds, branches: ['main', ' ', ''] })).toEqual(['branches[1] is empty', 'branches[2] is empty'])
  })
})

describe('a field that only Basic projects have', () => {
  const setup: ProjectChange = { what: 'setup', commands: ['npm ci'] }
  const variables: ProjectChange = { what: 'variables', variables: [{ name: 'TOKEN', value: null }] }

  it('is changed in a Basic project', () => {
    expect(changed(setup)).toEqual(sentProject({ setup_commands: ['npm ci'] }))
    expect(changed(setup, sentProject({ type: 'Basic' }))['setup_commands']).toEqual(['npm ci'])
  })

  it.each([['pro'], ['large'], [null]])('is not changed in a project of type %j, since CI would ignore it', (type) => {
    const raw = sentProject({ type })
    expect(faults(setup, raw)).toEqual(['setup_commands is only for a project of type basic'])
    expect(faults(variables, raw)).toEqual(['environment_variables is only for a project of type basic'])
  })
})

it('setup commands in an unknown form are not changed', () => {
  const raw = sentProject({ setup_commands: 'npm ci' })
  expect(faults({ what: 'setup', commands: ['npm test'] }, raw)).toEqual(['setup_commands has an unexpected format'])
})

describe('a change of variables', () => {
  const change = (...variables: (readonly [name: string, value: string | null])[]): ProjectChange => ({
    what: 'variables',
    variables: variables.map(([name, value]) => ({ name, value })),
  })
  const variablesAfter = (...variables: (readonly [string, string | null])[]) =>
    changed(change(...variables))['environment_variables']

  it('keeps a value that is null, adds new variables, and removes those it does not name', () => {
    expect(variablesAfter(['TOKEN', null], ['NEW', 'x'])).toEqual([
      { name: 'TOKEN', value: 'token-s3cr3t', scope: 'tests' },
      { name: 'NEW', value: 'x' },
    ])
  })

  it("sets a new value, and keeps the variable's other fields", () => {
    expect(variablesAfter(['TOKEN', ''])).toEqual([{ name: 'TOKEN', value: '', scope: 'tests' }])
  })

  it('keeps entries without a name, since no form can name them', () => {
    const raw = sentProject({ environment_variables: ['A=1', { name: 'B', value: '2' }, { value: '3' }] })
    expect(changed(change(['C', '4']), raw)['environment_variables']).toEqual([
      { name: 'C', value: '4' },
      'A=1',
      { value: '3' },
    ])
  })

  it('keeps an entry whose name is blank, which no form shows, and a name that is a number', () => {
    const raw = sentProject({
      environment_variables: [
        { name: ' ', value: '1' },
        { name: 5, value: '2' },
      ],
    })
    expect(changed(change(['5', null], ['C', '4']), raw)['environment_variables']).toEqual([
      { name: 5, value: '2' },
      { name: 'C', value: '4' },
      { name: ' ', value: '1' },
    ])
  })

  it.each<[claim: string, change: ProjectChange, faults: string[]]>([
    ['without a name', change([' ', 'x']), ['environment_variables[0].name is empty']],
    [
      'with the name of another variable',
      change(['A', 'x'], ['B', 'x'], ['A', 'y']),
      ['environment_variables[2].name is used twice'],
    ],
    [
      'that is new and has no value',
      change(['TOKEN', null], ['NEW', null]),
      ['environment_variables[1].value is missing, and there is no previous value to keep'],
    ],
  ])('refuses a variable %s', (_, wrong, found) => {
    expect(faults(wrong)).toEqual(found)
  })

  it('distinguishes names by case', () => {
    expect(faults(change(['token', 'x'], ['TOKEN', null]))).toEqual([])
  })

  it('is refused if CI sends variables in an unknown form', () => {
    const raw = sentProject({ environment_variables: { TOKEN: 'token-s3cr3t' } })
    expect(faults(change(['A', 'x']), raw)).toEqual(['environment_variables has an unexpected format'])
  })

  it('adds the first variable of a project', () => {
    for (const none of [null, undefined, []])
      expect(
        changed(change(['A', 'x']), sentProject({ environment_variables: none }))['environment_variables'],
      ).toEqual([{ name: 'A', value: 'x' }])
  })
})

describe('a change of teams', () => {
  it('keeps ids beyond 2^53, and keeps existing ids as numbers or strings', () => {
    const raw = sentProject({ team_ids: ['7', 8] })
    const ids = ['7', '8', '9', '9007199254740991', '9007199254740993', '9']
    expect(changed({ what: 'teams', ids }, raw)['team_ids']).toEqual(['7', 8, 9, 9007199254740991, '9007199254740993'])
  })

  it('accepts only digits', () => {
    const ids = ['7', 'web', '', '-1', '1.5', '007']
    expect(faults({ what: 'teams', ids })).toEqual([1, 2, 3, 4, 5].map((at) => `team_ids[${at}] is not a team id`))
  })
})

describe('a change of type', () => {
  it('sets one field; the fields that the new type forbids are left out when it is sent', () => {
    expect(changed({ what: 'type', type: 'pro' })).toEqual(sentProject({ type: 'pro' }))
  })
})

describe('a changed rule', () => {
  const ruleAfter = (at: number, changes: Partial<RuleInput>, raw = sentProject()) =>
    rulesOf(changed({ what: 'rule', at, rule: ruleInput(changes) }, raw))[at]

  it('gets its new events, and keeps its key and unknown fields', () => {
    expect(ruleAfter(0, { events: ['success'] })).toEqual({ ...rulesOf(sentProject())[0], build_statuses: ['success'] })
  })

  it('gets every field that is given', () => {
    const said = { target: 'all', branch: 'v*', branchMatch: 'wildcard', options: { key: 'k', room: '' } } as const
    expect(ruleAfter(0, said)).toEqual({
      ...rulesOf(sentProject())[0],
      target: 'all',
      branch: 'v*',
      branch_match: 'wildcard',
      build_statuses: ['failed'],
      options: { key: 'k', room: '' },
    })
  })

  it('is for every branch if none is given', () => {
    expect(ruleAfter(1, { notifier: 'webhook', branch: null })).toMatchObject({
      branch: null,
      branch_match: 'wildcard',
    })
    expect(ruleAfter(1, { notifier: 'webhook', branch: '' })).toMatchObject({ branch: null })
  })

  it.each([[''], [null], [undefined]])('that was for every branch keeps that branch as it was: %j', (branch) => {
    const raw = sentProject({ notification_rules: [{ notifier: 'email', branch, build_statuses: ['failed'] }] })
    expect(ruleAfter(0, { notifier: 'email' }, raw)).toEqual({ notifier: 'email', branch, build_statuses: ['failed'] })
  })

  it('keeps options in an unknown form, unless an option is given', () => {
    const raw = sentProject({ notification_rules: [{ notifier: 'slack', options: ['?'], build_statuses: [] }] })
    expect(ruleAfter(0, {}, raw)).toMatchObject({ options: ['?'] })
    expect(ruleAfter(0, { options: { key: 'k' } }, raw)).toMatchObject({ options: { key: 'k' } })
  })

  it('keeps its key only if its notifier stays the same', () => {
    expect(ruleAfter(0, { notifier: 'Slack' })).toMatchObject({ options: { key: 'slack-s3cr3t', room: '#builds' } })
    const raw = sentProject({
      notification_rules: [{ notifier: 'slack', options: { key: 'slack-s3cr3t', odd: 1 }, build_statuses: ['failed'] }],
    })
    const options = { url: 'https://hooks.example/x' }
    expect(ruleAfter(0, { notifier: 'webhook', options }, raw)).toMatchObject({ options: { odd: 1, ...options } })
    expect(ruleAfter(0, { notifier: 'email' }, raw)).toMatchObject({ options: { odd: 1 } })
    expect(JSON.stringify(ruleAfter(0, { notifier: 'email' }, raw))).not.toContain('s3cr3t')
  })

  it('keeps the field name of its target: target or email_target', () => {
    const raw = sentProject({ notification_rules: [{ notifier: 'email', email_target: 'all', build_statuses: [] }] })
    const rule = { notifier: 'email', target: 'committer' } as const
    expect(ruleAfter(0, rule, raw)).toEqual({
      notifier: 'email',
      email_target: 'committer',
      branch: undefined,
      build_statuses: ['failed'],
    })
    expect(ruleAfter(2, rule)).toMatchObject({ target: 'committer' })
  })
})

describe('a new rule', () => {
  it('comes last, with only the given fields', () => {
    const rule = ruleInput({ branch: 'main', branchMatch: 'exact', options: { key: 'k', url: null } })
    expect(rulesOf(changed({ what: 'rule', at: null, rule }))).toEqual([
      ...rulesOf(sentProject()),
      { notifier: 'slack', branch: 'main', branch_match: 'exact', build_statuses: ['failed'], options: { key: 'k' } },
    ])
  })

  it.each([[[]], [null], [undefined]])('is the first one of a project whose rules are %j', (rules) => {
    const raw = sentProject({ notification_rules: rules })
    expect(rulesOf(changed({ what: 'rule', at: null, rule: ruleInput() }, raw))).toEqual([
      { notifier: 'slack', build_statuses: ['failed'] },
    ])
  })
})

describe('a removed rule', () => {
  it('is gone, and the others keep their order', () => {
    const [first, , third] = rulesOf(sentProject())
    expect(changed({ what: 'remove-rule', at: 1 })).toEqual(sentProject({ notification_rules: [first, third] }))
  })
})

describe('an impossible rule', () => {
  it('has a branch pattern that matches no possible branch, unless CI has that pattern already', () => {
    const impossible = ['notification_rules[1].branch can match nothing']
    const said = (branch: string, branchMatch: RuleInput['branchMatch'], raw = sentProject()) =>
      faults({ what: 'rule', at: 1, rule: ruleInput({ branch, branchMatch }) }, raw).map((fault) => fault.split(',')[0])
    expect(said('^release/.*$', null)).toEqual(impossible)
    expect(said('^(a', 'exact')).toEqual(impossible)
    expect(said('^release/.*$', 'regex')).toEqual([])
    const [first, second, third] = rulesOf(sentProject())
    const kept = { ...second, branch: '^(a', branch_match: 'exact' }
    const raw = sentProject({ notification_rules: [first, kept, third] })
    expect([said('^(a', null, raw), said('^(b', null, raw)]).toEqual([[], impossible])
  })

  it.each([3, -1, 0.5, NaN])('has a position that does not exist: %s', (at) => {
    const none = [`notification_rules[${at}] is not a rule of this project`]
    expect(faults({ what: 'rule', at, rule: ruleInput() })).toEqual(none)
    expect(faults({ what: 'remove-rule', at })).toEqual(none)
  })

  it('belongs to rules in an unknown form', () => {
    const raw = sentProject({ notification_rules: { slack: 'all' } })
    const unknown = ['notification_rules has an unexpected format']
    expect(faults({ what: 'rule', at: null, rule: ruleInput() }, raw)).toEqual(unknown)
    expect(faults({ what: 'remove-rule', at: 0 }, raw)).toEqual(unknown)
  })

  it('has an unknown form itself; it can only be removed', () => {
    const raw = sentProject({ notification_rules: ['slack'] })
    expect(faults({ what: 'rule', at: 0, rule: ruleInput() }, raw)).toEqual([
      'notification_rules[0] has an unexpected format',
    ])
    expect(rulesOf(changed({ what: 'remove-rule', at: 0 }, raw))).toEqual([])
  })
})
