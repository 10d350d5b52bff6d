import { generateKeyPairSync } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { messagesIn } from '../../packages/demo/src/stage.ts'
import { pushed, startGithub } from '../../packages/sandbox-github/test/support.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { openStage, rowsOf, settled, startApp, until } from '../support/app.ts'

test('without a webhook, a run that ended before the first look is no news, and a later one is shown once, with its failed jobs', async () => {
  const github = await startGithub()
  const { apiUrl, token } = github.address()
  github.finish(pushed(github).id, 'failure')
  const running = pushed(github)
  const stage = await openStage({
    settings: {
      DEFAULT_CHANNEL: CHANNELS.builds,
      WEBHOOK_SECRET: undefined,
      GITHUB_API_URL: apiUrl,
      GITHUB_TOKEN: token,
      GITHUB_REPOSITORIES: 'acme/web',
    },
  })
  const said = () => messagesIn(stage.slack, CHANNELS.builds)
  await until('it was looked', () => rowsOf(stage.folder, 'select 1 from fact').length === 2)
  expect(rowsOf(stage.folder, 'select origin from fact order by seq')).toEqual([
    { origin: 'history' },
    { origin: 'delivery' },
  ])
  github.finish(running.id, 'failure', ['test', 'lint'])
  await until('it is told', () => said().length > 0, 40_000)
  await settled(stage.app.url)
  expect(said()).toHaveLength(1)
  expect(JSON.stringify(said()[0])).toContain('failed: test: Run test, lint: Run lint')
  // A run that ends while the bot is down is shown once it is back. Earlier ones are not shown again.
  await stage.app.stop()
  github.finish(pushed(github).id, 'failure', ['build'])
  const again = await startApp(stage.settings)
  onTestFinished(() => again.stop())
  await until('it is told', () => said().length > 1, 40_000)
  await settled(again.url)
  expect(said()).toHaveLength(2)
}, 90_000)

test('a token that GitHub refuses is in no log line; it is counted, and admins are told', async () => {
  const github = await startGithub()
  const token = 'github_pat_that_was_revoked'
  const stage = await openStage({
    settings: {
      GITHUB_API_URL: github.url,
      GITHUB_TOKEN: token,
      GITHUB_REPOSITORIES: 'acme/web',
      CI_ADMINS: PEOPLE.grace,
      LOG_LEVEL: 'debug',
    },
  })
  await until('it is refused', () =>
    stage.app.lines.some((line) => line.includes('could not list the builds of a project')),
  )
  const told = () => [...stage.slack.workspace.channels.values()].filter(({ kind }) => kind === 'im')
  await until('Grace is told', () =>
    told().some(({ messages }) =>
      [...messages.values()].some(({ text }) => text.includes('GitHub refuses GITHUB_TOKEN')),
    ),
  )
  expect(stage.app.lines.filter((line) => line.includes(token))).toEqual([])
  const metrics = await (await fetch(`${stage.app.url}/metrics`)).text()
  expect(metrics).toMatch(/buildline_ci_calls_total\{interface="github",outcome="unauthorized"\} [1-9]/)
})

test('a GitHub App replaces a token, and neither its key nor its tokens are in the log', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const github = await startGithub({ app: { id: '7', publicKey } })
  pushed(github)
  const stage = await openStage({
    settings: {
      GITHUB_API_URL: github.url,
      GITHUB_APP_ID: '7',
      GITHUB_APP_PRIVATE_KEY: privateKey.replaceAll('\n', String.raw`\n`),
      GITHUB_REPOSITORIES: 'acme/web',
      LOG_LEVEL: 'debug',
    },
  })
  await until('it was looked', () => rowsOf(stage.folder, 'select 1 from fact').length === 1)
  expect(stage.app.lines.filter((line) => /PRIVATE KEY|ghs_|eyJ/.test(line))).toEqual([])
})

test('a repository that GitHub does not show names its setting, without a stack', async () => {
  const { apiUrl, token } = (await startGithub()).address()
  const stage = await openStage({
    settings: { GITHUB_API_URL: apiUrl, GITHUB_TOKEN: token, GITHUB_REPOSITORIES: 'acme/wbe' },
  })
  const said = () => stage.app.lines.find((line) => line.includes('does not show'))
  await until('it is said', () => said() !== undefined)
  expect(JSON.parse(said()!)).toMatchObject({ project: 'acme/wbe', code: 'not-found' })
  expect(said()).toContain('GitHub does not show acme/wbe to the token: correct GITHUB_REPOSITORIES')
  expect(said()).not.toContain('"stack"')
})
