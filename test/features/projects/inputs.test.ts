import { describe, expect, test } from 'vitest'
import { MASK } from '../../../src/domain/ci-project/project-fields.ts'
import {
  baseOf,
  BASE_FIELDS_MAX,
  BASE_NAME_CHARS_MAX,
  changedSince,
  OTHER_FIELDS,
} from '../../../src/features/projects/read.ts'
import { commandLines, commandsOfLines } from '../../../src/domain/ci-project/masked-project.ts'
import { variablesIn } from '../../../src/features/projects/inputs.ts'
import { namesInUrl } from '../../../src/features/projects/create.ts'
import { creationIn } from '../../../src/features/projects/create-form.ts'
import { checkCreation } from '../../../src/sources/ci-service/check-creation.ts'
import { CREATION } from './stage.ts'

const base = (raw: Record<string, unknown>) => baseOf(raw, 'key')

describe('the base of an edit', () => {
  test('is the same for equal projects, and names the fields that differ', () => {
    const raw = { branches: ['a', 'b'], team_ids: [1, 2], more: { x: 1, y: null } }
    expect(
      changedSince(base(raw), base({ branches: ['b', 'a'], team_ids: [2, 1], more: { x: 1 }, type: null })),
    ).toEqual([])
    expect(changedSince(base(raw), base({ ...raw, branches: ['a'], type: 'pro' }))).toEqual(['branches', 'type'])
    expect(changedSince(base({ setup_commands: ['a', 'b'] }), base({ setup_commands: ['b', 'a'] }))).toEqual([
      'setup_commands',
    ])
  })

  test('leaves out fields that an update cannot change', () => {
    expect(base({ uuid: '1', aes_key: 'k', updated_at: 'now', test_pipelines: [] })).toEqual({})
  })

  test('cannot be compared with values without the key', () => {
    const raw = { environment_variables: [{ name: 'PIN', value: '1234' }] }
    expect(baseOf(raw, 'one')).not.toEqual(baseOf(raw, 'another'))
  })

  test(`names ${BASE_FIELDS_MAX} fields, and covers the others by one entry`, () => {
    const many = (count: number, last = 0) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, n) => [`x_${String(n).padStart(3, '0')}`, n === count - 1 ? last : n]),
      )
    expect(Object.keys(base(many(BASE_FIELDS_MAX)))).toHaveLength(BASE_FIELDS_MAX)
    expect(Object.keys(base(many(BASE_FIELDS_MAX + 1)))).toContain(OTHER_FIELDS)
    expect(changedSince(base(many(BASE_FIELDS_MAX + 5)), base(many(BASE_FIELDS_MAX + 5, 9)))).toEqual([OTHER_FIELDS])
  })
})

test(`a field name of more than ${BASE_NAME_CHARS_MAX} characters of JSON is covered by that entry`, () => {
  const [fits, long] = ['x'.repeat(BASE_NAME_CHARS_MAX), '"'.repeat(BASE_NAME_CHARS_MAX / 2 + 1)]
  expect(Object.keys(base({ [fits]: 1, [long]: 1 }))).toEqual([fits, OTHER_FIELDS])
})

describe('a form to create', () => {
  const typed = (value: string) => ({ value: { value } })
  const chosen = (value: string) => ({ value: { selected_option: { value } } })
  const checked = (value: string) => ({ value: { selected_options: [{ value }] } })
  const read = (values: Record<string, object>, variables: { name: string; value: string }[] = []) =>
    creationIn({ view: { state: { values } } }, variables)

  test('makes a test pipeline of a line with a name', () => {
    const lines = ['npm ci', '# Unit', 'npm test', 'npm run lint', '#E2E', 'npm run e2e']
    expect(read({ 'create:test_pipelines': typed(lines.join('\n')) })).toMatchObject({
      test_pipelines: [
        { name: 'Tests', commands: ['npm ci'] },
        { name: 'Unit', commands: ['npm test', 'npm run lint'] },
        { name: 'E2E', commands: ['npm run e2e'] },
      ],
    })
  })

  test('says how branches match if there are branches', () => {
    expect(read({ 'create:branches': typed('main'), 'create:branch_match': chosen('exclude') })).toMatchObject({
      branch_match: 'exclude',
      branches: ['main'],
    })
  })

  test('leaves out what is empty', () => {
    expect(read({ 'create:repository_url': typed(' git@host:acme/shop ') })).toEqual({
      repository_url: 'git@host:acme/shop',
      type: 'basic',
      team_ids: [],
      build_on_pr_only: false,
    })
  })

  test('has a rule', () => {
    const rule = {
      'create:rule:notifier': chosen('slack'),
      'create:rule:branch': typed('main'),
      'create:rule:events': checked('failed'),
      'create:rule:key': typed('k'),
    }
    const own = { notifier: 'slack', branch: 'main', build_statuses: ['failed'], options: { key: 'k' } }
    expect(read(rule)).toMatchObject({ notification_rules: [own] })
  })

  test('has setup commands and variables only for a Basic project', () => {
    const setup = read({ 'create:setup_commands': typed('npm ci') })
    const variables = read({}, [{ name: 'A', value: '1\n2' }])
    const sent = { ...CREATION, ...setup, ...variables, repository_url: CREATION.repository_url }
    expect(checkCreation(sent)).toEqual([])
    expect(checkCreation({ ...sent, type: 'pro' }).map(({ field }) => field)).toEqual([
      'setup_commands',
      'environment_variables',
    ])
  })
})

describe('setup commands in a form', () => {
  const raw = { setup_commands: ['npm ci', 'git clone https://ada:pw@host/x', 'a\nb'] }

  test('have one line each, without credentials', () => {
    expect(commandLines(raw)).toEqual(['npm ci', 'git clone https://host/x', 'a ⏎ b'])
  })

  test('stay as they were if they are not touched', () => {
    expect(commandsOfLines([...commandLines(raw), 'npm test'], raw)).toEqual({
      commands: [...raw.setup_commands, 'npm test'],
      faults: [],
    })
  })

  test('that were masked and then changed are refused', () => {
    const curl = { setup_commands: ['curl https://host/x?token=t'] }
    expect(commandLines(curl)).toEqual([`curl https://host/x?token=${MASK}`])
    const { faults } = commandsOfLines([`curl -f https://host/x?token=${MASK}`, 'a ⏎ b'], curl)
    expect(faults.map(({ field }) => field)).toEqual(['setup_commands[0]', 'setup_commands[1]'])
  })
})

test.each([
  ['https://host/acme/web.git', ['acme/web']],
  ['git@host:acme/web', ['acme/web']],
  ['https://host/group/acme/web/', ['acme/web', 'group/acme/web']],
])('a project with the repository %s can have the names %j', (url, names) => {
  expect(namesInUrl(url)).toEqual(names)
})

describe('the variables in the form to edit', () => {
  const KEY = '-----BEGIN KEY-----\nMIIB=\n\n  x="y"=\n-----END KEY-----'
  test.each<[claim: string, typed: string, read: (readonly [string, string | null] | null)[]]>([
    [
      'are one on each line',
      ' A=1 \n\nB==2=\r\nC=',
      [
        ['A', '1'],
        ['B', '=2='],
        ['C', ''],
      ],
    ],
    ['may stay unchanged', 'A=••••••', [['A', null]]],
    [
      'may span lines in double quotes',
      `A=1\nKEY="${KEY}"  \nB=2`,
      [
        ['A', '1'],
        ['KEY', KEY],
        ['B', '2'],
      ],
    ],
    [
      'keep their quotes on one line',
      'A="1"\nB="2"',
      [
        ['A', '"1"'],
        ['B', '"2"'],
      ],
    ],
    ['need a name and an equals sign', '=1\nA', [null, null]],
    ['need a closing quote', 'A="1\nx', [['A', '"1'], null]],
  ])('%s', (_, typed, read) => {
    expect(variablesIn(typed)).toEqual(read.map((one) => one && { name: one[0], value: one[1] }))
  })

  test('are read in linear time, even if no quote closes', () => {
    expect(variablesIn('A="\n'.repeat(200_000))).toHaveLength(200_000)
  })
})
