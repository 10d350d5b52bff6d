import { describe, expect, it } from 'vitest'
import { isSecretName, isSecretPlace, MASK, withoutCredentials } from '../../../src/domain/ci-project/project-fields.ts'

describe('a field', () => {
  it.each([
    'aes_key',
    'ssh_key',
    'api_key',
    'apiKey',
    'refresh_token',
    'aws_access_key_id',
    'aws_region_of_ours',
    'client_secret',
    'PASSWORD',
    'smtp_pass',
    'passphrase',
    'credentials',
    'authorization',
  ])('holds a secret by its name: %s', (name) => {
    expect(isSecretName(name)).toBe(true)
  })

  it.each([
    'name',
    'branches',
    'authentication_user',
    'build_on_pr_only',
    'passed',
    'author',
    'repository_url',
    'room',
  ])('holds no secret by its name: %s', (name) => {
    expect(isSecretName(name)).toBe(false)
  })

  it.each<[names: string[], isSecret: boolean]>([
    [['notification_rules', 'options', 'url'], true],
    [['notification_rules', 'options', 'anything'], true],
    [['notification_rules', 'options', 'room'], false],
    [['notification_rules', 'branch'], false],
    [['deployment_pipelines', 'config'], true],
    [['deployment_pipelines', 'config', 'login'], true],
    [['deployment_pipelines', 'config', 'region'], false],
    [['deployment_pipelines', 'position'], false],
    [['environment_variables', 'NODE_ENV'], true],
    [['service_tokens', 'name'], true],
  ])('holds a secret by its place: %j: %s', (names, isSecret) => {
    expect(isSecretPlace(names)).toBe(isSecret)
  })
})

describe('withoutCredentials', () => {
  it.each<[text: string, shown: string]>([
    ['https://ada:pw@host.example/acme/web.git', 'https://host.example/acme/web.git'],
    ['https://pw@host.example/x', 'https://host.example/x'],
    ['https://ada:p@w@host.example/x', 'https://host.example/x'],
    ['SSH://git:pw@host.example:22/x', 'SSH://host.example:22/x'],
    [
      'git clone https://ada:pw@host.example/a https://lin:pw@host.example/b',
      'git clone https://host.example/a https://host.example/b',
    ],
    ['ada:pw@host.example:acme/web.git', 'host.example:acme/web.git'],
    ['curl https://host.example/?page=2&access_token=pw', `curl https://host.example/?page=2&access_token=${MASK}`],
    ['https://host.example/?api_key=pw#top', `https://host.example/?api_key=${MASK}#top`],
  ])('removes the credentials in %j', (text, shown) => {
    expect(withoutCredentials(text)).toBe(shown)
    expect(withoutCredentials(shown)).toBe(shown)
  })

  it.each([
    'https://host.example/acme/web.git',
    'git@host.example:acme/web.git',
    'https://host.example/@ada/web?page=2',
    'npm install @acme/web@2',
    'echo a=b && test 1:2 = x',
    '^release/.*$',
  ])('keeps the rest: %j', (text) => {
    expect(withoutCredentials(text)).toBe(text)
  })
})
