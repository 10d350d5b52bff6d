import { setTimeout } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { PushWanted } from '../../packages/sandbox-gitlab/src/push.ts'
import { createSandboxGitlab } from '../../packages/sandbox-gitlab/src/server.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { messagesIn } from '../../packages/demo/src/stage.ts'
import { openStage, settled, until } from '../support/app.ts'
import { type, untilAnswered } from '../support/world.ts'

async function openGitlab() {
  const gitlab = createSandboxGitlab()
  await gitlab.start()
  onTestFinished(() => gitlab.stop())
  const { url: siteUrl, token, webhookToken } = gitlab.address()
  const stage = await openStage({
    settings: {
      DEFAULT_CHANNEL: CHANNELS.builds,
      WEBHOOK_SECRET: undefined,
      GITLAB_URL: siteUrl,
      GITLAB_TOKEN: token,
      GITLAB_WEBHOOK_SECRET: webhookToken!,
    },
  })
  stage.slack.connectBot(`${stage.app.url}/slack/events`)
  gitlab.setWebhookUrl(`${stage.app.url}/webhooks/gitlab`)
  return { ...stage, gitlab }
}

test.each<[string, PushWanted]>([
  ['of a branch', { branch: 'fix/login' }],
  ['of a merge request', { branch: 'fix', mergeRequest: { iid: 7 } }],
  ['of a merge request from a fork', { branch: 'main', mergeRequest: { iid: 7, fork: true } }],
  ['of a tag', { branch: 'v1', tag: true }],
  ['of a tag that is called as the default branch', { branch: 'main', tag: true }],
  ['of a schedule', { source: 'schedule' }],
])('a pipeline %s can be restarted', async (_, push) => {
  const { gitlab, ...stage } = await openGitlab()
  const outcome = gitlab.push('acme/web', { ...push, outcome: 'none' })
  const { id } = outcome.kind === 'pipeline' ? outcome.pipeline : { id: 0 }
  gitlab.finish(id, 'failed')
  await gitlab.settle()
  await settled(stage.app.url)
  await type(stage, PEOPLE.ada, '/ci restart #1')
  const isAsked = () => gitlab.calls().some(({ path }) => path === `/gitlab/api/v4/projects/71/pipelines/${id}/retry`)
  await until('it was asked for', isAsked)
  expect(gitlab.calls().filter(({ method }) => method === 'POST')).toHaveLength(1)
})

test('a restart that GitLab answers with a failed pipeline is told as not done, at once', async () => {
  const { gitlab, ...stage } = await openGitlab()
  const jobs = [{ name: 'lint' }, { name: 'deploy-all', trigger: true }]
  const outcome = gitlab.push('acme/web', { jobs, outcome: 'none' })
  const { id } = outcome.kind === 'pipeline' ? outcome.pipeline : { id: 0 }
  // GitLab runs no trigger job again.
  gitlab.finish(id, 'failed', ['deploy-all'])
  await gitlab.settle()
  await settled(stage.app.url)
  await type(stage, PEOPLE.ada, '/ci restart #1')
  await untilAnswered(stage, PEOPLE.ada, ['Not restarted', 'GitLab said: the pipeline is failed'])
  const said = () => JSON.stringify(messagesIn(stage.slack, CHANNELS.builds))
  await until('the card says so', () => said().includes('it is probably too late for that'))
  expect(said()).toContain('*Failed*')
  expect(said()).not.toContain('*Requested*')
})

test('used-up compute minutes are called that, on the card, in the notice and in answers', async () => {
  const { gitlab, ...stage } = await openGitlab()
  const said = () => JSON.stringify(messagesIn(stage.slack, CHANNELS.builds))
  const pushed = gitlab.push('acme/web', { jobs: [{ name: 'unit' }], outcome: 'none' })
  const { id } = pushed.kind === 'pipeline' ? pushed.pipeline : { id: 0 }
  gitlab.finish(id, 'failed', ['unit'])
  await until('its card', () => said().includes('*Failed*'))
  // GitLab tells the ends of a pipeline apart by the second.
  await setTimeout(1_000)
  gitlab.retry(id, { outcome: 'none' })
  gitlab.finish(id, 'failed', [{ name: 'unit', reason: 'ci_quota_exceeded' }])
  await until('the card says so', () => said().includes('*Blocked (compute minutes used up)*'))
  await until('the notice says so', () => said().includes('compute minutes used up (1)'))
  expect(said()).toContain('was blocked (compute minutes used up)')
  await type(stage, PEOPLE.ada, '/ci status acme/web')
  await untilAnswered(stage, PEOPLE.ada, ['Blocked (compute minutes used up)'])
  expect(said()).not.toContain('resource use')
})

const isoAt = (ms: number): string => new Date(ms).toISOString()

/** Delivers a pipeline in these states, one right after the other. */
async function deliver({ app, gitlab }: Awaited<ReturnType<typeof openGitlab>>, ...states: readonly object[]) {
  const { webhookToken } = gitlab.address()
  for (const state of states) {
    const pipeline = { id: 900, iid: 9, ref: 'main', source: 'push', sha: 'c'.repeat(40), ...state }
    const project = { id: 71, path_with_namespace: 'acme/web', default_branch: 'main' }
    const answer = await fetch(`${app.url}/webhooks/gitlab`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-gitlab-token': webhookToken!,
        'x-gitlab-event': 'Pipeline Hook',
      },
      body: JSON.stringify({ object_attributes: pipeline, project }),
    })
    expect(answer.status).toBe(202)
  }
  await settled(app.url)
}

test('a pipeline ran as long as GitLab says, since the time that GitLab says, however late that is delivered', async () => {
  const stage = await openGitlab()
  const endedAt = Math.floor(Date.now() / 1_000) * 1_000 - 60_000
  const created = { created_at: isoAt(endedAt - 1_730_000), queued_duration: 20 }
  const [running, failed] = [
    { ...created, status: 'running', finished_at: null },
    { ...created, status: 'failed', finished_at: isoAt(endedAt), duration: 1_700 },
  ]
  await deliver(stage, running, failed)
  const said = JSON.stringify(messagesIn(stage.slack, CHANNELS.builds))
  const startedS = (endedAt - 1_710_000) / 1_000
  expect(said).toContain(`28 min, started <!date^${startedS}^{time}|`)
  expect(said).not.toContain('within 1 s')
})

test('an end that is delivered 40 hours late is told with its day', async () => {
  const stage = await openGitlab()
  const endedAt = Math.floor(Date.now() / 1_000) * 1_000 - 40 * 60 * 60_000
  await deliver(stage, { status: 'failed', finished_at: isoAt(endedAt), duration: 600 })
  const said = JSON.stringify(messagesIn(stage.slack, CHANNELS.builds))
  for (const [what, at] of [
    ['started', endedAt - 600_000],
    ['reported late; ended', endedAt],
  ] as const)
    expect(said).toContain(`${what} <!date^${at / 1_000}^{date_short_pretty} at {time}|`)
})
