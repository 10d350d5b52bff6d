import { expect, test } from 'vitest'
import { pushed, startGithub } from '../../packages/sandbox-github/test/support.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { openStage, rowsOf, settled, until } from '../support/app.ts'
import { saidIn, WEB } from './channel.ts'

// A repository of GitHub is followed as a whole: all its workflows, also those that come later.

const { ada } = PEOPLE

async function openRepository() {
  const github = await startGithub({
    repositories: [{ name: 'acme/web', workflows: ['CI', 'Deploy', 'Docs', 'Nightly'] }],
  })
  const { webhookSecret } = github.address()
  const stage = await openStage({
    settings: { DEFAULT_CHANNEL: CHANNELS.builds, GITHUB_WEBHOOK_SECRET: webhookSecret },
    slack: { rates: 'off', ackTimeoutMs: 30_000 },
  })
  const { slack, app } = stage
  slack.connectBot(`${app.url}/slack/events`)
  github.setWebhookUrl(`${app.url}/webhooks/github`)
  return {
    ...stage,
    github,
    async fail(workflow: string, repository = 'acme/web') {
      github.finish(pushed(github, { workflow }, repository).id, 'failure')
      await github.settle()
      await settled(app.url)
    },
    async answer(text: string): Promise<string> {
      const before = slack.ephemerals(WEB, ada).length
      await slack.people.runCommand({ user: ada, channel: WEB, command: '/ci', text })
      return until(`${text} is answered`, () => slack.ephemerals(WEB, ada)[before]?.message.text)
    },
    kept: () =>
      rowsOf(stage.folder, 'select follows from subscription order by id').map(
        ({ follows }) => (JSON.parse(String(follows)) as { projectId: string }).projectId,
      ),
    cards: () =>
      saidIn(slack, WEB).flatMap(({ text }) =>
        text.includes('subscribed this channel') ? [] : (/acme\/\w+ [A-Z]\w+/.exec(text) ?? []),
      ),
  }
}

test('it is followed under its id: workflows that come later belong to it, also after it was renamed', async () => {
  const stage = await openRepository()
  await stage.fail('CI')
  expect(await stage.answer('subscribe acme/web')).toContain('*Subscribed* to *acme/web (all workflows)*')
  expect(stage.kept()).toEqual([expect.stringMatching(/^github:\d+$/)])
  await stage.fail('CI')
  await stage.fail('Deploy')
  expect(stage.cards()).toEqual(['acme/web CI', 'acme/web Deploy'])
  stage.github.rename('acme/web', 'acme/site')
  await stage.fail('Nightly', 'acme/site')
  expect(stage.cards()).toHaveLength(3)
  expect(await stage.answer('rules')).toContain('*acme/site (all workflows)*')
  expect(await stage.answer('unsubscribe acme/site')).toContain('*Unsubscribed* from *acme/site (all workflows)*')
  expect(stage.kept()).toEqual([])
})

test('with the name of a workflow after it that one alone is followed, and replaces the whole for it', async () => {
  const stage = await openRepository()
  await stage.fail('CI')
  await stage.fail('Deploy')
  expect(await stage.answer('subscribe acme/web CI failed main')).toContain(
    '*Subscribed* to *acme/web CI*: failed on `main`',
  )
  expect(stage.kept()).toEqual([expect.stringMatching(/^github:\d+:\d+$/)])
  expect(await stage.answer('subscribe acme/web')).toContain('*Subscribed* to *acme/web (all workflows)*')
  expect(await stage.answer('subscribe acme/web Deploy started')).toContain(
    '*Subscribed* to *acme/web Deploy*: started',
  )
  expect(stage.kept()).toHaveLength(3)
  await stage.fail('Deploy')
  await stage.fail('CI')
  await stage.fail('Docs')
  expect(stage.cards().toSorted()).toEqual(['acme/web CI', 'acme/web Deploy', 'acme/web Docs'])
})

test('the form offers it before its workflows, and an import follows it', async () => {
  const stage = await openRepository()
  await stage.fail('CI')
  await stage.fail('Deploy')
  await stage.slack.people.runCommand({ user: ada, channel: WEB, command: '/ci', text: 'subscribe' })
  await until('the form is open', () => JSON.stringify(stage.slack.views.stack(ada)).includes('subscribe_project'))
  const { options } = await stage.slack.people.suggest({ user: ada, actionId: 'subscribe_project', value: 'acme' })
  expect(options.map(({ text }) => (text as { text: string }).text)).toEqual([
    'acme/web (all workflows)',
    'acme/web CI',
    'acme/web Deploy',
  ])
  await stage.slack.people.select({
    user: ada,
    actionId: 'subscribe_project',
    selected: { selected_option: options[0] },
  })
  await stage.slack.people.submitView({ user: ada })
  await until('it is stored', () => stage.kept().length === 1)
  expect(await stage.answer('import acme/web')).toContain('*Already subscribed* to all of this.')
})
