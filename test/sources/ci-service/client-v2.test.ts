import { describe, expect, test } from 'vitest'
import { PAGES_MAX } from '../../../src/sources/ci-service/pages.ts'
import { startHttpStub } from '../../support/http-stub.ts'
import type { StubAnswer, StubRequest } from '../../support/http-stub.ts'
import { ciErrorOf, createTestClientV2, ORGANIZATION, project, projects, uuidOf } from './support.ts'

const uuids = (from: number, to: number) => projects(from, to).map(({ uuid }) => uuid)

/** A service with `count` projects in pages of `size`; `answer` gives the form of a page. */
function paged(
  count: number,
  size: number,
  answer: (items: unknown[], page: number) => StubAnswer,
): (request: StubRequest) => StubAnswer {
  const all = projects(1, count)
  return ({ query }) => {
    const page = Number(query.get('page') ?? 1)
    return answer(all.slice((page - 1) * size, page * size), page)
  }
}

describe('a listing', () => {
  test('is requested by the full name of a project', async () => {
    await using stub = await startHttpStub(() => ({ json: [] }))
    await createTestClientV2(stub.url).listProjects({ name: 'acme/web & co' })
    expect(stub.requests[0]!.method).toBe('GET')
    expect(stub.requests[0]!.path).toBe(`/organizations/${ORGANIZATION}/projects`)
    expect([...stub.requests[0]!.query]).toEqual([['name', 'acme/web & co']])
  })

  test('by name is empty if CI answers 404, as some services do; a failure is still one', async () => {
    await using unknown = await startHttpStub(() => ({ status: 404 }))
    await using forbidden = await startHttpStub(() => ({ status: 403 }))
    const list = (url: string) => createTestClientV2(url).listProjects({ name: 'acme/web' })
    expect(await list(unknown.url)).toEqual({ projects: [], truncated: false, skipped: 0 })
    expect((await ciErrorOf(list(forbidden.url))).kind).toBe('forbidden')
  })

  test('is requested without a name if none is given', async () => {
    await using stub = await startHttpStub(() => ({ json: [] }))
    await createTestClientV2(stub.url).listProjects()
    expect([...stub.requests[0]!.query]).toEqual([])
  })

  test('is requested with the configured Authorization unchanged', async () => {
    await using stub = await startHttpStub(() => ({ json: [] }))
    await createTestClientV2(stub.url).listProjects()
    expect(stub.requests[0]!.headers.authorization).toBe('Bearer stub')
  })

  test.each(['/v2', '/v2/', '/', ''])('works below a base address that ends in "%s"', async (prefix) => {
    await using stub = await startHttpStub(() => ({ json: [] }))
    await createTestClientV2(`${stub.url}${prefix}`).listProjects()
    expect(stub.requests[0]!.path).toBe(`${prefix.replace(/\/$/, '')}/organizations/${ORGANIZATION}/projects`)
  })
})

describe('a listing of several pages', () => {
  test('of bare arrays is read until one is shorter than the first', async () => {
    await using stub = await startHttpStub(paged(7, 3, (json) => ({ json })))
    const list = await createTestClientV2(stub.url).listProjects()
    expect(list.projects.map(({ uuid }) => uuid)).toEqual(uuids(1, 7))
    expect(list).toMatchObject({ truncated: false })
    expect(stub.requests.map(({ query }) => query.get('page'))).toEqual([null, '2', '3'])
  })

  test('of bare arrays is read until one is empty, if the last is full', async () => {
    await using stub = await startHttpStub(paged(6, 3, (json) => ({ json })))
    const list = await createTestClientV2(stub.url).listProjects()
    expect(list.projects).toHaveLength(6)
    expect(stub.requests.map(({ query }) => query.get('page'))).toEqual([null, '2', '3'])
  })

  test('of envelopes is read until the total is reached, and no page more', async () => {
    const answer = (items: unknown[], page: number) => ({ json: { projects: items, total: 6, page, per_page: 3 } })
    await using stub = await startHttpStub(paged(6, 3, answer))
    const list = await createTestClientV2(stub.url).listProjects()
    expect(list.projects.map(({ uuid }) => uuid)).toEqual(uuids(1, 6))
    expect(list).toMatchObject({ truncated: false })
    expect(stub.requests).toHaveLength(2)
  })

  test('of envelopes without a total is read until one is not full', async () => {
    await using stub = await startHttpStub(paged(2, 3, (items) => ({ json: { projects: items, per_page: 3 } })))
    expect((await createTestClientV2(stub.url).listProjects()).projects).toHaveLength(2)
    expect(stub.requests).toHaveLength(1)
  })

  test('follows Link to any address below the base, until there is no next', async () => {
    await using stub = await startHttpStub(({ path }, at) => ({
      json: [project(at + 1)],
      headers: {
        link: at < 2 ? `</v2/a,b/${at}?q=1>; title="x, y"; rel="last next", <${path}>; rel=first` : '</x>; rel=prev',
      },
    }))
    const list = await createTestClientV2(`${stub.url}/v2`).listProjects()
    expect(list.projects.map(({ uuid }) => uuid)).toEqual(uuids(1, 3))
    expect(stub.requests.map(({ path }) => path).slice(1)).toEqual(['/v2/a,b/0', '/v2/a,b/1'])
  })

  test('sends no credentials to a Link with another origin, and goes on by page number instead', async () => {
    await using other = await startHttpStub(() => ({ json: [project(99)] }))
    await using stub = await startHttpStub(({ query }) => ({
      json: [project(query.get('page') === '2' ? 2 : 1)],
      headers: query.get('page') === '2' ? { link: '</x>; rel=prev' } : { link: `<${other.url}/p>; rel="next"` },
    }))
    const list = await createTestClientV2(stub.url).listProjects()
    expect(list.projects.map(({ uuid }) => uuid)).toEqual(uuids(1, 2))
    expect(other.requests).toHaveLength(0)
  })

  test('sends no credentials to a Link with the same origin outside the base', async () => {
    await using stub = await startHttpStub(({ path, query }) => ({
      json: [project(query.get('page') === '2' ? 2 : 1)],
      headers: path.startsWith('/v2/') && query.get('page') !== '2' ? { link: '</v2/../other/p>; rel="next"' } : {},
    }))
    const list = await createTestClientV2(`${stub.url}/v2`).listProjects()
    expect(list.projects.map(({ uuid }) => uuid)).toEqual(uuids(1, 2))
    expect(stub.requests.filter(({ path }) => !path.startsWith('/v2/'))).toEqual([])
  })

  test('sends a service that ignores the page number one more request, and not an endless number', async () => {
    await using stub = await startHttpStub(() => ({ json: projects(1, 3) }))
    const list = await createTestClientV2(stub.url).listProjects()
    expect(list.projects.map(({ uuid }) => uuid)).toEqual(uuids(1, 3))
    expect(list.truncated).toBe(false)
    expect(stub.requests).toHaveLength(2)
  })

  test('is reported as truncated if a service gives a total but repeats its page', async () => {
    await using stub = await startHttpStub(() => ({ json: { projects: projects(1, 3), total: 5 } }))
    const list = await createTestClientV2(stub.url).listProjects()
    expect(list.projects).toHaveLength(3)
    expect(list.truncated).toBe(true)
  })

  test('is reported as truncated if the next link leads nowhere new', async () => {
    await using stub = await startHttpStub(() => ({ json: projects(1, 3), headers: { link: '<?page=2>; rel=next' } }))
    const list = await createTestClientV2(stub.url).listProjects()
    expect(list.projects).toHaveLength(3)
    expect(list.truncated).toBe(true)
    expect(stub.requests).toHaveLength(2)
  })

  test('ends at an empty page after the last link, and nothing is missing', async () => {
    await using stub = await startHttpStub(({ query }) =>
      query.get('page') === '2' ? { json: [] } : { json: projects(1, 3), headers: { link: '<?page=2>; rel=next' } },
    )
    const list = await createTestClientV2(stub.url).listProjects()
    expect(list.projects).toHaveLength(3)
    expect(list.truncated).toBe(false)
    expect(stub.requests).toHaveLength(2)
  })

  test('counts the unreadable items of every page', async () => {
    await using stub = await startHttpStub(({ query }) => ({
      json: { projects: query.get('page') === '2' ? [null, project(2)] : [project(1), null, null], total: 5 },
    }))
    const list = await createTestClientV2(stub.url).listProjects()
    expect(list.projects.map(({ uuid }) => uuid)).toEqual(uuids(1, 2))
    expect(list).toMatchObject({ skipped: 3, truncated: false })
  })

  test('contains a project once, even if it moves to the next page meanwhile', async () => {
    const pages = [projects(1, 3), projects(3, 5), [project(6)]]
    await using stub = await startHttpStub((_, at) => ({ json: pages[at] }))
    const list = await createTestClientV2(stub.url).listProjects()
    expect(list.projects.map(({ uuid }) => uuid)).toEqual(uuids(1, 6))
  })

  test('ends at a 404 after the last full page', async () => {
    const end: StubAnswer = { status: 404, json: { error: 'no such page' } }
    await using stub = await startHttpStub(paged(3, 3, (json, page) => (page === 1 ? { json } : end)))
    expect((await createTestClientV2(stub.url).listProjects()).projects).toHaveLength(3)
  })

  test('fails at a 404 on a page that must exist according to CI, and loses nothing silently', async () => {
    const end: StubAnswer = { status: 404 }
    const answer = (items: unknown[], page: number) => (page === 1 ? { json: { projects: items, total: 6 } } : end)
    await using stub = await startHttpStub(paged(6, 3, answer))
    expect((await ciErrorOf(createTestClientV2(stub.url).listProjects())).kind).toBe('not-found')
  })

  test('reads up to the maximum of pages, and is reported as truncated if there are more', async () => {
    await using stub = await startHttpStub(paged(PAGES_MAX + 1, 1, (json) => ({ json })))
    const list = await createTestClientV2(stub.url).listProjects()
    expect(list.projects).toHaveLength(PAGES_MAX)
    expect(list.truncated).toBe(true)
  })

  test('fails if a later page fails, and is never just shorter', async () => {
    const forbidden: StubAnswer = { status: 403 }
    await using stub = await startHttpStub(paged(6, 3, (json, page) => (page === 1 ? { json } : forbidden)))
    expect((await ciErrorOf(createTestClientV2(stub.url).listProjects())).kind).toBe('forbidden')
  })
})

describe('a project', () => {
  const read = async (json: unknown) => {
    await using stub = await startHttpStub(() => ({ json }))
    return await createTestClientV2(stub.url).listProjects()
  }

  test('is read with its rules, and its unknown fields are kept', async () => {
    const rule = { notifier: 'slack', target: 'all', branch: 'release/*', branch_match: 'wildcard' }
    const raw = project(1, {
      repository_url: 'https://host/acme/web-1.git',
      notification_rules: [{ ...rule, build_statuses: ['failed', 'deployed'], options: { key: 'x' } }],
      something_new: { deep: [1] },
    })
    const [read1] = (await read([raw])).projects
    expect(read1).toEqual({
      uuid: uuidOf(1),
      id: null,
      name: 'acme/web-1',
      type: 'basic',
      rules: [
        {
          notifier: 'slack',
          target: 'all',
          branch: 'release/*',
          branchMatch: 'wildcard',
          buildStatuses: ['failed', 'deployed'],
        },
      ],
      raw,
    })
  })

  test.each([
    ['wrapped', [{ project: project(1) }]],
    ['with an upper-case uuid', [project(1, { uuid: uuidOf(1).toUpperCase() })]],
    ['with blanks around its uuid', [project(1, { uuid: ` ${uuidOf(1)}\n` })]],
    ['with nulls for everything that may be missing', [project(1, { repository_url: null, notification_rules: null })]],
    ['with unexpected types', [project(1, { repository_url: 7, notification_rules: 'none', type: 'turbo' })]],
  ])('is read even if it comes %s', async (_form, json) => {
    const { projects: found, skipped } = await read(json)
    expect(found.map(({ uuid }) => uuid)).toEqual([uuidOf(1)])
    expect(skipped).toBe(0)
  })

  test.each([
    ['https://host/acme/web.git', 'acme/web'],
    ['git@host:acme/web.git', 'acme/web'],
    [null, uuidOf(1)],
  ])('without a name gets a name from the address %s', async (repositoryUrl, name) => {
    const { projects: found } = await read([{ uuid: uuidOf(1), repository_url: repositoryUrl }])
    expect(found[0]).toMatchObject({ name, type: 'unknown' })
  })

  test.each([
    [11, '11'],
    ['18446744073709551615', '18446744073709551615'],
    ['eleven', null],
    [1.5, null],
  ])('with the integer id %s, which the interface does not name, has the id %s', async (id, known) => {
    expect((await read([project(1, { id })])).projects[0]).toMatchObject({ uuid: uuidOf(1), id: known })
  })

  test.each([
    ['Basic', 'basic'],
    ['BASIC', 'basic'],
    [' Pro ', 'pro'],
    ['Turbo', 'Turbo'],
  ])('of the type %s has the type %s', async (type, known) => {
    expect((await read([project(1, { type })])).projects[0]).toMatchObject({ type: known, raw: { type } })
  })

  test('keeps a rule without branch for every branch, and leaves out a rule of an unknown form', async () => {
    const rules = [{ notifier: 'slack' }, 'nonsense', { notifier: 'slack', branch: 7 }, { branch: 'main' }]
    const { projects: found } = await read([project(1, { notification_rules: rules })])
    expect(found[0]!.rules).toEqual([
      { notifier: 'slack', target: null, branch: null, branchMatch: null, buildStatuses: [] },
    ])
    expect(found[0]!.raw['notification_rules']).toEqual(rules)
  })

  test('that is malformed is counted, and affects no other', async () => {
    const list = await read([project(1), { name: 'no uuid' }, null, project(2, { uuid: 'not-one' }), project(3)])
    expect(list.projects.map(({ uuid }) => uuid)).toEqual([uuidOf(1), uuidOf(3)])
    expect(list.skipped).toBe(3)
  })

  test('keeps whole numbers beyond 2^53 unchanged', async () => {
    await using stub = await startHttpStub(() => ({
      text: `[{"uuid":"${uuidOf(1)}","team_ids":[18446744073709551615, 7, 1.5]}]`,
    }))
    const { projects: found } = await createTestClientV2(stub.url).listProjects()
    expect(found[0]!.raw['team_ids']).toEqual(['18446744073709551615', 7, 1.5])
  })
})
