import * as fc from 'fast-check'

type Raw = Record<string, unknown>

/** All secrets in `sentProject`. No output may ever contain one of them. */
export const SECRETS = [
  'AAES-s3cr3t',
  'ssh-rsa-s3cr3t',
  'token-s3cr3t',
  'password-s3cr3t',
  'slack-s3cr3t',
  'hook-s3cr3t',
  'heroku-s3cr3t',
  'aws-s3cr3t',
  'refresh-s3cr3t',
  'deploy-s3cr3t',
  'unknown-s3cr3t',
  'bare-s3cr3t',
  'clone-s3cr3t',
] as const

/** A Basic project as CI sends it, with one of everything, including unknown fields, forms and notifiers. */
export const sentProject = (changes: Raw = {}): Raw => ({
  uuid: '3f2a1b4c-5d6e-4f70-8192-a3b4c5d6e7f8',
  organization_uuid: '0a0a0a0a-0000-0000-0000-000000000001',
  name: 'acme/web',
  type: 'basic',
  repository_url: 'https://ada:clone-s3cr3t@host.example/acme/web.git',
  repository_provider: 'host',
  authentication_user: 'Ada',
  ssh_key: 'ssh-rsa-s3cr3t',
  aes_key: 'AAES-s3cr3t',
  created_at: '2026-01-02T03:04:05.678Z',
  updated_at: '2026-02-03T04:05:06.789Z',
  build_on_pr_only: false,
  branch_match: 'include',
  branches: ['main', '^release/.*$'],
  setup_commands: ['npm ci', 'npm run build'],
  team_ids: [7, '9007199254740993'],
  test_pipelines: [{ id: 1, name: 'Tests', commands: ['npm test'] }],
  notification_rules: [
    {
      notifier: 'slack',
      target: null,
      branch: null,
      branch_match: null,
      build_statuses: ['failed', 'recovered'],
      options: { key: 'slack-s3cr3t', room: '#builds' },
      muted_until: null,
      id: 31,
    },
    {
      notifier: 'webhook',
      branch: 'release/*',
      branch_match: 'wildcard',
      build_statuses: ['started', 'failed', 'success', 'recovered'],
      options: { url: 'https://hooks.example/hook-s3cr3t' },
    },
    { notifier: 'email', target: 'committer', branch: '', branch_match: 'exact', build_statuses: ['failed'] },
  ],
  environment_variables: [
    { name: 'TOKEN', value: 'token-s3cr3t', scope: 'tests' },
    { name: 'DB_PASSWORD', value: 'password-s3cr3t' },
  ],
  deployment_pipelines: [
    {
      id: 5,
      branch: { branch_name: 'main', match_mode: 'exact' },
      config: [
        { type: 'heroku_deployment', name: 'web', api_key: 'heroku-s3cr3t' },
        { type: 's3_deployment', aws_secret_access_key: 'aws-s3cr3t', refresh_token: 'refresh-s3cr3t' },
        { type: 'ftp_deployment', login: 'deploy-s3cr3t' },
        'bare-s3cr3t',
      ],
      position: 1,
    },
  ],
  build_timeout: 60,
  cache_password: 'unknown-s3cr3t',
  ...changes,
})

/** A secret that occurs nowhere else. */
const anySecret = fc.stringMatching(/^[a-zA-Z0-9]{6,12}$/).map((text) => `s3cr3t${text}s3cr3t`)
const anyWord = fc.stringMatching(/^[a-z]{1,8}$/)
const lines = fc.array(anyWord, { maxLength: 4 })
const orNothing = <T>(value: fc.Arbitrary<T>) => fc.oneof({ weight: 6, arbitrary: value }, fc.constant(null))
const unknown = fc.dictionary(
  anyWord.map((word) => `x_${word}`),
  fc.jsonValue({ maxDepth: 2 }),
  { maxKeys: 2 },
)
const mayLack = (fields: Record<string, fc.Arbitrary<unknown>>) =>
  fc.tuple(fc.record(fields, { requiredKeys: [] }), unknown).map(([known, more]): Raw => ({ ...more, ...known }))

const anyRule = mayLack({
  notifier: fc.constantFrom('slack', 'webhook', 'email', 'campfire', 'host-status'),
  target: orNothing(fc.constantFrom('all', 'committer')),
  branch: orNothing(anyWord),
  branch_match: orNothing(fc.constantFrom('exact', 'wildcard', 'regex', 'sometimes')),
  build_statuses: orNothing(fc.array(fc.constantFrom('started', 'failed', 'success', 'recovered', 'odd'))),
  options: orNothing(
    fc.record({ key: anySecret, url: anySecret, room: anyWord, extra: anySecret }, { requiredKeys: [] }),
  ),
})

const anyStep = fc.record(
  {
    type: anyWord,
    region: anyWord,
    aws_access_key_id: anySecret,
    aws_secret_access_key: anySecret,
    api_key: anySecret,
    refresh_token: anySecret,
    odd: anySecret,
    commands: lines,
  },
  { requiredKeys: [] },
)

const anyDeployment = mayLack({
  id: fc.nat(),
  branch: fc.record({ branch_name: anyWord, match_mode: anyWord }),
  config: fc.oneof(anyStep, fc.array(fc.oneof(anyStep, anySecret), { maxLength: 3 })),
  position: fc.nat(9),
})

const anyVariable = fc.record(
  { name: anyWord, value: fc.oneof(anySecret, fc.constant(null)), scope: anySecret },
  { requiredKeys: ['name'] },
)

/** A project of any shape that CI may send. Each secret in it begins and ends with `s3cr3t`. */
export const anySent: fc.Arbitrary<Raw> = mayLack({
  uuid: anyWord,
  name: anyWord,
  type: fc.constantFrom('basic', 'pro'),
  repository_url: anySecret.map((secret) => `https://ada:${secret}@host.example/acme/web`),
  ssh_key: anySecret,
  aes_key: orNothing(anySecret),
  updated_at: anyWord,
  build_on_pr_only: orNothing(fc.boolean()),
  branch_match: orNothing(fc.constantFrom('include', 'exclude', 'odd')),
  branches: orNothing(lines),
  setup_commands: orNothing(lines),
  team_ids: orNothing(fc.array(fc.oneof(fc.nat(), fc.bigInt(2n ** 53n, 2n ** 64n).map(String)), { maxLength: 4 })),
  test_pipelines: orNothing(fc.array(mayLack({ id: fc.nat(), name: anyWord, commands: lines }), { maxLength: 3 })),
  notification_rules: orNothing(fc.array(anyRule, { maxLength: 4 })),
  environment_variables: orNothing(fc.uniqueArray(anyVariable, { maxLength: 4, selector: ({ name }) => name })),
  deployment_pipelines: orNothing(fc.array(anyDeployment, { maxLength: 3 })),
  webhook_secret: anySecret,
  service_tokens: fc.dictionary(anySecret, anySecret, { maxKeys: 2 }),
  apiKey: fc.array(anySecret, { maxLength: 2 }),
})

/** Every leaf of a project, with the path to it. */
export function leavesOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return value === null ? [] : [path]
  return Object.entries(value).flatMap(([name, each]) => leavesOf(each, [...path, name]))
}

/** The project with another value at the end of that path. */
export function withLeaf(value: unknown, [name, ...rest]: readonly string[], leaf: unknown): unknown {
  if (name === undefined) return leaf
  if (Array.isArray(value)) return value.map((each, at) => (String(at) === name ? withLeaf(each, rest, leaf) : each))
  const record = value as Raw
  return { ...record, [name]: withLeaf(record[name], rest, leaf) }
}
