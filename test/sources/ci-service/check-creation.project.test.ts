import { describe, expect, test } from 'vitest'
import { checkCreation, creationBody, type ProjectCreation } from '../../../src/sources/ci-service/check-creation.ts'
import { certainlyUndone } from '../../../src/sources/http/errors.ts'
import { projectNamed, startCi } from '../../../packages/sandbox-ci/test/support.ts'
import { startHttpStub, type StubAnswer } from '../../support/http-stub.ts'
import { ciErrorOf, createSandboxClient, createTestClientV2, project, REFUSAL_FORMS, uuidOf } from './support.ts'

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
  test.each(['any', 'email_target'] as const)(
    'with everything that was given, if it takes %s',
    async (createRuleNames) => {
      const ci = await startCi({ switches: { createRuleNames } })
      const created = await createSandboxClient(ci).createProject(whole)
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
    },
  )

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
    const creation = { ...whole, team_ids: ['7', '8'] }
    expect(checkCreation(creation)).toEqual([])
    await createSandboxClient(ci).createProject(creation)
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
