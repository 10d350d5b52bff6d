import type { WebClient } from '@slack/web-api'
import type { ChannelId, MessageTs } from '../../domain/ids.ts'
import type { Edit, Failure, SearchResult, Notifier, Post, Search, Sent, Copy } from '../../slack/notifier.ts'
import { fieldOf, textOf } from '../../lib/raw-values.ts'
import { isRecord } from '../../lib/json.ts'
import { isMessageTs, BROKEN_ANSWER, classify } from '../../slack/api/errors.ts'
import {
  createClient,
  createSlackClock,
  identityOf,
  type ClientOptions,
  type Identity,
} from '../../slack/api/client.ts'
import { claimMetadata, CLAIM_EVENT_TYPE } from '../../slack/messages/ids.ts'
import { renderView } from '../messages/render.ts'

interface SlackNotifierOptions extends ClientOptions {
  /** our clock (ms); left out: taken to agree with Slack's */
  now?: () => number
}

/**
 * The `Notifier` for Slack. Each call is one request. Only `find` makes more (one per page, one to learn who the bot is,
 * and all again if our clock was set meanwhile), and a `post` that has to take a reply back. A call never rejects: it
 * returns the failure, without any secret.
 */
export function createSlackNotifier({ now, ...options }: SlackNotifierOptions): Notifier {
  const slackClock = now ? createSlackClock(now) : null
  const client = createClient({ ...options, ...(slackClock ? { onResponse: slackClock.observe } : {}) })
  const identity = identityOf(client)
  return {
    post: (message) => outcomeOf(() => post(client, message, (now ?? Date.now)())),
    edit: (message) => outcomeOf(() => edit(client, message)),
    find: async (search) =>
      asRefusedLook(
        await outcomeOf(async () => {
          const us = await identity.known()
          if (!slackClock) return findMessages(client, us, search)
          const widened = slackClock.widened(search)
          const found = await findMessages(client, us, widened)
          const wider = slackClock.widened(search)
          // This answer shows that our clock was set since the last one: search again, with corrected times.
          return isNone(found) && isBeyond(wider, widened) ? findMessages(client, us, wider) : found
        }),
      ),
    remove: (message) => outcomeOf(() => remove(client, message)),
    ping: () => outcomeOf(() => identity.read().then(() => ({ kind: 'sent' }) as const)),
  }
}

const isNone = (found: SearchResult | Failure): boolean => found.kind === 'found' && found.copies.length === 0

const isBeyond = (wider: Search, widened: Search): boolean =>
  wider.sinceMs < widened.sinceMs - CLOCK_SKEW_MS ||
  (widened.untilMs !== undefined && wider.untilMs! > widened.untilMs + CLOCK_SKEW_MS)

// Reading a channel needs scopes that posting does not. If they are missing, only this look is refused.
const asRefusedLook = <Outcome extends { kind: string }>(outcome: Outcome | Failure): Outcome | Failure =>
  'code' in outcome && READ_RIGHTS.has(outcome.code) ? { kind: 'refused', code: outcome.code } : outcome

const READ_RIGHTS = new Set(['missing_scope', 'no_permission', 'not_allowed_token_type'])

async function outcomeOf<Outcome>(call: () => Promise<Outcome>): Promise<Outcome | Failure> {
  try {
    return await call()
  } catch (error) {
    return classify(error)
  }
}

const sent = (ts: MessageTs): Sent => ({ kind: 'sent', ts })

async function post(client: WebClient, message: Post, now: number): Promise<Sent | Failure> {
  const answer = await client.apiCall('chat.postMessage', {
    ...contentOf(message, now),
    ...threadOf(message),
    unfurl_links: false,
    unfurl_media: false,
  })
  const ts = fieldOf(answer, 'ts')
  // It seems to be posted, but its `ts` is unknown. A look will find it by the claim's key.
  if (!isMessageTs(ts)) return { kind: 'unclear', code: BROKEN_ANSWER }
  const posted = fieldOf(answer, 'message')
  if (message.thread === null || !isRecord(posted) || posted['thread_ts'] === message.thread) return sent(ts)
  // Slack posts a reply to a deleted message in the channel itself, without an error. Only its answer shows that.
  await outcomeOf(() => remove(client, { ...message, ts }))
  return { kind: 'message-gone', code: 'thread_not_found' }
}

async function edit(client: WebClient, message: Edit): Promise<Sent> {
  const content = contentOf(message, Number(message.ts) * 1_000)
  await client.apiCall('chat.update', { ...content, ts: message.ts })
  return sent(message.ts)
}

async function remove(client: WebClient, { channel, ts }: { channel: ChannelId; ts: MessageTs }): Promise<Sent> {
  try {
    await client.apiCall('chat.delete', { channel, ts })
  } catch (error) {
    // It is already deleted.
    if (classify(error).code !== 'message_not_found') throw error
  }
  return sent(ts)
}

// `blocks` and `attachments` are always sent, even if empty: Slack keeps what an update leaves out. `metadata` is sent
// with each edit too, because an edited message must still be found by its key.
function contentOf({ channel, view, key, postedAttempt, plain = false }: Post | Edit, postedAt: number) {
  const { text, blocks, attachments } = renderView(view, { plain, channel, postedAt })
  return {
    channel,
    text,
    blocks,
    attachments,
    metadata: claimMetadata({ key, postedAttempt }),
    parse: 'none',
    link_names: false,
  }
}

function threadOf({ thread, view }: Post) {
  if (thread === null) return {}
  return { thread_ts: thread, ...('broadcast' in view && view.broadcast ? { reply_broadcast: true } : {}) }
}

const PAGE_MESSAGES = 200
/** 5,000 messages: more than any channel gets between a claim and the look for it. */
const PAGES_MAX = 25

/**
 * Finds the bot's messages that carry the key, oldest first. `found` without copies means that every message was read.
 * An incomplete list without a copy is `unclear`, or the caller would post twice. Throws what the client throws.
 */
async function findMessages(client: WebClient, identity: Identity, search: Search): Promise<SearchResult | Failure> {
  const found = new Map<MessageTs, Copy>()
  let cursor: string | null = null
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const page = await readPage(client, search, cursor)
    if (page === null) return { kind: 'unclear', code: BROKEN_ANSWER }
    for (const message of page.messages) {
      const { ts } = message
      const claim = claimOf(message, identity)
      if (isMessageTs(ts) && claim?.['key'] === search.key) found.set(ts, { ts, postedAttempt: postedAttemptIn(claim) })
    }
    if (!page.hasMore) return inOrder(found)
    if (page.next === null) break
    cursor = page.next
  }
  return found.size > 0 ? inOrder(found) : { kind: 'unclear', code: 'search_unfinished' }
}

// While all seconds have ten digits, timestamps sort as text.
const inOrder = (found: ReadonlyMap<MessageTs, Copy>): SearchResult => ({
  kind: 'found',
  copies: [...found.values()].sort((a, b) => (a.ts < b.ts ? -1 : 1)),
})

interface Page {
  messages: readonly Message[]
  hasMore: boolean
  next: string | null
}

interface Message {
  ts?: unknown
  user?: unknown
  bot_id?: unknown
  metadata?: unknown
}

async function readPage(client: WebClient, search: Search, cursor: string | null): Promise<Page | null> {
  const method = search.thread === null ? 'conversations.history' : 'conversations.replies'
  const answer = await client.apiCall(method, { ...pageQuery(search), ...(cursor === null ? {} : { cursor }) })
  const messages = fieldOf(answer, 'messages')
  if (!Array.isArray(messages)) return null
  const next = textOf(fieldOf(fieldOf(answer, 'response_metadata'), 'next_cursor'))
  return { messages: messages.filter(isRecord), hasMore: fieldOf(answer, 'has_more') === true || next !== null, next }
}

const pageQuery = ({ channel, thread, sinceMs, untilMs }: Search) => ({
  channel,
  ...(thread === null ? {} : { ts: thread }),
  oldest: toTs(sinceMs - CLOCK_SKEW_MS),
  ...(untilMs === undefined ? {} : { latest: toTs(untilMs + CLOCK_SKEW_MS) }),
  inclusive: true,
  include_all_metadata: true,
  limit: PAGE_MESSAGES,
})

/** Slack's clock stamps messages, ours claims: they may differ by this much. The key makes a wider search safe. */
const CLOCK_SKEW_MS = 5 * 60_000

const toTs = (ms: number): string => (Math.max(0, ms) / 1_000).toFixed(6)

/** The claim in one of our own messages; null if it is not ours. */
function claimOf({ bot_id: bot, user, metadata }: Message, { userId, botId }: Identity): Fields | null {
  const byUs = (botId !== null && bot === botId) || (userId !== null && user === userId)
  if (!byUs || fieldOf(metadata, 'event_type') !== CLAIM_EVENT_TYPE) return null
  const claim = fieldOf(metadata, 'event_payload')
  return isRecord(claim) ? claim : null
}

type Fields = Record<string, unknown>

const postedAttemptIn = ({ born }: Fields): string | null | undefined =>
  typeof born === 'string' ? born || null : undefined
