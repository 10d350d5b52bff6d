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
