import { describe, expect, it } from 'vitest'
import type { SandboxCi } from '../src/server.ts'
import { projectNamed, startCi, v2 } from './support.ts'

describe('E4 update a project', () => {
  const update = (ci: SandboxCi, body: unknown, name = 'acme/web') =>
    v2(ci, 'PUT', `/projects/${projectNamed(ci, name).uuid}`, body)

  it('replaces everything: fields that are not given get a new project’s defaults', async () => {
    const ci = await startCi()
    const before = projectNamed(ci, 'acme/web')
    const answer = await update(ci, { type: 'basic', branches: ['main'] })
    expect(answer.status).toBe(200)
    expect(answer.json).toMatchObject({
      setup_commands: [],
      environment_variables: [],
      team_ids: [],
      branches: ['main'],
    })
    expect(projectNamed(ci, 'acme/web').notification_rules).toMatchObject([{ notifier: 'email' }])
    const { uuid, name, repository_url: url, ssh_key: key, created_at: created } = before
    expect(projectNamed(ci, 'acme/web')).toMatchObject({
      id: '11',
      uuid,
      name,
      repository_url: url,
      ssh_key: key,
      created_at: created,
    })
  })

  it('does not change test and deployment pipelines, even if they are sent', async () => {
    const ci = await startCi()
    const { test_pipelines: tests, deployment_pipelines: deployments } = projectNamed(ci, 'acme/web')
    await update(ci, { type: 'basic', test_pipelines: [], deployment_pipelines: [], deploy_pipelines: [] })
    expect(tests.length + deployments.length).toBe(2)
    expect(projectNamed(ci, 'acme/web')).toMatchObject({ test_pipelines: tests, deployment_pipelines: deployments })
  })

  it('reads email_target and options nested by notifier, and answers with flat ones', async () => {
    const ci = await startCi()
    const statuses = { build_statuses: ['failed'] }
    await update(ci, {
      type: 'basic',
      notification_rules: [
        { notifier: 'email', email_target: 'committer', branch: 'main', ...statuses },
        { notifier: 'slack', options: { slack: { key: 'k' } }, ...statuses },
        { notifier: 'webhook', options: { webhook: { url: 'https://example.com/' } }, ...statuses },
        { notifier: 'campfire', options: { campfire: { key: 'k', room: 'r', domain: 'd' } }, ...statuses },
        { notifier: 'hipchat', options: { hipchat: { key: 'k', room: 'r' } }, ...statuses },
        { notifier: 'grove', options: { grove: { key: 'k' } }, ...statuses },
        { notifier: 'repository_status', ...statuses },
      ],
    })
    expect(projectNamed(ci, 'acme/web').notification_rules).toMatchObject([
      { notifier: 'email', target: 'committer', branch: 'main', branch_match: 'exact' },
      { notifier: 'slack', target: 'all', options: { key: 'k' } },
      { notifier: 'webhook', options: { url: 'https://example.com/' } },
      { notifier: 'campfire', options: { key: 'k', room: 'r', url: 'd' } },
      { notifier: 'hipchat', options: { key: 'k', room: 'r' } },
      { notifier: 'grove', options: { key: 'k' } },
      { notifier: 'repository_status', options: {} },
    ])
  })

  it('ignores options in the form of a response unless updateOptionsForm allows them', async () => {
    const ci = await startCi()
    const body = {
      type: 'basic',
      notification_rules: [{ notifier: 'slack', options: { key: 'k' }, build_statuses: ['failed'] }],
    }
    expect((await update(ci, body)).text).toContain('slack needs key')
    expect(projectNamed(ci, 'acme/web').notification_rules).toHaveLength(4)
    ci.setSwitches({ updateOptionsForm: 'any' })
    expect((await update(ci, body)).status).toBe(200)
  })

  it('refuses a rule without an event and a body without type, and changes nothing', async () => {
    const ci = await startCi()
    const before = projectNamed(ci, 'acme/web')
    const rules = [{ notifier: 'email', build_statuses: [] }]
    expect((await update(ci, { type: 'basic', notification_rules: rules })).status).toBe(400)
    expect((await update(ci, { branches: [] })).text).toContain('type is required')
    expect(projectNamed(ci, 'acme/web')).toEqual(before)
  })

  it('ignores setup_commands and environment_variables of a pro project, or refuses them by switch', async () => {
    const ci = await startCi()
    const body = { type: 'pro', setup_commands: ['x'], environment_variables: [{ name: 'A', value: 'b' }] }
    const aesKey = projectNamed(ci, 'acme/ios').aes_key
    expect((await update(ci, body, 'acme/ios')).json).toMatchObject({
      setup_commands: [],
      environment_variables: [],
      aes_key: aesKey,
    })
    ci.setSwitches({ proBasicFields: 'refuse' })
    expect((await update(ci, body, 'acme/ios')).status).toBe(400)
  })

  it('can answer with a wrapped project', async () => {
    const ci = await startCi({ switches: { updatedProjectForm: 'wrapped' } })
    expect((await update(ci, { type: 'basic' })).json).toMatchObject({ project: { name: 'acme/web' } })
  })

  it('answers 404 for an unknown project', async () => {
    expect(
      (await v2(await startCi(), 'PUT', '/projects/00000000-0000-0000-0000-000000000000', { type: 'basic' })).status,
    ).toBe(404)
  })
})
