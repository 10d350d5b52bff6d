import { describe, expect, it } from 'vitest'
import { projectNamed, request, startCi, v2 } from './support.ts'

const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const creation = { repository_url: 'https://git.example.com/acme/docs.git', type: 'basic', team_ids: [7] }

describe('E3 create a project', () => {
  it('answers with the wrapped project, a default e-mail rule and new ids', async () => {
    const ci = await startCi()
    const answer = await v2(ci, 'POST', '/projects', {
      ...creation,
      setup_commands: ['npm ci'],
      test_pipelines: [{ name: 'Tests', commands: ['npm test'] }],
      environment_variables: [{ name: 'A', value: 'b' }],
    })
    expect(answer.status).toBe(201)
    expect(answer.json).toMatchObject({
      project: {
        uuid: expect.stringMatching(GUID),
        name: 'acme/docs',
        aes_key: null,
        setup_commands: ['npm ci'],
        test_pipelines: [{ id: expect.any(Number), name: 'Tests', commands: ['npm test'] }],
        notification_rules: [
          { notifier: 'email', branch: null, build_statuses: ['started', 'failed', 'success', 'recovered'] },
        ],
      },
    })
    expect(projectNamed(ci, 'acme/docs').id).toBe('14')
  })

  it.each(['repository_url', 'type', 'team_ids'])('refuses a body without %s, and says so', async (field) => {
    const ci = await startCi()
    const body = Object.fromEntries(Object.entries(creation).filter(([name]) => name !== field))
    const answer = await v2(ci, 'POST', '/projects', body)
    expect(answer.status).toBe(400)
    expect(answer.text).toContain(field)
    expect(ci.state().projects).toHaveLength(3)
  })

  it.each([
    [{ type: 'free' }, 'type'],
    [{ team_ids: ['7'] }, 'team_ids.0'],
    [{ repository_url: 'docs' }, 'repository_url'],
    [{ branches: ['^half'] }, 'branches.0'],
    [{ branch_match: 'some' }, 'branch_match'],
    [{ environment_variables: [{ name: 'A' }] }, 'environment_variables.0.value is required'],
    [{ notification_rules: [{ notifier: 'email', build_statuses: [] }] }, 'at least one build event'],
    [{ notification_rules: [{ notifier: 'email' }] }, 'at least one build event'],
    [{ notification_rules: [{ notifier: 'email', build_statuses: ['finished'] }] }, 'build_statuses.0'],
    [{ notification_rules: [{ notifier: 'slack', build_statuses: ['failed'] }] }, 'slack needs key'],
    [{ notification_rules: [{ notifier: 'webhook', build_statuses: ['failed'] }] }, 'webhook needs url'],
    [{ notification_rules: [{ notifier: 'webhook', build_statuses: ['failed'], options: { url: 'x' } }] }, 'http'],
    [{ notification_rules: [{ notifier: 'flowdock', build_statuses: ['failed'] }] }, 'flowdock needs key'],
    [
      { notification_rules: [{ notifier: 'campfire', build_statuses: ['failed'], options: { key: 'k' } }] },
      'campfire needs room',
    ],
    [{ deploy_pipelines: [{ config: [], position: 1 }] }, 'deploy_pipelines.0.branch is required'],
    [
      { deploy_pipelines: [{ branch: { branch_name: 'main', match_mode: 'exact' }, config: [] }] },
      'position is required',
    ],
  ])('refuses %j because of %s', async (changes, reason) => {
    const answer = await v2(await startCi(), 'POST', '/projects', { ...creation, ...changes })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain(reason)
  })

  it('ignores fields that a pro project cannot have, even if they are invalid', async () => {
    const ci = await startCi()
    const ignored = { setup_commands: 3, environment_variables: 'x', test_commands: [], deploy_pipelines: 'y' }
    const answer = await v2(ci, 'POST', '/projects', { ...creation, type: 'pro', ...ignored })
    expect(answer.json).toMatchObject({
      project: {
        setup_commands: [],
        environment_variables: [],
        deployment_pipelines: [],
        aes_key: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    })
  })

  const item = { branch: { branch_name: 'main', match_mode: 'exact' } }
  const table = {
    deploy_pipelines: [{ ...item, config: [{ type: 'script_deployment', commands: ['x'] }], position: 2 }],
  }
  const example = { deployment_pipelines: [{ ...item, config: ['x'], postion: 2 }] }

  it.each([
    ['any', table, 1],
    ['any', example, 1],
    ['table', table, 1],
    ['table', example, 0],
    ['example', example, 1],
    ['example', table, 0],
  ] as const)('with deploymentForm %s takes %j as %i pipelines', async (deploymentForm, body, count) => {
    const ci = await startCi({ switches: { deploymentForm } })
    expect((await v2(ci, 'POST', '/projects', { ...creation, ...body })).status).toBe(201)
    expect(projectNamed(ci, 'acme/docs').deployment_pipelines).toHaveLength(count)
    if (count === 1)
      expect(projectNamed(ci, 'acme/docs').deployment_pipelines[0]).toMatchObject({ ...item, position: 2 })
  })

  it('refuses an unknown deployment type and an option that is not a string', async () => {
    const ci = await startCi()
    const withConfig = (config: unknown) => ({
      ...creation,
      deploy_pipelines: [{ ...item, config: [config], position: 1 }],
    })
    ci.setSwitches({ deploymentForm: 'table' })
    expect((await v2(ci, 'POST', '/projects', withConfig({ type: 'ftp' }))).status).toBe(400)
    expect((await v2(ci, 'POST', '/projects', withConfig({ type: 's3_deployment', region: 1 }))).text).toContain(
      'region',
    )
  })

  it.each([
    ['any', 'target', 'committer'],
    ['any', 'email_target', 'committer'],
    ['target', 'email_target', 'all'],
    ['email_target', 'email_target', 'committer'],
  ] as const)('with createRuleNames %s reads %s as %s', async (createRuleNames, name, target) => {
    const ci = await startCi({ switches: { createRuleNames } })
    const rule = { notifier: 'email', branch: 'v*', build_statuses: ['failed'], [name]: 'committer' }
    await v2(ci, 'POST', '/projects', { ...creation, notification_rules: [rule] })
    expect(projectNamed(ci, 'acme/docs').notification_rules).toEqual([
      { notifier: 'email', target, branch: 'v*', branch_match: 'wildcard', build_statuses: ['failed'], options: {} },
    ])
  })

  it('can answer 200, bare, 422, and select every event if none is given', async () => {
    const ci = await startCi({
      switches: {
        createStatusCode: 200,
        createdProjectForm: 'bare',
        invalidStatusCode: 422,
        ruleWithoutStatuses: 'every-event',
      },
    })
    const answer = await v2(ci, 'POST', '/projects', { ...creation, notification_rules: [{ notifier: 'email' }] })
    expect(answer.status).toBe(200)
    expect(answer.json).toMatchObject({ name: 'acme/docs', notification_rules: [{ build_statuses: { length: 4 } }] })
    expect((await v2(ci, 'POST', '/projects', {})).status).toBe(422)
  })

  it('can refuse notifiers outside the list', async () => {
    const ci = await startCi({ switches: { unknownNotifiers: 'refuse' } })
    const rules = [{ notifier: 'pigeon', build_statuses: ['failed'] }]
    expect((await v2(ci, 'POST', '/projects', { ...creation, notification_rules: rules })).status).toBe(400)
    ci.setSwitches({ unknownNotifiers: 'keep' })
    expect((await v2(ci, 'POST', '/projects', { ...creation, notification_rules: rules })).status).toBe(201)
  })

  it('answers 400 to a body that is not JSON, 415 to another content type, 413 to a huge one', async () => {
    const ci = await startCi()
    expect((await v2(ci, 'POST', '/projects', '{')).status).toBe(400)
    const { baseUrl, organizationUuid, authorization } = ci.address()
    const url = `${baseUrl}/organizations/${organizationUuid}/projects`
    expect((await request('POST', url, '{}', { authorization, 'content-type': 'text/plain' })).status).toBe(415)
    expect((await v2(ci, 'POST', '/projects', ' '.repeat(1024 * 1024))).status).toBe(400)
    expect((await v2(ci, 'POST', '/projects', ' '.repeat(1024 * 1024 + 1))).status).toBe(413)
  })
})
