import { describe, expect, it } from 'vitest'
import type { SandboxCi } from '../src/server.ts'
import { request, startCi, v2 } from './support.ts'

const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const creation = { repository_url: 'https://git.example.com/acme/docs.git', type: 'basic', team_ids: [7] }
const fillTo = async (ci: SandboxCi, count: number) => {
  for (let n = ci.state().projects.length; n < count; n++) {
    await v2(ci, 'POST', '/projects', { ...creation, repository_url: `https://git.example.com/acme/p${n}.git` })
  }
}

describe('E2 list projects', () => {
  it('gives an array of whole projects', async () => {
    const ci = await startCi()
    const answer = await v2(ci, 'GET', '/projects')
    expect(answer.status).toBe(200)
    expect(answer.json).toMatchObject([{ name: 'acme/web' }, { name: 'acme/api' }, { name: 'acme/ios', type: 'pro' }])
    const [web] = Array.isArray(answer.json) ? (answer.json as unknown[]) : []
    expect(Object.keys(web ?? {}).toSorted()).toEqual(
      [
        'aes_key authentication_user branch_match branches build_on_pr_only created_at deployment_pipelines',
        'environment_variables name notification_rules organization_uuid repository_provider repository_url',
        'setup_commands ssh_key team_ids test_pipelines type updated_at uuid',
      ]
        .join(' ')
        .split(' '),
    )
    expect(web).toMatchObject({
      uuid: expect.stringMatching(GUID),
      aes_key: null,
      created_at: expect.stringMatching(/T.*\.\d{3}Z$/),
    })
  })

  it.each([
    ['name=acme/api', ['acme/api']],
    ['name=acme', []],
    ['type=pro', ['acme/ios']],
    ['type=basic', ['acme/web', 'acme/api']],
    ['per_page=2', ['acme/web', 'acme/api']],
    ['per_page=2&page=2', ['acme/ios']],
    ['per_page=2&page=3', []],
    ['per_page=zero&page=-1', ['acme/web', 'acme/api', 'acme/ios']],
  ])('with %s gives %j', async (query, names) => {
    const ci = await startCi()
    const answer = await v2(ci, 'GET', `/projects?${query}`)
    expect(answer.json).toMatchObject(names.map((name) => ({ name })))
    expect(answer.json).toHaveLength(names.length)
  })

  it('gives 30 projects a page by default, and at most 100', async () => {
    const ci = await startCi()
    await fillTo(ci, 101)
    expect((await v2(ci, 'GET', '/projects')).json).toHaveLength(30)
    expect((await v2(ci, 'GET', '/projects?per_page=1000')).json).toHaveLength(100)
    expect((await v2(ci, 'GET', '/projects?per_page=1000&page=2')).json).toHaveLength(1)
  })

  it('answers 400 for an unknown type', async () => {
    expect((await v2(await startCi(), 'GET', '/projects?type=free')).status).toBe(400)
  })

  it('can give an envelope', async () => {
    const ci = await startCi({ switches: { listForm: 'envelope' } })
    const { json } = await v2(ci, 'GET', '/projects?per_page=2&page=2')
    expect(json).toMatchObject({ projects: [{ name: 'acme/ios' }], total: 3, page: 2, per_page: 2 })
  })

  it('can give a Link header with the next and the last page', async () => {
    const ci = await startCi({ switches: { listForm: 'link' } })
    const first = await v2(ci, 'GET', '/projects?per_page=2&type=basic')
    expect(first.headers.get('link')).not.toContain('rel="next"')
    const answer = await v2(ci, 'GET', '/projects?per_page=2')
    const next = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1] ?? ''
    const second = await request('GET', next, undefined, { authorization: ci.address().authorization })
    expect(second.json).toMatchObject([{ name: 'acme/ios' }])
    expect(second.headers.get('link')).toContain('rel="prev"')
    expect(second.headers.get('link')).not.toContain('rel="next"')
  })
})
