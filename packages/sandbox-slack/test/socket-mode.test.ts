/* oxlint-disable unicorn/require-post-message-target-origin -- Slack's postMessage is not a window's */
import { App, LogLevel, SocketModeReceiver } from '@slack/bolt'
import type { Logger } from '@slack/bolt'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSandboxSlack } from '../src/sandbox-slack.ts'
import type { SandboxSlack } from '../src/sandbox-slack.ts'
import { PEOPLE } from '../src/workspace.ts'
import { BUILDS, until } from './stage.ts'

const RECONNECTED_WITHIN_MS = 2_000
/** How long the client waits for a pong, and before it connects again. */
const CLIENT_PING_MS = 300

const command = { user: PEOPLE.ada, channel: BUILDS, command: '/ci' }
const input = { type: 'plain_text_input', action_id: 'name' } as const
const text = (words: string) => ({ type: 'plain_text', text: words }) as const
const project = { type: 'input', block_id: 'project', label: text('Project'), element: input } as const
const modal = {
  type: 'modal' as const,
  callback_id: 'subscribe',
  title: text('Subscribe'),
  submit: text('Save'),
  blocks: [project],
}

interface Played {
  sandbox: SandboxSlack
  app: App
  told: string[]
}

/** Starts a sandbox and a real Bolt app in Socket Mode. */
async function openApp(): Promise<Played> {
  const sandbox = createSandboxSlack({ rates: 'off' })
  await sandbox.start()
  onTestFinished(() => sandbox.stop())
  const app = appOf(sandbox)
  const told: string[] = []
  listen(app, told)
  await app.start()
  onTestFinished(async () => void (await app.stop()))
  return { sandbox, app, told }
}

/** Logs nothing: these tests cut connections on purpose. */
const quiet: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  setLevel: () => {},
  getLevel: () => LogLevel.ERROR,
  setName: () => {},
}

function appOf({ appToken, botToken, apiUrl }: SandboxSlack): App {
  const clientOptions = { slackApiUrl: apiUrl, logger: quiet }
  const receiver = new SocketModeReceiver({
    appToken,
    clientPingTimeout: CLIENT_PING_MS,
    logger: quiet,
    installerOptions: { clientOptions },
  })
  return new App({ token: botToken, receiver, logger: quiet, clientOptions })
}

function listen(app: App, told: string[]): void {
  app.command('/ci', async ({ ack, command: asked, client }) => {
    told.push(`command ${asked.text}`)
    await ack('one moment')
    if (asked.text === 'subscribe') await client.views.open({ trigger_id: asked.trigger_id, view: modal })
  })
  app.action('restart', async ({ ack, respond }) => {
    await ack()
    await respond({ text: 'restarted', replace_original: true })
    told.push('click')
  })
  app.view('subscribe', async ({ ack, view }) => {
    const name = view.state.values['project']?.['name']?.value ?? ''
    told.push(`view ${name}`)
    if (name === 'acme/none') await ack({ response_action: 'errors', errors: { project: 'no such project' } })
    else await ack()
  })
  app.event('app_mention', async ({ event, say }) => {
    told.push(`mention ${event.text}`)
    await say({ text: 'yes?', thread_ts: event.ts })
  })
}

describe('a Bolt app in Socket Mode', () => {
  test('gets commands and answers them', async () => {
    const { sandbox, told } = await openApp()
    expect(sandbox.sockets.count()).toBe(1)
    expect(await sandbox.people.runCommand({ ...command, text: 'help' })).toMatchObject({ kind: 'answered' })
    expect(told).toEqual(['command help'])
    expect(sandbox.ephemerals(BUILDS)).toMatchObject([{ userId: PEOPLE.ada, message: { text: 'one moment' } }])
  })

  test('gets clicks and answers at the response_url', async () => {
    const { sandbox, app, told } = await openApp()
    const button = { type: 'button', action_id: 'restart', text: text('Restart') } as const
    const blocks = [{ type: 'actions', elements: [button] }] as const
    const { ts } = await app.client.chat.postMessage({ channel: BUILDS, text: 'card', blocks: [...blocks] })
    await sandbox.people.click({ user: PEOPLE.lin, channel: BUILDS, ts: ts!, actionId: 'restart' })
    await until(() => told.includes('click'))
    expect(sandbox.messages(BUILDS)).toMatchObject([{ text: 'restarted' }])
  })

  test('keeps a form open if it has errors, and closes it otherwise', async () => {
    const { sandbox, told } = await openApp()
    await sandbox.people.runCommand({ ...command, text: 'subscribe' })
    await until(() => sandbox.views.stack(PEOPLE.ada).length === 1)
    const named = (value: string) => ({ project: { name: { type: 'plain_text_input', value } } })
    await sandbox.people.submitView({ user: PEOPLE.ada, values: named('acme/none') })
    expect(sandbox.views.stack(PEOPLE.ada)).toHaveLength(1)
    await sandbox.people.submitView({ user: PEOPLE.ada, values: named('acme/web') })
    expect(sandbox.views.stack(PEOPLE.ada)).toEqual([])
    expect(told).toEqual(['command subscribe', 'view acme/none', 'view acme/web'])
  })

  test('gets events', async () => {
    const { sandbox, told } = await openApp()
    await sandbox.people.mentionBot({ user: PEOPLE.ada, channel: BUILDS, text: 'status' })
    await until(() => sandbox.messages(BUILDS).length === 2)
    expect(told).toEqual(['mention <@U0BUILDBOT> status'])
    expect(sandbox.messages(BUILDS)[1]).toMatchObject({ text: 'yes?' })
  })

  test.each([
    ['refreshed', ({ sockets }: SandboxSlack) => sockets.refresh()],
    ['dropped', ({ sockets }: SandboxSlack) => sockets.drop()],
  ])('reconnects when its connection is %s, and loses no event in between', async (_what, cut) => {
    const { sandbox, told } = await openApp()
    const mention = (count: number) =>
      sandbox.people.mentionBot({ user: PEOPLE.ada, channel: BUILDS, text: `number ${count}` })
    const before = mention(1)
    cut(sandbox)
    await until(() => sandbox.sockets.count() === 0)
    const startedMs = performance.now()
    const between = mention(2)
    await until(() => sandbox.sockets.count() === 1)
    expect(performance.now() - startedMs).toBeLessThan(RECONNECTED_WITHIN_MS)
    expect([await before, await between, await mention(3)]).toMatchObject(
      Array.from({ length: 3 }, () => ({ kind: 'answered', status: 200 })),
    )
    expect(new Set(told)).toEqual(new Set([1, 2, 3].map((count) => `mention <@U0BUILDBOT> number ${count}`)))
    expect(await sandbox.people.runCommand({ ...command, text: 'help' })).toMatchObject({ kind: 'answered' })
  })
})
