import { generateKeyPairSync } from 'node:crypto'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Call } from '../../../packages/lib/http.ts'
import { createSandboxGithub, type SandboxGithub } from '../../../packages/sandbox-github/src/server.ts'
import { ended, pushed } from '../../../packages/sandbox-github/test/support.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { appTokens } from '../../../src/sources/github/app.ts'
import { createGithubClient, type GithubClient } from '../../../src/sources/github/client.ts'
import { createTransport } from '../../../src/sources/http/transport.ts'
import { judgeBy, type Exchange } from './judge.ts'
import { faultsOfDelivery, watchExchanges } from './watch.ts'

const { publicKey, privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2_048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
})

/** Makes every call that the bot can make, as a GitHub App. */
async function makeEveryCall(github: SandboxGithub, client: GithubClient): Promise<void> {
  const { id } = pushed(github)
  const run = String(id)
  await client.cancel('acme/web', run)
  await ended(github, id, 'cancelled')
  await client.rerun('acme/web', run, 'all')
  github.finish(id, 'failure')
  await client.unpassedJobs('acme/web', run, 2)
  await client.rerun('acme/web', run, 'failed')
  await client.run('acme/web', run)
  const { etag } = (await client.runs('acme/web', { branch: 'main' })) as { etag: string }
  await client.runs('acme/web', { branch: 'main', etag })
  const workflow = String(github.state().repositories[0]!.workflows[0]!.id)
  await client.runs('acme/web', { workflow })
  await client.workflow('acme/web', workflow)
  await client.repository('acme/web')
  await client.hooks('acme/web')
  await client.rate('acme/web')
}

/** Asks whether a branch, a pull request and a tag are still there, with the answer for each. */
async function askWhatIsThere(github: SandboxGithub): Promise<void> {
  const headers = { authorization: `Bearer ${github.address().token}` }
  const ask = (path: string) => fetch(`${github.url}/repos/acme/web/${path}`, { headers, redirect: 'manual' })
  pushed(github, { branch: 'fix/login', pullRequest: 7 })
  pushed(github, { tag: 'v1/rc' })
  for (const path of ['branches/fix%2Flogin', 'branches/gone', 'pulls/7', 'pulls/8', 'git/ref/tags/v1/rc'])
    await ask(path)
  github.closePull('acme/web', 7, { merged: true })
  await ask('pulls/7')
  github.renameBranch('acme/web', 'fix/login', 'fix/logout')
  await ask('branches/fix%2Flogin')
}

let exchanges: Exchange[] = []
let deliveries: readonly { event: string; body: string }[] = []

beforeAll(async () => {
  const heard: Exchange[] = []
  const github = createSandboxGithub({
    app: { id: '7', publicKey },
    webhookUrl: 'http://127.0.0.1:9',
    watch: ({ text, ...call }: Call, reply) =>
      void heard.push({ ...call, body: text, status: reply!.statusCode, answer: reply!.body ?? '' }),
  })
  const apiUrl = await github.start()
  const transport = createTransport({ clock: systemClock })
  const token = appTokens({ id: '7', privateKey }, { apiUrl, transport, clock: systemClock })
  await makeEveryCall(github, createGithubClient({ apiUrl, token, transport }))
  await transport.close()
  await askWhatIsThere(github)
  await github.stop()
  exchanges = heard
  deliveries = github.deliveries()
})

const judge = judgeBy()
const faultsOf = (exchange: Exchange) => [...judge.ofRequest(exchange), ...judge.ofAnswer(exchange)]

/** The JSON with one field changed in each possible way, as `[what was changed, JSON]`. */
function* changed(text: string, change: (fields: Record<string, unknown>, name: string) => void) {
  const value = JSON.parse(text) as unknown
  for (const fields of objectsIn(value)) {
    for (const [name, before] of Object.entries(fields)) {
      change(fields, name)
      yield [name, JSON.stringify(value)] as const
      delete fields[name]
      fields[name] = before
    }
  }
}

/** An answer, or the first entry of a list in it. */
function objectsIn(value: unknown): Record<string, unknown>[] {
  const first = (list: unknown) => (Array.isArray(list) && typeof list[0] === 'object' ? objectsIn(list[0]) : [])
  if (Array.isArray(value)) return first(value)
  const fields = value as Record<string, unknown>
  return [fields, ...Object.values(fields).flatMap(first)]
}

describe('the bot and the sandbox GitHub', () => {
  it('say nothing that GitHub does not describe, whatever call the bot makes', () => {
    expect(new Set(exchanges.map(({ method, status }) => `${method} ${status}`))).toEqual(
      new Set(['GET 200', 'GET 301', 'GET 304', 'GET 404', 'POST 201', 'POST 202']),
    )
    expect(exchanges.flatMap(faultsOf)).toEqual([])
    expect(deliveries.flatMap(faultsOfDelivery)).toEqual([])
  })

  it('keep to what the oldest GitHub Enterprise Server describes', () => {
    const enterprise = judgeBy('ghes-3.17')
    expect(exchanges.flatMap((exchange) => enterprise.ofRequest(exchange))).toEqual([])
  })

  it('are watched: a client with a wrong path is found', async () => {
    const { watch, faults } = watchExchanges()
    const github = createSandboxGithub({ watch })
    onTestFinished(() => github.stop())
    await github.start()
    const transport = createTransport({ clock: systemClock })
    onTestFinished(() => transport.close())
    const client = createGithubClient({ apiUrl: `${github.url}/v3`, token: 'any', transport })
    await expect(client.run('acme/web', '1')).rejects.toThrow()
    expect(faults()).toEqual(['GET /v3/repos/acme/web/actions/runs/1 is not described'])
  })
})

describe('a request is at fault', () => {
  it.each<[what: string, change: (request: Exchange) => Partial<Exchange>]>([
    ['with a wrong path', ({ path }) => ({ path: path.replace(/^\/\w+/, '$&s') })],
    ['with a wrong method', () => ({ method: 'PUT' })],
    ['with an unknown parameter', () => ({ query: new URLSearchParams('newest=1') })],
    ['with a body that is not described', () => ({ body: '{"jobs":"all"}' })],
  ])('%s', (_, change) => {
    for (const exchange of exchanges) expect(judge.ofRequest({ ...exchange, ...change(exchange) })).toHaveLength(1)
  })

  it.each([
    ['/repos/acme/web/actions/runs', 'status=red', 'query/status must be equal to one of the allowed values'],
    ['/repos/acme/web/actions/runs', 'per_page=all', 'query/per_page must be integer'],
    ['/repos/acme/web/actions/runs/newest', '', 'path/run_id must be integer'],
  ])('with the address %s?%s', (path, query, fault) => {
    const request = { method: 'GET', path, query: new URLSearchParams(query), body: '' }
    expect(judge.ofRequest(request)).toEqual([`GET ${path}: ${fault}`])
  })

  it.each([
    ['{}', "body must have required property 'ref'"],
    ['{"ref":1}', 'body/ref must be string'],
    ['{"ref":"main","input":{}}', 'body/input is not described'],
    ['{"ref":"main"}', null],
  ])('with the body %s', (body, fault) => {
    const path = '/repos/acme/web/actions/workflows/ci.yml/dispatches'
    const faults = judge.ofRequest({ method: 'POST', path, query: new URLSearchParams(), body })
    expect(faults).toEqual(fault === null ? [] : [`POST ${path}: ${fault}`])
  })
})

/** The fields of runs, repositories, workflows, jobs, hooks, branches, pull requests and tags that the bot reads. */
const READ = new Set(
  (
    'id workflow_id path event status conclusion head_branch head_sha html_url run_number run_attempt run_started_at ' +
    'updated_at head_commit head_repository name full_name default_branch badge_url jobs workflow_runs active events ' +
    'config last_response token expires_at number state merged merged_at closed_at title user login head base ref sha object'
  ).split(' '),
)

/** What the bot reads that GitHub does not promise. All of it may be missing. */
const NOT_PROMISED = /^(?:run_attempt|run_started_at|name|actor|triggering_actor|check_suite_\w+|previous_attempt_url)$/

describe('an answer is at fault', () => {
  it('without one of the fields that GitHub promises, or with a value of another type', () => {
    for (const exchange of exchanges.filter(({ status, answer }) => status === 200 && answer !== '[]')) {
      const required = [...changed(exchange.answer, (fields, name) => delete fields[name])]
      const missed = required.filter(([, answer]) => faultsOf({ ...exchange, answer }).length === 0)
      expect(missed.map(([name]) => name).filter((name) => READ.has(name) && !NOT_PROMISED.test(name))).toEqual([])
      const mistyped = [...changed(exchange.answer, (fields, name) => (fields[name] = [['no such type']]))]
      const passed = mistyped.filter(([, answer]) => faultsOf({ ...exchange, answer }).length === 0)
      expect(passed.map(([name]) => name)).toEqual([])
    }
  })

  it('with a field that GitHub does not describe', () => {
    for (const exchange of exchanges.filter(({ answer }) => answer.startsWith('{'))) {
      const answer = exchange.answer.replace(/^\{/, '{"is_red":true,').replace(',}', '}')
      expect(faultsOf({ ...exchange, answer })).toEqual([
        `${exchange.method} ${exchange.path}: ${exchange.status}/is_red is not described`,
      ])
    }
  })

  it.each([204, 400, 409, 418])('with the status %d, if that is not described', (status) => {
    const exchange = exchanges.find(({ path }) => path.endsWith('/rerun'))!
    expect(faultsOf({ ...exchange, status })).toHaveLength(1)
  })
})

describe('a delivery is at fault', () => {
  it('without a field that the bot reads, or with one of another type', () => {
    for (const { event, body } of deliveries.filter((one) => one.event === 'workflow_run')) {
      const value = JSON.parse(body) as { workflow_run: Record<string, unknown> }
      for (const name of Object.keys(value.workflow_run).filter((one) => READ.has(one))) {
        const { [name]: _, ...rest } = value.workflow_run
        for (const run of [rest, { ...rest, [name]: ['no such type'] }])
          expect(faultsOfDelivery({ event, body: JSON.stringify({ ...value, workflow_run: run }) })).not.toEqual([])
      }
    }
  })
})
