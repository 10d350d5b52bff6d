import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import { createTransport } from '../../../src/sources/http/transport.ts'
import { createGithubClient } from '../../../src/sources/github/client.ts'
import { startHttpStub, type StubAnswer, type StubRequest } from '../../support/http-stub.ts'

const TOKEN = 'github_pat_0123456789abcdefghijklmnop'

async function openClient(play: (request: StubRequest) => StubAnswer) {
  const stub = await startHttpStub(play)
  const transport = createTransport({ clock: systemClock })
  onTestFinished(async () => {
    await transport.close()
    await stub[Symbol.asyncDispose]()
  })
  return { stub, client: createGithubClient({ apiUrl: stub.url, token: TOKEN, transport }) }
}

const jobs = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => ({
    name: `test (${from + at})`,
    conclusion: (from + at) % 100 === 99 ? 'failure' : 'success',
  }))

test('the failed jobs of a large matrix are found on every page', async () => {
  const { client, stub } = await openClient(({ query }) => {
    const page = Number(query.get('page') ?? 1)
    return { json: { total_count: 250, jobs: jobs((page - 1) * 100, Math.min(page * 100, 250)) } }
  })
  expect(await client.failedJobs('acme/web', '1', 1)).toEqual(['test (99)', 'test (199)'])
  expect(stub.requests).toHaveLength(3)
})

test('the name of a job is one that can be stored', async () => {
  const { client } = await openClient(() => ({
    json: { jobs: [{ name: `a\u0000b\ud800${'c'.repeat(5_000)}`, conclusion: 'failure' }] },
  }))
  const [name = ''] = await client.failedJobs('acme/web', '1', 1)
  expect(name.startsWith('ab\ufffdc')).toBe(true)
  expect(name.length).toBeLessThanOrEqual(1_000)
})

test.each([
  ['Unable to retry this workflow run because it was created over a month ago', 'bad-request'],
  ['This workflow is already running', 'bad-request'],
  ['Resource not accessible by personal access token', 'forbidden'],
  ['Must have admin rights to Repository.', 'forbidden'],
  ['You have exceeded a secondary rate limit', 'rate-limited'],
])('a 403 that says %s is %s', async (message, kind) => {
  const { client, stub } = await openClient(() => ({ status: 403, json: { message } }))
  await expect(client.rerun('acme/web', '1', 'all')).rejects.toMatchObject({ kind, status: 403, isUndone: true })
  expect(stub.requests).toHaveLength(1)
})

test('a GET is not sent again at once where GitHub asks to slow down and does not say for how long', async () => {
  const { client, stub } = await openClient(() => ({
    status: 403,
    json: { message: 'You have exceeded a secondary rate limit' },
  }))
  await expect(client.runs('acme/web')).rejects.toMatchObject({ kind: 'rate-limited' })
  expect(stub.requests).toHaveLength(1)
})
