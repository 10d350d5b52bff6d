import { describe, expect, test } from 'vitest'
import { CHANNELS, PEOPLE } from '../../../src/sandbox/slack/workspace.ts'
import { bodyOf, BUILDS, openStage } from './stage.ts'

describe('the token', () => {
  test('is asked for, compared, and may be revoked', async () => {
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
    ['conversations.history', 'channels:history', 'channels:history,groups:history,im:history', { channel: BUILDS }],
    ['conversations.replies', 'channels:history', 'channels:history,groups:history,im:history', { channel: BUILDS }],
    ['conversations.info', 'channels:read', 'channels:read,groups:read,im:read', { channel: BUILDS }],
    ['conversations.list', 'channels:read', 'channels:read,groups:read,im:read', {}],
    ['conversations.members', 'channels:read', 'channels:read,groups:read,im:read', { channel: BUILDS }],
    ['conversations.open', 'im:write', 'im:write', { users: PEOPLE.ada }],
    ['users.info', 'users:read', 'users:read', { user: PEOPLE.ada }],
    ['users.list', 'users:read', 'users:read', {}],
    ['usergroups.list', 'usergroups:read', 'usergroups:read', {}],
    ['usergroups.users.list', 'usergroups:read', 'usergroups:read', { usergroup: 'S0RELEASE1' }],
    ['reactions.add', 'reactions:write', 'reactions:write', { channel: BUILDS, timestamp: '1.1', name: 'eyes' }],
  ]

  test.each(needs)('%s needs %s', async (method, scope, needed, args) => {
    const without = await openStage({ scopes: ['commands'] })
    const refusal = await without.call(method, args)
    expect(refusal).toMatchObject({ ok: false, error: 'missing_scope', needed, provided: 'commands' })
    // reactions.add reads the channel's messages, too
    const granted = await openStage({ scopes: [scope, 'channels:history'] })
    expect((await granted.call(method, args)).error).not.toBe('missing_scope')
  })

  test('reads a private channel only with the scope for private ones', async () => {
    const { call } = await openStage({ scopes: ['channels:history'] })
    const refusal = await call('conversations.history', { channel: CHANNELS.secret })
    expect(refusal).toMatchObject({ error: 'missing_scope', needed: 'groups:history' })
  })
})

test('api.test echoes, and answers the error asked for', async () => {
  const { call } = await openStage()
  expect(await call('api.test', { foo: 'bar' })).toEqual({ ok: true, args: { foo: 'bar' } })
  expect(await call('api.test', { error: 'my_error' })).toMatchObject({ ok: false, error: 'my_error' })
})

test('a method that is not played here is unknown, and Socket Mode says it is not there yet', async () => {
  const { call } = await openStage()
  expect((await call('admin.users.list')).error).toBe('unknown_method')
  expect((await call('apps.connections.open')).error).toBe('not_implemented')
})

test('people have names and roles', async () => {
  const { call } = await openStage()
  const user = async (id: string) => (await call('users.info', { user: id }))['user']
  expect(await user(PEOPLE.ada)).toMatchObject({ real_name: 'Ada', is_admin: false, is_restricted: false })
  expect(await user(PEOPLE.grace)).toMatchObject({ real_name: 'Grace', is_admin: true })
  expect(await user(PEOPLE.gus)).toMatchObject({ is_restricted: true })
  expect((await call('users.info', { user: 'U0NOBODY01' })).error).toBe('user_not_found')
  expect((await call('users.list'))['members']).toHaveLength(5)
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

test('the transcript shows roots, replies, edits and what was also sent to the channel', async () => {
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
