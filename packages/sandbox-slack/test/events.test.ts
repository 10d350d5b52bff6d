import { describe, expect, test } from 'vitest'
import { objectOf } from '../src/json.ts'
import type { Json } from '../src/json.ts'
import type { SandboxSlack, SandboxSlackOptions } from '../src/sandbox-slack.ts'
import { CHANNELS, PEOPLE } from '../src/workspace.ts'
import { openBoth } from './bot.ts'
import type { Bot } from './bot.ts'
import { BUILDS, openStage, until } from './stage.ts'

const { ada, grace } = PEOPLE
const BOT = 'U0BUILDBOT'
const SECRET = CHANNELS.secret

const act = async ({ url }: SandboxSlack, body: object): Promise<number> =>
  (await fetch(`${url}/sandbox/acts`, { method: 'POST', body: JSON.stringify(body) })).status

const eventsOf = ({ received }: Bot): Json[] =>
  received.map(({ body }) => objectOf(objectOf(JSON.parse(body))['event']))

/** The events that the bot gets from these changes, made over HTTP one after the other. */
async function toldOf(acts: object[], options: SandboxSlackOptions = {}): Promise<Json[]> {
  const { bot, sandbox } = await openBoth(undefined, options)
  for (const [index, one] of acts.entries()) {
    expect(await act(sandbox, one)).toBe(200)
    await until(() => bot.received.length > index)
  }
  return eventsOf(bot)
}

/** The events that the bot gets after these changes and a mention; only the mention, if the changes send none. */
async function mentionAfter(acts: object[], options: SandboxSlackOptions = {}): Promise<Json[]> {
  const { bot, sandbox } = await openBoth(undefined, options)
  for (const one of acts) await act(sandbox, one)
  await sandbox.people.mentionBot({ user: ada, channel: BUILDS, text: 'status' })
  return eventsOf(bot)
}

describe('the bot gets an event if', () => {
  test('a public channel is archived, unarchived or renamed', async () => {
    const place = { channel: BUILDS }
    const told = await toldOf([
      { kind: 'archive', ...place },
      { kind: 'unarchive', ...place },
      { kind: 'rename', ...place, name: 'releases' },
    ])
    expect(told).toEqual([
      { type: 'channel_archive', channel: BUILDS, user: grace, is_moved: 0, event_ts: expect.any(String) },
      { type: 'channel_unarchive', channel: BUILDS, user: grace, event_ts: expect.any(String) },
      {
        type: 'channel_rename',
        channel: {
          id: BUILDS,
          name: 'releases',
          name_normalized: 'releases',
          created: expect.any(Number),
          is_channel: true,
          is_mpim: false,
        },
        event_ts: expect.any(String),
      },
    ])
  })

  test('a private channel is, with events of another name', async () => {
    const place = { channel: SECRET }
    const told = await toldOf([
      { kind: 'archive', ...place },
      { kind: 'unarchive', ...place },
      { kind: 'rename', ...place, name: 'launch' },
    ])
    expect(told).toMatchObject([
      { type: 'group_archive', channel: SECRET, user: grace },
      { type: 'group_unarchive', channel: SECRET, actor_id: grace },
      { type: 'group_rename', channel: { id: SECRET, name: 'launch', is_channel: false } },
    ])
  })

  test('it is removed or invited', async () => {
    const told = await toldOf([
      { kind: 'kick-bot', channel: BUILDS },
      { kind: 'invite-bot', channel: BUILDS },
      { kind: 'kick-bot', channel: SECRET },
      { kind: 'invite-bot', channel: SECRET },
    ])
    expect(told).toMatchObject([
      { type: 'channel_left', channel: BUILDS, actor_id: grace },
      { type: 'member_joined_channel', channel: BUILDS, channel_type: 'C', user: BOT, inviter: grace },
      { type: 'group_left', channel: SECRET },
      { type: 'member_joined_channel', channel: SECRET, channel_type: 'G' },
    ])
  })

  test('it is removed from a channel that was made private, as from a private one', async () => {
    const { bot, call, sandbox } = await openBoth()
    await act(sandbox, { kind: 'make-private', channel: BUILDS })
    expect((await call('conversations.info', { channel: BUILDS }))['channel']).toMatchObject({ is_private: true })
    await act(sandbox, { kind: 'kick-bot', channel: BUILDS })
    await until(() => bot.received.length > 0)
    expect(eventsOf(bot)).toMatchObject([{ type: 'group_left', channel: BUILDS }])
    expect((await call('conversations.info', { channel: BUILDS })).error).toBe('channel_not_found')
  })

  test('a person is deactivated or reactivated', async () => {
    const told = await toldOf([
      { kind: 'deactivate', user: ada },
      { kind: 'reactivate', user: ada },
    ])
    expect(told).toMatchObject([
      { type: 'user_change', user: { id: ada, deleted: true } },
      { type: 'user_change', user: { id: ada, deleted: false, is_admin: false } },
    ])
  })

  test('it joins a channel by itself, without an inviter', async () => {
    const { bot, call } = await openBoth()
    await call('conversations.join', { channel: CHANNELS.elsewhere })
    await until(() => bot.received.length > 0)
    expect(eventsOf(bot)).toMatchObject([{ type: 'member_joined_channel', channel: CHANNELS.elsewhere, user: BOT }])
    expect(eventsOf(bot)[0]).not.toHaveProperty('inviter')
  })

  test('a shared channel is renamed, which says that the channel is shared', async () => {
    const { bot, sandbox } = await openBoth()
    await act(sandbox, { kind: 'rename', channel: CHANNELS.shared, name: 'partners' })
    await until(() => bot.received.length > 0)
    expect(JSON.parse(bot.received[0]!.body)).toMatchObject({ is_ext_shared_channel: true })
  })
})

describe('the bot gets no event', () => {
  const MENTION = [{ type: 'app_mention' }]

  test.each<[string, object]>([
    ['is archived', { kind: 'archive', channel: CHANNELS.archived }],
    ['has the name', { kind: 'rename', channel: BUILDS, name: 'builds' }],
    ['is without the bot', { kind: 'kick-bot', channel: CHANNELS.elsewhere }],
    ['has the bot in it', { kind: 'invite-bot', channel: BUILDS }],
    ['is private', { kind: 'make-private', channel: SECRET }],
  ])('if the channel already %s', async (_what, one) => {
    expect(await mentionAfter([one])).toMatchObject(MENTION)
  })

  test('about a private channel that it is not in', async () => {
    const { bot, sandbox } = await openBoth()
    sandbox.workspace.channels.get(SECRET)!.members.delete(BOT)
    await act(sandbox, { kind: 'archive', channel: SECRET })
    await sandbox.people.mentionBot({ user: ada, channel: BUILDS, text: 'status' })
    expect(eventsOf(bot)).toMatchObject(MENTION)
  })

  test('that the app has not subscribed to', async () => {
    const archived = [{ kind: 'archive', channel: CHANNELS.web }]
    expect(await mentionAfter(archived, { events: ['channel_rename'] })).toMatchObject(MENTION)
    expect(await toldOf(archived, { events: ['channel_archive'] })).toMatchObject([{ type: 'channel_archive' }])
  })

  test.each<[string, object]>([
    ['channels:read', { kind: 'archive', channel: CHANNELS.web }],
    ['channels:read', { kind: 'invite-bot', channel: CHANNELS.elsewhere }],
    ['groups:read', { kind: 'archive', channel: SECRET }],
    ['users:read', { kind: 'deactivate', user: PEOPLE.lin }],
  ])('that needs %s without that scope', async (scope, one) => {
    expect(await mentionAfter([{ kind: 'revoke-scope', scope }, one])).toMatchObject(MENTION)
  })

  test('from an invalid change', async () => {
    const { sandbox } = await openStage()
    expect(await act(sandbox, { kind: 'rename', channel: BUILDS, name: 'No Such' })).toBe(400)
    expect(await act(sandbox, { kind: 'rename', channel: BUILDS, name: 'a'.repeat(81) })).toBe(400)
    expect(await act(sandbox, { kind: 'rename', channel: BUILDS, name: 'a'.repeat(80) })).toBe(200)
    expect(await act(sandbox, { kind: 'deactivate', user: 'U0NOBODY01' })).toBe(404)
    expect(await act(sandbox, { kind: 'make-private', channel: 'C0NOWHERE1' })).toBe(404)
    expect(await act(sandbox, { kind: 'revoke-scope', scope: 'everything!' })).toBe(400)
  })
})

describe('the Web API follows', () => {
  test('the deactivation of a person', async () => {
    const { call, sandbox } = await openStage()
    sandbox.acts.deactivate(ada)
    expect((await call('users.info', { user: ada }))['user']).toMatchObject({ deleted: true })
    expect((await call('conversations.members', { channel: BUILDS }))['members']).not.toContain(ada)
    expect((await call('chat.postEphemeral', { channel: BUILDS, user: ada, text: 'a' })).error).toBe(
      'user_not_in_channel',
    )
    expect((await call('conversations.open', { users: ada })).error).toBe('user_disabled')
    sandbox.acts.reactivate(ada)
    expect((await call('conversations.members', { channel: BUILDS }))['members']).toContain(ada)
  })

  test('changes of scopes, and names the scopes in a header', async () => {
    const { call, sandbox, send } = await openStage({ scopes: ['chat:write', 'users:read'] })
    const granted = async () => (await send('auth.test')).headers.get('x-oauth-scopes')
    expect(await granted()).toBe('chat:write,users:read')
    await act(sandbox, { kind: 'revoke-scope', scope: 'users:read' })
    expect(await granted()).toBe('chat:write')
    expect(await call('users.info', { user: ada })).toMatchObject({
      error: 'missing_scope',
      needed: 'users:read',
      provided: 'chat:write',
    })
    await act(sandbox, { kind: 'grant-scope', scope: 'users:read' })
    expect(await call('users.info', { user: ada })).toMatchObject({ ok: true })
  })
})
