import { expect, test } from 'vitest'
import { pushed, startGithub } from '../../packages/sandbox-github/test/support.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { openStage, rowsOf, settled, until } from '../support/app.ts'
import { cardIn, reload, threadOf, type, untilAnswered, untilCard, untilThread } from '../support/world.ts'

const TOKEN = `ghp_${'a1'.repeat(18)}`

async function openBot(settings: Record<string, string> = {}, subscriptions?: readonly string[]) {
  const github = await startGithub()
  const { apiUrl, token, webhookSecret } = github.address()
  const stage = await openStage({
    settings: {
      DEFAULT_CHANNEL: CHANNELS.builds,
      GITHUB_WEBHOOK_SECRET: webhookSecret,
      GITHUB_API_URL: apiUrl,
      GITHUB_TOKEN: token,
      ...settings,
    },
    ...(subscriptions && { subscriptions }),
  })
  github.setWebhookUrl(`${stage.app.url}/webhooks/github`)
  return Object.assign(stage, { github })
}

const annotation = (message: string, line = 12) => ({ path: 'src/cart.ts', line, level: 'failure', message }) as const

test('a red card says what failed and where, as GitHub’s annotations do, and its thread says it with links', async () => {
  const bot = await openBot()
  const { id } = pushed(bot.github, {
    annotations: {
      lint: [annotation(`'total' is not defined ${TOKEN}`), { ...annotation('unused'), level: 'warning' }],
    },
  })
  bot.github.finish(id, 'failure', ['lint'])
  await untilCard(bot, ['Failed'])
  const card = await until('what failed', () => {
    const shown = cardIn(bot.slack, CHANNELS.builds, 'Failed')!
    return JSON.stringify(shown).includes("'total' is not defined") && shown
  })
  expect(JSON.stringify(card)).toMatch(/blob\/[0-9a-f]+\/src\/cart\.ts#L12/)
  await untilThread(bot, card, 'Failed in 1 place', "'total' is not defined")
  const said = JSON.stringify([card, threadOf(bot, card)])
  for (const never of ['unused', 'exit code', TOKEN]) expect(said).not.toContain(never)
  expect(JSON.stringify(rowsOf(bot.folder, 'select body from report'))).not.toContain(TOKEN)
})

test('without annotations it is the end of the failed step’s log; with FAILURE_LOGS=no only the job and its step', async () => {
  const log = [
    '##[group]Run npm ci',
    'npm ci',
    '##[endgroup]',
    'npm error code ERESOLVE',
    '##[error]Process completed with exit code 1.',
  ]
  for (const setting of ['yes', 'no']) {
    const bot = await openBot({ FAILURE_LOGS: setting })
    const { id } = pushed(bot.github, { logs: { build: [...log, 'Post job cleanup.'].join('\n') } })
    bot.github.finish(id, 'failure', ['build'])
    const card = await untilCard(bot, ['Failed'])
    await until('the source was asked', () => rowsOf(bot.folder, 'select 1 from report').length > 0)
    await settled(bot.app.url)
    const said = JSON.stringify([cardIn(bot.slack, CHANNELS.builds, 'Failed'), threadOf(bot, card)])
    expect(said).toContain('failed: build: Run build')
    expect(said.includes('npm error code ERESOLVE')).toBe(setting === 'yes')
    expect(said).not.toContain('Post job cleanup')
  }
})

test('a run that no channel is told of is not asked about, and one that failed is asked about once', async () => {
  const bot = await openBot()
  const asked = () => bot.github.calls().filter(({ path }) => path.includes('/check-runs/')).length
  const quiet = pushed(bot.github, { branch: 'topic' })
  bot.github.finish(quiet.id, 'failure', ['lint'])
  const { id } = pushed(bot.github)
  bot.github.finish(id, 'failure', ['lint'])
  await untilCard(bot, ['Failed', '`main`'])
  await until('it was asked', () => asked() === 1)
  await until(
    'both are done',
    () => rowsOf(bot.folder, 'select 1 from build where read_end_at is not null').length === 0,
  )
  expect(asked()).toBe(1)
  expect(cardIn(bot.slack, CHANNELS.builds, 'topic')).toBeUndefined()
})

test('an answer says no more of what failed than the cards of its channel; elsewhere no messages, or nothing', async () => {
  const follow = (channel: string, details: string) => `{ channel: ${channel}, project: acme/web, details: ${details} }`
  const bot = await openBot({}, [follow(CHANNELS.builds, 'lines'), follow(CHANNELS.web, 'names')])
  bot.slack.connectBot(`${bot.app.url}/slack/events`)
  /** whether the answer has the place, and the message */
  const said = async (line: string, channel: string) => {
    reload(bot)
    await type(bot, PEOPLE.ada, line, channel)
    const text = JSON.stringify(await untilAnswered(bot, PEOPLE.ada, ['#1'], channel))
    return [text.includes('src/cart.ts'), text.includes('is not defined')]
  }
  const { id } = pushed(bot.github, { annotations: { lint: [annotation("'total' is not defined")] } })
  bot.github.finish(id, 'failure', ['lint'])
  await untilThread(bot, await untilCard(bot, ['Failed']), 'Failed in 1 place')
  for (const line of ['/ci status #1', '/ci status acme/web', '/ci why #1']) {
    expect(await said(line, CHANNELS.builds), line).toEqual([true, true])
    for (const less of [CHANNELS.web, CHANNELS.ops]) expect(await said(line, less), line).toEqual([true, false])
  }
  await type(bot, PEOPLE.ada, '/ci subscribe acme/web CI failed main details none', CHANNELS.web)
  await untilAnswered(bot, PEOPLE.ada, ['Subscribed'], CHANNELS.web)
  for (const none of [CHANNELS.web, CHANNELS.ops]) expect(await said('/ci status #1', none)).toEqual([false, false])
  expect(await said('/ci status #1', CHANNELS.builds)).toEqual([true, true])
})
