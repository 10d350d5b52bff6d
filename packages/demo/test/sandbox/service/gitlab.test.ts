import { expect, onTestFinished, test } from 'vitest'
import { startReceiver } from '../../../../sandbox-ci/test/support.ts'
import { createSandboxGitlab } from '../../../../sandbox-gitlab/src/server.ts'
import { gitlabService } from '../../../src/service/gitlab.ts'
import { push } from '../../../src/stage.ts'
import { called } from './called.ts'

async function openGitlab() {
  const receiver = await startReceiver()
  const gitlab = createSandboxGitlab({ webhookUrl: receiver.url })
  await gitlab.start()
  onTestFinished(() => gitlab.stop())
  const service = gitlabService(gitlab)
  const now = () => service.state().builds[0]!
  const look = () => {
    const { word, buttons } = service.lookOf(now())
    return [word, ...buttons.map(({ words }) => words)]
  }
  return { gitlab, service, now, look }
}

test('a pipeline has the attempts and the words of GitLab, and the buttons that GitLab has', async () => {
  const { service, now, look } = await openGitlab()
  const { uuid } = push(service, 'acme/web', { outcome: 'none', committer: 'Lin' })
  expect(now()).toMatchObject({ id: '1', project: 'acme/web', committer: 'Lin', status: 'initiated', runMs: null })
  expect(look()).toEqual(['running', 'Pass it', 'Fail it', 'Cancel it', 'Break its runner'])
  expect(await called(service, `builds/${uuid}/finish`, { outcome: 'error' })).toBe(200)
  expect(look()).toEqual(['failed', 'Retry'])
  expect(await called(service, `builds/${uuid}/restart`)).toBe(200)
  expect(now().runs).toMatchObject([
    { status: 'error', startedAt: expect.any(String), finishedAt: expect.any(String) },
    { status: 'initiated', startedAt: expect.any(String), finishedAt: null },
  ])
  expect(await called(service, `builds/${uuid}/finish`)).toBe(200)
  expect([look(), now().runs.map(({ status }) => status)]).toEqual([['passed'], ['error', 'success']])
})

test('a pipeline with a manual job waits until somebody starts it', async () => {
  const { service, look } = await openGitlab()
  const { uuid } = push(service, 'acme/api', { needsApproval: true, ms: 0 })
  await expect.poll(look).toEqual(['manual', 'Start its manual job'])
  service.approve(uuid)
  await expect.poll(look).toEqual(['passed'])
})

test("a runner's failure is told apart from one of the commit, in what is shown and in what is sent", async () => {
  const { service } = await openGitlab()
  push(service, 'acme/web', { outcome: 'infrastructure_failure', ms: 0 })
  push(service, 'acme/web', { outcome: 'error', ms: 0 })
  const shown = () => service.state().builds.map(({ status }) => status)
  await expect.poll(shown).toEqual(['infrastructure_failure', 'error'])
  const last = (buildId: string) => service.sent().findLast((one) => one.buildId === buildId)?.status
  expect(['1', '2'].map(last)).toEqual(shown())
})

test('deliveries are sent again in the order in which they were chosen', async () => {
  const { gitlab, service } = await openGitlab()
  push(service, 'acme/web', { outcome: 'none' })
  push(service, 'acme/api', { outcome: 'none' })
  await service.settle()
  expect(await called(service, 'deliveries/resend', { order: [4, 1, 9] })).toBe(202)
  await expect.poll(() => service.sent().map(({ attempts }) => attempts.length)).toEqual([2, 1, 1, 2])
  const [first, , , fourth] = gitlab.deliveries().map(({ answers }) => answers.at(-1)!)
  expect(fourth!.at + fourth!.ms).toBeLessThanOrEqual(first!.at)
})

test('it is down, and up again', async () => {
  const { service } = await openGitlab()
  for (const how of ['down', 'none'] as const) {
    service.break(how)
    expect(service.broken()).toBe(how)
  }
})
