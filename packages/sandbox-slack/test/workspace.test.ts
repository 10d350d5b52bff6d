import { describe, expect, test } from 'vitest'
import { ACCOUNTS, CHANNELS, OUTSIDE, PEOPLE } from '../src/workspace.ts'
import { openBot, payloadOf } from './bot.ts'
import { bodyOf, BUILDS, openStage } from './stage.ts'

describe('the token', () => {
  test('is required and compared, and can be revoked', async () => {
    const { sandbox, call } = await openStage()
    const bare = await bodyOf(await fetch(`${sandbox.apiUrl}auth.test`, { method: 'POST' }))
    const headers = { authorization: 'Bearer xoxb-other' }
    const wrong = await bodyOf(await fetch(`${sandbox.apiUrl}auth.test`, { method: 'POST', headers }))
    expect([bare.error, wrong.error]).toEqual(['not_authed', 'invalid_auth'])
    sandbox.acts.revokeToken()
    expect((await call('auth.test')).error).toBe('token_revoked')
    sandbox.acts.restoreToken()
    expect(await call('auth.test')).toMatchObject({ ok: true, user_id: 'U0BUILDBOT', bot_id: 'B0BUILDBOT' })
  })

  const needs: [string, string, string, Record<string, unknown>][] = [
    ['chat.postMessage', 'chat:write', 'chat:write', { channel: BUILDS, text: 'a' }],
    ['chat.update', 'chat:write', 'chat:write', { channel: BUILDS, ts: '1.1', text: 'a' }],
    ['chat.delete', 'chat:write', 'chat:write', { channel: BUILDS, ts: '1.1' }],
    ['chat.postEphemeral', 'chat:write', 'chat:write', { channel: BUILDS, user: PEOPLE.ada, text: 'a' }],
    [
      'conversations.history',
      'channels:history',
      'channels:history,groups:history,mpim:history,im:history',
      { channel: BUILDS },
    ],
    [
      'conversations.replies',
      'channels:history',
      'channels:history,groups:history,mpim:history,im:history',
      { channel: BUILDS },
    ],
    ['conversations.info', 'channels:read', 'channels:read,groups:read,mpim:read,im:read', { channel: BUILDS }],
    ['conversations.list', 'channels:read', 'channels:read,groups:read,mpim:read,im:read', {}],
    ['conversations.members', 'channels:read', 'channels:read,groups:read,mpim:read,im:read', { channel: BUILDS }],
    ['conversations.open', 'im:write', 'im:write', { users: PEOPLE.ada }],
    ['conversations.join', 'channels:join', 'channels:join', { channel: BUILDS }],
    ['users.conversations', 'channels:read', 'channels:read,groups:read,mpim:read,im:read', {}],
    ['users.info', 'users:read', 'users:read', { user: PEOPLE.ada }],
    ['users.lookupByEmail', 'users:read.email', 'users:read.email', { email: 'ada@acme.example' }],
    ['users.list', 'users:read', 'users:read', {}],
    ['usergroups.list', 'usergroups:read', 'usergroups:read', {}],
    ['usergroups.users.list', 'usergroups:read', 'usergroups:read', { usergroup: 'S0RELEASE1' }],
    ['files.getUploadURLExternal', 'files:write', 'files:write', { filename: 'a.txt', length: 1 }],
    ['files.completeUploadExternal', 'files:write', 'files:write', { files: [{ id: 'F01' }] }],
    ['reactions.add', 'reactions:write', 'reactions:write', { channel: BUILDS, timestamp: '1.1', name: 'eyes' }],
  ]

  test.each(needs)('%s needs %s', async (method, scope, needed, args) => {
    const without = await openStage({ scopes: ['commands'] })
    const refusal = await without.call(method, args)
    expect(refusal).toMatchObject({ ok: false, error: 'missing_scope', needed, provided: 'commands' })
    // reactions.add also reads the channel's messages.
    const granted = await openStage({ scopes: [scope, 'channels:history'] })
    expect((await granted.call(method, args)).error).not.toBe('missing_scope')
  })

  test('reads a private channel only with the scope for private ones', async () => {
    const { call } = await openStage({ scopes: ['channels:history'] })
    const refusal = await call('conversations.history', { channel: CHANNELS.secret })
    expect(refusal).toMatchObject({ error: 'missing_scope', needed: 'groups:history' })
  })
})

test('api.test echoes its arguments, or answers with the requested error', async () => {
  const { call } = await openStage()
  expect(await call('api.test', { foo: 'bar' })).toEqual({ ok: true, args: { foo: 'bar' } })
  expect(await call('api.test', { error: 'my_error' })).toMatchObject({ ok: false, error: 'my_error' })
})

test('a method that the sandbox does not have is unknown', async () => {
  const { call } = await openStage()
  expect((await call('admin.users.list')).error).toBe('unknown_method')
})

test('people have names and roles', async () => {
  const { call } = await openStage()
  const user = async (id: string) => (await call('users.info', { user: id }))['user']
  expect(await user(PEOPLE.ada)).toMatchObject({ real_name: 'Ada', is_admin: false, is_restricted: false })
  expect(await user(PEOPLE.grace)).toMatchObject({ real_name: 'Grace', is_admin: true })
  expect(await user(PEOPLE.gus)).toMatchObject({ is_restricted: true })
  expect((await call('users.info', { user: 'U0NOBODY01' })).error).toBe('user_not_found')
  expect((await call('users.list'))['members']).toHaveLength(10)
})

test('an account can be a bot’s or deactivated, and a deactivated one has no rights', async () => {
  const { call } = await openStage()
  const user = async (id: string) => (await call('users.info', { user: id }))['user']
  expect(await user(ACCOUNTS.otherBot)).toMatchObject({ is_bot: true, deleted: false })
  expect(await user(ACCOUNTS.deactivated)).toMatchObject({ is_bot: false, deleted: true })
  expect(await user(ACCOUNTS.deactivated)).not.toHaveProperty('is_admin')
  expect(await user(PEOPLE.ada)).toMatchObject({ is_bot: false, deleted: false, is_admin: false, is_owner: false })
  expect(await user(PEOPLE.ada)).not.toHaveProperty('is_stranger')
})

test('an account is found by its e-mail address, unless it is deactivated', async () => {
  const { call } = await openStage({ scopes: ['users:read', 'users:read.email'] })
  const found = async (email: string) => call('users.lookupByEmail', { email })
  expect(await found('Ada@acme.example')).toMatchObject({
    user: { id: PEOPLE.ada, profile: { email: 'ada@acme.example' } },
  })
  expect(await found('sol@outside.example')).toMatchObject({ user: { id: PEOPLE.sol, team_id: OUTSIDE.id } })
  for (const email of ['former@acme.example', 'nobody@acme.example', ''])
    expect(await found(email)).toMatchObject({ ok: false, error: 'users_not_found' })
})

test('an e-mail address is shown only with its scope', async () => {
  const shown = async (...scopes: string[]) => {
    const { call } = await openStage({ scopes })
    return call('users.info', { user: PEOPLE.ada })
  }
  expect(await shown('users:read', 'users:read.email')).toHaveProperty('user.profile.email', 'ada@acme.example')
  expect(await shown('users:read')).not.toHaveProperty('user.profile.email')
})

test('an owner is also an admin', async () => {
  const { call, sandbox } = await openStage()
  sandbox.workspace.users.get(PEOPLE.ada)!.role = 'owner'
  expect((await call('users.info', { user: PEOPLE.ada }))['user']).toMatchObject({ is_owner: true, is_admin: true })
})

describe('an outsider', () => {
  test('has another team id, and is a stranger only while they share no channel with the bot', async () => {
    const { call, sandbox } = await openStage()
    const sol = async () => (await call('users.info', { user: PEOPLE.sol }))['user']
    expect(await sol()).toMatchObject({ team_id: OUTSIDE.id, is_stranger: false, is_restricted: false })
    sandbox.acts.kickBot(CHANNELS.shared)
    expect(await sol()).toMatchObject({ team_id: OUTSIDE.id, is_stranger: true })
  })

  test('is a member of a channel that is marked as shared', async () => {
    const { call } = await openStage()
    const channel = async (id: string) => (await call('conversations.info', { channel: id }))['channel']
    expect(await channel(CHANNELS.shared)).toMatchObject({ is_ext_shared: true, connected_team_ids: [OUTSIDE.id] })
    expect(await channel(BUILDS)).toMatchObject({ is_ext_shared: false, is_shared: false })
    expect((await call('conversations.members', { channel: CHANNELS.shared }))['members']).toContain(PEOPLE.sol)
  })

  test('clicks and posts with the team of their own workspace', async () => {
    const bot = await openBot()
    const { sandbox, post } = await openStage({ botUrl: bot.url })
    const button = { type: 'button', action_id: 'stop', text: { type: 'plain_text', text: 'Stop' } }
    const ts = await post({ channel: CHANNELS.shared, blocks: [{ type: 'actions', elements: [button] }] })
    await sandbox.people.click({ user: PEOPLE.sol, channel: CHANNELS.shared, ts, actionId: 'stop' })
    await sandbox.people.click({ user: PEOPLE.ada, channel: CHANNELS.shared, ts, actionId: 'stop' })
    await sandbox.people.mentionBot({ user: PEOPLE.sol, channel: CHANNELS.shared, text: 'stop' })
    const [sol, ada, mention] = bot.received
    expect(payloadOf(sol!)).toMatchObject({
      user: { id: PEOPLE.sol, team_id: OUTSIDE.id },
      team: { id: OUTSIDE.id, domain: 'outside' },
      is_enterprise_install: false,
    })
    expect(payloadOf(ada!)).toMatchObject({ user: { team_id: 'T0SANDBOX1' }, team: { id: 'T0SANDBOX1' } })
    expect(JSON.parse(mention!.body)).toMatchObject({
      team_id: 'T0SANDBOX1',
      is_ext_shared_channel: true,
      event: { user: PEOPLE.sol, user_team: OUTSIDE.id },
    })
    expect(sandbox.messages(CHANNELS.shared).at(-1)).toMatchObject({ user: PEOPLE.sol, team: OUTSIDE.id })
  })
})

test('groups have members', async () => {
  const { call } = await openStage()
  const { usergroups } = await call('usergroups.list', { include_users: true })
  expect(usergroups).toMatchObject([{ id: 'S0RELEASE1', handle: 'release', users: [PEOPLE.ada, PEOPLE.grace] }])
  const { users } = await call('usergroups.users.list', { usergroup: 'S0RELEASE1' })
  expect(users).toEqual([PEOPLE.ada, PEOPLE.grace])
  expect((await call('usergroups.users.list', { usergroup: 'S0NONE0001' })).error).toBe('no_such_subteam')
})

test('a reaction is added once', async () => {
  const { call, post, sandbox } = await openStage()
  const args = { channel: BUILDS, timestamp: await post(), name: 'eyes' }
  expect(await call('reactions.add', args)).toEqual({ ok: true })
  expect((await call('reactions.add', args)).error).toBe('already_reacted')
  expect((await call('reactions.add', { ...args, name: 'No Such' })).error).toBe('invalid_name')
  expect((await call('reactions.add', { ...args, timestamp: '1.1' })).error).toBe('message_not_found')
  expect(sandbox.messages(BUILDS)).toMatchObject([{ reactions: [{ name: 'eyes', count: 1 }] }])
})

test('the transcript shows roots, replies, edits, and replies that were also sent to the channel', async () => {
  const { call, clock, post, sandbox } = await openStage()
  const ts = await post({ text: ':large_blue_circle: *Running* web #512' })
  await call('chat.update', { channel: BUILDS, ts, text: ':x: *Failed* web #512' })
  await call('chat.update', { channel: BUILDS, ts, text: ':white_check_mark: *Fixed* web #512' })
  clock.advance(60_000)
  await post({ text: 'Failed\nafter 7 min', thread_ts: ts })
  await post({ text: 'Fixed', thread_ts: ts, reply_broadcast: true })
  sandbox.acts.say({ user: PEOPLE.lin, channel: BUILDS, text: 'thanks' })
  expect(sandbox.transcript(BUILDS)).toBe(
    [
      '14:02:00 Buildline  :white_check_mark: *Fixed* web #512 (edited 2)',
      '    14:03:00 Buildline  Failed\n        after 7 min',
      '    14:03:00 Buildline  Fixed (also sent to channel)',
      '14:03:00 Lin  thanks',
    ].join('\n'),
  )
})
