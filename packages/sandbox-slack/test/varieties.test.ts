import { describe, expect, test } from 'vitest'
import { objectOf } from '../src/json.ts'
import type { Json } from '../src/json.ts'
import { CONNECTIONS_MAX } from '../src/sockets/sockets.ts'
import { ACCOUNTS, CHANNELS, GRID, PEOPLE } from '../src/workspace.ts'
import { formOf, openBoth, payloadOf } from './bot.ts'
import type { Bot } from './bot.ts'
import { BUILDS, openStage, until } from './stage.ts'

// What Slacks are besides a small workspace with public channels. Each is switched on in one line.

const { ada, grace, lin } = PEOPLE
const { secret: SECRET } = CHANNELS

const eventsOf = ({ received }: Bot): Json[] =>
  received.map(({ body }) => objectOf(objectOf(JSON.parse(body))['event']))

describe('a group direct message', () => {
  test('cannot be seen by the bot, which nobody can invite', async () => {
    const { call, sandbox } = await openStage()
    const group = sandbox.acts.openGroup([ada, lin])
    const to = { channel: group, text: 'a', user: ada }
    for (const method of ['chat.postMessage', 'chat.postEphemeral', 'conversations.info', 'conversations.history'])
      expect([method, (await call(method, to)).error]).toEqual([method, 'channel_not_found'])
    expect((await call('users.conversations', { user: ada, types: 'mpim' }))['channels']).toEqual([])
    expect(() => sandbox.acts.inviteBot(group)).toThrow('cannot be invited')
  })

  test('runs commands, which are answered through the response_url', async () => {
    const { bot, sandbox } = await openBoth()
    const group = sandbox.acts.openGroup([ada, lin])
    await sandbox.people.runCommand({ user: ada, channel: group, command: '/ci' })
    const command = formOf(bot.received[0]!)
    expect(command).toMatchObject({ channel_id: group, channel_name: 'mpdm-ada--lin-1' })
    const body = JSON.stringify({ text: 'not here' })
    await fetch(command['response_url']!, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    expect(sandbox.ephemerals(group, ada)).toMatchObject([{ message: { text: 'not here' } }])
  })
})

describe('a private channel without the bot', () => {
  test('is not found, and its name is not told in a command', async () => {
    const { bot, call, sandbox } = await openBoth()
    const board = sandbox.acts.addChannel({ name: 'board', kind: 'private', members: [ada, grace] })
    await sandbox.people.runCommand({ user: ada, channel: board, command: '/ci' })
    expect(formOf(bot.received[0]!)).toMatchObject({ channel_id: board, channel_name: 'privategroup' })
    expect((await call('chat.postMessage', { channel: board, text: 'a' })).error).toBe('channel_not_found')
    const { channels } = await call('conversations.list', { types: 'public_channel,private_channel' })
    expect(JSON.stringify(channels)).not.toContain(board)
    sandbox.acts.inviteBot(board)
    expect(await call('chat.postMessage', { channel: board, text: 'a' })).toMatchObject({ ok: true })
  })
})

describe('a private channel that is shared with another workspace', () => {
  test('gets a new id, under which all of it is found, and the bot an event', async () => {
    const { bot, call, sandbox } = await openBoth()
    const { ts } = await call('chat.postMessage', { channel: SECRET, text: 'a' })
    const id = sandbox.acts.changeId(SECRET)
    await until(() => bot.received.length === 1)
    expect(eventsOf(bot)).toEqual([
      { type: 'channel_id_changed', old_channel_id: SECRET, new_channel_id: id, event_ts: expect.any(String) },
    ])
    expect((await call('chat.postMessage', { channel: SECRET, text: 'b' })).error).toBe('channel_not_found')
    expect(await call('chat.update', { channel: id, ts, text: 'b' })).toMatchObject({ ok: true, channel: id })
    expect((await call('conversations.info', { channel: id }))['channel']).toMatchObject({ is_ext_shared: true })
  })

  test('keeps its id if it is public, since Slack says so', async () => {
    const { sandbox } = await openStage()
    expect(() => sandbox.acts.changeId(BUILDS)).toThrow('is not private')
  })
})

test('a renamed channel keeps its id and remembers its names', async () => {
  const { call, sandbox } = await openStage()
  sandbox.acts.rename(BUILDS, 'releases')
  const { channel } = await call('conversations.info', { channel: BUILDS })
  expect(channel).toMatchObject({ id: BUILDS, name: 'releases', previous_names: ['builds'] })
})

describe('a channel in which only some may post', () => {
  const post = { channel: BUILDS, text: 'a' }

  test.each([
    ['nothing may be posted', { isReadOnly: true }, 'restricted_action_read_only_channel', 'is_read_only'],
    ['only replies may', { isThreadOnly: true }, 'restricted_action_thread_only_channel', 'is_thread_only'],
    ['no replies may', { isNonThreadable: true }, 'restricted_action_non_threadable_channel', 'is_non_threadable'],
  ])('says that %s, and refuses it', async (_what, restriction, error, field) => {
    const { call, post: posted, sandbox } = await openStage()
    const ts = await posted()
    sandbox.acts.restrict(BUILDS, restriction)
    expect((await call('conversations.info', { channel: BUILDS }))['channel']).toMatchObject({ [field]: true })
    const [root, reply] = [
      await call('chat.postMessage', post),
      await call('chat.postMessage', { ...post, thread_ts: ts }),
    ]
    expect([root.error, reply.error]).toEqual([
      field === 'is_non_threadable' ? undefined : error,
      field === 'is_thread_only' ? undefined : error,
    ])
    const broadcast = await call('chat.postMessage', { ...post, thread_ts: ts, reply_broadcast: true })
    expect(broadcast.error).toBe(error)
    const edit = await call('chat.update', { channel: BUILDS, ts, text: 'b' })
    expect(edit.error).toBe(field === 'is_read_only' ? error : undefined)
    sandbox.acts.restrict(BUILDS, null)
    expect(await call('chat.postMessage', post)).toMatchObject({ ok: true })
  })

  test('names those who may post or reply', async () => {
    const { call, post: posted, sandbox } = await openStage()
    const reply = { ...post, thread_ts: await posted() }
    sandbox.acts.restrict(BUILDS, { postingRestrictedTo: { type: ['admin'], user: [grace] } })
    const properties = { posting_restricted_to: { type: ['admin'], user: [grace] } }
    expect((await call('conversations.info', { channel: BUILDS }))['channel']).toMatchObject({ properties })
    expect((await call('chat.postMessage', post)).error).toBe('restricted_action')
    expect(await call('chat.postMessage', reply)).toMatchObject({ ok: true })
    expect((await call('chat.postEphemeral', { ...post, user: ada })).error).toBe('restricted_action')
    const user = [sandbox.workspace.bot.userId]
    sandbox.acts.restrict(BUILDS, { postingRestrictedTo: { user }, threadsRestrictedTo: { type: ['admin'] } })
    expect(await call('chat.postMessage', post)).toMatchObject({ ok: true })
    expect((await call('chat.postMessage', reply)).error).toBe('restricted_action')
  })
})

describe('in an organization', () => {
  test('people have an `enterprise_user`, and requests name the organization', async () => {
    const { bot, call, sandbox } = await openBoth()
    sandbox.acts.joinGrid()
    expect(await call('auth.test')).toMatchObject({ enterprise_id: GRID.id, is_enterprise_install: false })
    expect((await call('users.info', { user: ada }))['user']).toMatchObject({
      team_id: 'T0SANDBOX1',
      enterprise_user: { id: ada, enterprise_id: GRID.id, enterprise_name: GRID.name, teams: ['T0SANDBOX1'] },
    })
    expect((await call('users.info', { user: PEOPLE.sol }))['user']).not.toHaveProperty('enterprise_user')
    await sandbox.people.runCommand({ user: ada, channel: BUILDS, command: '/ci' })
    await sandbox.people.useGlobalShortcut({ user: ada, callbackId: 'find_build' })
    await sandbox.people.openHome(ada)
    expect(formOf(bot.received[0]!)).toMatchObject({ enterprise_id: GRID.id, enterprise_name: GRID.name })
    expect(payloadOf(bot.received[1]!)).toMatchObject({ enterprise: { id: GRID.id }, team: { enterprise_id: GRID.id } })
    expect(JSON.parse(bot.received[2]!.body)).toMatchObject({ authorizations: [{ enterprise_id: GRID.id }] })
  })

  const both = [GRID.otherTeam, 'T0SANDBOX1']

  test('a member of several workspaces may be named by another one of them', async () => {
    const { bot, call, sandbox } = await openBoth()
    sandbox.acts.setGridTeams(lin, { teams: both })
    const user = { team_id: GRID.otherTeam, enterprise_user: { teams: both } }
    expect((await call('users.info', { user: lin }))['user']).toMatchObject(user)
    await sandbox.people.runCommand({ user: lin, channel: BUILDS, command: '/ci' })
    await sandbox.people.useGlobalShortcut({ user: lin, callbackId: 'find_build' })
    await sandbox.people.mentionBot({ user: lin, channel: BUILDS, text: 'status' })
    expect(formOf(bot.received[0]!)).toMatchObject({ team_id: 'T0SANDBOX1' })
    expect(payloadOf(bot.received[1]!)).toMatchObject({ user: { team_id: GRID.otherTeam }, team: { id: 'T0SANDBOX1' } })
    expect(eventsOf({ ...bot, received: bot.received.slice(2) })).toMatchObject([
      { user: lin, user_team: GRID.otherTeam },
    ])
  })

  test('or by none, with the workspaces beside the account', async () => {
    const { call, sandbox } = await openStage()
    sandbox.acts.setGridTeams(lin, { teams: both, isFlat: true })
    const { user } = await call('users.info', { user: lin })
    expect(user).toMatchObject({ enterprise_id: GRID.id, teams: both, enterprise_user: { teams: both } })
    expect(user).not.toHaveProperty('team_id')
  })
})

test('auth.test names the app only if it should', async () => {
  expect(await (await openStage()).call('auth.test')).not.toHaveProperty('app_id')
  expect(await (await openStage({ namesApp: true })).call('auth.test')).toHaveProperty('app_id', 'A0BUILDBOT')
})

describe('an account', () => {
  test('of a workflow or a connector says so', async () => {
    const { call } = await openStage()
    const user = async (id: string) => (await call('users.info', { user: id }))['user']
    expect(await user(ACCOUNTS.workflow)).toMatchObject({ is_workflow_bot: true, is_bot: false })
    expect(await user(ACCOUNTS.connector)).toMatchObject({ is_connector_bot: true, is_bot: false })
    expect(await user(ACCOUNTS.otherBot)).toMatchObject({ is_bot: true, profile: { bot_id: 'B0OTHERBOT' } })
    expect(await user(ada)).not.toHaveProperty('is_workflow_bot')
  })

  test('of an app takes no direct messages', async () => {
    const { call, sandbox } = await openStage()
    for (const user of [ACCOUNTS.otherBot, ACCOUNTS.workflow, sandbox.workspace.bot.userId]) {
      expect((await call('chat.postMessage', { channel: user, text: 'a' })).error).toBe('cannot_dm_bot')
      expect((await call('conversations.open', { users: user })).error).toBe('cannot_dm_bot')
    }
  })

  test('that the app may not see is not visible', async () => {
    const { call, sandbox } = await openStage({ scopes: ['users:read', 'users:read.email', 'im:write'] })
    sandbox.acts.hide(lin)
    expect((await call('users.info', { user: lin })).error).toBe('user_not_visible')
    expect((await call('conversations.open', { users: lin })).error).toBe('user_not_visible')
    expect((await call('users.lookupByEmail', { email: 'lin@acme.example' })).error).toBe('users_not_found')
    expect(JSON.stringify((await call('users.list'))['members'])).not.toContain(lin)
  })
})

describe('a mention by another bot', () => {
  test('names the bot, and of an app also the user', async () => {
    const { bot, sandbox } = await openBoth()
    await sandbox.people.mentionByBot({ channel: BUILDS, text: 'status' })
    expect(eventsOf(bot)).toMatchObject([
      {
        type: 'app_mention',
        user: ACCOUNTS.otherBot,
        bot_id: 'B0OTHERBOT',
        app_id: 'A0OTHERBOT',
        bot_profile: { id: 'B0OTHERBOT', name: 'Other app', team_id: 'T0SANDBOX1' },
        text: '<@U0BUILDBOT> status',
      },
    ])
    expect(sandbox.messages(BUILDS)).toMatchObject([{ user: ACCOUNTS.otherBot, bot_id: 'B0OTHERBOT' }])
  })

  test('names no user of a workflow', async () => {
    const { bot, sandbox } = await openBoth()
    await sandbox.people.mentionByBot({ channel: BUILDS, text: 'status', by: 'workflow' })
    const [event] = eventsOf(bot)
    expect(event).toMatchObject({ subtype: 'bot_message', username: 'Workflow', bot_id: 'B0WORKFLOW' })
    expect(event).not.toHaveProperty('user')
  })
})

describe('a reply that was also sent to the channel', () => {
  test('carries its root', async () => {
    const { call, post } = await openStage()
    const ts = await post({ text: 'card' })
    const reply = { channel: BUILDS, text: 'failed', thread_ts: ts }
    expect((await call('chat.postMessage', reply))['message']).not.toHaveProperty('root')
    const root = { ts, text: 'card', thread_ts: ts, reply_count: 2 }
    const shown = { subtype: 'thread_broadcast', text: 'failed', root }
    expect((await call('chat.postMessage', { ...reply, reply_broadcast: true }))['message']).toMatchObject(shown)
    const { messages } = await call('conversations.history', { channel: BUILDS })
    expect(messages).toMatchObject([shown, { ts, text: 'card' }])
  })
})

describe('Socket Mode', () => {
  const open = async (stage: Awaited<ReturnType<typeof openStage>>): Promise<Json> => {
    const { sandbox } = stage
    const headers = { authorization: `Bearer ${sandbox.appToken}` }
    const answer = await fetch(`${sandbox.apiUrl}apps.connections.open`, { method: 'POST', headers })
    const socket = new WebSocket(String(objectOf(await answer.json())['url']))
    const heard = await new Promise<string>((resolve) =>
      socket.addEventListener('message', ({ data }) => resolve(String(data)), { once: true }),
    )
    return objectOf(JSON.parse(heard))
  }

  test('refuses a connection while other copies of the app hold all of them', async () => {
    const stage = await openStage()
    stage.sandbox.sockets.occupy(CONNECTIONS_MAX)
    expect(await open(stage)).toMatchObject({ type: 'disconnect', reason: 'too_many_websockets' })
    stage.sandbox.sockets.occupy(CONNECTIONS_MAX - 1)
    expect(await open(stage)).toMatchObject({ type: 'hello', num_connections: CONNECTIONS_MAX })
  })

  test('cuts every connection when it is turned off, also new ones', async () => {
    const stage = await openStage()
    await open(stage)
    stage.sandbox.sockets.disable()
    await until(() => stage.sandbox.sockets.count() === 0)
    expect(await open(stage)).toMatchObject({ type: 'disconnect', reason: 'link_disabled' })
    stage.sandbox.sockets.enable()
    expect(await open(stage)).toMatchObject({ type: 'hello' })
  })

  test('may give no address', async () => {
    const { sandbox } = await openStage()
    sandbox.faults.add({ kind: 'error', method: 'apps.connections.open', error: 'forbidden_team' })
    const headers = { authorization: `Bearer ${sandbox.appToken}` }
    const answer = await fetch(`${sandbox.apiUrl}apps.connections.open`, { method: 'POST', headers })
    expect(await answer.json()).toMatchObject({ ok: false, error: 'forbidden_team' })
  })
})
