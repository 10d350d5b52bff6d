import { describe, expect, test } from 'vitest'
import { BADGE_BYTES_MAX, badgeWords } from '../../../src/sources/ci-service/badge.ts'
import { toUuid } from '../../../src/domain/ids.ts'
import { startCi } from '../../../packages/sandbox-ci/test/support.ts'
import { startHttpStub, type StubAnswer } from '../../support/http-stub.ts'
import { ciErrorOf, createTestBadgeClient, uuidOf } from './support.ts'

const WEB = toUuid(uuidOf(11))
const svg = (text: string | Buffer, type = 'image/svg+xml'): StubAnswer => {
  return (response) => void response.writeHead(200, { 'content-type': type }).end(text)
}

const named = (text: string | Buffer, type: string, disposition: string): StubAnswer => {
  const headers = { 'content-type': type, 'content-disposition': disposition }
  return (response) => void response.writeHead(200, headers).end(text)
}

const fetchFrom = async (answer: StubAnswer) => {
  await using stub = await startHttpStub(() => answer)
  return await createTestBadgeClient(stub.url).fetchBadge(WEB, 'main')
}

describe('the address of a badge', () => {
  const { urlOf } = createTestBadgeClient('https://ci.example.com')

  test.each([
    ['main', '?branch=main'],
    ['feature/a b+c', '?branch=feature%2Fa+b%2Bc'],
    ['fix#1&api_key=x', '?branch=fix%231%26api_key%3Dx'],
    ['релиз', '?branch=%D1%80%D0%B5%D0%BB%D0%B8%D0%B7'],
    ['a)|<b>', '?branch=a%29%7C%3Cb%3E'],
    [null, ''],
  ])('for the branch %s ends in %s', (branch, query) => {
    const url = urlOf(WEB, branch)
    expect(url).toBe(`https://ci.example.com/projects/${WEB}/status${query}`)
    expect(new URL(url).searchParams.get('branch')).toBe(branch)
  })

  test.each([
    ['https://ci.example.com/', ''],
    ['https://ci.example.com/ci', '/ci'],
    ['https://ci.example.com/ci//?x=1#y', '/ci'],
    ['https://ada:pass@ci.example.com/ci', '/ci'],
  ])('below %s keeps only the path prefix of the site', (siteUrl, prefix) => {
    const url = createTestBadgeClient(siteUrl).urlOf(WEB, 'main')
    expect(url).toBe(`https://ci.example.com${prefix}/projects/${WEB}/status?branch=main`)
  })
})

describe('a badge', () => {
  test('is fetched from its address without credentials, and arrives byte for byte', async () => {
    const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0x00, 0xfe])
    await using stub = await startHttpStub(() => svg(bytes, 'image/png'))
    const badge = await createTestBadgeClient(`${stub.url}/ci`).fetchBadge(WEB, 'feature/a b')
    expect(badge.contentType).toBe('image/png')
    expect(Buffer.from(badge.bytes)).toEqual(bytes)
    expect(stub.requests).toMatchObject([{ method: 'GET', path: `/ci/projects/${WEB}/status` }])
    expect(Object.fromEntries(stub.requests[0]!.query)).toEqual({ branch: 'feature/a b' })
    expect(stub.requests[0]!.headers).toMatchObject({ accept: 'image/*' })
    expect(stub.requests[0]!.headers.authorization).toBeUndefined()
  })

  test('is fetched without a branch if none is given', async () => {
    await using stub = await startHttpStub(() => svg('<svg/>'))
    await createTestBadgeClient(stub.url).fetchBadge(WEB, null)
    expect([...stub.requests[0]!.query]).toEqual([])
  })

  test('has its content type without parameters, in lower case', async () => {
    expect((await fetchFrom(svg('<svg/>', 'Image/SVG+XML ; charset=UTF-8'))).contentType).toBe('image/svg+xml')
  })

  test.each<[string, StubAnswer]>([
    ['an HTML page', svg('<html>', 'text/html; charset=utf-8')],
    ['a JSON answer', { json: {} }],
    ['a type that only begins like that of an image', svg('x', 'image/')],
    ['a type that only mentions that of an image', svg('x', 'text/plain; a=image/png')],
    ['an answer without a type', (response) => void response.end('<svg/>')],
  ])('is not made from %s', async (_form, answer) => {
    expect(await ciErrorOf(fetchFrom(answer))).toMatchObject({ kind: 'shape', code: 'CI_SHAPE', status: 200 })
  })

  test.each<[string, StubAnswer, string | null]>([
    ['in the texts', named('<svg><text>passing</text></svg>', 'image/svg+xml', 'inline; filename="x.svg"'), 'passing'],
    ['in the name of a textless SVG', named('<svg/>', 'image/svg+xml', 'inline; filename=status_error.svg'), 'error'],
    ['in the name of a PNG', named('x', 'image/png', 'inline; filename="status_success.png"'), 'success'],
    ['in the name of a GIF', named('x', 'image/gif', "attachment; filename*=UTF-8''Status_Testing.gif"), 'testing'],
    ['in an element id', svg('<svg><g id="logo"/><g id="status_success"><path/></g></svg>'), 'success'],
    [
      'in an element id that is the status itself',
      svg("<svg><g id='status_2'/><g id='infrastructure_failure'/></svg>"),
      'infrastructure_failure',
    ],
    ['in an element id for an unknown branch', svg('<svg><g id="status_branchnotfound"/></svg>'), 'branch not found'],
    ['nowhere if the ids name several statuses', svg('<svg><g id="success"/><g id="error"/></svg>'), null],
    ['nowhere if no name is a status', named('<svg id="badge"/>', 'image/svg+xml', 'filename=status_x.svg'), null],
    ['nowhere if something only looks like an id', svg('<svg><path data-id="success" d="id=error"/></svg>'), null],
    ['nowhere if a PNG has no file name', svg('id="status_success"', 'image/png'), null],
  ])('has its words %s', async (_where, answer, words) => {
    expect((await fetchFrom(answer)).words).toBe(words)
  })

  test('may be exactly as large as the limit, and not one byte larger', async () => {
    expect((await fetchFrom(svg('x'.repeat(BADGE_BYTES_MAX)))).bytes).toHaveLength(BADGE_BYTES_MAX)
    expect((await ciErrorOf(fetchFrom(svg('x'.repeat(BADGE_BYTES_MAX + 1))))).kind).toBe('too-large')
  })

  test('is never fetched from the target of a redirect', async () => {
    await using other = await startHttpStub(() => svg('<svg/>'))
    const error = await ciErrorOf(fetchFrom({ status: 302, headers: { location: other.url } }))
    expect(error).toMatchObject({ kind: 'shape', status: 302 })
    expect(other.requests).toHaveLength(0)
  })

  test('is fetched again after a temporary fault', async () => {
    await using stub = await startHttpStub((_, at) => (at === 0 ? { status: 503 } : svg('<svg/>')))
    expect((await createTestBadgeClient(stub.url).fetchBadge(WEB, 'main')).contentType).toBe('image/svg+xml')
    expect(stub.requests).toHaveLength(2)
  })
})

describe('a badge of the sandbox', () => {
  const web = async () => {
    const ci = await startCi()
    const project = ci.state().projects.find(({ name }) => name === 'acme/web')
    const client = createTestBadgeClient(ci.address().siteUrl)
    const words = async (branch: string | null) => {
      const { bytes } = await client.fetchBadge(toUuid(project!.uuid), branch)
      return badgeWords(new TextDecoder().decode(bytes))
    }
    return { ci, client, words }
  }

  test('gives the state of the branch', async () => {
    const { ci, words } = await web()
    const pushed = ci.push('acme/web', { branch: 'feature/a+b', outcome: 'none' })
    if (pushed.kind === 'build') ci.finish(pushed.build.uuid, 'error')
    expect(await words('feature/a+b')).toBe('build: failing')
    expect(await words('main')).toBe('build: unknown')
    expect(await words(null)).toBe('build: failing')
  })

  test('does not exist for an unknown project', async () => {
    const { client } = await web()
    expect((await ciErrorOf(client.fetchBadge(WEB, 'main'))).kind).toBe('not-found')
  })
})
