import { describe, expect, it } from 'vitest'
import { isMask, maskedSecrets, unsaidFields } from '../../src/domain/masked-project.ts'
import { SECRETS, sentProject } from './support/sent-project.ts'

const masked = (raw: Record<string, unknown>) => maskedSecrets(raw).map(({ field }) => field)

describe('a mask', () => {
  it.each(['***', '****', '••••••', 'sk-****9f3a', 'xxxx', 'xxxx1a2b', '[FILTERED]', '<hidden>', ' **** '])(
    'is what %j looks like',
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
  ])('is not what %j looks like', (text) => expect(isMask(text)).toBe(false))
})

describe('the secrets that CI hides', () => {
  it('are none of a project that shows them all', () => {
    expect(masked(sentProject())).toEqual([])
  })

  it.each([[null], [undefined], ['****']])('are variables whose value is %j; an empty one is no secret', (value) => {
    const variables = [{ name: 'TOKEN', value }, { name: 'EMPTY', value: '' }, { name: '****', value: 'x' }, { value }]
    expect(masked(sentProject({ environment_variables: variables }))).toEqual([
      'environment_variables.TOKEN',
      'environment_variables[3]',
    ])
  })

  it('are keys and addresses of rules, whatever the notifier, and what has the name of a secret; no branch and no room', () => {
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

  it('are named without what stands for them', () => {
    const raw = { environment_variables: [{ name: 'TOKEN', value: 'sk-****9f3a' }] }
    expect(JSON.stringify(maskedSecrets(raw))).not.toContain('9f3a')
  })
})

describe('what CI says nothing of', () => {
  it('is what an update sets and is not there; null is said', () => {
    const { setup_commands: _setup, branches: _branches, ...rest } = sentProject({ team_ids: null })
    expect(unsaidFields(rest, true)).toEqual(['branches', 'setup_commands'])
    expect(unsaidFields(rest, false)).toEqual(['branches'])
    expect(unsaidFields(sentProject(), true)).toEqual([])
  })
})
