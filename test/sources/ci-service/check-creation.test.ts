import { describe, expect, test } from 'vitest'
import {
  checkCreation,
  FAULTS_MAX,
  TEXT_CHARS_MAX,
  type ProjectCreation,
} from '../../../src/sources/ci-service/check-creation.ts'
import { LIST_ITEMS_MAX, LINE_CHARS_MAX } from '../../../src/sources/ci-service/check-rule.ts'

const small: ProjectCreation = {
  repository_url: 'https://git.example.com/acme/web.git',
  type: 'basic',
  team_ids: ['7'],
}

describe('a valid creation', () => {
  test.each([
    'https://git.example.com/acme/web',
    'https://git.example.com/acme/web.git',
    'https://git.example.com/group/acme/web/',
    'ssh://git@git.example.com:2222/acme/web.git',
    'git@git.example.com:acme/web.git',
  ])('may have the repository %s', (repository_url) => {
    expect(checkCreation({ ...small, repository_url })).toEqual([])
  })

  test.each<readonly [Partial<ProjectCreation>]>([
    [{ team_ids: ['7', '18446744073709551615'] }],
    [{ setup_commands: [], branches: [], team_ids: [] }],
    [{ setup_commands: Array.from({ length: LIST_ITEMS_MAX }, () => '') }],
    [{ setup_commands: ['x'.repeat(TEXT_CHARS_MAX)] }],
    [{ environment_variables: [{ name: 'N'.repeat(LINE_CHARS_MAX), value: '' }] }],
    [{ test_pipelines: [{ name: 'Tests', commands: ['npm test'] }] }],
    [{ notification_rules: [{ notifier: 'slack', options: { key: 'k' }, build_statuses: ['failed'], colour: 7 }] }],
  ])('may contain %j', (more) => {
    expect(checkCreation({ ...small, ...more })).toEqual([])
  })
})

describe('a creation is refused', () => {
  test.each<readonly [Partial<ProjectCreation>, string, string]>([
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
    [{ team_ids: ['7', 'seven'] }, 'team_ids[1]', 'must be a whole number'],
    [{ team_ids: ['1.5'] }, 'team_ids[0]', 'must be a whole number'],
    [{ branches: ['main', '^half'] }, 'branches[1]', 'a regular expression must start with ^ and end with $'],
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
    [{ environment_variables: [{ name: ' ', value: 'x' }] }, 'environment_variables[0].name', 'is empty'],
    [
      { notification_rules: [{ notifier: 'slack', build_statuses: ['failed'] }] },
      'notification_rules[0].options.key',
      'slack needs a key',
    ],
  ])('with %j, because %s %s', (more, field, reason) => {
    expect(checkCreation({ ...small, ...more })).toEqual([{ field, reason }])
  })

  test('and every fault is named, up to the limit', () => {
    const setup = (faults: number) => ({ ...small, team_ids: Array.from({ length: faults }, () => 'seven') })
    expect(checkCreation(setup(FAULTS_MAX))).toHaveLength(FAULTS_MAX)
    expect(checkCreation(setup(FAULTS_MAX + 1))).toHaveLength(FAULTS_MAX)
    expect(checkCreation({ ...small, team_ids: ['x'], branches: [''] }).map(({ field }) => field)).toEqual([
      'team_ids[0]',
      'branches[0]',
    ])
  })

  test('and its faults do not quote the input', () => {
    const rule = { notifier: 'webhook', options: { url: 'canary' }, build_statuses: ['canary'], target: 'canary' }
    const faults = checkCreation({
      repository_url: 'canary',
      type: 'basic',
      team_ids: ['canary'],
      branches: ['^canary'],
      notification_rules: [rule],
      environment_variables: [{ name: '', value: 'canary' }],
    })
    expect(faults).toHaveLength(7)
    expect(JSON.stringify(faults)).not.toContain('canary')
  })
})
