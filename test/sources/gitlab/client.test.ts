import { expect, onTestFinished, test } from 'vitest'
import { pushed, startGitlab } from '../../../packages/sandbox-gitlab/test/support.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createGithubClient } from '../../../src/sources/github/client.ts'
import { createGitlabClient } from '../../../src/sources/gitlab/client.ts'
import { createTransport } from '../../../src/sources/http/transport.ts'
import { startHttpStub, type StubAnswer, type StubRequest } from '../../support/http-stub.ts'

const TOKEN = 'glpat-0123456789abcdefghij'

function openTransport() {
  const transport = createTransport({ clock: systemClock })
  onTestFinished(() => transport.close())
  return transport
}

async function openClient(play: (request: StubRequest) => StubAnswer) {
  const stub = await startHttpStub(play)
  onTestFinished(() => stub[Symbol.asyncDispose]())
  const transport = openTransport()
  return {
    stub,
    gitlab: createGitlabClient({ url: `${stub.url}/gitlab`, token: TOKEN, transport }),
    github: createGithubClient({ apiUrl: stub.url, token: TOKEN, transport }),
  }
}

test('the failed jobs of a large matrix are found on every page', async () => {
  const sandbox = await startGitlab()
  const failed = Array.from({ length: 250 }, (_, at) => `test (${at})`)
  const { id } = pushed(sandbox, { outcome: 'none', jobs: failed.map((name) => ({ name })) })
  sandbox.finish(id, 'failed', failed)
  const { url, token } = sandbox.address()
  const client = createGitlabClient({ url, token, transport: openTransport() })
  expect(await client.failedJobs('acme/web', String(id))).toHaveLength(250)
})

test('a retry or cancel on a branch that the token may not push to is refused, and surely not done', async () => {
  const sandbox = await startGitlab()
  const { id } = pushed(sandbox, { outcome: 'none' })
  sandbox.setSwitches({ isBranchProtected: true })
  const { url, token } = sandbox.address()
  const client = createGitlabClient({ url, token, transport: openTransport() })
  for (const act of [client.retry, client.cancel])
    await expect(act('acme/web', String(id))).rejects.toMatchObject({ kind: 'forbidden', isUndone: true })
})

test('a renamed project, and a renamed repository, are read under their new address', async () => {
  const { stub, gitlab, github } = await openClient(({ path }) => {
    if (path === '/gitlab/api/v4/projects/acme%2Fold')
      return { status: 302, headers: { location: `${stub.url}/gitlab/api/v4/projects/71` } }
    if (path === '/repos/acme/old') return { status: 301, headers: { location: '/repositories/9' } }
    return { json: { id: path } }
  })
  expect(await gitlab.project('acme/old')).toEqual({ id: '/gitlab/api/v4/projects/71' })
  expect(await github.repository('acme/old')).toEqual({ id: '/repositories/9' })
})

test.each(['https://elsewhere.example/api', '/gitlab/api/v4/projects/acme%2Fold'])(
  'a redirect to %s is not followed, because it leads to another host or in a circle',
  async (location) => {
    const { stub, gitlab } = await openClient(() => ({ status: 302, headers: { location } }))
    await expect(gitlab.project('acme/old')).rejects.toMatchObject({ kind: 'shape', status: 302 })
    expect(stub.requests.length).toBeLessThanOrEqual(2)
  },
)

test('a write is never sent to another address, even if the answer says that nothing was done', async () => {
  const { stub, github } = await openClient(() => ({
    status: 307,
    headers: { location: '/repositories/9/actions/runs/1/cancel' },
  }))
  await expect(github.cancel('acme/old', '1')).rejects.toMatchObject({ status: 307, isUndone: true })
  expect(stub.requests.map(({ path }) => path)).toEqual(['/repos/acme/old/actions/runs/1/cancel'])
})

test.each([
  '',
  '.',
  '..',
  'acme',
  'acme/',
  'acme/..',
  '../web',
  'acme/web/../api',
  'acme/we b',
  'acme/web?x=1',
  'acme%2Fweb',
])('nothing is sent about a project called "%s"', async (name) => {
  const { stub, github, gitlab } = await openClient(() => ({ json: {} }))
  for (const call of [
    async () => github.repository(name),
    async () => github.run(name, '1'),
    async () => github.cancel(name, '1'),
    async () => gitlab.project(name),
    async () => gitlab.pipeline(name, '1'),
    async () => gitlab.cancel(name, '1'),
    async () => gitlab.commit('71', '..'),
  ])
    await expect(call()).rejects.toMatchObject({ kind: 'bad-request', isUndone: true })
  expect(stub.requests).toEqual([])
})

test('a write that was redirected to another host is not sent there, and was surely not done', async () => {
  const { gitlab } = await openClient(() => ({ status: 307, headers: { location: 'https://elsewhere.example/' } }))
  await expect(gitlab.retry('71', '1')).rejects.toMatchObject({ status: 307, isUndone: true })
})

test('a write is not sent again if the answer may say where the result is', async () => {
  const { stub, gitlab } = await openClient(() => ({ status: 303, headers: { location: '/elsewhere' } }))
  await expect(gitlab.retry('71', '1')).rejects.toMatchObject({ status: 303, isUndone: false })
  expect(stub.requests).toHaveLength(1)
})

test.each<[claim: string, answer: StubAnswer, kind: string]>([
  ['a proxy that answers with its own page', { text: '<html>Sign in</html>' }, 'shape'],
  ['an answer that is not a list', { json: { message: 'x' } }, 'shape'],
  ['a token that was revoked', { status: 401, json: { error: 'invalid_token' } }, 'unauthorized'],
  ['a token without permission', { status: 403, json: { error: 'insufficient_scope' } }, 'forbidden'],
])('the error for %s does not contain the token', async (_, answer, kind) => {
  const { gitlab } = await openClient(() => answer)
  const error: unknown = await gitlab.pipelines('71').catch((reason: unknown) => reason)
  expect(error).toMatchObject({ kind })
  expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain(TOKEN)
})

test.each(['success', 'failed', 'skipped'])(
  'a pipeline that is %s counts as not cancelled, whatever the status code',
  async (status) => {
    const { gitlab } = await openClient(() => ({ json: { id: 1, status } }))
    await expect(gitlab.cancel('71', '1')).rejects.toMatchObject({ kind: 'bad-request', isUndone: true })
  },
)

test.each(['success', 'failed', 'canceled', 'skipped'])(
  'a pipeline that is %s after a retry counts as not retried, whatever the status code',
  async (status) => {
    const { gitlab } = await openClient(() => ({ status: 201, json: { id: 1, status } }))
    await expect(gitlab.retry('71', '1')).rejects.toMatchObject({ kind: 'bad-request', isUndone: true })
  },
)

test.each(['pending', 'running', 'created', 'manual'])('a pipeline that is %s was retried', async (status) => {
  const { gitlab } = await openClient(() => ({ status: 201, json: { id: 1, status } }))
  await expect(gitlab.retry('71', '1')).resolves.toBeUndefined()
})
