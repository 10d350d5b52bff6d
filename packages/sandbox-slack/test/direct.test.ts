import { describe, expect, test } from 'vitest'
import { listOf, objectOf } from '../src/json.ts'
import type { SandboxSlack } from '../src/sandbox-slack.ts'
import { ACCOUNTS, CHANNELS, PEOPLE } from '../src/workspace.ts'
import { formOf, only, openBoth } from './bot.ts'
import { bodyOf } from './stage.ts'

const { ada, grace, lin } = PEOPLE

/** What a person does by hand. */
async function deed({ url }: SandboxSlack, body: object) {
  const answer = await fetch(`${url}/sandbox/people`, { method: 'POST', body: JSON.stringify(body) })
  return { status: answer.status, body: await bodyOf(answer) }
}

/** A bot, and the direct channel that Ada has opened with Grace. */
async function openDirect(answer?: Parameters<typeof openBoth>[0]) {
  const stage = await openBoth(answer)
  const { body } = await deed(stage.sandbox, { kind: 'open-direct', user: ada, with: grace })
  return { ...stage, channel: String(objectOf(body['channel'])['id']) }
}

describe('what two people write to each other', () => {
  test('stands in a channel of theirs, the same whoever opens it, and nobody else is in it', async () => {
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

  test('the bot is not sent, by its name neither; what they write in #builds by its name it is', async () => {
    const { bot, sandbox, channel } = await openDirect()
    for (const text of ['hello', '@Buildline stop', `<@U0BUILDBOT> why`])
      expect((await deed(sandbox, { kind: 'say', user: ada, channel, text })).body).toMatchObject({ kind: 'said' })
    expect([bot.received, sandbox.messages(channel).length]).toEqual([[], 3])
    await deed(sandbox, { kind: 'say', user: ada, channel: CHANNELS.builds, text: '@Buildline why' })
    expect(bot.received).toHaveLength(1)
  })

  test('the bot cannot read, and not even find', async () => {
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

  test('is another channel than theirs with the bot', async () => {
    const { call, channel } = await openDirect()
    const opened = await call('conversations.open', { users: ada })
    expect(opened).not.toHaveProperty('already_open')
    expect(objectOf(opened['channel'])['id']).not.toBe(channel)
    expect(await call('conversations.open', { users: ada })).toMatchObject({ already_open: true })
    expect(listOf((await call('conversations.list', { types: 'im' }))['channels'])).toHaveLength(1)
  })

  test('a command there reaches the bot, as in Slack: whoever types it calls it, and sees the answer', async () => {
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
  ])('to %s nobody writes so', async (_who, other, status) => {
    const { sandbox } = await openBoth()
    const before = sandbox.workspace.channels.size
    expect((await deed(sandbox, { kind: 'open-direct', user: ada, with: other })).status).toBe(status)
    expect(sandbox.workspace.channels.size).toBe(before)
  })
})
