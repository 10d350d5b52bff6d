import { expect, test } from 'vitest'
import { request } from '../../sandbox-ci/test/support.ts'
import type { RunSnapshot } from '../src/handles.ts'
import { ended, pushed, startGithub, startReceiver } from './support.ts'

async function startControl() {
  const github = await startGithub()
  const post = (path: string, body: unknown = {}) => request('POST', `${github.url}/sandbox${path}`, body)
  return { github, post }
}

test('the control interface pushes, approves, finishes, reruns and cancels', async () => {
  const { github, post } = await startControl()
  const push = { repository: 'acme/web', author: { name: 'Grace' }, outcome: 'none', needsApproval: true }
  const { json } = await post('/push', push)
  expect(json).toMatchObject({ project: 'acme/web CI', number: 1, branch: 'main', author: 'Grace' })
  const { id } = json as RunSnapshot
  expect((await post(`/runs/${id}/approve`)).json).toMatchObject({ status: 'in_progress' })
  const failed = { conclusion: 'failure', failedJobs: ['lint'] }
  expect((await post(`/runs/${id}/finish`, failed)).json).toMatchObject({ jobs: [{}, {}, { name: 'lint' }] })
  expect((await post(`/runs/${id}/finish`, failed)).status).toBe(409)
  expect((await post(`/runs/${id}/rerun`, { outcome: 'none' })).json).toMatchObject({ attempt: 3 })
  expect((await post(`/runs/${id}/cancel`)).status).toBe(200)
  await ended(github, id, 'cancelled')
  expect((await request('GET', `${github.url}/sandbox/state`)).json).toEqual(github.state())
})

test('the control interface renames and deletes branches, and closes pull requests', async () => {
  const { github, post } = await startControl()
  const repository = 'acme/web'
  pushed(github, { branch: 'fix', pullRequest: 7 })
  pushed(github, { branch: 'old' })
  for (const [path, body] of [
    ['/branches/rename', { repository, from: 'fix', to: 'login' }],
    ['/branches/delete', { repository, branch: 'old' }],
  ] as const) {
    expect((await post(path, body)).json).toEqual({ done: true })
    expect((await post(path, body)).status).toBe(404)
  }
  pushed(github, { branch: 'login', pullRequest: 8 })
  expect((await post('/pulls/close', { repository, number: 7 })).text).toContain('no such open pull request')
  expect((await post('/pulls/close', { repository, number: 8, merged: true })).status).toBe(200)
  expect((await post('/pulls/close', { repository, number: 8 })).status).toBe(404)
})

test('an invalid call changes nothing', async () => {
  const { github, post } = await startControl()
  expect((await post('/push', { repository: 'acme/web', brunch: 'main' })).text).toContain('brunch')
  expect((await post('/push', { repository: 'acme/gone' })).status).toBe(404)
  expect((await post('/push', { repository: 'acme/web', workflow: 'gone.yml' })).status).toBe(404)
  expect((await post('/runs/1/cancel')).status).toBe(404)
  expect((await post('/webhook', { url: 'file:///etc' })).status).toBe(400)
  expect(github.state()).toMatchObject({ runs: [], webhookUrl: null })
})

test('the control interface sets the webhook, lists deliveries and redelivers them', async () => {
  const { github, post } = await startControl()
  const receiver = await startReceiver()
  expect((await post('/webhook', { url: receiver.url })).status).toBe(200)
  await github.settle()
  const { guid } = github.deliveries()[0]!
  expect((await post(`/deliveries/${guid}/redeliver`)).json).toMatchObject({ guid, isRedelivery: true })
  expect((await post('/deliveries/nothing/redeliver')).status).toBe(404)
  const { json } = await request('GET', `${github.url}/sandbox/deliveries`)
  expect(json).toMatchObject({ deliveries: [{ guid, event: 'ping' }, {}, {}, { guid }] })
})

test('only pages of the sandbox itself may make changes', async () => {
  const { github } = await startControl()
  const run = `${github.url}/sandbox/runs/${pushed(github).id}`
  expect((await request('POST', `${run}/finish`, {}, { origin: 'https://elsewhere.example' })).status).toBe(403)
  expect((await request('POST', `${run}/finish`, {}, { origin: github.url })).status).toBe(200)
})
