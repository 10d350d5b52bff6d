import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type Config, readConfig, secretsOf } from '../../src/config/config.ts'
import type { Settings } from '../support/app.ts'

const DOOR = 'the-secret-of-the-door'

const LEAST: Settings = { SLACK_BOT_TOKEN: 'xoxb-1', SLACK_SIGNING_SECRET: 'signing', WEBHOOK_SECRET: DOOR }

const V2: Settings = {
  CI_BASE_URL: 'https://ci.example/v2',
  CI_ORGANIZATION_UUID: 'b0b1b2b3-0000-0000-0000-000000000001',
}

function pem(type: 'rsa' | 'ed25519'): string {
  const pair = type === 'rsa' ? generateKeyPairSync('rsa', { modulusLength: 2_048 }) : generateKeyPairSync('ed25519')
  return pair.privateKey.export({ type: 'pkcs8', format: 'pem' })
}

const KEY = pem('rsa')

function configOf(settings: Settings): Config {
  const reading = read(settings)
  if (reading.kind === 'faults') throw new Error(reading.faults.join('\n'))
  return reading.config
}

function faultsOf(settings: Settings): readonly string[] {
  const reading = read(settings)
  return reading.kind === 'faults' ? reading.faults : []
}

const read = (settings: Settings) =>
  readConfig(settings, (path) => {
    if (path === '/etc/app.pem') return KEY
    throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
  })

describe('the minimal settings', () => {
  it('give the documented defaults', () => {
    expect(configOf(LEAST)).toEqual({
      port: 3000,
      host: null,
      metricsPort: null,
      slack: { botToken: 'xoxb-1', signingSecret: 'signing', appToken: null, apiUrl: null },
      ci: { v2: null, legacy: null, siteUrl: null },
      webhookSecrets: [DOOR],
      github: { apiUrl: 'https://api.github.com', token: null, app: null, repositories: [], webhookSecrets: [] },
      gitlab: { url: 'https://gitlab.com', token: null, projects: [], webhookSecrets: [] },
      database: { kind: 'sqlite', path: 'data/buildline.db' },
      subscriptions: [],
      operators: [],
      approvers: [],
      admins: [],
      asksByEmail: false,
      failureLogs: true,
      retentionDays: 90,
      logLevel: 'info',
    })
  })

  it.each(['SLACK_BOT_TOKEN', 'SLACK_SIGNING_SECRET', 'WEBHOOK_SECRET'])('include %s', (name) => {
    for (const value of [undefined, '', '  ']) {
      const faults = faultsOf({ ...LEAST, [name]: value })
      expect(faults).toHaveLength(1)
      expect(faults[0]).toContain(`${name} is not set`)
    }
  })
})

describe('each variable', () => {
  it('is read', () => {
    const config = configOf({
      ...LEAST,
      ...V2,
      PORT: '8080',
      HOST: '127.0.0.1',
      METRICS_PORT: '9100',
      SLACK_APP_TOKEN: 'xapp-1',
      SLACK_API_URL: 'http://127.0.0.1:4100/api/',
      CI_LEGACY_BASE_URL: 'https://legacy.example',
      CI_SITE_URL: 'https://ci.example',
      CI_AUTHORIZATION: 'Bearer token',
      CI_API_KEY: 'key',
      GITHUB_TOKEN: 'github_pat_1',
      GITHUB_REPOSITORIES: 'acme/web, acme/api',
      GITHUB_WEBHOOK_SECRET: 'signs-what-github-sends',
      GITHUB_API_URL: 'https://github.example/api/v3',
      GITLAB_TOKEN: 'glpat-1',
      GITLAB_PROJECTS: 'acme/tools/web',
      GITLAB_WEBHOOK_SECRET: 'sent-as-it-is-by-gitlab, whsec_dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0dGVzdHRlc3Q=',
      GITLAB_URL: 'https://git.example/gitlab',
      WEBHOOK_SECRET: ' secret-of-monday, secret-of-tuesday ,secret-of-wednesday',
      DATABASE_URL: 'postgres://ada:pass@db/buildline',
      DEFAULT_CHANNEL: 'C0BUILDS01',
      CI_OPERATORS: 'U0ADA00001,S0RELEASE1',
      CI_APPROVERS: 'U0LIN00001',
      CI_ADMINS: 'U0GRACE001',
      PEOPLE_BY_EMAIL: 'Yes',
      FAILURE_LOGS: 'No',
      RETENTION_DAYS: '30',
      LOG_LEVEL: 'WARN',
    })
    expect(config).toEqual({
      port: 8080,
      host: '127.0.0.1',
      metricsPort: 9100,
      slack: {
        botToken: 'xoxb-1',
        signingSecret: 'signing',
        appToken: 'xapp-1',
        apiUrl: 'http://127.0.0.1:4100/api/',
      },
      ci: {
        v2: {
          baseUrl: 'https://ci.example/v2',
          organizationUuid: V2['CI_ORGANIZATION_UUID'],
          auth: { kind: 'static', authorization: 'Bearer token' },
        },
        legacy: { baseUrl: 'https://legacy.example', apiKey: 'key' },
        siteUrl: 'https://ci.example',
      },
      webhookSecrets: ['secret-of-monday', 'secret-of-tuesday', 'secret-of-wednesday'],
      github: {
        apiUrl: 'https://github.example/api/v3',
        token: 'github_pat_1',
        app: null,
        repositories: ['acme/web', 'acme/api'],
        webhookSecrets: ['signs-what-github-sends'],
      },
      gitlab: {
        url: 'https://git.example/gitlab',
        token: 'glpat-1',
        projects: ['acme/tools/web'],
        webhookSecrets: ['sent-as-it-is-by-gitlab', 'whsec_dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0dGVzdHRlc3Q='],
      },
      database: { kind: 'postgres', url: 'postgres://ada:pass@db/buildline' },
      subscriptions: [
        {
          channel: 'C0BUILDS01',
          follows: { what: 'unfollowed' },
          rules: null,
          quiet: false,
          mention: 'committer',
          source: 'default-channel',
        },
      ],
      operators: ['U0ADA00001', 'S0RELEASE1'],
      approvers: ['U0LIN00001'],
      admins: ['U0GRACE001'],
      asksByEmail: true,
      failureLogs: false,
      retentionDays: 30,
      logLevel: 'warn',
    })
  })

  it('of the client credentials belongs to one way to sign in', () => {
    const credentials = { CI_TOKEN_URL: 'https://ci.example/token', CI_CLIENT_ID: 'client', CI_CLIENT_SECRET: 'secret' }
    expect(configOf({ ...LEAST, ...V2, ...credentials }).ci.v2?.auth).toEqual({
      kind: 'client-credentials',
      tokenUrl: 'https://ci.example/token',
      clientId: 'client',
      clientSecret: 'secret',
    })
  })

  it.each(['x'.repeat(16), '!"#$%&\'()*+-./:;<=>?@[\\]^_`{|}~', 'f'.repeat(200)])(
    'WEBHOOK_SECRET may be %s',
    (secret) => {
      expect(configOf({ ...LEAST, WEBHOOK_SECRET: secret }).webhookSecrets).toEqual([secret])
    },
  )

  it.each([24, 25, 26, 64])('a signing token of GitLab may have a key of %i bytes', (bytes) => {
    const token = `whsec_${Buffer.alloc(bytes, 251).toString('base64')}`
    expect(configOf({ ...LEAST, GITLAB_WEBHOOK_SECRET: token }).gitlab.webhookSecrets).toEqual([token])
    const unpadded = token.replace(/=+$/, '')
    expect(configOf({ ...LEAST, GITLAB_WEBHOOK_SECRET: unpadded }).gitlab.webhookSecrets).toEqual([unpadded])
  })

  it.each(['1', '3650'])('RETENTION_DAYS may be %s', (days) => {
    expect(configOf({ ...LEAST, RETENTION_DAYS: days }).retentionDays).toBe(Number(days))
  })

  it.each(['xoxb-1-A0-abc', 'xoxe.xoxb-1-Mi0yLTg='])('SLACK_BOT_TOKEN may be %s', (token) => {
    expect(configOf({ ...LEAST, SLACK_BOT_TOKEN: token }).slack.botToken).toBe(token)
  })

  it('makes the signing secret unnecessary if it is SLACK_APP_TOKEN', () => {
    const slack = configOf({ ...LEAST, SLACK_SIGNING_SECRET: undefined, SLACK_APP_TOKEN: 'xapp-1' }).slack
    expect(slack).toMatchObject({ signingSecret: null, appToken: 'xapp-1' })
  })

  it.each([
    ['sqlite:data/other.db', { kind: 'sqlite', path: 'data/other.db' }],
    ['sqlite:/var/lib/buildline.db', { kind: 'sqlite', path: '/var/lib/buildline.db' }],
    ['sqlite:///var/lib/buildline.db', { kind: 'sqlite', path: '/var/lib/buildline.db' }],
    ['postgresql://db/buildline', { kind: 'postgres', url: 'postgresql://db/buildline' }],
  ])('DATABASE_URL may be %s', (url, database) => {
    expect(configOf({ ...LEAST, DATABASE_URL: url }).database).toEqual(database)
  })

  it.each<[setting: Settings, fault: RegExp]>([
    [{ PORT: 'http' }, /^PORT must be a port/],
    [{ PORT: '65536' }, /^PORT must be a port/],
    [{ PORT: '-1' }, /^PORT must be a port/],
    [{ PORT: '3000.5' }, /^PORT must be a port/],
    [{ SLACK_API_URL: 'ftp://slack' }, /^SLACK_API_URL is not an http/],
    [{ CI_SITE_URL: 'ci.example' }, /^CI_SITE_URL is not an http/],
    [{ ...V2, CI_BASE_URL: 'nonsense', CI_AUTHORIZATION: 'x' }, /^CI_BASE_URL is not an http/],
    [{ CI_LEGACY_BASE_URL: 'https://legacy.example' }, /^CI_API_KEY is not set/],
    [{ ...V2, CI_ORGANIZATION_UUID: '', CI_AUTHORIZATION: 'x' }, /^CI_ORGANIZATION_UUID is not set/],
    [V2, /^CI_AUTHORIZATION is not set.*CI_TOKEN_URL/],
    [{ CI_AUTHORIZATION: 'Bearer x' }, /^CI_BASE_URL is not set/],
    [{ ...V2, CI_TOKEN_URL: 'https://ci.example/t', CI_CLIENT_ID: 'c' }, /^CI_CLIENT_SECRET is not set/],
    [{ ...V2, CI_TOKEN_URL: 'https://ci.example/t', CI_CLIENT_SECRET: 's' }, /^CI_CLIENT_ID is not set/],
    [
      { ...V2, CI_AUTHORIZATION: 'x', CI_TOKEN_URL: 'https://ci.example/t', CI_CLIENT_ID: 'c', CI_CLIENT_SECRET: 's' },
      /both set/,
    ],
    [{ GITHUB_TOKEN: 'github_pat_1', WEBHOOK_SECRET: '' }, /^GITHUB_REPOSITORIES is not set/],
    [{ GITLAB_TOKEN: 'glpat-1', WEBHOOK_SECRET: '' }, /^GITLAB_PROJECTS is not set/],
    ...['WEBHOOK_SECRET', 'GITHUB_WEBHOOK_SECRET', 'GITLAB_WEBHOOK_SECRET'].flatMap((name) =>
      [',', ' , ,', `${DOOR},`, `${DOOR}, ,${DOOR}`].map((value): [Settings, RegExp] => [
        { [name]: value },
        new RegExp(`^${name} has an empty entry`),
      ]),
    ),
    // Without the entry, everybody would be allowed.
    [{ CI_OPERATORS: ',' }, /^CI_OPERATORS has an empty entry/],
    [{ CI_ADMINS: 'U0GRACE001,' }, /^CI_ADMINS has an empty entry/],
    ...[
      'whsec_a-secret-that-is-no-base64-at-all',
      `whsec_${'?'.repeat(40)}`,
      `whsec_${Buffer.alloc(23, 7).toString('base64')}`,
      `whsec_${Buffer.alloc(24, 7).toString('base64').slice(0, -1)}`,
      `whsec_${Buffer.alloc(24, 251).toString('base64url')}`,
    ].map((token): [Settings, RegExp] => [
      { GITLAB_WEBHOOK_SECRET: `sent-as-it-is-by-gitlab,${token}` },
      /^GITLAB_WEBHOOK_SECRET has a signing token that is not whsec_ and then base64 of at least 24 bytes: [^?]*$/,
    ]),
    ...['acme', 'acme/..', '../web', 'acme/web/api', 'acme/we b'].map((name): [Settings, RegExp] => [
      { GITHUB_TOKEN: 'github_pat_1', GITHUB_REPOSITORIES: `acme/web,${name}` },
      /^GITHUB_REPOSITORIES contains something that is not a repository/,
    ]),
    ...['acme', 'acme/..', '../web', 'acme/./web', 'acme//web'].map((name): [Settings, RegExp] => [
      { GITLAB_TOKEN: 'glpat-1', GITLAB_PROJECTS: `acme/tools/web,${name}` },
      /^GITLAB_PROJECTS contains something that is not a project/,
    ]),
    ...[' ', '\t', '…', 'é'].map((character): [Settings, RegExp] => [
      { WEBHOOK_SECRET: `${DOOR}${character}${DOOR}` },
      /^WEBHOOK_SECRET has a space.*openssl rand -hex 24/,
    ]),
    ...['xoxb-…', 'xoxb-...', 'xoxb-', 'your-token-here', 'xoxp-1', 'xapp-1', 'xoxb-a b', 'xoxe-1'].map(
      (token): [Settings, RegExp] => [{ SLACK_BOT_TOKEN: token }, /^SLACK_BOT_TOKEN does not look right.*xoxb-/],
    ),
    ...['xapp-…', 'xapp-', 'your-token-here', 'xoxb-1'].map((token): [Settings, RegExp] => [
      { SLACK_APP_TOKEN: token },
      /^SLACK_APP_TOKEN does not look right.*xapp-/,
    ]),
    [{ DATABASE_URL: 'mysql://db' }, /^DATABASE_URL is neither/],
    [{ DATABASE_URL: 'sqlite:' }, /^DATABASE_URL is neither/],
    [{ DATABASE_URL: 'postgres://ada:pass@db:port/x' }, /^DATABASE_URL is not a valid/],
    [{ DEFAULT_CHANNEL: '#builds' }, /^DEFAULT_CHANNEL is not a channel id/],
    ...['0', '3651', '7.5', 'ninety', '-1'].map((days): [Settings, RegExp] => [
      { RETENTION_DAYS: days },
      /^RETENTION_DAYS must be a whole number of days, from 1 to 3650$/,
    ]),
    [{ WEBHOOK_SECRET: `${DOOR},${'x'.repeat(15)}` }, /^WEBHOOK_SECRET is too short(?!.*xxx).*at least 16/],
    [{ GITHUB_WEBHOOK_SECRET: 'x'.repeat(15) }, /^GITHUB_WEBHOOK_SECRET is too short(?!.*xxx).*at least 16/],
    [
      { GITLAB_WEBHOOK_SECRET: `${DOOR},${'x'.repeat(15)}` },
      /^GITLAB_WEBHOOK_SECRET is too short(?!.*xxx).*at least 16/,
    ],
    [{ METRICS_PORT: 'all' }, /^METRICS_PORT must be a port/],
    [{ LOG_LEVEL: 'loud' }, /^LOG_LEVEL must be one of:/],
    [{ SUBSCRIPTIONS_FILE: 'missing.yml' }, /^SUBSCRIPTIONS_FILE missing\.yml cannot be read: ENOENT/],
  ])('is refused in words if it is invalid: %o', (setting, fault) => {
    const faults = faultsOf({ ...LEAST, ...setting })
    expect(faults).toEqual([expect.stringMatching(fault)])
  })
})

describe('a GitHub App', () => {
  const app = (key: string, more: Settings = {}) => ({
    ...LEAST,
    GITHUB_APP_ID: '7',
    GITHUB_APP_PRIVATE_KEY: key,
    GITHUB_REPOSITORIES: 'acme/web',
    ...more,
  })

  it('replaces a token; its key may be on one line or several, or in a file', () => {
    for (const key of [KEY, KEY.replaceAll('\n', String.raw`\n`), '/etc/app.pem']) {
      const config = configOf(app(key))
      expect(config.github).toMatchObject({ token: null, app: { id: '7' } })
      expect(config.github.app!.privateKey.trim()).toBe(KEY.trim())
      expect(secretsOf(config)).toContain(config.github.app!.privateKey)
    }
  })

  it.each([
    ['half of it', app(KEY, { GITHUB_APP_ID: undefined }), /^GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY belong together/],
    ['a key of another kind', app(pem('ed25519')), /^GITHUB_APP_PRIVATE_KEY is neither an RSA key/],
    ['a truncated key', app(KEY.slice(0, 200)), /^GITHUB_APP_PRIVATE_KEY is neither an RSA key/],
    ['a missing file', app('/nowhere/app.pem'), /^GITHUB_APP_PRIVATE_KEY is neither an RSA key/],
    ['a token beside it', app(KEY, { GITHUB_TOKEN: 'github_pat_1' }), /^GITHUB_TOKEN and GITHUB_APP_ID are both set/],
  ])('is refused in words that do not show its key: %s', (_, settings, fault) => {
    const faults = faultsOf(settings)
    expect(faults).toContainEqual(expect.stringMatching(fault))
    expect(faults.join('')).not.toContain('PRIVATE KEY-----')
  })
})

describe('secrets', () => {
  const SECRETS: Settings = {
    SLACK_BOT_TOKEN: 'xoxb-canary-bot-token',
    SLACK_SIGNING_SECRET: 'canary-signing-secret',
    SLACK_APP_TOKEN: 'xapp-canary-app-token',
    CI_AUTHORIZATION: 'Bearer canary-authorization',
    CI_CLIENT_SECRET: 'canary-client-secret',
    CI_API_KEY: 'canary-api-key',
    WEBHOOK_SECRET: 'canary-of-door-one,canary-of-door-two',
    GITHUB_TOKEN: 'canary-github-token',
    GITHUB_WEBHOOK_SECRET: 'canary-of-github',
    DATABASE_URL: 'postgres://ada:canary-password@db:port/x',
  }

  it('include the database password as it is, and as the address has it', () => {
    const known = secretsOf(configOf({ ...LEAST, DATABASE_URL: 'postgres://ada:p%40ssw0rd%2Flong@db/x' }))
    expect(known).toEqual(expect.arrayContaining(['p%40ssw0rd%2Flong', 'p@ssw0rd/long']))
  })

  it('are all masked by the log', () => {
    const settings = {
      ...SECRETS,
      ...V2,
      CI_LEGACY_BASE_URL: 'https://legacy.example',
      DATABASE_URL: 'postgres://ada:canary-password@db/x',
    }
    const known = secretsOf(configOf(settings))
    expect(known).toEqual([
      'xoxb-canary-bot-token',
      'canary-signing-secret',
      'xapp-canary-app-token',
      'canary-api-key',
      'Bearer canary-authorization',
      'canary-password',
      'canary-of-door-one',
      'canary-of-door-two',
      'canary-github-token',
      'canary-of-github',
    ])
  })

  it('are in no message about a fault', () => {
    const faults = faultsOf({
      ...SECRETS,
      PORT: 'x',
      CI_TOKEN_URL: 'canary-url',
      CI_BASE_URL: 'canary-url',
      LOG_LEVEL: 'canary',
      DEFAULT_CHANNEL: 'canary',
      SLACK_BOT_TOKEN: 'canary',
      SLACK_APP_TOKEN: 'canary',
      WEBHOOK_SECRET: 'canary,canary/of the door',
    })
    expect(faults.length).toBeGreaterThan(8)
    expect(faults.join('\n')).not.toContain('canary')
  })
})
