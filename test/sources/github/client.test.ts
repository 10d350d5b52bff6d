import { expect, onTestFinished, test } from 'vitest'
import { pushed, startGithub } from '../../../packages/sandbox-github/test/support.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { observedTransport, createTransport } from '../../../src/sources/http/transport.ts'
import { createGithubClient } from '../../../src/sources/github/client.ts'
import { startHttpStub, type StubAnswer, type StubRequest } from '../../support/http-stub.ts'

const TOKEN = 'github_pat_0123456789abcdefghijklmnop'

async function openClient(play: (request: StubRequest) => StubAnswer, count: (end: string) => void = () => {}) {
  const stub = await startHttpStub(play)
  const transport = createTransport({ clock: systemClock })
  onTestFinished(async () => {
    await transport.close()
    await stub[Symbol.asyncDispose]()
  })
  return {
    stub,
    client: createGithubClient({ apiUrl: stub.url, token: TOKEN, transport: observedTransport(transport, count) }),
  }
}

test('the failed jobs of a large matrix are found on every page', async () => {
  const github = await startGithub()
  const jobs = Array.from({ length: 250 }, (_, at) => `test (${at})`)
  const { id } = pushed(github, { jobs })
  github.finish(id, 'failure', [jobs[99]!, jobs[199]!])
  const { apiUrl, token } = github.address()
  const transport = createTransport({ clock: systemClock })
  onTestFinished(() => transport.close())
  const client = createGithubClient({ apiUrl, token, transport })
  expect((await client.unpassedJobs('acme/web', String(id), 1)).failed).toEqual([
    'test (99): Run test (99)',
    'test (199): Run test (199)',
  ])
  expect(github.calls()).toHaveLength(3)
})

test.each([
  ['with its failed step', 'test', [step('Set up job', 'success'), step('Run tests')], 'test: Run tests'],
  ['without a step if none failed because its runner was lost', 'test', [step('Run tests', 'cancelled')], 'test'],
  ['without a step if several failed', 'test', [step('Run tests'), step('Upload')], 'test'],
  ['without a step if GitHub shows none', 'test', undefined, 'test'],
  ['with both names cut if long', 'j'.repeat(60), [step('s'.repeat(60))], `${'j'.repeat(38)}…: ${'s'.repeat(38)}…`],
])('a failed job is named %s', async (_, name, steps, shown) => {
  const { client } = await openClient(() => ({ json: { jobs: [{ name, conclusion: 'failure', steps }] } }))
  expect((await client.unpassedJobs('acme/web', '1', 1)).failed).toEqual([shown])
})

function step(name: string, conclusion = 'failure') {
  return { name, conclusion }
}

test('the name of a job is in a form that can be stored', async () => {
  const { client } = await openClient(() => ({
    json: { jobs: [{ name: `a\u0000b\ud800${'c'.repeat(5_000)}`, conclusion: 'failure' }] },
  }))
  const [name = ''] = (await client.unpassedJobs('acme/web', '1', 1)).failed
  expect(name.startsWith('ab\ufffdc')).toBe(true)
  expect(name.length).toBeLessThanOrEqual(1_000)
})

test('an unchanged answer is requested only once', async () => {
  const ends: string[] = []
  const { client, stub } = await openClient(
    () => ({ status: 304 }),
    (end) => ends.push(end),
  )
  expect(await client.runs('acme/web', { etag: '"1"' })).toBe('unchanged')
  expect(stub.requests).toHaveLength(1)
  expect(ends).toEqual(['ok'])
})

test.each([
  ['Unable to retry this workflow run because it was created over a month ago', 'bad-request'],
  ['This workflow is already running', 'bad-request'],
  ['Resource not accessible by personal access token', 'forbidden'],
  ['Must have admin rights to Repository.', 'forbidden'],
  ['You have exceeded a secondary rate limit', 'rate-limited'],
])('a 403 that says "%s" is "%s"', async (message, kind) => {
  const { client, stub } = await openClient(() => ({ status: 403, json: { message } }))
  await expect(client.rerun('acme/web', '1', 'all')).rejects.toMatchObject({ kind, status: 403, isUndone: true })
  expect(stub.requests).toHaveLength(1)
})

test('a GET is not repeated at once if GitHub reports a rate limit without a waiting time', async () => {
  const { client, stub } = await openClient(() => ({
    status: 403,
    json: { message: 'You have exceeded a secondary rate limit' },
  }))
  await expect(client.runs('acme/web')).rejects.toMatchObject({ kind: 'rate-limited' })
  expect(stub.requests).toHaveLength(1)
})
