import { describe, expect, test } from 'vitest'
import { listOf, objectOf } from '../src/json.ts'
import { CHANNELS, PEOPLE } from '../src/workspace.ts'
import { BUILDS, openStage, textsOf } from './stage.ts'
import type { Body, Stage } from './stage.ts'

const nextCursor = (body: Body) => objectOf(body['response_metadata'])['next_cursor']
const metadata = { event_type: 'build_card', event_payload: { claim: 'c-1' } }

async function posts(stage: Stage, ...texts: string[]): Promise<string[]> {
  const stamps = []
  for (const text of texts) {
    stage.clock.advance(1_000)
    stamps.push(await stage.post({ text }))
  }
  return stamps
}

describe('conversations.history', () => {
  test('shows the newest first, page by page, and nothing twice if messages are posted in between', async () => {
    const stage = await openStage()
    await posts(stage, 'one', 'two', 'three')
    const first = await stage.call('conversations.history', { channel: BUILDS, limit: 2 })
    expect(textsOf(first)).toEqual(['three', 'two'])
    expect(first).toMatchObject({ has_more: true })
    await posts(stage, 'four')
    const second = await stage.call('conversations.history', { channel: BUILDS, limit: 2, cursor: nextCursor(first) })
    expect(textsOf(second)).toEqual(['one'])
    expect(second).toMatchObject({ has_more: false, response_metadata: { next_cursor: '' } })
  })

  test('stays between oldest and latest, and includes their own messages only if inclusive', async () => {
    const stage = await openStage()
    const [one, , three] = await posts(stage, 'one', 'two', 'three')
    const range = { channel: BUILDS, oldest: one, latest: three }
    expect(textsOf(await stage.call('conversations.history', range))).toEqual(['two'])
    const inclusive = await stage.call('conversations.history', { ...range, inclusive: true })
    expect(textsOf(inclusive)).toEqual(['three', 'two', 'one'])
  })

  test('shows metadata only with include_all_metadata', async () => {
    const stage = await openStage()
    await stage.post({ metadata })
    const [plain] = listOf((await stage.call('conversations.history', { channel: BUILDS }))['messages'])
    expect(plain).not.toHaveProperty('metadata')
    const args = { channel: BUILDS, include_all_metadata: true }
    expect((await stage.call('conversations.history', args))['messages']).toMatchObject([{ metadata }])
  })

  test('shows roots with their reply counts, and only replies that were also sent to the channel', async () => {
    const stage = await openStage()
    const [root] = await posts(stage, 'root')
    await stage.post({ text: 'quiet', thread_ts: root })
    const loud = await stage.post({ text: 'loud', thread_ts: root, reply_broadcast: true })
    const { messages } = await stage.call('conversations.history', { channel: BUILDS })
    expect(messages).toMatchObject([
      { text: 'loud', subtype: 'thread_broadcast', thread_ts: root },
      { text: 'root', thread_ts: root, reply_count: 2, latest_reply: loud },
    ])
  })

  test('shows new messages only after the history lag', async () => {
    const stage = await openStage()
    stage.sandbox.acts.setHistoryLag(2_000)
    await stage.post({ text: 'fresh' })
    stage.clock.advance(1_999)
    expect(textsOf(await stage.call('conversations.history', { channel: BUILDS }))).toEqual([])
    stage.clock.advance(1)
    expect(textsOf(await stage.call('conversations.history', { channel: BUILDS }))).toEqual(['fresh'])
  })

  test.each([
    ['an unknown channel', { channel: 'C0NOWHERE1' }, 'channel_not_found'],
    ['a channel without the bot', { channel: CHANNELS.elsewhere }, 'not_in_channel'],
    ['a made-up cursor', { cursor: 'bm9wZQ==' }, 'invalid_cursor'],
    ['a bad limit', { limit: 'many' }, 'invalid_limit'],
    ['a bad oldest', { oldest: 'yesterday' }, 'invalid_ts_oldest'],
    ['a bad latest', { latest: 'today' }, 'invalid_ts_latest'],
  ])('refuses %s', async (_what, args, error) => {
    const { call } = await openStage()
    expect(await call('conversations.history', { channel: BUILDS, ...args })).toMatchObject({ ok: false, error })
  })

  test('still works in an archived channel', async () => {
    const { call } = await openStage()
    expect(await call('conversations.history', { channel: CHANNELS.archived })).toMatchObject({ ok: true })
  })
})

describe('conversations.replies', () => {
  test('shows the root first and the replies oldest first, the root again on every page', async () => {
    const stage = await openStage()
    const [root] = await posts(stage, 'root')
    for (const text of ['a', 'b', 'c']) await stage.post({ text, thread_ts: root, metadata })
    const first = await stage.call('conversations.replies', { channel: BUILDS, ts: root, limit: 2 })
    expect(textsOf(first)).toEqual(['root', 'a', 'b'])
    const args = { channel: BUILDS, ts: root, limit: 2, cursor: nextCursor(first), include_all_metadata: true }
    const second = await stage.call('conversations.replies', args)
    expect(second['messages']).toMatchObject([{ text: 'root' }, { text: 'c', metadata }])
  })

  test('shows only the message if it has no replies', async () => {
    const stage = await openStage()
    const [root] = await posts(stage, 'root')
    expect(textsOf(await stage.call('conversations.replies', { channel: BUILDS, ts: root }))).toEqual(['root'])
  })

  test('shows new replies only after the history lag', async () => {
    const stage = await openStage()
    const [root] = await posts(stage, 'root')
    stage.clock.advance(5_000)
    stage.sandbox.acts.setHistoryLag(5_000)
    await stage.post({ text: 'reply', thread_ts: root })
    expect(textsOf(await stage.call('conversations.replies', { channel: BUILDS, ts: root }))).toEqual(['root'])
    stage.clock.advance(5_000)
    expect(textsOf(await stage.call('conversations.replies', { channel: BUILDS, ts: root }))).toEqual(['root', 'reply'])
  })

  test('refuses an unknown thread', async () => {
    const { call } = await openStage()
    expect((await call('conversations.replies', { channel: BUILDS, ts: '1.000001' })).error).toBe('thread_not_found')
  })
})

describe('the other conversations methods', () => {
  test('info shows a channel, but not a private one from which the bot was removed', async () => {
    const { call, sandbox } = await openStage()
    const info = (channel: string) => call('conversations.info', { channel })
    expect((await info(BUILDS))['channel']).toMatchObject({ name: 'builds', is_member: true, is_archived: false })
    expect((await info(CHANNELS.elsewhere))['channel']).toMatchObject({ is_member: false })
    expect((await info(CHANNELS.secret))['channel']).toMatchObject({ is_private: true })
    sandbox.acts.kickBot(CHANNELS.secret)
    expect((await info(CHANNELS.secret)).error).toBe('channel_not_found')
    sandbox.acts.inviteBot(CHANNELS.secret)
    expect(await info(CHANNELS.secret)).toMatchObject({ ok: true })
  })

  test('list pages through the requested types, without archived channels on request', async () => {
    const { call } = await openStage()
    const names = (body: Body) => listOf(body['channels']).map(({ name }) => name)
    const args = { types: 'public_channel,private_channel', exclude_archived: true, limit: 3 }
    const first = await call('conversations.list', args)
    const second = await call('conversations.list', { ...args, cursor: nextCursor(first) })
    expect([...names(first), ...names(second)]).toEqual(['builds', 'web', 'ops', 'random', 'release-room', 'shared'])
    expect(names(await call('conversations.list'))).toContain('old-builds')
    expect((await call('conversations.list', { types: 'public' })).error).toBe('invalid_types')
  })

  test('members lists the members', async () => {
    const { call } = await openStage()
    const body = await call('conversations.members', { channel: CHANNELS.ops })
    expect(body['members']).toEqual([PEOPLE.ada, PEOPLE.grace, PEOPLE.lin, 'U0BUILDBOT'])
    expect((await call('conversations.members', { channel: 'C0NOWHERE1' })).error).toBe('channel_not_found')
  })

  test('join adds the bot to a public channel, and warns the second time', async () => {
    const { call } = await openStage()
    const channel = CHANNELS.elsewhere
    const first = await call('conversations.join', { channel })
    expect(first).toMatchObject({ ok: true, channel: { id: channel, is_member: true } })
    expect(first).not.toHaveProperty('warning')
    expect(await call('conversations.join', { channel })).toMatchObject({
      ok: true,
      warning: 'already_in_channel',
      response_metadata: { warnings: ['already_in_channel'] },
    })
    expect(await call('chat.postMessage', { channel, text: 'hello' })).toMatchObject({ ok: true })
  })

  test.each([
    ['an archived channel', CHANNELS.archived, 'is_archived'],
    ['a private one', CHANNELS.secret, 'method_not_supported_for_channel_type'],
    ['an unknown one', 'C0NOWHERE1', 'channel_not_found'],
  ])('join refuses %s', async (_what, channel, error) => {
    const { call } = await openStage()
    expect((await call('conversations.join', { channel })).error).toBe(error)
  })

  test('users.conversations lists a person’s channels, private ones only if the bot is in them too', async () => {
    const { call, sandbox } = await openStage()
    const names = (body: Body) => listOf(body['channels']).map(({ name }) => name)
    const args = { user: PEOPLE.grace, types: 'public_channel,private_channel', limit: 4 }
    const first = await call('users.conversations', args)
    expect(names(first)).toEqual(['builds', 'web', 'ops', 'old-builds'])
    const second = { ...args, cursor: nextCursor(first) }
    expect(names(await call('users.conversations', second))).toEqual(['random', 'release-room', 'shared'])
    expect(listOf(first['channels'])[0]).not.toHaveProperty('is_member')
    sandbox.acts.kickBot(CHANNELS.secret)
    expect(names(await call('users.conversations', { ...args, limit: 9, exclude_archived: true }))).toEqual([
      'builds',
      'web',
      'ops',
      'random',
      'shared',
    ])
  })

  test('users.conversations without a person lists the bot’s channels; an unknown person is refused', async () => {
    const { call } = await openStage()
    const names = listOf((await call('users.conversations'))['channels']).map(({ name }) => name)
    expect(names).toEqual(['builds', 'web', 'ops', 'old-builds', 'shared'])
    expect((await call('users.conversations', { user: 'U0NOBODY01' })).error).toBe('user_not_found')
    expect((await call('users.conversations', { types: 'public' })).error).toBe('invalid_types')
  })

  test('open opens a direct channel once', async () => {
    const { call } = await openStage()
    const first = await call('conversations.open', { users: PEOPLE.lin })
    expect(first).toMatchObject({ ok: true, channel: { id: 'D0LIN00001' } })
    expect(await call('conversations.open', { users: PEOPLE.lin })).toMatchObject({ already_open: true })
    expect((await call('conversations.open', { users: 'U0NOBODY01' })).error).toBe('user_not_found')
  })
})
