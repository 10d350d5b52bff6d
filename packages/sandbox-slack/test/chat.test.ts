import { describe, expect, test } from 'vitest'
import { CHANNELS, PEOPLE } from '../src/workspace.ts'
import { bodyOf, BUILDS, openStage, textsOf } from './stage.ts'

const card = (text: string) => [{ type: 'section', text: { type: 'mrkdwn', text } }]
const metadata = { event_type: 'build_card', event_payload: { claim: 'c-1' } }

describe('chat.postMessage', () => {
  test('answers with channel, ts and the stored message, in which entities stay escaped', async () => {
    const { call, sandbox } = await openStage()
    const body = await call('chat.postMessage', { channel: BUILDS, text: 'Ada: a &lt;b&gt; &amp; c' })
    expect(body).toMatchObject({ ok: true, channel: BUILDS, ts: '1785420120.000000' })
    expect(body['message']).toMatchObject({
      text: 'Ada: a &lt;b&gt; &amp; c',
      bot_id: 'B0BUILDBOT',
      app_id: 'A0BUILDBOT',
    })
    expect(sandbox.messages(BUILDS)).toHaveLength(1)
  })

  test('gives every message of a channel a later ts, even in the same millisecond', async () => {
    const { post } = await openStage()
    const stamps = [await post(), await post(), await post()]
    expect(new Set(stamps).size).toBe(3)
    expect(stamps.toSorted()).toEqual(stamps)
  })

  test('accepts a form with JSON in its fields and the token in the body', async () => {
    const { sandbox } = await openStage()
    const body = new URLSearchParams({ token: sandbox.botToken, channel: BUILDS, blocks: JSON.stringify(card('a')) })
    const answer = await bodyOf(await fetch(`${sandbox.apiUrl}chat.postMessage`, { method: 'POST', body }))
    expect(answer['message']).toMatchObject({ blocks: [{ type: 'section', text: { text: 'a', verbatim: false } }] })
  })

  test('adds missing ids to blocks and buttons, and keeps existing ones', async () => {
    const { call } = await openStage()
    const text = { type: 'plain_text', text: 'Stop' }
    const elements = [
      { type: 'button', text, action_id: 'stop' },
      { type: 'button', text },
    ]
    const body = await call('chat.postMessage', { channel: BUILDS, blocks: [{ type: 'actions', elements }] })
    expect(body['message']).toMatchObject({
      blocks: [{ block_id: expect.any(String), elements: [{ action_id: 'stop' }, { action_id: expect.any(String) }] }],
    })
  })

  test('cuts text over 40,000 characters with a warning, but not exactly 40,000', async () => {
    const { call } = await openStage()
    const cut = await call('chat.postMessage', { channel: BUILDS, text: 'é'.repeat(40_001) })
    expect(cut['message']).toMatchObject({ text: 'é'.repeat(40_000) })
    expect(cut['response_metadata']).toMatchObject({ warnings: ['message_truncated'] })
    const whole = await call('chat.postMessage', { channel: BUILDS, text: 'é'.repeat(40_000) })
    expect(whole['response_metadata']).toBeUndefined()
  })

  test('opens the direct channel with a person for a user id', async () => {
    const { call } = await openStage()
    const body = await call('chat.postMessage', { channel: PEOPLE.ada, text: 'psst' })
    expect(body).toMatchObject({ ok: true, channel: 'D0ADA00001' })
  })

  test.each([
    ['an unknown channel', { channel: 'C0NOWHERE1' }, 'channel_not_found'],
    ['no channel', { channel: '' }, 'channel_not_found'],
    ['a channel without the bot', { channel: CHANNELS.elsewhere }, 'not_in_channel'],
    ['an archived channel', { channel: CHANNELS.archived }, 'is_archived'],
    ['no text', { text: '' }, 'no_text'],
    ['bad blocks', { blocks: card('') }, 'invalid_blocks'],
    ['blocks that are no JSON', { blocks: '[{' }, 'invalid_blocks_format'],
    ['bad attachments', { attachments: [{ blocks: card('') }] }, 'invalid_attachments'],
    [
      'too much metadata',
      { metadata: { event_type: 'a', event_payload: { k: 'v'.repeat(2_000) } } },
      'metadata_too_large',
    ],
  ])('refuses %s', async (_what, args, error) => {
    const { call, sandbox } = await openStage()
    expect(await call('chat.postMessage', { channel: BUILDS, text: 'a', ...args })).toMatchObject({ ok: false, error })
    expect(sandbox.messages(BUILDS)).toEqual([])
  })

  test('names the place of a violation in the blocks', async () => {
    const { call } = await openStage()
    const body = await call('chat.postMessage', { channel: BUILDS, blocks: card('é'.repeat(3_001)) })
    expect(body['errors']).toEqual(['must be less than 3001 characters [json-pointer:/blocks/0/text/text]'])
  })

  test('posts a reply to a message that does not exist in the channel itself, as Slack does', async () => {
    const { call, sandbox } = await openStage()
    const body = await call('chat.postMessage', { channel: BUILDS, text: 'a', thread_ts: '1.000001' })
    expect(body).toMatchObject({ ok: true, message: { text: 'a' } })
    expect(body['message']).not.toHaveProperty('thread_ts')
    expect(sandbox.messages(BUILDS)).toHaveLength(1)
  })

  test('refuses a reply to a reply', async () => {
    const { call, post } = await openStage()
    const reply = await post({ thread_ts: await post() })
    const body = await call('chat.postMessage', { channel: BUILDS, text: 'a', thread_ts: reply })
    expect(body.error).toBe('cannot_reply_to_message')
  })

  test('writes to public channels without the bot if it has chat:write.public', async () => {
    const { call } = await openStage({ scopes: ['chat:write', 'chat:write.public'] })
    expect(await call('chat.postMessage', { channel: CHANNELS.elsewhere, text: 'a' })).toMatchObject({ ok: true })
  })
})

describe('chat.update', () => {
  test('replaces the content, marks the message as edited, and keeps fields that were not sent', async () => {
    const { call, post } = await openStage()
    const ts = await post({ blocks: card('running'), metadata })
    const body = await call('chat.update', { channel: BUILDS, ts, text: 'failed' })
    expect(body).toMatchObject({ ok: true, ts, text: 'failed' })
    expect(body['message']).toMatchObject({
      ts,
      text: 'failed',
      edited: { user: 'U0BUILDBOT' },
      blocks: [{ text: { text: 'running' } }],
      metadata,
    })
  })

  test('removes metadata if it gets an empty object', async () => {
    const { call, post, sandbox } = await openStage()
    const ts = await post({ metadata })
    await call('chat.update', { channel: BUILDS, ts, metadata: {} })
    expect(sandbox.messages(BUILDS)[0]).not.toHaveProperty('metadata')
    expect(sandbox.messages(BUILDS)[0]).toMatchObject({ text: 'acme/web #512 failed' })
  })

  test('refuses text over 4,000 characters and keeps the old text', async () => {
    const { call, post, sandbox } = await openStage()
    const ts = await post()
    expect(await call('chat.update', { channel: BUILDS, ts, text: 'é'.repeat(4_000) })).toMatchObject({ ok: true })
    const body = await call('chat.update', { channel: BUILDS, ts, text: 'x'.repeat(4_001) })
    expect(body.error).toBe('msg_too_long')
    expect(sandbox.messages(BUILDS)[0]).toMatchObject({ text: 'é'.repeat(4_000) })
  })

  test('refuses an unknown message, a message of another user, and one whose edit window is closed', async () => {
    const { call, post, sandbox } = await openStage()
    const foreign = sandbox.acts.say({ user: PEOPLE.ada, channel: BUILDS, text: 'mine' })
    const own = await post()
    sandbox.acts.closeEditWindow(BUILDS, own)
    const update = (ts: string) => call('chat.update', { channel: BUILDS, ts, text: 'a' })
    expect((await update('1.000001')).error).toBe('message_not_found')
    expect((await update(foreign)).error).toBe('cant_update_message')
    expect((await update(own)).error).toBe('edit_window_closed')
  })

  test('refuses a message in a channel that has been archived', async () => {
    const { call, post, sandbox } = await openStage()
    const ts = await post()
    sandbox.acts.archive(BUILDS)
    expect((await call('chat.update', { channel: BUILDS, ts, text: 'a' })).error).toBe('is_archived')
    sandbox.acts.unarchive(BUILDS)
    expect(await call('chat.update', { channel: BUILDS, ts, text: 'a' })).toMatchObject({ ok: true })
  })
})

describe('chat.delete', () => {
  test('removes a message', async () => {
    const { call, post, sandbox } = await openStage()
    const ts = await post()
    expect(await call('chat.delete', { channel: BUILDS, ts })).toMatchObject({ ok: true, ts })
    expect(sandbox.messages(BUILDS)).toEqual([])
    expect((await call('chat.delete', { channel: BUILDS, ts })).error).toBe('message_not_found')
  })

  test('leaves a tombstone if there are replies, which can no longer be edited', async () => {
    const { call, post } = await openStage()
    const ts = await post()
    await post({ thread_ts: ts, text: 'reply' })
    await call('chat.delete', { channel: BUILDS, ts })
    const thread = await call('conversations.replies', { channel: BUILDS, ts })
    expect(thread['messages']).toMatchObject([{ subtype: 'tombstone' }, { text: 'reply' }])
    expect((await call('chat.update', { channel: BUILDS, ts, text: 'a' })).error).toBe('message_not_found')
  })

  test('refuses the message of another user', async () => {
    const { call, sandbox } = await openStage()
    const ts = sandbox.acts.say({ user: PEOPLE.ada, channel: BUILDS, text: 'mine' })
    expect((await call('chat.delete', { channel: BUILDS, ts })).error).toBe('cant_delete_message')
  })
})

describe('chat.postEphemeral', () => {
  test('shows a message to one person, and not in the history', async () => {
    const { call, sandbox } = await openStage()
    const body = await call('chat.postEphemeral', { channel: BUILDS, user: PEOPLE.ada, text: 'only you' })
    expect(body).toMatchObject({ ok: true, message_ts: expect.any(String) })
    expect(sandbox.ephemerals(BUILDS)).toMatchObject([{ userId: PEOPLE.ada, message: { text: 'only you' } }])
    expect(textsOf(await call('conversations.history', { channel: BUILDS }))).toEqual([])
  })

  test('refuses a person who is not in the channel', async () => {
    const { call } = await openStage()
    const body = await call('chat.postEphemeral', { channel: CHANNELS.ops, user: PEOPLE.gus, text: 'a' })
    expect(body.error).toBe('user_not_in_channel')
  })
})

test('chat.getPermalink returns a link to a message, and refuses an unknown one', async () => {
  const { call, post } = await openStage()
  const ts = await post()
  const body = await call('chat.getPermalink', { channel: BUILDS, message_ts: ts })
  expect(body['permalink']).toBe('https://sandbox.slack.com/archives/C0BUILDS01/p1785420120000000')
  expect((await call('chat.getPermalink', { channel: BUILDS, message_ts: '1.1' })).error).toBe('message_not_found')
})
