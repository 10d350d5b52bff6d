import { describe, expect, test } from 'vitest'
import type { MessageTs } from '../../../src/domain/ids.ts'
import type { SearchResult } from '../../../src/slack/notifier.ts'
import { createSlackNotifier } from '../../../src/alerts/send/slack-notifier.ts'
import { renderView } from '../../../src/alerts/messages/render.ts'
import { startHttpStub, type HttpStub, type StubAnswer, type StubRequest } from '../../support/http-stub.ts'
import { HOUR, T0 } from '../../support/build-events.ts'
import { BUILDS_CHANNEL, card, messageTs, reply, STARTED_AT } from '../../slack/messages/cast.ts'

const CHANNEL = BUILDS_CHANNEL
const TS = messageTs('1777903320.000100')
const LATER = messageTs('1777903330.000100')
const ROOT = messageTs('1777903300.000100')
const TOKEN = 'xoxb-canary-1'

const sent: StubAnswer = { json: { ok: true, ts: TS, channel: CHANNEL } }
const us: StubAnswer = { json: { ok: true, user_id: 'U0BOT', bot_id: 'B0BOT' } }

const slackAt = ({ url }: HttpStub) => createSlackNotifier({ token: TOKEN, apiUrl: url })

const formOf = (request: StubRequest | undefined): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(request?.body))

const metadata = (key: string, born = '') => ({ event_type: 'buildline_message', event_payload: { key, born } })

const copy = (ts: MessageTs, postedAttempt: string | null | undefined = null) => ({ ts, postedAttempt })

describe('post', () => {
  test('sends text, blocks and the key in one request, and returns where the message is', async () => {
    await using stub = await startHttpStub(() => sent)
    const view = card()
    expect(await slackAt(stub).post({ channel: CHANNEL, view, key: 'k1', postedAttempt: null, thread: null })).toEqual({
      kind: 'sent',
      ts: TS,
    })
    expect(stub.requests.map(({ path }) => path)).toEqual(['/chat.postMessage'])
    const { text, blocks, attachments, metadata: claim, ...rest } = formOf(stub.requests[0])
    expect({ text, blocks: JSON.parse(blocks!), attachments: JSON.parse(attachments!) }).toEqual(
      renderView(view, { postedAt: Date.now() }),
    )
    expect(JSON.parse(claim!)).toEqual(metadata('k1'))
    expect(rest).toEqual({
      channel: CHANNEL,
      parse: 'none',
      link_names: 'false',
      unfurl_links: 'false',
      unfurl_media: 'false',
    })
  })

  test.each(['post', 'edit'] as const)('includes the attempt that the message shows: %s', async (call) => {
    await using stub = await startHttpStub(() => sent)
    await slackAt(stub)[call]({
      channel: CHANNEL,
      ts: TS,
      view: card(),
      key: 'k1',
      postedAttempt: '512.2',
      thread: null,
    })
    expect(JSON.parse(formOf(stub.requests[0])['metadata']!)).toEqual(metadata('k1', '512.2'))
  })

  test('sends a plain post without blocks', async () => {
    await using stub = await startHttpStub(() => sent)
    await slackAt(stub).post({
      channel: CHANNEL,
      view: card(),
      key: 'k1',
      postedAttempt: null,
      thread: null,
      plain: true,
    })
    expect(formOf(stub.requests[0])).toMatchObject({
      attachments: '[]',
      text: renderView(card(), { plain: true, postedAt: Date.now() }).text,
    })
  })

  describe('to a card that was deleted', () => {
    // Slack posts the reply in the channel itself, and its answer has no `thread_ts`.
    const unthreaded: StubAnswer = { json: { ok: true, ts: TS, channel: CHANNEL, message: { text: 'a', ts: TS } } }
    const postTo = (stub: HttpStub) =>
      slackAt(stub).post({ channel: CHANNEL, view: reply(), key: 'k1', postedAttempt: null, thread: ROOT })

    test('takes the reply back, and says that the card is gone', async () => {
      await using stub = await startHttpStub(({ path }) =>
        path === '/chat.postMessage' ? unthreaded : { json: { ok: true } },
      )
      expect(await postTo(stub)).toEqual({ kind: 'message-gone', code: 'thread_not_found' })
      expect(stub.requests.map(({ path }) => path)).toEqual(['/chat.postMessage', '/chat.delete'])
      expect(formOf(stub.requests[1])).toEqual({ channel: CHANNEL, ts: TS })
    })

    test('says so even if the reply cannot be taken back', async () => {
      await using stub = await startHttpStub(({ path }) =>
        path === '/chat.postMessage' ? unthreaded : { status: 500 },
      )
      expect(await postTo(stub)).toMatchObject({ kind: 'message-gone' })
    })
  })

  test('sends a reply to its thread, and to the channel only if it is a broadcast', async () => {
    await using stub = await startHttpStub(() => sent)
    const slack = slackAt(stub)
    await slack.post({ channel: CHANNEL, view: reply(), key: 'k1', postedAttempt: null, thread: ROOT })
    await slack.post({
      channel: CHANNEL,
      view: reply({ broadcast: true }),
      key: 'k2',
      postedAttempt: null,
      thread: ROOT,
    })
    const [quiet, loud] = stub.requests.map(formOf)
    expect(quiet).toMatchObject({ thread_ts: ROOT })
    expect(quiet).not.toHaveProperty('reply_broadcast')
    expect(loud).toMatchObject({ thread_ts: ROOT, reply_broadcast: 'true' })
  })
})

describe('a time', () => {
  const CLOCK = `started <!date^${STARTED_AT / 1_000}^{time}|14:02 UTC>`
  const DATED = `started <!date^${STARTED_AT / 1_000}^{date_short_pretty} at {time}|2026-05-04 14:02 UTC>`
  const posting = { channel: CHANNEL, view: card(), key: 'k1', postedAttempt: null, thread: null }

  test.each([
    [STARTED_AT + 12 * HOUR, CLOCK],
    [STARTED_AT + 40 * HOUR, DATED],
  ])('in a message that is posted at %d is written so: %s', async (now, words) => {
    await using stub = await startHttpStub(() => sent)
    const slack = createSlackNotifier({ token: TOKEN, apiUrl: stub.url, now: () => now })
    await slack.post(posting)
    expect(formOf(stub.requests[0])['attachments']).toContain(words)
  })

  test.each([
    [STARTED_AT - 12 * HOUR, CLOCK],
    [STARTED_AT - 20 * HOUR, DATED],
  ])('in an edit of a message that was posted at %d is written so, whenever it is edited: %s', async (at, words) => {
    await using stub = await startHttpStub(() => sent)
    await slackAt(stub).edit({ ...posting, ts: messageTs(`${at / 1_000}.000000`) })
    expect(formOf(stub.requests[0])['attachments']).toContain(words)
  })

  test.each([
    ['of a late end', reply({ lateEnd: STARTED_AT }), 'reported late; ended'],
    ['until when somebody is on it', ownedCard(), 'is on it until'],
  ])('%s has its day, too', async (_, view, before) => {
    await using stub = await startHttpStub(() => sent)
    const slack = createSlackNotifier({ token: TOKEN, apiUrl: stub.url, now: () => STARTED_AT + 40 * HOUR })
    await slack.post({ ...posting, view })
    const { text, attachments } = formOf(stub.requests[0])
    expect(text + attachments!).toContain(`${before} ${DATED.replace('started ', '')}`)
  })

  function ownedCard() {
    const owner = { user: 'U0LIN', since: STARTED_AT - HOUR, until: STARTED_AT }
    return card({ ownership: { id: 'b1', owner, snoozedUntil: null } })
  }
})

describe('edit', () => {
  test('replaces the text, blocks and key of only that message', async () => {
    await using stub = await startHttpStub(() => sent)
    const outcome = await slackAt(stub).edit({
      channel: CHANNEL,
      ts: TS,
      view: card({ shown: 'passed' }),
      key: 'k1',
      postedAttempt: null,
    })
    expect(outcome).toEqual({ kind: 'sent', ts: TS })
    expect(stub.requests.map(({ path }) => path)).toEqual(['/chat.update'])
    const { text, blocks, attachments, metadata: claim, ...rest } = formOf(stub.requests[0])
    expect({ text, blocks: JSON.parse(blocks!), attachments: JSON.parse(attachments!) }).toEqual(
      renderView(card({ shown: 'passed' })),
    )
    expect(JSON.parse(claim!)).toEqual(metadata('k1'))
    expect(rest).toEqual({ channel: CHANNEL, ts: TS, parse: 'none', link_names: 'false' })
  })

  test('removes the blocks if the new message has none', async () => {
    await using stub = await startHttpStub(() => sent)
    await slackAt(stub).edit({ channel: CHANNEL, ts: TS, view: reply(), key: 'k1', postedAttempt: null })
    expect(formOf(stub.requests[0])).toMatchObject({ blocks: '[]', attachments: '[]' })
  })
})

describe('find', () => {
  const search = { channel: CHANNEL, thread: null, key: 'k1', sinceMs: 1_777_903_320_000 }
  const ours = (ts: string, key = 'k1') => ({ ts, user: 'U0BOT', bot_id: 'B0BOT', metadata: metadata(key) })

  /** A stub of Slack that answers with these pages of history. */
  const pages = (...all: unknown[][]) =>
    startHttpStub(({ path, body }) => {
      if (path === '/auth.test') return us
      const at = Number(new URLSearchParams(body).get('cursor') ?? 0)
      const next = at + 1 < all.length ? String(at + 1) : ''
      return { json: { ok: true, messages: all[at], has_more: next !== '', response_metadata: { next_cursor: next } } }
    })

  test('finds every message with the key on all pages, oldest first', async () => {
    await using stub = await pages([ours(LATER), ours('1.1', 'k2')], [ours(TS)])
    expect(await slackAt(stub).find(search)).toEqual({ kind: 'found', copies: [copy(TS), copy(LATER)] })
    expect(stub.requests.map(({ path }) => path)).toEqual([
      '/auth.test',
      '/conversations.history',
      '/conversations.history',
    ])
    expect(formOf(stub.requests[1])).toEqual({
      channel: CHANNEL,
      oldest: '1777903020.000000',
      inclusive: 'true',
      include_all_metadata: 'true',
      limit: '200',
    })
  })

  test('gives the attempt that each message showed first, if the message names one', async () => {
    const old = { ...ours(LATER), metadata: { event_type: 'buildline_message', event_payload: { key: 'k1' } } }
    const told = { ...ours(TS), metadata: metadata('k1', '512.2') }
    await using stub = await pages([told, old])
    const { copies } = (await slackAt(stub).find(search)) as SearchResult
    expect(copies).toEqual([copy(TS, '512.2'), { ts: LATER, postedAttempt: undefined }])
  })

  test('searches the thread if there is one', async () => {
    await using stub = await pages([ours(ROOT, 'root'), ours(TS)])
    expect(await slackAt(stub).find({ ...search, thread: ROOT })).toEqual({ kind: 'found', copies: [copy(TS)] })
    expect(stub.requests[1]?.path).toBe('/conversations.replies')
    expect(formOf(stub.requests[1])).toMatchObject({ ts: ROOT, channel: CHANNEL })
  })

  test.each([
    ['by somebody else', { ...ours(TS), user: 'U0ADA', bot_id: 'B0OTHER' }],
    ['with another key', ours(TS, 'k10')],
    ['with another type of metadata', { ...ours(TS), metadata: { event_type: 'other', event_payload: { key: 'k1' } } }],
    ['without metadata', { ts: TS, user: 'U0BOT' }],
    ['that is null', null],
  ])('ignores a message %s', async (_, message) => {
    await using stub = await pages([message])
    expect(await slackAt(stub).find(search)).toEqual({ kind: 'found', copies: [] })
  })

  test.each([
    ['forward', HOUR, {}],
    ['back', -HOUR, { untilMs: T0 - HOUR }],
  ])('finds the message even if our clock was set %s by an hour since the last answer', async (_, ahead, until) => {
    let now = T0
    await using stub = await startHttpStub(({ path, body }) => {
      const headers = { date: new Date(T0).toUTCString() }
      if (path === '/auth.test') return { ...us, headers }
      const { oldest, latest } = Object.fromEntries(new URLSearchParams(body))
      const isIn = Number(oldest) <= T0 / 1_000 && Number(latest ?? Infinity) >= T0 / 1_000
      return { json: { ok: true, messages: isIn ? [ours(`${T0 / 1_000}.000100`)] : [], has_more: false }, headers }
    })
    const slack = createSlackNotifier({ token: TOKEN, apiUrl: stub.url, now: () => now })
    await slack.find({ ...search, key: 'k0', sinceMs: T0 })
    now += ahead
    const found = await slack.find({ ...search, sinceMs: ahead > 0 ? now : now - HOUR, ...until })
    expect(found).toMatchObject({ kind: 'found', copies: [{ ts: `${T0 / 1_000}.000100` }] })
  })

  test('looks up our own user only once', async () => {
    await using stub = await pages([ours(TS)])
    const slack = slackAt(stub)
    await slack.find(search)
    await slack.find(search)
    expect(stub.requests.filter(({ path }) => path === '/auth.test')).toHaveLength(1)
  })

  test.each([
    ['contains no list', { ok: true }],
    ['says that there is more but not where it is', { ok: true, messages: [], has_more: true }],
    ['never ends', { ok: true, messages: [], response_metadata: { next_cursor: 'again' } }],
  ])('never reports that nothing is there if the answer %s', async (_, json) => {
    await using stub = await startHttpStub(({ path }) => (path === '/auth.test' ? us : { json }))
    expect((await slackAt(stub).find(search)).kind).toBe('unclear')
    expect(stub.requests.length).toBeLessThanOrEqual(26)
  })

  test('fails if one page fails', async () => {
    await using stub = await startHttpStub(({ path }, at) => {
      if (path === '/auth.test') return us
      if (at > 1) return { status: 429, headers: { 'retry-after': '3' } }
      return { json: { ok: true, messages: [], response_metadata: { next_cursor: 'next' } } }
    })
    expect(await slackAt(stub).find(search)).toEqual({ kind: 'rate-limited', code: 'ratelimited', retryAfterMs: 3_000 })
    expect(stub.requests).toHaveLength(3)
  })
})

describe('remove', () => {
  test('deletes the message', async () => {
    await using stub = await startHttpStub(() => sent)
    expect(await slackAt(stub).remove({ channel: CHANNEL, ts: TS })).toEqual({ kind: 'sent', ts: TS })
    expect(stub.requests.map(({ path, body }) => `${path}?${body}`)).toEqual([
      `/chat.delete?channel=${CHANNEL}&ts=${TS}`,
    ])
  })

  test('counts a message that is already gone as deleted', async () => {
    await using stub = await startHttpStub(() => ({ json: { ok: false, error: 'message_not_found' } }))
    expect(await slackAt(stub).remove({ channel: CHANNEL, ts: TS })).toEqual({ kind: 'sent', ts: TS })
  })

  test('does not count a message that may not be deleted as deleted', async () => {
    await using stub = await startHttpStub(() => ({ json: { ok: false, error: 'cant_delete_message' } }))
    expect((await slackAt(stub).remove({ channel: CHANNEL, ts: TS })).kind).toBe('message-gone')
  })
})

describe('ping', () => {
  test('reports that Slack answers and knows us', async () => {
    await using stub = await startHttpStub(() => us)
    expect(await slackAt(stub).ping()).toEqual({ kind: 'sent' })
    expect(stub.requests.map(({ path }) => path)).toEqual(['/auth.test'])
  })

  test('reports that Slack does not know us', async () => {
    await using stub = await startHttpStub(() => ({ json: { ok: false, error: 'invalid_auth' } }))
    expect(await slackAt(stub).ping()).toEqual({ kind: 'workspace-closed', code: 'invalid_auth' })
  })
})

test('one 429 does not delay the next call', async () => {
  await using stub = await startHttpStub((_, at) =>
    at === 0 ? { status: 429, headers: { 'retry-after': '600' } } : sent,
  )
  const slack = slackAt(stub)
  const post = () => slack.post({ channel: CHANNEL, view: card(), key: 'k1', postedAttempt: null, thread: null })
  expect((await post()).kind).toBe('rate-limited')
  expect((await post()).kind).toBe('sent')
})

test('the token is sent only in the header, and is in no outcome and no log line', async () => {
  const echo = `token ${TOKEN} refused`
  const answers: StubAnswer[] = [
    sent,
    { status: 500, text: echo },
    { text: echo },
    { json: { ok: false, error: echo, response_metadata: { messages: [`[ERROR] ${echo}`], warnings: [echo] } } },
    { status: 429, headers: { 'retry-after': TOKEN } },
    (response) => response.destroy(),
  ]
  const lines: string[] = []
  const outcomes: unknown[] = []
  for (const answer of answers) {
    await using stub = await startHttpStub(() => answer)
    const slack = createSlackNotifier({ token: TOKEN, apiUrl: stub.url, logger: { warn: (line) => lines.push(line) } })
    outcomes.push(await slack.post({ channel: CHANNEL, view: card(), key: 'k1', postedAttempt: null, thread: null }))
    expect(stub.requests.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${TOKEN}`])
    expect(stub.requests.map(({ body }) => body).join()).not.toContain(TOKEN)
  }
  expect(lines).not.toEqual([])
  expect(JSON.stringify([lines, outcomes])).not.toContain('canary')
})
