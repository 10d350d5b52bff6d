import { describe, expect, test } from 'vitest'
import { listOf, objectOf } from '../src/json.ts'
import type { SandboxSlack } from '../src/sandbox-slack.ts'
import { ACCOUNTS, CHANNELS, PEOPLE } from '../src/workspace.ts'
import { formOf, only, openBoth } from './bot.ts'
import { bodyOf } from './stage.ts'

const { ada, grace, lin } = PEOPLE

/** Performs an action of a person over HTTP. */
async function deed({ url }: SandboxSlack, body: object) {
  const answer = await fetch(`${url}/sandbox/people`, { method: 'POST', body: JSON.stringify(body) })
  return { status: answer.status, body: await bodyOf(answer) }
}

/** Starts a bot and a sandbox in which Ada has opened a direct channel with Grace. */
async function openDirect(answer?: Parameters<typeof openBoth>[0]) {
  const stage = await openBoth(answer)
  const { body } = await deed(stage.sandbox, { kind: 'open-direct', user: ada, with: grace })
  return { ...stage, channel: String(objectOf(body['channel'])['id']) }
}

describe('a direct channel of two people', () => {
  test('is the same whoever of them opens it, and has no other members', async () => {
    const { sandbox, channel } = await openDirect()
    const again = await deed(sandbox, { kind: 'open-direct', user: grace, with: ada })
    expect(again).toMatchObject({ status: 200, body: { kind: 'opened', channel: { id: channel, kind: 'im' } } })
    expect(again.body['channel']).toMatchObject({ members: [ada, grace], hasBot: false })
    await deed(sandbox, { kind: 'say', user: ada, channel, text: 'who broke main?' })
    await deed(sandbox, { kind: 'say', user: grace, channel, text: 'not me' })
    expect(sandbox.messages(channel)).toMatchObject([
      { user: ada, text: 'who broke main?' },
      { user: grace, text: 'not me' },
    ])
    expect((await deed(sandbox, { kind: 'say', user: lin, channel, text: 'me' })).status).toBe(400)
  })

  test('sends the bot nothing, not even mentions, unlike #builds', async () => {
    const { bot, sandbox, channel } = await openDirect()
    for (const text of ['hello', '@Buildline stop', `<@U0BUILDBOT> why`])
      expect((await deed(sandbox, { kind: 'say', user: ada, channel, text })).body).toMatchObject({ kind: 'said' })
    expect([bot.received, sandbox.messages(channel).length]).toEqual([[], 3])
    await deed(sandbox, { kind: 'say', user: ada, channel: CHANNELS.builds, text: '@Buildline why' })
    expect(bot.received).toHaveLength(1)
  })

  test('cannot be read or found by the bot', async () => {
    const { sandbox, channel, call } = await openDirect()
    await deed(sandbox, { kind: 'say', user: ada, channel, text: 'between us' })
    const ts = String(sandbox.messages(channel)[0]?.['ts'])
    const asked = [
      call('conversations.info', { channel }),
      call('conversations.history', { channel }),
      call('conversations.replies', { channel, ts }),
      call('conversations.members', { channel }),
      call('chat.postMessage', { channel, text: 'me too' }),
      call('chat.postEphemeral', { channel, user: ada, text: 'me too' }),
      call('chat.getPermalink', { channel, message_ts: ts }),
    ]
    for (const one of asked) expect(await one).toMatchObject({ ok: false, error: 'channel_not_found' })
    for (const args of [{}, { user: ada }]) {
      expect((await call('users.conversations', { types: 'im', ...args }))['channels']).toEqual([])
      expect((await call('conversations.list', { types: 'im' }))['channels']).toEqual([])
    }
  })

  test('is another channel than the one with the bot', async () => {
    const { call, channel } = await openDirect()
    const opened = await call('conversations.open', { users: ada })
    expect(opened).not.toHaveProperty('already_open')
    expect(objectOf(opened['channel'])['id']).not.toBe(channel)
    expect(await call('conversations.open', { users: ada })).toMatchObject({ already_open: true })
    expect(listOf((await call('conversations.list', { types: 'im' }))['channels'])).toHaveLength(1)
  })

  test('passes on commands to the bot, as in Slack, and shows the answer only to the person', async () => {
    const { bot, sandbox, channel } = await openDirect((response) => response.end('2 projects'))
    await deed(sandbox, { kind: 'command', user: ada, channel, command: '/ci', text: 'list' })
    expect(formOf(only(bot.received))).toMatchObject({ channel_id: channel, channel_name: 'directmessage' })
    expect(sandbox.ephemerals(channel, ada)).toMatchObject([{ message: { text: '2 projects' } }])
    expect(sandbox.ephemerals(channel, grace)).toEqual([])
  })

  test.each<[string, string, number]>([
    ['the bot', 'U0BUILDBOT', 400],
    ['another app', ACCOUNTS.otherBot, 400],
    ['a deactivated account', ACCOUNTS.deactivated, 400],
    ['themselves', ada, 400],
    ['nobody', 'U0NOBODY01', 404],
  ])('cannot be opened with %s', async (_who, other, status) => {
    const { sandbox } = await openBoth()
    const before = sandbox.workspace.channels.size
    expect((await deed(sandbox, { kind: 'open-direct', user: ada, with: other })).status).toBe(status)
    expect(sandbox.workspace.channels.size).toBe(before)
  })
})
