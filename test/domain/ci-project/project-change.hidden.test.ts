import { describe, expect, it } from 'vitest'
import { isMask, maskedSecrets, absentFields } from '../../../src/domain/ci-project/masked-project.ts'
import { SECRETS, sentProject } from '../support/sent-project.ts'

const masked = (raw: Record<string, unknown>) => maskedSecrets(raw).map(({ field }) => field)

describe('a mask', () => {
  it.each(['***', '****', '••••••', 'sk-****9f3a', 'xxxx', 'xxxx1a2b', '[FILTERED]', '<hidden>', ' **** '])(
    'looks like %j',
    (text) => expect(isMask(text)).toBe(true),
  )

  it.each([
    '',
    '*',
    '**',
    'release/**',
    '0 * * * *',
    'xxx',
    'xxxxx1a2b3',
    'x'.repeat(9),
    'hidden',
    '[secret',
    ...SECRETS,
  ])('does not look like %j', (text) => expect(isMask(text)).toBe(false))
})

describe('the secrets that CI masks', () => {
  it('are none in a project that shows them all', () => {
    expect(masked(sentProject())).toEqual([])
  })

  it.each([[null], [undefined], ['****']])('are variables whose value is %j; an empty value is no secret', (value) => {
    const variables = [{ name: 'TOKEN', value }, { name: 'EMPTY', value: '' }, { name: '****', value: 'x' }, { value }]
    expect(masked(sentProject({ environment_variables: variables }))).toEqual([
      'environment_variables.TOKEN',
      'environment_variables[3]',
    ])
  })

  it("are keys and addresses in rules of any notifier, and fields with a secret's name, but neither branches nor rooms", () => {
    const rule = (options: object) => ({ notifier: 'pigeon', branch: '****', build_statuses: ['failed'], options })
    const rules = [
      rule({ key: '****', room: '****' }),
      rule({ slack: { key: '****' } }),
      rule({ url: 'https://h/****' }),
    ]
    const raw = sentProject({ notification_rules: rules, branches: ['****'], x_token: '****', x_word: '****' })
    expect(masked(raw)).toEqual([
      'notification_rules[0].options.key',
      'notification_rules[1].options.slack.key',
      'notification_rules[2].options.url',
      'x_token',
    ])
  })

  it('are listed without their masks', () => {
    const raw = { environment_variables: [{ name: 'TOKEN', value: 'sk-****9f3a' }] }
    expect(JSON.stringify(maskedSecrets(raw))).not.toContain('9f3a')
  })
})

describe('the fields that CI leaves out', () => {
  it('are those that an update sets and that are missing; null is not missing', () => {
    const { setup_commands: _setup, branches: _branches, ...rest } = sentProject({ team_ids: null })
    expect(absentFields(rest, true)).toEqual(['branches', 'setup_commands'])
    expect(absentFields(rest, false)).toEqual(['branches'])
    expect(absentFields(sentProject(), true)).toEqual([])
  })
})
