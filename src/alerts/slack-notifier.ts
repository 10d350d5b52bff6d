import type { WebClient } from '@slack/web-api'
import type { ChannelId, MessageTs } from '../domain/ids.ts'
import type { Edit, Failure, Found, Notifier, Post, Search, Sent } from '../slack/notifier.ts'
import { fieldOf } from '../domain/raw-values.ts'
import { isMessageTs } from '../slack/api/answer.ts'
import { createClient, type ClientOptions } from '../slack/api/client.ts'
import { BROKEN_ANSWER, classify } from '../slack/api/errors.ts'
import { CLOCK_SKEW_MS, findMessages } from './find-message.ts'
import { claimMetadata } from '../slack/messages/ids.ts'
import { identityOf } from '../slack/api/identity.ts'
import { renderView } from './messages/render.ts'
import { createTheirClock } from '../slack/api/their-clock.ts'

export interface SlackNotifierOptions extends ClientOptions {
  /** our own clock (ms); left out: Slack's and ours are taken to agree */
  now?: () => number
}

/**
 * Tells Slack. Every call is one request (`find`: one a page, one to learn who we are, and all of it again where our clock was set meanwhile) and resolves; how it failed
 * is in the answer, which holds no secret.
 */
export function createSlackNotifier({ now, ...options }: SlackNotifierOptions): Notifier {
  const theirs = now ? createTheirClock(now) : null
  const client = createClient({ ...options, ...(theirs ? { heard: theirs.heard } : {}) })
  const identity = identityOf(client)
  return {
    post: (message) => attempt(() => post(client, message)),
    edit: (message) => attempt(() => edit(client, message)),
    find: async (search) =>
      notOurs(
        await attempt(async () => {
          const us = await identity.known()
          if (!theirs) return findMessages(client, us, search)
          const asked = theirs.widened(search)
          const found = await findMessages(client, us, asked)
          const wider = theirs.widened(search)
          // Our clock was set since Slack was last heard: only this answer says that another time was meant.
          return isNone(found) && isBeyond(wider, asked) ? findMessages(client, us, wider) : found
        }),
      ),
    remove: (message) => attempt(() => remove(client, message)),
    ping: () => attempt(() => identity.ask().then(() => ({ kind: 'sent' }) as const)),
  }
}

const isNone = (found: Found | Failure): boolean => found.kind === 'found' && found.copies.length === 0

const isBeyond = (wider: Search, asked: Search): boolean =>
  wider.sinceMs < asked.sinceMs - CLOCK_SKEW_MS ||
  (asked.untilMs !== undefined && wider.untilMs! > asked.untilMs + CLOCK_SKEW_MS)

// To read a channel needs rights that writing to it does not: where they are missing, only this look-up is refused.
const notOurs = <Outcome extends { kind: string }>(outcome: Outcome | Failure): Outcome | Failure =>
  outcome.kind === 'workspace-closed' && 'code' in outcome && READ_RIGHTS.has(outcome.code)
    ? { kind: 'refused', code: outcome.code }
    : outcome

const READ_RIGHTS = new Set(['missing_scope', 'no_permission', 'not_allowed_token_type'])

async function attempt<Outcome>(call: () => Promise<Outcome>): Promise<Outcome | Failure> {
  try {
    return await call()
  } catch (error) {
    return classify(error)
  }
}

const sent = (ts: MessageTs): Sent => ({ kind: 'sent', ts })

async function post(client: WebClient, message: Post): Promise<Sent | Failure> {
  const answer = await client.apiCall('chat.postMessage', {
    ...contentOf(message),
    ...threadOf(message),
    unfurl_links: false,
    unfurl_media: false,
  })
  const ts = fieldOf(answer, 'ts')
  // Posted, it seems, but where? The claim's key will tell.
  return isMessageTs(ts) ? sent(ts) : { kind: 'unclear', code: BROKEN_ANSWER }
}

async function edit(client: WebClient, message: Edit): Promise<Sent> {
  await client.apiCall('chat.update', { ...contentOf(message), ts: message.ts })
  return sent(message.ts)
}

async function remove(client: WebClient, { channel, ts }: { channel: ChannelId; ts: MessageTs }): Promise<Sent> {
  try {
    await client.apiCall('chat.delete', { channel, ts })
  } catch (error) {
    // What is gone already need not be taken back.
    if (classify(error).code !== 'message_not_found') throw error
  }
  return sent(ts)
}

// `attachments` always goes along, empty too: what an update leaves out would stay. The metadata as well, for that reason
// turned round: an edited message must still be found by its key.
function contentOf({ channel, view, key, bornRun, plain = false }: Post | Edit) {
  const { text, attachments } = renderView(view, { plain, channel })
  return { channel, text, attachments, metadata: claimMetadata({ key, bornRun }), parse: 'none', link_names: false }
}

function threadOf({ thread, view }: Post) {
  if (thread === null) return {}
  return { thread_ts: thread, ...(view.kind === 'reply' && view.broadcast ? { reply_broadcast: true } : {}) }
}
