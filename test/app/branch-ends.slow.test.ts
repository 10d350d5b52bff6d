import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { messagesIn } from '../../packages/demo/src/stage.ts'
import type { Push } from '../../packages/sandbox-github/src/runs.ts'
import { deliverChanged, NOWHERE, pushed, startGithub } from '../../packages/sandbox-github/test/support.ts'
import { createSandboxGitlab } from '../../packages/sandbox-gitlab/src/server.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { databasePath, openStage, rowsOf, settled, until, type Stage } from '../support/app.ts'
import { type, untilAnswered } from '../support/world.ts'

// A branch or request that is gone is no longer red: no build will ever fix it.

const FAILURES = [`{ channel: ${CHANNELS.builds}, project: all, events: [failed] }`]

const { ada } = PEOPLE

async function openGithub() {
  const github = await startGithub()
  const { apiUrl, token, webhookSecret } = github.address()
  const settings = { GITHUB_API_URL: apiUrl, GITHUB_TOKEN: token, GITHUB_WEBHOOK_SECRET: webhookSecret }
  const stage = await openStage({ subscriptions: FAILURES, settings: { WEBHOOK_SECRET: undefined, ...settings } })
  stage.slack.connectBot(`${stage.app.url}/slack/events`)
  github.setWebhookUrl(`${stage.app.url}/webhooks/github`)
  return { ...stage, github }
}

/** A run fails, and its branch is red. */
async function red(stage: Awaited<ReturnType<typeof openGithub>>, push: Push): Promise<void> {
  const { id } = pushed(stage.github, push)
  stage.github.finish(id, 'failure')
  await stage.github.settle()
  await settled(stage.app.url)
  await until('it is red', () => isRed(stage))
}

const isRed = ({ folder }: Stage): boolean => rowsOf(folder, 'select 1 from breakage where ended_at is null').length > 0

/** As if the source had last been asked long ago. */
function longAgo({ folder }: Stage): void {
  const db = new DatabaseSync(databasePath(folder), { timeout: 5_000 })
  db.exec('update breakage set checked_at = 0')
  db.close()
}

const threadOf = ({ slack }: Stage): string => JSON.stringify(slack.messages(CHANNELS.builds))

const askRed = async (stage: Stage, says: readonly string[]) => {
  longAgo(stage)
  await type(stage, ada, '/ci red')
  await untilAnswered(stage, ada, says)
}

test.each<[string, Push, (stage: Awaited<ReturnType<typeof openGithub>>) => unknown, string]>([
  [
    'a branch that was deleted',
    { branch: 'fix' },
    ({ github }) => github.deleteBranch('acme/web', 'fix'),
    '`fix` was deleted',
  ],
  [
    'the default branch that was renamed',
    { branch: 'main' },
    ({ github }) => github.renameBranch('acme/web', 'main', 'trunk'),
    '`main` was renamed',
  ],
  [
    'a pull request that was merged',
    { branch: 'fix', event: 'pull_request', pullRequest: 87 },
    ({ github }) => github.closePull('acme/web', 87, { merged: true }),
    '`#87` was merged',
  ],
  [
    'a pull request that was closed',
    { branch: 'fix', event: 'pull_request', pullRequest: 87 },
    ({ github }) => github.closePull('acme/web', 87),
    '`#87` was closed',
  ],
])('GitHub: %s is no longer red, and its thread says so', async (_, push, end, line) => {
  const stage = await openGithub()
  await red(stage, push)
  await askRed(stage, ['1 branch is red'])
  expect(end(stage)).toBe(true)
  await askRed(stage, ['No red branches'])
  expect(isRed(stage)).toBe(false)
  await until('the thread says so', () => threadOf(stage).includes(line))
  expect(messagesIn(stage.slack, CHANNELS.builds).filter(({ isBroadcast }) => isBroadcast)).toEqual([])
})

test('GitHub: a tag is no branch: its runs leave nothing red, and no thread says a word', async () => {
  const stage = await openGithub()
  await red(stage, { tag: 'v1' })
  await askRed(stage, ['No red branches'])
  expect(threadOf(stage)).not.toContain(':broom:')
})

test('GitHub: a branch that is there again begins anew', async () => {
  const stage = await openGithub()
  await red(stage, { branch: 'fix' })
  stage.github.deleteBranch('acme/web', 'fix')
  await askRed(stage, ['No red branches'])
  await red(stage, { branch: 'fix', message: 'Again' })
  expect(rowsOf(stage.folder, 'select builds from breakage where ended_at is null')).toEqual([{ builds: 1 }])
})

test('GitHub: a branch that is called like a pull request is not judged by it', async () => {
  const stage = await openGithub()
  pushed(stage.github, { branch: 'fix', event: 'pull_request', pullRequest: 87 })
  stage.github.closePull('acme/web', 87, { merged: true })
  await red(stage, { branch: '#87-fix' })
  await askRed(stage, ['1 branch is red'])
})

test.each([403, 404, 500])('GitHub: without an answer (%i), a branch stays red', async (status) => {
  const stage = await openGithub()
  await red(stage, { branch: 'fix' })
  stage.github.failNext(10, status)
  await askRed(stage, ['1 branch is red'])
})

test('GitHub: a repository of the same name with another id says nothing of the branch', async () => {
  const stage = await openGithub()
  const { github } = stage
  github.setWebhookUrl(NOWHERE)
  github.finish(pushed(github, { branch: 'fix' }).id, 'failure')
  const ofAnother = (body: { repository: object }) => ({ ...body, repository: { ...body.repository, id: 123 } })
  expect(await deliverChanged(github, stage.app.url, ofAnother)).toBe(202)
  await until('it is red', () => isRed(stage))
  github.deleteBranch('acme/web', 'fix')
  await askRed(stage, ['1 branch is red'])
})

test.each<[string, boolean]>([
  ['merged', true],
  ['closed', false],
])('GitLab: a merge request that was %s is no longer red', async (how, merged) => {
  const gitlab = createSandboxGitlab()
  await gitlab.start()
  onTestFinished(() => gitlab.stop())
  const { url: siteUrl, token, webhookToken } = gitlab.address()
  const settings = { GITLAB_URL: siteUrl, GITLAB_TOKEN: token, GITLAB_WEBHOOK_SECRET: webhookToken! }
  const stage = await openStage({ subscriptions: FAILURES, settings: { WEBHOOK_SECRET: undefined, ...settings } })
  stage.slack.connectBot(`${stage.app.url}/slack/events`)
  gitlab.setWebhookUrl(`${stage.app.url}/webhooks/gitlab`)
  gitlab.push('acme/web', { branch: 'fix', mergeRequest: { iid: 7 }, outcome: 'failed', ms: 0 })
  await until('it is red', () => isRed(stage))
  gitlab.closeMergeRequest('acme/web', 7, { merged })
  await askRed(stage, ['No red branches'])
  await until('the thread says so', () => threadOf(stage).includes(`\`!7\` was ${how}`))
})
