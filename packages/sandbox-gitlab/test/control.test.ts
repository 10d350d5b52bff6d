import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { pushed, startGitlab, startReceiver } from './support.ts'

async function started() {
  const gitlab = await startGitlab()
  const control = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const content = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(`${gitlab.url}/sandbox${path}`, { method, headers, ...content })
    return { status: response.status, json: (await response.json()) as Record<string, unknown> }
  }
  return { gitlab, control }
}

test('the control interface lists its calls, pushes, and shows the state', async () => {
  const { control } = await started()
  expect((await control('GET', '')).json['control']).toContain('POST /sandbox/projects/:project/push')
  const author = { name: 'Grace', email: 'grace@acme.example' }
  const push = { branch: 'dev', author, outcome: 'none', failedJobs: ['e2e'] }
  const answer = await control('POST', '/projects/acme/tools/ios/push', push)
  expect(answer).toMatchObject({
    status: 201,
    json: { iid: 1, jobs: { length: 4, 3: { name: 'e2e', status: 'running' } } },
  })
  expect((await control('GET', '/state')).json['pipelines']).toMatchObject([
    { project: 'acme/tools/ios', branch: 'dev', author, message: 'Fix login', status: 'running', retries: 0 },
  ])
  expect((await control('POST', '/projects/acme/none/push', {})).status).toBe(404)
})

test('the control interface finishes, retries, cancels, plays and advances pipelines', async () => {
  const { gitlab, control } = await started()
  const { id } = pushed(gitlab, { outcome: 'none', needsManual: true })
  const act = async (what: string, body?: unknown, of = id) => {
    const { status, json } = await control('POST', `/pipelines/${of}/${what}`, body)
    return json['status'] ?? status
  }
  expect(await act('advance', { status: 'manual' })).toBe('manual')
  expect(await act('play')).toBe('running')
  expect(await act('finish', { status: 'failed', failedJobs: ['release'] })).toBe('failed')
  expect(await act('finish')).toBe(409)
  expect(await act('retry', { outcome: 'none' })).toBe('manual')
  expect(await act('cancel')).toBe(409)
  expect(await act('cancel', {}, 1)).toBe(404)
  expect(await act('advance', { status: 'unheard of' })).toBe(400)
})

test('the control interface deletes a branch, renames the default branch, and closes a merge request', async () => {
  const { gitlab, control } = await started()
  pushed(gitlab, { branch: 'fix', mergeRequest: { iid: 7 } }, 'acme/tools/ios')
  const post = async (path: string, body: object) => {
    const { status } = await control('POST', `/projects/acme/tools/ios/${path}`, body)
    return status
  }
  for (const [path, body] of [
    ['close-merge-request', { iid: 7, merged: true }],
    ['delete-branch', { branch: 'fix' }],
    ['rename-default-branch', { to: 'trunk' }],
  ] as const)
    expect([path, await post(path, body), await post(path, body)]).toEqual([path, 200, 404])
  expect(await post('delete-branch', { name: 'fix' })).toBe(400)
})

test('the control interface sets the webhook, limits calls, and sends a delivery again', async () => {
  const { gitlab, control } = await started()
  const receiver = await startReceiver()
  expect((await control('POST', '/webhook', { url: 'file:///etc' })).status).toBe(400)
  expect((await control('POST', '/webhook', { url: receiver.url })).status).toBe(200)
  pushed(gitlab, { outcome: 'none' })
  await gitlab.settle()
  expect((await control('POST', '/deliveries/1/resend')).status).toBe(202)
  expect((await control('POST', '/deliveries/9/resend')).status).toBe(404)
  await gitlab.settle()
  expect((await control('GET', '/deliveries')).json).toMatchObject({
    deliveries: [{ answers: [{ statusCode: 200 }, { statusCode: 200 }] }, { n: 2 }],
  })
  await control('POST', '/limit', { calls: 1 })
  expect((await fetch(`${gitlab.address().url}/api/v4/projects/71`)).status).toBe(429)
})

test('a page of another site is refused, also with DNS rebinding', async () => {
  const { gitlab, control } = await started()
  const strange = { origin: 'https://elsewhere.example' }
  expect((await control('POST', '/projects/71/push', {}, strange)).status).toBe(403)
  const headers = { host: 'elsewhere.example' }
  const [answer] = (await once(request(`${gitlab.url}/sandbox/state`, { headers }).end(), 'response')) as [
    IncomingMessage,
  ]
  expect(answer.resume().statusCode).toBe(403)
  expect(gitlab.state().pipelines).toEqual([])
  expect((await control('POST', '/projects/71/push', {}, { origin: gitlab.url })).status).toBe(201)
})
