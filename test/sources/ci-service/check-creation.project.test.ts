import { describe, expect, test } from 'vitest'
import {
  checkCreation,
  creationBody,
  DEPLOYMENT_TYPES,
  type DeploymentConfig,
  type ProjectCreation,
} from '../../../src/sources/ci-service/check-creation.ts'
import { certainlyUndone } from '../../../src/sources/http/errors.ts'
import { projectNamed, startCi } from '../../../packages/sandbox-ci/test/support.ts'
import { startHttpStub, type StubAnswer } from '../../support/http-stub.ts'
import { ciErrorOf, createSandboxClient, createTestClientV2, project, REFUSAL_FORMS, uuidOf } from './support.ts'

const settings: Omit<DeploymentConfig, 'type'> = {
  aws_access_key_id: 'a',
  aws_secret_access_key: 'b',
  region: 'c',
  application_name: 'd',
  environment_name: 'e',
  s3_bucket: 'f',
  local_path: 'g',
  acl: 'h',
  deployment_group_name: 'i',
  deployment_config_name: 'j',
  path: 'k',
  url: 'l',
  refresh_token: 'm',
  name: 'n',
  api_key: 'o',
  restore_from: 'p',
  post_deploy: 'q',
  backup: 'r',
  force: 's',
  check_url: 't',
  commands: ['u'],
}

const small: ProjectCreation = {
  repository_url: 'https://git.example.com/acme/docs.git',
  type: 'basic',
  team_ids: ['7'],
}

const whole: ProjectCreation = {
  ...small,
  setup_commands: ['npm ci'],
  test_pipelines: [{ name: 'Tests', commands: ['npm test'] }],
  notification_rules: [
    { notifier: 'email', target: 'committer', branch: 'v*', branch_match: 'wildcard', build_statuses: ['failed'] },
    { notifier: 'campfire', options: { url: 'u', key: 'k', room: 'r' }, build_statuses: ['success', 'recovered'] },
  ],
  environment_variables: [{ name: 'A', value: '' }],
  deploy_pipelines: DEPLOYMENT_TYPES.map((type, position) => ({
    branch: { branch_name: 'main', match_mode: 'exact' },
    config: [{ type }, { type, ...settings }],
    position,
  })),
  build_on_pr_only: true,
  branch_match: 'exclude',
  branches: ['main', '^dev/.*$'],
}

describe('the body of a creation', () => {
  test('has every field of the table in the interface, under the names in its tables', () => {
    const [mail, campfire] = whole.notification_rules!
    const { target, ...untargeted } = mail!
    expect(creationBody(whole)).toEqual({
      ...whole,
      team_ids: [7],
      notification_rules: [{ ...untargeted, email_target: target }, campfire],
    })
  })

  test('has no field that was not given or is null', () => {
    const rule = { notifier: 'email', target: null, branch: null, branch_match: null, options: null }
    expect(creationBody({ ...small, notification_rules: [{ ...rule, build_statuses: ['failed'] }] })).toEqual({
      ...small,
      team_ids: [7],
      notification_rules: [{ notifier: 'email', build_statuses: ['failed'] }],
    })
  })

  test('names the recipients of e-mail `target` if CI wants that', () => {
    expect(creationBody(whole, { deploymentForm: 'table', createTargetName: 'target' })).toMatchObject({
      notification_rules: [{ notifier: 'email', target: 'committer' }, { notifier: 'campfire' }],
    })
  })

  test('has deployments in the form of the example if CI wants that, and loses nothing of a config', () => {
    const body = creationBody(whole, { deploymentForm: 'example', createTargetName: 'email_target' })
    expect(body).not.toHaveProperty('deploy_pipelines')
    expect(body['deployment_pipelines']).toEqual(
      whole.deploy_pipelines!.map(({ branch, config, position }) => ({
        branch,
        config: config.map((one) => JSON.stringify(one)),
        postion: position,
      })),
    )
  })

  test('for a Pro project leaves out everything that CI would ignore', () => {
    for (const deploymentForm of ['table', 'example'] as const) {
      const body = creationBody({ ...whole, type: 'pro' }, { deploymentForm, createTargetName: 'target' })
      expect(Object.keys(body).sort()).toEqual(
        [
          'branch_match',
          'branches',
          'build_on_pr_only',
          'notification_rules',
          'repository_url',
          'team_ids',
          'test_pipelines',
          'type',
        ].sort(),
      )
    }
  })

  test('contains team ids as numbers, exact to the last digit', () => {
    expect(JSON.stringify(creationBody({ ...small, team_ids: ['18446744073709551615', '0'] })['team_ids'])).toBe(
      '[18446744073709551615,0]',
    )
  })
})

describe('a creation succeeds with any 2xx', () => {
  const create = async (answer: StubAnswer) => {
    await using stub = await startHttpStub(() => answer)
    return await createTestClientV2(stub.url).createProject(small)
  }

  test.each<[string, StubAnswer]>([
    ['200, bare', { json: project(1) }],
    ['201, wrapped', { status: 201, json: { project: project(1) } }],
    ['202, longer than the text that is searched for an error', { json: project(1, { more: 'x'.repeat(100_000) }) }],
  ])('%s', async (_form, answer) => {
    expect(await create(answer)).toMatchObject({ uuid: uuidOf(1), name: 'acme/web-1' })
  })

  test.each<[string, StubAnswer]>([
    ['nothing', { status: 201 }],
    ['a page', { status: 201, text: '<html>' }],
    ['no project', { json: { done: true } }],
    ['half an answer', (response) => response.writeHead(201).write('{"uuid":', () => response.destroy())],
  ])('but after an answer with %s it is unknown which project was created', async (_form, answer) => {
    const error = await ciErrorOf(create(answer))
    expect(error).toMatchObject({ kind: 'shape', retryable: false })
    expect(certainlyUndone(error)).toBe(false)
  })
})

describe('the sandbox creates a project', () => {
  const FORMS = [
    ['any', 'any', {}],
    ['table', 'email_target', {}],
    ['table', 'target', { createTargetName: 'target' }],
    ['example', 'email_target', { deploymentForm: 'example' }],
    ['any', 'target', { deploymentForm: 'example', createTargetName: 'target' }],
  ] as const

  test.each(FORMS)(
    'with everything that was given, if it takes deployments as %s and %s, and the client is set to %j',
    async (deploymentForm, createRuleNames, forms) => {
      const ci = await startCi({ switches: { deploymentForm, createRuleNames } })
      const created = await createSandboxClient(ci, { forms }).createProject(whole)
      const kept = projectNamed(ci, 'acme/docs')
      expect(created).toMatchObject({ uuid: kept.uuid, name: 'acme/docs', type: 'basic' })
      const { repository_url: repositoryUrl, setup_commands: setup, environment_variables: variables } = whole
      expect(kept).toMatchObject({
        repository_url: repositoryUrl,
        setup_commands: setup,
        environment_variables: variables,
        team_ids: [7],
        build_on_pr_only: true,
        branch_match: 'exclude',
        branches: whole.branches,
        test_pipelines: whole.test_pipelines,
        notification_rules: [
          {
            notifier: 'email',
            target: 'committer',
            branch: 'v*',
            branch_match: 'wildcard',
            build_statuses: ['failed'],
          },
          { notifier: 'campfire', target: 'all', options: { url: 'u', key: 'k', room: 'r' } },
        ],
      })
      expect(kept.deployment_pipelines).toHaveLength(DEPLOYMENT_TYPES.length)
      const { config } = kept.deployment_pipelines.at(-1)!
      const configs = (config['deployments'] as unknown[]).map((one) =>
        typeof one === 'string' ? JSON.parse(one) : one,
      )
      expect(configs).toEqual([{ type: 'heroku_deployment' }, { type: 'heroku_deployment', ...settings }])
    },
  )

  test('without its deployments and recipients, if the client is set to forms that it does not take', async () => {
    const ci = await startCi({ switches: { deploymentForm: 'example', createRuleNames: 'target' } })
    await createSandboxClient(ci).createProject(whole)
    expect(projectNamed(ci, 'acme/docs').deployment_pipelines).toEqual([])
    expect(projectNamed(ci, 'acme/docs').notification_rules[0]!.target).toBe('all')
  })

  test.each([
    ['wrapped', 201],
    ['bare', 200],
  ] as const)('and answers %s with %i', async (createdProjectForm, createStatusCode) => {
    const ci = await startCi({ switches: { createdProjectForm, createStatusCode } })
    const created = await createSandboxClient(ci).createProject({ ...whole, type: 'pro' })
    expect(created).toMatchObject({ uuid: projectNamed(ci, 'acme/docs').uuid, type: 'pro' })
    expect(ci.calls().map(({ statusCode }) => statusCode)).toEqual([createStatusCode])
  })

  test('from a checked creation', async () => {
    const ci = await startCi()
    const checked = checkCreation({ ...whole, team_ids: [7, '8'] })
    if (checked.kind !== 'creation') throw new Error('the creation has faults')
    await createSandboxClient(ci).createProject(checked.creation)
    expect(projectNamed(ci, 'acme/docs').team_ids).toEqual([7, 8])
  })

  test.each(REFUSAL_FORMS)('but not if it refuses the creation with %s', async (errorForm, said) => {
    const ci = await startCi({ switches: { errorForm } })
    const error = await ciErrorOf(createSandboxClient(ci).createProject({ ...small, branches: ['^half'] }))
    expect(error).toMatchObject({ kind: 'bad-request', isUndone: true })
    expect(error.message).toMatch(said)
    expect(ci.state().projects).toHaveLength(3)
  })

  test('only once, even if its answer is lost and the outcome is unknown', async () => {
    const ci = await startCi()
    ci.addFault({ kind: 'lost-answer', where: 'v2' })
    const error = await ciErrorOf(createSandboxClient(ci).createProject(small))
    expect(error).toMatchObject({ kind: 'unreachable', isUndone: false })
    expect(ci.calls()).toHaveLength(1)
    expect(projectNamed(ci, 'acme/docs').type).toBe('basic')
  })
})
