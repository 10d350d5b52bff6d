import { describe, expect, it } from 'vitest'
import { legacy, projectNamed, pushed, reached, request, startCi, statusOf, v2 } from './support.ts'

const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

describe('E7 list projects', () => {
  it('gives the basic projects with their builds, and no pro project', async () => {
    const ci = await startCi()
    const build = pushed(ci, {
      outcome: 'none',
      branch: 'main',
      message: 'Fix',
      committer: 'Grace',
      commitId: 'a1b2c3',
    })
    const answer = await legacy(ci, 'GET', 'projects.json')
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({
      projects: [
        {
          id: 11,
          repository_name: 'acme/web',
          uuid: projectNamed(ci, 'acme/web').uuid,
          builds: [
            {
              id: Number(build.id),
              uuid: build.uuid,
              project_id: 11,
              status: 'initiated',
              branch: 'main',
              commit_id: 'a1b2c3',
              repository_host_username: 'Grace',
              message: 'Fix',
              started_at: expect.stringMatching(/\.\d{3}Z$/),
              finished_at: null,
              debug_connection: null,
            },
          ],
        },
        { id: 12, repository_name: 'acme/api', uuid: expect.stringMatching(GUID), builds: [] },
      ],
    })
  })
})

describe('E8 get one project', () => {
  it('gives the project, newest build first, or only the builds of one branch', async () => {
    const ci = await startCi()
    for (const branch of ['main', 'dev', 'main']) pushed(ci, { branch, outcome: 'none' })
    expect((await legacy(ci, 'GET', 'projects/11.json')).json).toMatchObject({
      id: 11,
      builds: [{ id: 503 }, { id: 502 }, { id: 501 }],
    })
    const { json } = await legacy(ci, 'GET', 'projects/11.json', '&branch=main')
    expect(json).toMatchObject({ builds: [{ id: 503 }, { id: 501 }] })
    expect((await legacy(ci, 'GET', 'projects/11.json', '&branch=none')).json).toMatchObject({ builds: [] })
  })

  it('can give the oldest build first, wrapped, in the older words', async () => {
    const ci = await startCi({
      switches: { legacyBuildsOrder: 'oldest-first', legacyProjectForm: 'wrapped', legacyStatusWords: 'synonyms' },
    })
    const failed = pushed(ci, { outcome: 'none' })
    ci.finish(failed.uuid, 'error')
    pushed(ci, { outcome: 'none' })
    const { json } = await legacy(ci, 'GET', 'projects/11.json')
    expect(json).toMatchObject({
      project: {
        builds: [
          { id: 501, status: 'failed' },
          { id: 502, status: 'testing' },
        ],
      },
    })
  })

  it.each(['13', '99', 'acme'])('answers 404 for %s, which is pro or unknown', async (id) => {
    expect((await legacy(await startCi(), 'GET', `projects/${id}.json`)).status).toBe(404)
  })
})

describe('E9 restart a build', () => {
  it('runs the same id again', async () => {
    const ci = await startCi()
    const build = pushed(ci, { outcome: 'none' })
    ci.finish(build.uuid, 'error')
    ci.setSwitches({ restartOutcome: 'none' })
    const answer = await legacy(ci, 'POST', `builds/${build.id}/restart.json`)
    expect(answer).toMatchObject({ status: 200, json: { id: Number(build.id), uuid: build.uuid } })
    expect(ci.state().builds).toMatchObject([
      { status: 'initiated', runs: [{ status: 'error' }, { status: 'initiated' }] },
    ])
  })

  it('can make a new build of the same commit and answer 201', async () => {
    const ci = await startCi({ switches: { restartKeepsId: false, restartStatusCode: 201, restartOutcome: 'none' } })
    const build = pushed(ci, { outcome: 'none' })
    ci.finish(build.uuid, 'error')
    const answer = await legacy(ci, 'POST', `builds/${build.id}/restart.json`)
    expect(answer).toMatchObject({ status: 201, json: { id: 502, uuid: expect.stringMatching(GUID) } })
    expect(ci.state().builds).toMatchObject([
      { id: '501', status: 'error', runs: { length: 1 } },
      { id: '502', status: 'initiated', commitId: build.commitId, runs: { length: 1 } },
    ])
  })

  it.each([
    ['success', 'success'],
    ['same', 'error'],
  ] as const)('with restartOutcome %s ends as %s', async (restartOutcome, status) => {
    const ci = await startCi({ switches: { restartOutcome, restartKeepsId: false } })
    const build = pushed(ci, { outcome: 'error', ms: 0 })
    await reached(ci, build.uuid, 'error')
    await legacy(ci, 'POST', `builds/${build.id}/restart.json`)
    await reached(ci, ci.state().builds[1]!.uuid, status)
  })

  it('refuses a running build with 400, a pro or unknown build with 404', async () => {
    const ci = await startCi()
    const running = pushed(ci, { outcome: 'none' })
    const pro = pushed(ci, { outcome: 'none' }, 'acme/ios')
    ci.finish(pro.uuid, 'error')
    const status = async (id: string) => (await legacy(ci, 'POST', `builds/${id}/restart.json`)).status
    expect([await status(running.id), await status(pro.id), await status('999')]).toEqual([400, 404, 404])
    expect(statusOf(ci, pro.uuid)).toBe('error')
  })
})

describe('the api key', () => {
  it.each(['', '?api_key=', '?api_key=wrong', '?key=sandbox-api-key'])('%j is 401 everywhere', async (query) => {
    const ci = await startCi()
    const call = async (method: string, path: string) =>
      (await request(method, `${ci.url}/api/v1/${path}${query}`)).status
    const statuses = [
      await call('GET', 'projects.json'),
      await call('GET', 'projects/11.json'),
      await call('POST', 'builds/501/restart.json'),
    ]
    expect(statuses).toEqual([401, 401, 401])
  })
})

describe('big ids', () => {
  it('are JSON integers beyond 2^53 in legacy answers, and are accepted in calls', async () => {
    const ci = await startCi({ switches: { bigIds: true, restartOutcome: 'none' } })
    const build = pushed(ci, { outcome: 'none' })
    ci.finish(build.uuid, 'error')
    expect(build.id).toBe(String(2n ** 60n + 501n))
    const { text } = await legacy(ci, 'GET', `projects/${2n ** 60n + 11n}.json`)
    expect(text).toContain(`"id":${2n ** 60n + 11n},`)
    expect(text).toContain(`"builds":[{"id":${build.id},`)
    expect((await legacy(ci, 'GET', 'projects/11.json')).status).toBe(404)
    const answer = await legacy(ci, 'POST', `builds/${build.id}/restart.json`)
    expect(answer.text).toBe(`{"id":${build.id},"uuid":"${build.uuid}"}`)
    expect((await v2(ci, 'POST', `/projects/${2n ** 60n + 13n}/reset_aes_key`, {})).status).toBe(200)
  })

  it('can be strings of digits', async () => {
    const ci = await startCi({ switches: { idsAsStrings: true } })
    expect((await legacy(ci, 'GET', 'projects/11.json')).json).toMatchObject({ id: '11' })
  })
})
