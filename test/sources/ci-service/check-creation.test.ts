import { describe, expect, test } from 'vitest'
import {
  checkCreation,
  DEPLOYMENT_TYPES,
  FAULTS_MAX,
  TEXT_CHARS_MAX,
} from '../../../src/sources/ci-service/check-creation.ts'
import { LIST_ITEMS_MAX, LINE_CHARS_MAX } from '../../../src/sources/ci-service/check-rule.ts'

const small = { repository_url: 'https://git.example.com/acme/web.git', type: 'basic', team_ids: [7] }
const branch = { branch_name: 'main', match_mode: 'exact' }
const deployment = (config: unknown) => ({ deploy_pipelines: [{ branch, config: [config], position: 1 }] })

const faultsOf = (input: unknown) => {
  const checked = checkCreation(input)
  return checked.kind === 'faults' ? checked.faults : []
}

describe('a valid creation', () => {
  test('may contain everything in the interface, and its team ids become digit strings', () => {
    expect(checkCreation({ ...small, team_ids: [7, '18446744073709551615'] })).toEqual({
      kind: 'creation',
      creation: { ...small, team_ids: ['7', '18446744073709551615'] },
    })
  })

  test.each([
    'https://git.example.com/acme/web',
    'https://git.example.com/acme/web.git',
    'https://git.example.com/group/acme/web/',
    'ssh://git@git.example.com:2222/acme/web.git',
    'git@git.example.com:acme/web.git',
  ])('may have the repository %s', (repository_url) => {
    expect(checkCreation({ ...small, repository_url }).kind).toBe('creation')
  })

  test.each<readonly [Record<string, unknown>]>([
    [{ setup_commands: [], branches: [], team_ids: [] }],
    [{ setup_commands: Array.from({ length: LIST_ITEMS_MAX }, () => '') }],
    [{ setup_commands: ['x'.repeat(TEXT_CHARS_MAX)] }],
    [{ environment_variables: [{ name: 'N'.repeat(LINE_CHARS_MAX), value: '' }] }],
    [{ test_pipelines: [{ name: 'Tests', commands: ['npm test'] }] }],
    [{ notification_rules: [{ notifier: 'slack', options: { key: 'k' }, build_statuses: ['failed'], colour: 7 }] }],
    ...DEPLOYMENT_TYPES.map((type) => [deployment({ type, api_key: 'k', commands: ['x'] })] as const),
  ])('may contain %j', (more) => {
    expect(checkCreation({ ...small, ...more })).toEqual({
      kind: 'creation',
      creation: { ...small, team_ids: ['7'], ...more },
    })
  })

  test('for Pro may contain anything in its ignored fields, because they are not sent', () => {
    const ignored = { setup_commands: 7, environment_variables: 'x', test_commands: [], deploy_pipelines: 'y' }
    expect(checkCreation({ ...small, type: 'pro', ...ignored })).toEqual({
      kind: 'creation',
      creation: { ...small, type: 'pro', team_ids: ['7'] },
    })
    expect(faultsOf({ ...small, ...ignored }).map(({ field }) => field)).toEqual(Object.keys(ignored).toSorted(byFault))
  })
})

// The fields come in the order of the interface, and unknown ones come last.
const ORDER = ['setup_commands', 'environment_variables', 'deploy_pipelines', 'test_commands']
const byFault = (a: string, b: string) => ORDER.indexOf(a) - ORDER.indexOf(b)

describe('a creation is refused', () => {
  test.each<readonly [Record<string, unknown>, string, string]>([
    [{ repository_url: undefined }, 'repository_url', 'is required'],
    [{ repository_url: 7 }, 'repository_url', 'must be text'],
    ...[
      'web',
      'acme/web',
      'https://git.example.com/web',
      'https://git.example.com/acme//',
      'file:///a/b',
      'git@host:web',
    ].map(
      (repository_url) =>
        [{ repository_url }, 'repository_url', 'must name a repository, as https://host/owner/name does'] as const,
    ),
    [{ type: undefined }, 'type', 'is required'],
    [{ type: 'free' }, 'type', 'must be one of basic, pro'],
    [{ team_ids: undefined }, 'team_ids', 'is required'],
    [{ team_ids: 7 }, 'team_ids', 'must be a list'],
    [{ team_ids: [7, 'seven'] }, 'team_ids[1]', 'must be a whole number'],
    [{ team_ids: [1.5] }, 'team_ids[0]', 'must be a whole number'],
    [{ build_on_pr_only: 'yes' }, 'build_on_pr_only', 'must be true or false'],
    [{ branch_match: 'some' }, 'branch_match', 'must be one of include, exclude'],
    [{ branches: ['main', '^half'] }, 'branches[1]', 'a regular expression must start with ^ and end with $'],
    [{ branches: 'main' }, 'branches', 'must be a list'],
    [{ setup_commands: ['x', 7] }, 'setup_commands[1]', 'must be text'],
    [
      { setup_commands: ['x'.repeat(TEXT_CHARS_MAX + 1)] },
      'setup_commands[0]',
      `has more than ${TEXT_CHARS_MAX} characters`,
    ],
    [
      { setup_commands: Array.from({ length: LIST_ITEMS_MAX + 1 }, () => '') },
      'setup_commands',
      `has more than ${LIST_ITEMS_MAX} entries`,
    ],
    [{ test_pipelines: [{ name: 'Tests' }] }, 'test_pipelines[0].commands', 'is required'],
    [{ environment_variables: [{ name: ' ', value: 'x' }] }, 'environment_variables[0].name', 'is empty'],
    [{ environment_variables: [{ name: 'A' }] }, 'environment_variables[0].value', 'is required'],
    [{ notification_rules: ['x'] }, 'notification_rules[0]', 'must be an object'],
    [
      { notification_rules: [{ notifier: 'slack', build_statuses: ['failed'] }] },
      'notification_rules[0].options.key',
      'slack needs a key',
    ],
    [{ deploy_pipelines: [{ config: [], position: 1 }] }, 'deploy_pipelines[0].branch', 'is required'],
    [
      { deploy_pipelines: [{ branch: { match_mode: 'exact' }, config: [], position: 1 }] },
      'deploy_pipelines[0].branch.branch_name',
      'is required',
    ],
    [
      { deploy_pipelines: [{ branch: { branch_name: 'main' }, config: [], position: 1 }] },
      'deploy_pipelines[0].branch.match_mode',
      'is required',
    ],
    [{ deploy_pipelines: [{ branch, position: 1 }] }, 'deploy_pipelines[0].config', 'is required'],
    [{ deploy_pipelines: [{ branch, config: [] }] }, 'deploy_pipelines[0].position', 'is required'],
    [{ deploy_pipelines: [{ branch, config: [], position: '1' }] }, 'deploy_pipelines[0].position', 'must be a number'],
    [
      deployment({ type: 'ftp' }),
      'deploy_pipelines[0].config[0].type',
      `must be one of ${DEPLOYMENT_TYPES.join(', ')}`,
    ],
    [deployment({ type: 's3_deployment', region: 1 }), 'deploy_pipelines[0].config[0].region', 'must be text'],
    [
      deployment({ type: 's3_deployment', regoin: 'eu' }),
      'deploy_pipelines[0].config[0].regoin',
      'is not a field that CI knows here',
    ],
    [{ deployment_pipelines: [] }, 'deployment_pipelines', 'is not a field that CI knows here'],
  ])('with %j, because %s %s', (more, field, reason) => {
    expect(faultsOf({ ...small, ...more })).toEqual([{ field, reason }])
  })

  test.each([null, 'x', [], 7])('when it is %j', (input) => {
    expect(faultsOf(input)).toEqual([{ field: '', reason: 'must be an object' }])
  })

  test('and every fault is named, up to the limit', () => {
    const setup = (faults: number) => ({ ...small, setup_commands: Array.from({ length: faults }, () => 7) })
    expect(faultsOf(setup(FAULTS_MAX))).toHaveLength(FAULTS_MAX)
    expect(faultsOf(setup(FAULTS_MAX + 1))).toHaveLength(FAULTS_MAX)
    expect(faultsOf({ ...small, type: 'x', branches: [''] }).map(({ field }) => field)).toEqual(['type', 'branches[0]'])
  })

  test('and its faults do not quote the input', () => {
    const rule = { notifier: 'webhook', options: { url: 'canary' }, build_statuses: ['canary'], target: 'canary' }
    const faults = faultsOf({
      repository_url: 'canary',
      type: 'canary',
      team_ids: ['canary'],
      branches: ['^canary'],
      setup_commands: 'canary',
      notification_rules: [rule],
      environment_variables: [{ name: '', value: 'canary' }],
      ...deployment({ type: 'canary' }),
    })
    expect(faults).toHaveLength(10)
    expect(JSON.stringify(faults)).not.toContain('canary')
  })
})
