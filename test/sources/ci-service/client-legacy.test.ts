import { NO_DETAILS } from '../../../src/domain/builds/build-event.ts'
import { describe, expect, test } from 'vitest'
import { LIST_BYTES_MAX } from '../../../src/sources/ci-service/client-legacy.ts'
import { startHttpStub } from '../../support/http-stub.ts'
import { ciErrorOf, createTestClientLegacy, projectIdOf, uuidOf } from './support.ts'

const WEB = projectIdOf('11')

const build = (more: Record<string, unknown> = {}) => ({
  id: 512,
  uuid: uuidOf(512),
  project_id: 11,
  status: 'success',
  branch: 'main',
  commit_id: 'a1b2c3',
  repository_host_username: 'ada',
  message: 'fix login',
  started_at: '2026-01-05T14:02:00.250Z',
  finished_at: '2026-01-05 14:09:00 UTC',
  debug_connection: null,
  ...more,
})

const web = (more: Record<string, unknown> = {}) => ({
  id: 11,
  repository_name: 'acme/web',
  uuid: uuidOf(11),
  builds: [build()],
  ...more,
})

const get = async (json: unknown) => {
  await using stub = await startHttpStub(() => ({ json }))
  return await createTestClientLegacy(stub.url).getProject(WEB)
}

test.each([uuidOf(512), null, uuidOf(513)])(
  'a build whose id is a UUID has this UUID, even if CI gives %j',
  async (uuid) => {
    const { builds } = await get(web({ builds: [build({ id: uuidOf(512).toUpperCase(), uuid })] }))
    expect(builds).toMatchObject([{ buildId: uuidOf(512), rawStatus: 'success', details: { buildUuid: uuidOf(512) } }])
  },
)

describe('the list of projects', () => {
  test('is requested with the key in the query, and read with its builds', async () => {
    await using stub = await startHttpStub(() => ({ json: { projects: [web()] } }))
    const list = await createTestClientLegacy(`${stub.url}/ci/`, { apiKey: 'k&y=1' }).listProjects()
    expect(stub.requests).toHaveLength(1)
    expect(stub.requests[0]!.path).toBe('/ci/api/v1/projects.json')
    expect(Object.fromEntries(stub.requests[0]!.query)).toEqual({ api_key: 'k&y=1' })
    expect(list).toMatchObject({ truncated: false, skipped: 0 })
    expect(list.projects[0]).toMatchObject({ id: '11', uuid: uuidOf(11), name: 'acme/web' })
  })

  test('may be a bare array, and counts a malformed project', async () => {
    await using stub = await startHttpStub(() => ({ json: [web(), { id: 'eleven' }, web({ id: '12' })] }))
    const list = await createTestClientLegacy(stub.url).listProjects()
    expect(list.projects.map(({ id }) => id)).toEqual(['11', '12'])
    expect(list.skipped).toBe(1)
  })

  test('contains texts of builds in a storable form: cut, and without characters that databases reject', async () => {
    const hostile = build({ branch: `ma\0in${'x'.repeat(2_000)}`, commit_id: ' \uD800 ', message: '\0' })
    await using stub = await startHttpStub(() => ({ json: [web({ builds: [hostile] })] }))
    const [project] = (await createTestClientLegacy(stub.url).listProjects()).projects
    expect(project!.builds[0]).toMatchObject({ commitId: '\uFFFD', details: { message: null } })
    expect(project!.builds[0]!.branch).toMatch(/^mainx{495}$/)
  })

  test('is followed by Link, with our key on every page, and with no key from an address that CI gave', async () => {
    await using stub = await startHttpStub((_, at) => ({
      json: [web({ id: at + 1 })],
      headers: at === 0 ? { link: '</api/v1/projects.json?page=2&api_key=other>; rel="next"' } : {},
    }))
    const list = await createTestClientLegacy(stub.url).listProjects()
    expect(list.projects.map(({ id }) => id)).toEqual(['1', '2'])
    expect(stub.requests[1]!.query.getAll('api_key')).toEqual(['stub-key'])
    expect(stub.requests).toHaveLength(2)
  })

  test('is read up to a limit of its own, because it contains all builds of all projects', async () => {
    const list = (bytes: number) => {
      const json = JSON.stringify({ projects: [web()] })
      return json.replace('fix login', 'x'.repeat(bytes - json.length + 'fix login'.length))
    }
    await using stub = await startHttpStub((_, at) => ({ text: list(LIST_BYTES_MAX + at) }))
    const client = createTestClientLegacy(stub.url)
    expect((await client.listProjects()).projects).toHaveLength(1)
    expect((await ciErrorOf(client.listProjects())).kind).toBe('too-large')
  })

  test('is followed by page number if one answer does not reach the total', async () => {
    await using stub = await startHttpStub((_, at) => ({ json: { projects: [web({ id: at + 1 })], total: 2 } }))
    const list = await createTestClientLegacy(stub.url).listProjects()
    expect(list.projects.map(({ id }) => id)).toEqual(['1', '2'])
    expect(stub.requests[1]!.query.get('page')).toBe('2')
  })
})

describe('one project', () => {
  test('is requested with its branch', async () => {
    await using stub = await startHttpStub(() => ({ json: web() }))
    await createTestClientLegacy(stub.url).getProject(WEB, { branch: 'feature/a b+c' })
    expect(stub.requests[0]!.path).toBe('/api/v1/projects/11.json')
    expect(Object.fromEntries(stub.requests[0]!.query)).toEqual({ branch: 'feature/a b+c', api_key: 'stub-key' })
  })

  test('is requested without a branch if none is given', async () => {
    await using stub = await startHttpStub(() => ({ json: web() }))
    await createTestClientLegacy(stub.url).getProject(WEB)
    expect(stub.requests[0]!.query.has('branch')).toBe(false)
  })

  test.each([
    ['bare', web()],
    ['wrapped', { project: web() }],
  ])('is read if it is %s', async (_form, json) => {
    expect(await get(json)).toEqual({
      id: '11',
      uuid: uuidOf(11),
      name: 'acme/web',
      builds: [
        {
          projectId: '11',
          buildId: '512',
          rawStatus: 'success',
          branch: 'main',
          commitId: 'a1b2c3',
          details: {
            ...NO_DETAILS,
            buildUuid: uuidOf(512),
            committer: 'ada',
            message: 'fix login',
            startedAt: Date.UTC(2026, 0, 5, 14, 2, 0, 250),
            finishedAt: Date.UTC(2026, 0, 5, 14, 9),
          },
        },
      ],
    })
  })

  test('may contain a build of which only the id is known', async () => {
    const { builds } = await get(web({ builds: [{ id: '9' }] }))
    expect(builds[0]).toEqual({
      projectId: '11',
      buildId: '9',
      rawStatus: 'unknown',
      branch: null,
      commitId: null,
      details: NO_DETAILS,
    })
  })

  test('is read without builds that lack a usable id, and with an unknown status unchanged', async () => {
    const { builds } = await get(web({ builds: [{ status: 'success' }, build({ id: 1.5 }), build({ status: 'Odd' })] }))
    expect(builds.map(({ rawStatus }) => rawStatus)).toEqual(['Odd'])
  })

  test('keeps ids beyond 2^53 exact to the last digit', async () => {
    await using stub = await startHttpStub(() => ({
      text: '{"id":9007199254740993,"builds":[{"id":18446744073709551615}]}',
    }))
    const read = await createTestClientLegacy(stub.url).getProject(projectIdOf('9007199254740993'))
    expect(read).toMatchObject({ id: '9007199254740993', name: 'project 9007199254740993' })
    expect(read.builds[0]!.buildId).toBe('18446744073709551615')
  })

  test.each([
    ['2026-01-05T14:02:00+02:00', Date.UTC(2026, 0, 5, 12, 2)],
    ['2026-01-05 14:02:00', Date.UTC(2026, 0, 5, 14, 2)],
    ['2026-01-05 14:02:00 +0200', Date.UTC(2026, 0, 5, 12, 2)],
    ['yesterday', null],
    ['2026-13-45T00:00:00Z', null],
    [1_767_621_720, null],
  ])('has a time %s that is read correctly', async (startedAt, expected) => {
    const { builds } = await get(web({ builds: [build({ started_at: startedAt })] }))
    expect(builds[0]!.details.startedAt).toBe(expected)
  })

  test.each([
    ['a list', [web()]],
    ['not an object', 7],
    ['without a usable id', { ...web(), id: 'x' }],
    ['null', null],
  ])('has the wrong shape if it is %s', async (_form, json) => {
    expect((await ciErrorOf(get(json))).kind).toBe('shape')
  })
})
