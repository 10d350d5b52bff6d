import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { differencesOf, type Difference } from '../../../src/domain/ci-project/project-change.ts'
import { MASK } from '../../../src/domain/ci-project/project-fields.ts'
import { anySent, leavesOf, SECRETS, sentProject, withLeaf } from '../support/sent-project.ts'

type Raw = Record<string, unknown>

const inBrief = ({ field, before, after, isSecret }: Difference) => [field, before, after, isSecret]
const between = (before: Raw, after: Raw) => differencesOf(sentProject(before), sentProject(after)).map(inBrief)
const rules = () => sentProject()['notification_rules'] as Raw[]
const variables = () => sentProject()['environment_variables'] as Raw[]

describe('two states of a project differ', () => {
  it.each<[claim: string, before: Raw, after: Raw, differences: unknown[]]>([
    [
      'in a value',
      { build_on_pr_only: false },
      { build_on_pr_only: true },
      [['build_on_pr_only', 'false', 'true', false]],
    ],
    ['in a value that was null', { type: null }, { type: 'pro' }, [['type', null, 'pro', false]]],
    [
      'in removed and added lines',
      { branches: ['main', 'old', '^v.*$'] },
      { branches: ['^v.*$', 'new', 'main', 'newer'] },
      [['branches', 'old', 'new\nnewer', false]],
    ],
    ['in one of two equal lines', { branches: ['a', 'a'] }, { branches: ['a'] }, [['branches', 'a', null, false]]],
    [
      'in a whole list',
      { setup_commands: [] },
      { setup_commands: ['npm ci'] },
      [['setup_commands', null, 'npm ci', false]],
    ],
    [
      'in the order of commands',
      { setup_commands: ['a', 'b'] },
      { setup_commands: ['b', 'a'] },
      [['setup_commands', 'a\nb', 'b\na', false]],
    ],
    [
      'in an unknown field, however deep',
      { extra: { list: [{ deep: 1 }] } },
      { extra: { list: [{ deep: 2 }] } },
      [['extra.list[0].deep', '1', '2', false]],
    ],
    [
      'in the type of a field',
      { extra: 'one' },
      { extra: { is: 'two' } },
      [
        ['extra', 'one', null, false],
        ['extra.is', null, 'two', false],
      ],
    ],
    [
      'in a number that became a string',
      { build_timeout: 60 },
      { build_timeout: '60' },
      [['build_timeout', '60', '"60"', false]],
    ],
    [
      'in a deployment',
      { deployment_pipelines: [{ position: 1, config: { region: 'north' } }] },
      { deployment_pipelines: [{ position: 2, config: { region: 'north' } }] },
      [['deployment_pipelines[0].position', '1', '2', false]],
    ],
  ])('%s', (_, before, after, differences) => {
    expect(between(before, after)).toEqual(differences)
  })

  it.each<[claim: string, before: Raw, after: Raw]>([
    ['the time of the last change', { updated_at: '2026-01-01' }, { updated_at: '2026-02-02' }],
    ['the order of branches', { branches: ['a', 'b'] }, { branches: ['b', 'a'] }],
    ['the order of teams', { team_ids: [1, 2] }, { team_ids: [2, 1] }],
    [
      'the order of events',
      { notification_rules: [{ build_statuses: ['a', 'b'] }] },
      { notification_rules: [{ build_statuses: ['b', 'a'] }] },
    ],
    ['the order of rules', { notification_rules: rules() }, { notification_rules: rules().toReversed() }],
    [
      'the order of variables',
      { environment_variables: variables() },
      { environment_variables: variables().toReversed() },
    ],
    ['the order of fields', { extra: { a: 1, b: 2 } }, { extra: { b: 2, a: 1 } }],
    ['null instead of a missing field', { extra: null }, { extra: undefined }],
    ['null instead of a missing field, further down', { extra: { a: null, b: 1 } }, { extra: { b: 1 } }],
    ['null instead of an empty list', { branches: [] }, { branches: null }],
  ])('not in %s', (_, before, after) => {
    expect(between(before, after)).toEqual([])
  })

  it('a change of updated_at inside another field is a difference', () => {
    expect(between({ extra: { updated_at: 1 } }, { extra: { updated_at: 2 } })).toHaveLength(1)
  })
})

describe('the differences of rules', () => {
  it('are listed by field if a rule was changed', () => {
    const [first, second, third] = rules()
    const after = [first, { ...second, branch: 'main', branch_match: 'exact' }, third]
    expect(between({}, { notification_rules: after })).toEqual([
      ['notification_rules[1].branch', 'release/*', 'main', false],
      ['notification_rules[1].branch_match', 'wildcard', 'exact', false],
    ])
  })

  it('list the fields of a removed rule, and do not touch later rules', () => {
    const fields = between({}, { notification_rules: rules().slice(1) })
    expect(fields).toContainEqual(['notification_rules[0].build_statuses', 'failed\nrecovered', null, false])
    expect(fields).toContainEqual(['notification_rules[0].options.key', MASK, null, true])
    expect(fields.every(([field]) => String(field).startsWith('notification_rules[0]'))).toBe(true)
  })

  it('list a new rule at its new position', () => {
    const after = [{ notifier: 'email', build_statuses: ['failed'] }, ...rules()]
    expect(between({}, { notification_rules: after })).toEqual([
      ['notification_rules[0].notifier', null, 'email', false],
      ['notification_rules[0].build_statuses', null, 'failed', false],
    ])
  })
})

describe('the differences of a secret', () => {
  const withRule = (options: Raw) => ({ notification_rules: [{ ...rules()[0], options }] })

  it.each<[field: string, before: Raw, after: Raw]>([
    ['aes_key', { aes_key: 'one' }, { aes_key: 'another, longer' }],
    ['ssh_key', { ssh_key: 'one' }, { ssh_key: 'two' }],
    [
      'environment_variables.TOKEN',
      { environment_variables: [{ name: 'TOKEN', value: '1' }] },
      { environment_variables: [{ name: 'TOKEN', value: '2' }] },
    ],
    [
      'environment_variables.TOKEN',
      { environment_variables: { TOKEN: 'one' } },
      { environment_variables: { TOKEN: 'two' } },
    ],
    ['environment_variables', { environment_variables: ['A=1'] }, { environment_variables: ['A=2'] }],
    ['notification_rules[0].options.key', withRule({ key: 'one' }), withRule({ key: 'two' })],
    [
      'notification_rules[0].options.url',
      withRule({ url: 'https://x.example/1' }),
      withRule({ url: 'https://x.example/2' }),
    ],
    [
      'notification_rules[0].options.slack.key',
      withRule({ slack: { key: 'one' } }),
      withRule({ slack: { key: 'two' } }),
    ],
    ['cache_password', { cache_password: 'one' }, { cache_password: 'two' }],
    ['service_tokens', { service_tokens: { 'one-s3cr3t': 1 } }, { service_tokens: { 'two-s3cr3t': 1 } }],
    [
      'deployment_pipelines[0].config[0].login',
      { deployment_pipelines: [{ config: [{ login: 'one' }] }] },
      { deployment_pipelines: [{ config: [{ login: 'two' }] }] },
    ],
    [
      'deployment_pipelines[0].config',
      { deployment_pipelines: [{ config: ['one'] }] },
      { deployment_pipelines: [{ config: ['two'] }] },
    ],
    [
      'repository_url',
      { repository_url: 'https://ada:one@host.example/x' },
      { repository_url: 'https://ada:two@host.example/x' },
    ],
  ])('say only that it differs: %s', (field, before, after) => {
    expect(between(before, after)).toEqual([[field, MASK, MASK, true]])
  })

  it('say whether it was added or removed', () => {
    expect(between({ aes_key: null }, { aes_key: 'new' })).toEqual([['aes_key', null, MASK, true]])
    expect(between({ aes_key: 'old' }, { aes_key: null })).toEqual([['aes_key', MASK, null, true]])
    expect(between({}, { environment_variables: variables().slice(1) })).toEqual([
      ['environment_variables.TOKEN', MASK, null, true],
    ])
    expect(between({}, { environment_variables: [...variables(), { name: 'NEW' }] })).toEqual([
      ['environment_variables.NEW', null, MASK, true],
    ])
  })

  it('do not include the room of a rule, which is no secret', () => {
    expect(between(withRule({ room: '#a' }), withRule({ room: '#b' }))).toEqual([
      ['notification_rules[0].options.room', '#a', '#b', false],
    ])
  })

  it('show nothing of it if a whole project is added, removed or replaced', () => {
    const other = JSON.parse(JSON.stringify(sentProject()).replaceAll('s3cr3t', 'c4n4ry')) as Raw
    for (const [before, after] of [
      [sentProject(), {}],
      [{}, sentProject()],
      [sentProject(), other],
    ] as const) {
      const said = JSON.stringify(differencesOf(before, after))
      expect(said).toContain(MASK)
      expect(SECRETS.filter((secret) => said.includes(secret))).toEqual([])
      expect(said).not.toMatch(/s3cr3t|c4n4ry/)
    }
  })
})

describe('any two states', () => {
  it('have no differences if they are equal', () => {
    fc.assert(
      fc.property(anySent, (raw) => {
        expect(differencesOf(raw, structuredClone(raw))).toEqual([])
      }),
    )
  })

  it('have differences if one value differs, and each difference shows it', () => {
    const anyOther = fc.oneof(
      fc.constant('another'),
      fc.integer(),
      fc.boolean(),
      fc.constant({ a: 1 }),
      fc.constant(null),
    )
    fc.assert(
      fc.property(anySent, fc.nat(), anyOther, (raw, pick, other) => {
        const leaves = leavesOf(raw).filter(([name]) => name !== 'updated_at')
        const path = leaves[pick % leaves.length]
        fc.pre(path !== undefined)
        const after = withLeaf(raw, path, other) as Raw
        fc.pre(JSON.stringify(after) !== JSON.stringify(raw))
        const differences = differencesOf(raw, after)
        expect(differences.length).toBeGreaterThan(0)
        expect(differences.filter(({ before, after: now, isSecret }) => !isSecret && before === now)).toEqual([])
      }),
      { numRuns: 400 },
    )
  })

  it('have the same differences in both directions', () => {
    fc.assert(
      fc.property(anySent, anySent, (one, other) => {
        const texts = (from: Raw, to: Raw) => differencesOf(from, to)
        const there = texts(one, other).map(({ before, after }) => [before, after].map(String).join())
        const back = texts(other, one).map(({ before, after }) => [after, before].map(String).join())
        expect(back.sort()).toEqual(there.sort())
      }),
    )
  })

  it('show neither a secret nor its length', () => {
    fc.assert(
      fc.property(anySent, anySent, (one, other) => {
        const differences = differencesOf(one, other)
        expect(JSON.stringify(differences)).not.toContain('s3cr3t')
        const hidden = differences.filter(({ isSecret }) => isSecret)
        expect([MASK, null]).toEqual(expect.arrayContaining(hidden.flatMap(({ before, after }) => [before, after])))
      }),
      { numRuns: 200 },
    )
  })

  it('may have fields named like built-in properties of objects', () => {
    const hostile = JSON.parse('{"toString":"x","__proto__":{"a":1},"constructor":[1]}') as Raw
    expect(differencesOf({}, hostile).map(({ field }) => field)).toEqual(['toString', '__proto__.a', 'constructor'])
    expect(differencesOf(hostile, hostile)).toEqual([])
  })
})
