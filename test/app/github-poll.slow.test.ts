import { expect, test } from 'vitest'
import { messagesIn } from '../../packages/demo/src/stage.ts'
import { CHANNELS } from '../../packages/sandbox-slack/src/workspace.ts'
import { openStage, rowsOf, settled, until } from '../support/app.ts'
import { GITHUB_TOKEN, openSandboxGithub } from '../support/sandbox-github.ts'

test('without a webhook, what has ended at the first look is no news, and what ends later is told with its failed jobs', async () => {
  const github = await openSandboxGithub()
  const old = github.push()
  await github.advance(old, 'completed', 'failure')
  const running = github.push()
  await github.advance(running, 'in_progress')
  const stage = await openStage({
    settings: {
      DEFAULT_CHANNEL: CHANNELS.builds,
      WEBHOOK_SECRET: undefined,
      GITHUB_API_URL: github.apiUrl,
      GITHUB_TOKEN,
      GITHUB_REPOSITORIES: 'acme/web',
    },
  })
  const said = () => messagesIn(stage.slack, CHANNELS.builds)
  await until('it was looked', () => rowsOf(stage.folder, 'select 1 from fact').length === 1)
  await github.advance(running, 'completed', 'failure', ['test', 'lint'])
  await until('it is told', () => said().length > 0, 40_000)
  await settled(stage.app.url)
  expect(said()).toHaveLength(1)
  expect(JSON.stringify(said()[0])).toContain('failed: test, lint')
}, 60_000)
