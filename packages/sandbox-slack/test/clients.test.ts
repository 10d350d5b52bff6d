/* oxlint-disable unicorn/require-post-message-target-origin -- Slack's postMessage is not a window's */
import { App, LogLevel } from '@slack/bolt'
import { WebClient } from '@slack/web-api'
import { expect, onTestFinished, test } from 'vitest'
import { PEOPLE } from '../src/workspace.ts'
import { createSandboxSlack } from '../src/sandbox-slack.ts'
import { portOf } from './bot.ts'
import { BUILDS, openStage } from './stage.ts'

const options = { retryConfig: { retries: 0 }, rejectRateLimitedCalls: true, logLevel: LogLevel.ERROR }
const metadata = { event_type: 'build_card', event_payload: { claim: 'c-1' } }
const attachments = [{ color: '#e01e5a', blocks: [{ type: 'section', text: { type: 'mrkdwn', text: '*Failed*' } }] }]

test('the Web API client posts, updates and reads back', async () => {
  const { sandbox } = await openStage()
  const client = new WebClient(sandbox.botToken, { ...options, slackApiUrl: sandbox.apiUrl })
  const posted = await client.chat.postMessage({ channel: BUILDS, text: 'running', attachments, metadata })
  const ts = posted.ts!
  await client.chat.postMessage({ channel: BUILDS, text: 'reply', thread_ts: ts, reply_broadcast: true })
  await client.chat.update({ channel: BUILDS, ts, text: 'failed', parse: 'none', link_names: false })
  const history = await client.conversations.history({
    channel: BUILDS,
    include_all_metadata: true,
    oldest: ts,
    inclusive: true,
  })
  expect(history.messages).toMatchObject([
    { text: 'reply', subtype: 'thread_broadcast' },
    {
      ts,
      text: 'failed',
      metadata,
      attachments: [{ color: 'e01e5a' }],
      reply_count: 1,
      edited: { user: 'U0BUILDBOT' },
    },
  ])
  const thread = await client.conversations.replies({ channel: BUILDS, ts })
  expect(thread.messages?.map(({ text }) => text)).toEqual(['failed', 'reply'])
})

test('the Web API client understands errors and 429s', async () => {
  const { sandbox } = await openStage({ rates: { postBurst: 1 } })
  const client = new WebClient(sandbox.botToken, { ...options, slackApiUrl: sandbox.apiUrl })
  await expect(client.chat.postMessage({ channel: 'C0NOWHERE1', text: 'a' })).rejects.toMatchObject({
    code: 'slack_webapi_platform_error',
    data: { error: 'channel_not_found' },
  })
  await client.chat.postMessage({ channel: BUILDS, text: 'a' })
  await expect(client.chat.postMessage({ channel: BUILDS, text: 'b' })).rejects.toMatchObject({
    code: 'slack_webapi_rate_limited_error',
    retryAfter: 1,
  })
})

test('a Bolt app gets commands, clicks, mentions and modals, and answers them', async () => {
  const sandbox = createSandboxSlack({ rates: 'off' })
  await sandbox.start()
  onTestFinished(() => sandbox.stop())
  const app = new App({
    token: sandbox.botToken,
    signingSecret: sandbox.signingSecret,
    logLevel: LogLevel.ERROR,
    clientOptions: { slackApiUrl: sandbox.apiUrl },
  })
  const told: string[] = []
  app.command('/ci', async ({ ack, command, client }) => {
    await ack('one moment')
    const title = { type: 'plain_text', text: 'Subscribe' } as const
    await client.views.open({
      trigger_id: command.trigger_id,
      view: { type: 'modal', callback_id: 'm', title, blocks: [{ type: 'divider' }] },
    })
    told.push(`command ${command.text}`)
  })
  app.view('m', async ({ ack, view }) => {
    told.push(`view ${view.callback_id}`)
    await ack()
  })
  app.action('restart', async ({ ack, respond }) => {
    await ack()
    await respond({ text: 'restarted', replace_original: true })
    told.push('action')
  })
  app.event('app_mention', async ({ event, say }) => {
    await say({ text: 'yes?', thread_ts: event.ts })
    told.push('mention')
  })
  const server = await app.start({ port: 0, host: '127.0.0.1' })
  onTestFinished(async () => void (await app.stop()))
  sandbox.connectBot(`http://127.0.0.1:${portOf(server.address())}/slack/events`)
  const { people } = sandbox

  expect(await people.verifyUrl('c-1')).toMatchObject({ status: 200, body: expect.stringContaining('c-1') })
  expect(await people.runCommand({ user: PEOPLE.ada, channel: BUILDS, command: '/ci', text: 'help' })).toMatchObject({
    status: 200,
  })
  await expect.poll(() => told).toContain('command help')
  expect(await people.submitView({ user: PEOPLE.ada })).toMatchObject({ status: 200 })
  const button = { type: 'button', action_id: 'restart', text: { type: 'plain_text', text: 'Restart' } } as const
  const { ts } = await app.client.chat.postMessage({
    channel: BUILDS,
    text: 'card',
    blocks: [{ type: 'actions', elements: [button] }],
  })
  expect(await people.click({ user: PEOPLE.ada, channel: BUILDS, ts: ts!, actionId: 'restart' })).toMatchObject({
    status: 200,
  })
  expect(await people.mentionBot({ user: PEOPLE.ada, channel: BUILDS, text: 'status' })).toMatchObject({ status: 200 })
  await expect.poll(() => told.length).toBe(4)
  expect(sandbox.messages(BUILDS).map(({ text }) => text)).toEqual(['restarted', '<@U0BUILDBOT> status', 'yes?'])
  expect(sandbox.ephemerals(BUILDS)).toMatchObject([{ message: { text: 'one moment' } }])
  const forged = { what: 'forged', contentType: 'application/json', body: '{}', signingSecret: 'other' } as const
  expect(await sandbox.sender.send(forged)).toMatchObject({ status: 401 })
})
