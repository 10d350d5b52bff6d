import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maskedProject, type ShownDeployment } from '../../../src/domain/ci-project/masked-project.ts'
import { anySent, sentProject } from '../support/sent-project.ts'

describe('a project as it is shown', () => {
  it('has everything that people ask for, and only the names of secrets', () => {
    expect(maskedProject(sentProject())).toEqual({
      type: 'basic',
      repository: 'https://host.example/acme/web.git',
      provider: 'host',
      deployKey: null,
      hasAesKey: true,
      createdAt: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
      updatedAt: Date.UTC(2026, 1, 3, 4, 5, 6, 789),
      teams: ['7', '9007199254740993'],
      onPullRequestsOnly: false,
      filter: { mode: 'include', entries: ['main', '^release/.*$'] },
      setupCommands: ['npm ci', 'npm run build'],
      variableNames: ['TOKEN', 'DB_PASSWORD'],
      testPipelines: [{ name: 'Tests', commands: ['npm test'] }],
      deployments: [
        {
          branch: 'main',
          match: 'exact',
          types: ['heroku_deployment', 's3_deployment', 'ftp_deployment'],
        },
      ],
      rules: [
        {
          at: 0,
          notifier: 'slack',
          target: null,
          branch: null,
          branchMatch: null,
          events: ['failed', 'recovered'],
          optionNames: ['key', 'room'],
        },
        {
          at: 1,
          notifier: 'webhook',
          target: null,
          branch: 'release/*',
          branchMatch: 'wildcard',
          events: ['started', 'failed', 'success', 'recovered'],
          optionNames: ['url'],
        },
        {
          at: 2,
          notifier: 'email',
          target: 'committer',
          branch: null,
          branchMatch: 'exact',
          events: ['failed'],
          optionNames: [],
        },
      ],
      unknownFields: ['build_timeout', 'cache_password'],
    })
  })

  const NOTHING = {
    type: null,
    repository: null,
    provider: null,
    deployKey: null,
    hasAesKey: null,
    createdAt: null,
    updatedAt: null,
    teams: [],
    onPullRequestsOnly: null,
    filter: { mode: null, entries: [] },
    setupCommands: [],
    variableNames: [],
    testPipelines: [],
    deployments: [],
    rules: [],
    unknownFields: [],
  }

  it.each([undefined, null, '', true, {}, [null], [[]]])('is empty if each field is %j', (value) => {
    const raw = Object.fromEntries(Object.keys(sentProject()).map((name) => [name, value]))
    const unknownFields = ['build_timeout', 'cache_password']
    const onPullRequestsOnly = value === true ? true : null
    const hasAesKey = value === undefined ? null : false
    expect(maskedProject(raw)).toEqual({ ...NOTHING, hasAesKey, onPullRequestsOnly, unknownFields })
    expect(maskedProject({})).toEqual(NOTHING)
  })

  it.each([
    ['ssh-ed25519 AAAAC3Nz+/a= ci@host', 'ssh-ed25519 AAAAC3Nz+/a='],
    [' ecdsa-sha2-nistp256 AAAAE2Vj\n', 'ecdsa-sha2-nistp256 AAAAE2Vj'],
    ['-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl', null],
    ['ssh-rsa', null],
    ['ssh-rsa AAAA-s3cr3t', null],
    [`ssh-rsa ${'A'.repeat(2_000)}`, null],
  ])('shows of the key %j only what is certainly public: %j', (key, shown) => {
    expect(maskedProject({ ssh_key: key }).deployKey).toBe(shown)
  })

  it('keeps the positions of rules even if one of them cannot be read', () => {
    const rules = [null, 'slack', { notifier: 'email', email_target: 'all' }]
    const [rule, ...others] = maskedProject({ notification_rules: rules }).rules
    expect([rule?.at, rule?.notifier, rule?.target, others]).toEqual([2, 'email', 'all', []])
  })

  it('has the names of the options that are set, including those below a notifier', () => {
    const options = { key: '', url: null, room: '#builds', slack: { key: 'slack-s3cr3t' }, grove: {} }
    expect(maskedProject({ notification_rules: [{ options }] }).rules[0]?.optionNames).toEqual(['room', 'key'])
  })

  it('has no credentials in its commands', () => {
    const commands = ['git clone https://ada:pw@host.example/x', 'npm ci']
    const masked = maskedProject({ setup_commands: commands, test_pipelines: [{ name: 'Tests', commands }] })
    const safe = ['git clone https://host.example/x', 'npm ci']
    expect([masked.setupCommands, masked.testPipelines]).toEqual([safe, [{ name: 'Tests', commands: safe }]])
  })

  it.each<[claim: string, sent: unknown, shown: Partial<ShownDeployment>]>([
    ['with one step', { config: { type: 's3_deployment' } }, { types: ['s3_deployment'] }],
    ['with bare types', { config: ['s3_deployment', 'pw', 'rm -rf x_deployment'] }, { types: ['s3_deployment'] }],
    ['with a type twice', { config: [{ type: 'odd' }, { type: 'odd' }] }, { types: ['odd'] }],
    [
      'with its steps in a list',
      { config: { note: 'pw', deployments: [{ type: 's3_deployment' }, 'pw'], keys: [{ type: 'pw' }] } },
      { types: ['s3_deployment'] },
    ],
    ['without steps', { config: null }, { types: [] }],
    ['with its branch as a string', { branch: 'main' }, { branch: 'main', match: null }],
  ])('has a deployment %s', (_, sent, shown) => {
    expect(maskedProject({ deployment_pipelines: [sent] }).deployments).toMatchObject([shown])
  })

  it('shows no secret, whatever CI sends', () => {
    fc.assert(
      fc.property(anySent, (raw) => {
        expect(JSON.stringify(maskedProject(raw))).not.toContain('s3cr3t')
      }),
      { numRuns: 200 },
    )
    expect(JSON.stringify(maskedProject(sentProject()))).not.toContain('s3cr3t')
  })
})
