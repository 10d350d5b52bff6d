import { expect, test } from 'vitest'
import { request } from '../../../../sandbox-ci/test/support.ts'
import { startGithub, startReceiver } from '../../../../sandbox-github/test/support.ts'
import { githubService } from '../../../src/service/github.ts'
import { push } from '../../../src/stage.ts'
import { called } from './called.ts'

test('a run has the attempts and the words of GitHub, and the buttons that GitHub has', async () => {
  const service = githubService(await startGithub())
  const { uuid } = push(service, 'acme/web CI', { outcome: 'none', committer: 'Lin', message: 'Fix login' })
  const now = () => service.state().builds[0]!
  const buttons = () => service.lookOf(now()).buttons.map(({ words }) => words)
  expect(now()).toMatchObject({ id: '1', project: 'acme/web CI', committer: 'Lin', status: 'initiated', runMs: null })
  expect(buttons()).toEqual(['Pass it', 'Fail it', 'Cancel it'])
  expect(await called(service, `builds/${uuid}/finish`, { outcome: 'error' })).toBe(200)
  expect([now().status, service.lookOf(now()).word, buttons()]).toEqual(['error', 'failure', ['Re-run']])
  expect(await called(service, `builds/${uuid}/restart`)).toBe(200)
  expect(now().runs).toMatchObject([
    { status: 'error', finishedAt: expect.any(String) },
    { status: 'initiated', finishedAt: null },
  ])
  expect(await called(service, 'builds/7/restart')).toBe(404)
})

test("a stranger's run waits until it is approved", async () => {
  const service = githubService(await startGithub())
  const { uuid } = push(service, 'acme/api', { needsApproval: true, outcome: 'none' })
  const look = () => service.lookOf(service.state().builds[0]!)
  expect(service.state().builds[0]).toMatchObject({ branch: 'gus:main', status: 'waiting' })
  expect(look()).toEqual({ word: 'action required', buttons: [expect.objectContaining({ words: 'Approve' })] })
  service.approve(uuid)
  expect(look().word).toBe('in progress')
})

test('a delivery that is sent again is the same, with one answer more', async () => {
  const receiver = await startReceiver((at) => (at < 4 ? 503 : 202))
  const service = githubService(await startGithub({ webhookUrl: receiver.url, repositories: [{ name: 'acme/web' }] }))
  push(service, 'acme/web CI', { outcome: 'success', ms: 0 })
  await expect.poll(() => service.sent().map(({ word }) => word)).toEqual(['queued', 'in progress', 'success'])
  await service.settle()
  expect(await called(service, 'deliveries/resend', { order: [3, 1, 9] })).toBe(202)
  await service.settle()
  expect(service.sent().map(({ n, attempts }) => [n, attempts.length])).toEqual([
    [1, 2],
    [2, 1],
    [3, 2],
  ])
  expect(service.sent()[2]!.attempts.at(-1)).toMatchObject({ kind: 'answered', statusCode: 202 })
})

test('what the bot asks for is told by what it calls', async () => {
  const github = await startGithub()
  const service = githubService(github)
  const { uuid } = push(service, 'acme/web CI', { outcome: 'none' })
  const { apiUrl, token } = github.address()
  const ask = (what: string) =>
    request('POST', `${apiUrl}/repos/acme/web/actions/runs/${uuid}/${what}`, {}, { authorization: `Bearer ${token}` })
  github.finish(Number(uuid), 'failure')
  await ask('rerun-failed-jobs')
  await ask('cancel')
  expect(service.asked()).toEqual([
    { action: 'Restart', build: uuid },
    { action: 'Stop', build: uuid },
  ])
})

test('it is down, and up again', async () => {
  const service = githubService(await startGithub())
  for (const how of ['down', 'none'] as const) {
    service.break(how)
    expect(service.broken()).toBe(how)
  }
})
