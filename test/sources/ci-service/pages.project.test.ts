import { describe, expect, test } from 'vitest'
import { PAGES_MAX } from '../../../src/sources/ci-service/pages.ts'
import { toUuid } from '../../../src/domain/ids.ts'
import { projectNamed, startCi } from '../../../packages/sandbox-ci/test/support.ts'
import { startHttpStub } from '../../support/http-stub.ts'
import type { StubAnswer, StubRequest } from '../../support/http-stub.ts'
import { ciErrorOf, createSandboxClient, createTestClientV2, project, projects, uuidOf } from './support.ts'

const WEB = { name: 'acme/web-1', uuid: toUuid(uuidOf(1)) }

/** A service that answers a request by name with `named`, and a request without a name with `all`. */
const service =
  (named: StubAnswer, all: unknown[]) =>
  ({ query }: StubRequest): StubAnswer =>
    query.has('name') ? named : { json: { projects: all, total: all.length } }

describe('a project', () => {
  test('is found by its name, with one request', async () => {
    await using stub = await startHttpStub(service({ json: { projects: [project(1)], total: 1 } }, []))
    expect(await createTestClientV2(stub.url).getProject(WEB)).toMatchObject(WEB)
    expect(stub.requests.map(({ query }) => [...query])).toEqual([[['name', 'acme/web-1']]])
  })

  test('is found by its uuid if two have the same name', async () => {
    const both = [project(2, { name: 'acme/web-1' }), project(1)]
    await using stub = await startHttpStub(service({ json: { projects: both, total: 2 } }, []))
    expect(await createTestClientV2(stub.url).getProject(WEB)).toMatchObject(WEB)
  })

  test('has no NUL in its texts, since PostgreSQL cannot store one', async () => {
    const hostile = project(1, { name: 'acme\0/web-1', type: 'pro\0x' })
    await using stub = await startHttpStub(service({ json: { projects: [hostile], total: 1 } }, []))
    expect(await createTestClientV2(stub.url).getProject(WEB)).toMatchObject({ name: 'acme/web-1', type: 'prox' })
  })

  test.each<[string, StubAnswer]>([
    ['no project', { json: { projects: [], total: 0 } }],
    ['another project', { json: { projects: [project(9, { name: 'acme/web-1' })], total: 1 } }],
    ['404', { status: 404 }],
  ])('is found among all projects if its name finds %s', async (_found, named) => {
    const renamed = project(1, { name: 'acme/site' })
    await using stub = await startHttpStub(service(named, [...projects(2, 5), renamed]))
    expect(await createTestClientV2(stub.url).getProject(WEB)).toMatchObject({ name: 'acme/site', uuid: WEB.uuid })
  })

  test('is null if CI does not list it', async () => {
    await using stub = await startHttpStub(service({ json: { projects: [], total: 0 } }, projects(2, 5)))
    expect(await createTestClientV2(stub.url).getProject(WEB)).toBeNull()
  })

  test('is not reported as missing if CI has more projects than are read', async () => {
    await using stub = await startHttpStub(({ query }) => ({
      json: query.has('name') ? [] : [project(1 + Number(query.get('page') ?? 1))],
    }))
    const error = await ciErrorOf(createTestClientV2(stub.url).getProject(WEB))
    expect(error).toMatchObject({ kind: 'too-large' })
    expect(stub.requests).toHaveLength(1 + PAGES_MAX)
  })

  test('is not reported as missing if the request fails', async () => {
    await using stub = await startHttpStub(service({ status: 403 }, [project(1)]))
    expect((await ciErrorOf(createTestClientV2(stub.url).getProject(WEB))).kind).toBe('forbidden')
  })

  test.each(['array', 'envelope', 'link'] as const)(
    'of the sandbox, which lists as %s, is found even beyond the first page',
    async (listForm) => {
      const ci = await startCi({ switches: { listForm, perPageDefault: 1 } })
      const { uuid } = projectNamed(ci, 'acme/ios')
      const client = createSandboxClient(ci)
      expect(await client.getProject({ name: 'acme/ios', uuid: toUuid(uuid) })).toMatchObject({ uuid, type: 'pro' })
      expect(await client.getProject({ name: 'acme/old', uuid: toUuid(uuid) })).toMatchObject({ uuid, type: 'pro' })
      expect(await client.getProject(WEB)).toBeNull()
    },
  )
})
