import type { WebClient } from '@slack/web-api'
import type { MessageTs } from '../domain/ids.ts'
import type { Copy, Failure, Found, Search } from '../slack/notifier.ts'
import { fieldOf, isRecord } from '../domain/raw-values.ts'
import { isMessageTs, textOf } from '../slack/api/answer.ts'
import { BROKEN_ANSWER } from '../slack/api/errors.ts'
import type { Identity } from '../slack/api/identity.ts'
import { CLAIM_EVENT_TYPE } from '../slack/messages/ids.ts'

const PAGE_MESSAGES = 200
/** 5,000 messages: more than any channel says between a claim and the look back. */
const PAGES_MAX = 25

/**
 * Our own messages that carry the key, oldest first. Answers `found` with none only when every message was seen: a list
 * that breaks off is `unclear`, since whoever believes it posts twice. Throws what the client throws.
 */
export async function findMessages(client: WebClient, identity: Identity, search: Search): Promise<Found | Failure> {
  const found = new Map<MessageTs, Copy>()
  let cursor: string | null = null
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const page = await readPage(client, search, cursor)
    if (page === null) return { kind: 'unclear', code: BROKEN_ANSWER }
    for (const message of page.messages) {
      const { ts } = message
      const claim = claimOf(message, identity)
      if (isMessageTs(ts) && claim?.['key'] === search.key) found.set(ts, { ts, bornRun: bornRunIn(claim) })
    }
    if (!page.hasMore) return inOrder(found)
    if (page.next === null) break
    cursor = page.next
  }
  return found.size > 0 ? inOrder(found) : { kind: 'unclear', code: 'search_unfinished' }
}

// As long as all seconds have ten digits, the order of the texts is the order of the times.
const inOrder = (found: ReadonlyMap<MessageTs, Copy>): Found => ({
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

/** Slack's clock stamps the messages, ours the claim: ours may be ahead by so much. The key makes up for looking further. */
export const CLOCK_SKEW_MS = 5 * 60_000

const toTs = (ms: number): string => (Math.max(0, ms) / 1_000).toFixed(6)

/** What one of our own messages carries; null: it is not ours. */
function claimOf({ bot_id: bot, user, metadata }: Message, { userId, botId }: Identity): Fields | null {
  const byUs = (botId !== null && bot === botId) || (userId !== null && user === userId)
  if (!byUs || fieldOf(metadata, 'event_type') !== CLAIM_EVENT_TYPE) return null
  const claim = fieldOf(metadata, 'event_payload')
  return isRecord(claim) ? claim : null
}

type Fields = Record<string, unknown>

const bornRunIn = ({ born }: Fields): string | null | undefined => (typeof born === 'string' ? born || null : undefined)
