import { expect, onTestFinished, test } from 'vitest'
import { messagesIn } from '../../packages/demo/src/stage.ts'
import { pushed, startGithub } from '../../packages/sandbox-github/test/support.ts'
import { CHANNELS } from '../../packages/sandbox-slack/src/workspace.ts'
import { openStage, rowsOf, send, settled, startApp, until, type Stage } from '../support/app.ts'

const DEFAULT = CHANNELS.secret

/** The workflow *CI* of GitHub's acme/web has failed once, and a project of the CI service has the same name. */
async function openNamesakes(entry: string) {
  const github = await startGithub()
  const { webhookSecret } = github.address()
  const stage = await openStage({
    subscriptions: [entry],
    settings: { DEFAULT_CHANNEL: DEFAULT, GITHUB_WEBHOOK_SECRET: webhookSecret },
  })
  github.setWebhookUrl(`${stage.app.url}/webhooks/github`)
  github.finish(pushed(github).id, 'failure')
  await github.settle()
  await settled(stage.app.url)
  await stage.app.stop()
  const app = await startApp(stage.settings)
  onTestFinished(() => app.stop())
  github.setWebhookUrl(`${app.url}/webhooks/github`)
  return { ...stage, app, github }
}

const unsigned = (id: number) => ({
  build: {
    build_id: id,
    project_id: 900,
    project_name: 'acme/web CI',
    branch: 'main',
    commit_id: 'f00',
    status: 'error',
  },
})

async function deliver({ app }: Stage, id: number): Promise<void> {
  expect((await send(app.url, unsigned(id))).status).toBe(202)
  await settled(app.url)
}

const counted = ({ slack }: Stage) => [CHANNELS.builds, DEFAULT].map((channel) => messagesIn(slack, channel).length)

test("an unsigned delivery with a GitHub workflow's name does not post in the channel of that workflow", async () => {
  const stage = await openNamesakes(`{ channel: ${CHANNELS.builds}, project: acme/web CI }`)
  expect(counted(stage)).toEqual([1, 0])
  await deliver(stage, 1)
  expect(counted(stage)).toEqual([1, 1])

  stage.github.finish(pushed(stage.github).id, 'failure')
  await stage.github.settle()
  await settled(stage.app.url)
  expect(counted(stage)).toEqual([2, 1])
})

test('an entry that names its source follows that source alone', async () => {
  const stage = await openNamesakes(`{ channel: ${CHANNELS.builds}, project: acme/web CI, source: ci }`)
  expect(counted(stage)).toEqual([0, 1])
  await deliver(stage, 1)
  expect(counted(stage)).toEqual([1, 1])
})

test('an entry follows its project through a rename of the repository, and the log names the new name', async () => {
  const github = await startGithub()
  const { apiUrl, token, webhookSecret } = github.address()
  const stage = await openStage({
    subscriptions: [`{ channel: ${CHANNELS.builds}, project: acme/web CI }`],
    settings: {
      DEFAULT_CHANNEL: DEFAULT,
      GITHUB_API_URL: apiUrl,
      GITHUB_TOKEN: token,
      GITHUB_WEBHOOK_SECRET: webhookSecret,
    },
  })
  github.setWebhookUrl(`${stage.app.url}/webhooks/github`)
  const fail = async (repository: string) => {
    github.finish(pushed(github, {}, repository).id, 'failure')
    await github.settle()
    await settled(stage.app.url)
  }
  await fail('acme/web')
  expect(counted(stage)).toEqual([1, 0])
  // GitHub is asked about a new project, and about a new name, within a minute.
  const isConfirmed = () => rowsOf(stage.folder, 'select 1 from project where read_at > 0').length > 0
  await until('the first name is confirmed', isConfirmed, 80_000)
  github.rename('acme/web', 'acme/site')
  await fail('acme/site')
  const names = () => rowsOf(stage.folder, 'select name from project').map(({ name }) => name)
  await until('the new name is known', () => names().includes('acme/site CI'), 80_000)
  await stage.app.stop()
  const app = await startApp(stage.settings)
  onTestFinished(() => app.stop())
  github.setWebhookUrl(`${app.url}/webhooks/github`)
  github.finish(pushed(github, {}, 'acme/site').id, 'failure')
  await github.settle()
  await settled(app.url)
  expect(counted(stage)).toEqual([3, 0])
}, 240_000)
