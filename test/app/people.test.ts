import { describe, expect, test } from 'vitest'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import type { SandboxGithub } from '../../packages/sandbox-github/src/server.ts'
import { pushed, startGithub } from '../../packages/sandbox-github/test/support.ts'
import { DEFAULT_SCOPES } from '../../packages/sandbox-slack/src/sandbox-slack.ts'
import { ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { openStage, rowsOf, settled, type Settings, type Stage } from '../support/app.ts'
import { press, threadOf, type, untilAnswered, untilCard, untilThread } from '../support/world.ts'

const { builds: BUILDS } = CHANNELS
const { ada, lin } = PEOPLE

const WITH_EMAIL = [...DEFAULT_SCOPES, 'users:read.email']

type World = Stage & { github: SandboxGithub }

/** A bot with deliveries from GitHub, in a channel that follows starts and failures, so that a failure has a reply. */
async function open({
  settings = {},
  scopes = WITH_EMAIL,
}: { settings?: Settings; scopes?: readonly string[] } = {}): Promise<World> {
  const github = await startGithub()
  const { apiUrl, webhookSecret } = github.address()
  const stage = await openStage({
    settings: {
      WEBHOOK_SECRET: undefined,
      GITHUB_WEBHOOK_SECRET: webhookSecret,
      GITHUB_API_URL: apiUrl,
      PEOPLE_BY_EMAIL: 'yes',
      ...settings,
    },
    slack: { scopes },
    subscriptions: [`{ channel: ${BUILDS}, project: acme/web, events: [started, failed] }`],
  })
  stage.slack.connectBot(`${stage.app.url}/slack/events`)
  github.setWebhookUrl(`${stage.app.url}/webhooks/github`)
  return { ...stage, github }
}

interface Author {
  author?: string
  email?: string
}

/** Pushes a commit by this author, whose run begins. */
const push = ({ github }: World, { author = 'Ada Lovelace', email = 'ada@acme.example' }: Author = {}) =>
  pushed(github, { author: { name: author, email } })

/** Lets a run of this commit begin and fail. @returns its reply */
async function fail(world: World, how: Author = {}): Promise<string> {
  const { id, number } = push(world, how)
  const card = await untilCard(world, ['Running', `#${number}`])
  world.github.finish(id, 'failure')
  return untilThread(world, card, 'Failed')
}

const asking = ({ slack }: Stage) => {
  const reply = slack.messages(BUILDS).findLast((message) => JSON.stringify(message).includes(ACTION_IDS.claim))
  return reply && { ts: String(reply['ts']) }
}

const lookups = ({ slack }: Stage): number => slack.counters.calls('users.lookupByEmail')
const claims = ({ folder }: Stage) => rowsOf(folder, 'select handle, user_id from person order by handle')

test("a failure asks the person with the author's address, who confirms; later failures mention them", async () => {
  const world = await open()
  expect(await fail(world)).toContain(` · Ada Lovelace · <@${ada}>, is this you?`)
  expect(claims(world)).toEqual([])
  await press(world, ada, asking(world)!, ACTION_IDS.claim)
  await untilAnswered(world, ada, ['`ada lovelace` *is yours*'])
  expect(claims(world)).toEqual([{ handle: 'ada lovelace', user_id: ada }])
  const next = await fail(world)
  expect(next).toContain(`<@${ada}>`)
  expect(next).not.toContain('is this you?')
  expect(lookups(world)).toBe(1)
})

test('another person can claim the name, and then it does not mean the person who was asked', async () => {
  const world = await open()
  expect(await fail(world)).toContain(`<@${ada}>, is this you?`)
  await press(world, lin, asking(world)!, ACTION_IDS.claim)
  await untilAnswered(world, lin, ['`ada lovelace` *is yours*'])
  expect(claims(world)).toEqual([{ handle: 'ada lovelace', user_id: lin }])
})

test('a card that is posted as failed asks too', async () => {
  const world = await open()
  world.github.setWebhookUrl(null)
  const { id } = push(world)
  world.github.setWebhookUrl(`${world.app.url}/webhooks/github`)
  world.github.finish(id, 'failure')
  await untilCard(world, ['Failed', `<@${ada}>, is this you?`], ACTION_IDS.claim)
})

test('Slack is asked once about an address, found or not, and addresses are in no log, metric or message', async () => {
  const world = await open()
  for (const email of ['ada@acme.example', 'nobody@acme.example'])
    for (const author of ['Ada Lovelace', 'A. Lovelace']) await fail(world, { author, email })
  expect(lookups(world)).toBe(2)
  const metrics = await (await fetch(`${world.app.metricsUrl}/metrics`)).text()
  const said = [...world.app.lines, metrics, JSON.stringify(world.slack.messages(BUILDS))].join('\n')
  expect(said).not.toContain('acme.example')
  expect(said).not.toContain('acme%40')
})

describe('no person is asked by name', () => {
  test.each([
    ['an unknown address', 'nobody@acme.example', 1],
    ['the address of a person who left', 'former@acme.example', 1],
    ['the address of a guest from another workspace', 'sol@outside.example', 1],
    ['a no-reply address', 'noreply@acme.example', 0],
    ['a private address at GitHub', '1234+octocat@users.noreply.github.com', 0],
    ['a bot’s address', '1234+helper[bot]@users.noreply.github.com', 0],
  ])('for %s', async (_, email, asked) => {
    const world = await open()
    expect(await fail(world, { email })).toMatch(/ · Ada Lovelace$/)
    expect(lookups(world)).toBe(asked)
  })

  test('without the setting', async () => {
    const world = await open({ settings: { PEOPLE_BY_EMAIL: undefined } })
    expect(await fail(world)).toMatch(/ · Ada Lovelace$/)
    expect(lookups(world)).toBe(0)
  })

  test('without the scope', async () => {
    const world = await open({ scopes: DEFAULT_SCOPES })
    expect(await fail(world)).toMatch(/ · Ada Lovelace$/)
    expect(asking(world)).toBeDefined()
  })

  test('if Slack does not answer in time', async () => {
    const world = await open()
    world.slack.faults.add({ kind: 'slow', method: 'users.lookupByEmail', ms: 60_000 })
    expect(await fail(world)).toMatch(/ · Ada Lovelace$/)
    expect(asking(world)).toBeDefined()
  })

  test('if they want no mentions', async () => {
    const world = await open()
    await type(world, ada, '/ci me mentions off')
    await untilAnswered(world, ada, ['Mentions are *off*'])
    expect(await fail(world)).toMatch(/ · Ada Lovelace$/)
  })
})

test('without a usable address, the person who claimed the login as a name is asked', async () => {
  const world = await open({ settings: { PEOPLE_BY_EMAIL: undefined }, scopes: DEFAULT_SCOPES })
  await type(world, lin, '/ci me octocat')
  await untilAnswered(world, lin, ['`octocat` *is yours*'])
  const email = '1234+octocat@users.noreply.github.com'
  expect(await fail(world, { email })).toContain(` · Ada Lovelace · <@${lin}>, is this you?`)
  expect(await fail(world, { email: '1234+hubot@users.noreply.github.com' })).toMatch(/ · Ada Lovelace$/)
})

test('a second failure of the same commit asks nobody again', async () => {
  const world = await open()
  const { id, number } = push(world)
  const card = await untilCard(world, ['Running', `#${number}`])
  world.github.finish(id, 'failure')
  await untilThread(world, card, 'is this you?')
  world.github.rerun(id, { outcome: 'none' })
  world.github.finish(id, 'failure')
  await untilThread(world, card, 'Attempt 2')
  await settled(world.app.url)
  expect(threadOf(world, card).findLast((line) => line.includes('Attempt 2'))).not.toContain('is this you?')
})
