import type { ChannelId } from '../../domain/ids.ts'
import type { Failure, Sent } from '../notifier.ts'
import { fieldOf, textOf } from '../../lib/raw-values.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { isMessageTs, BROKEN_ANSWER, classify, troubleOf, type SlackTrouble } from './errors.ts'
import { AS_WRITTEN, createClient, type ClientOptions, identityOf } from './client.ts'
import { RATE_LIMIT_WAIT_MS_MAX } from './directory.ts'
import { section, type ActionButton } from '../messages/blocks.ts'
import { cut, MESSAGE_TEXT_CHARS_MAX } from '../messages/limits.ts'
import { isRecord } from '../../lib/json.ts'

/**
 * Sends one short text to a channel, or to a person directly. Makes one call and never retries. Always resolves; a
 * failure is returned, and holds no secret.
 * @param text markup, in which everything from outside is escaped; cut if it is too long
 */
export type SendText = (to: ChannelId | string, text: string, button?: ActionButton) => Promise<Sent | Failure>

export function createSendText(options: ClientOptions): SendText {
  const client = createClient(options)
  return async (to, text, button) => {
    try {
      const answer = await client.apiCall('chat.postMessage', {
        channel: to,
        text: cut(text, MESSAGE_TEXT_CHARS_MAX),
        ...(button && { blocks: [{ ...section(text), accessory: button }] }),
        ...AS_WRITTEN,
      })
      const ts = fieldOf(answer, 'ts')
      return isMessageTs(ts) ? { kind: 'sent', ts } : { kind: 'unclear', code: BROKEN_ANSWER }
    } catch (error) {
      return classify(error)
    }
  }
}

/** Sends a text, and once more after a short rate limit. */
export async function sendPatiently(
  { sendText, clock }: { sendText: SendText; clock: Clock },
  to: ChannelId,
  text: string,
): Promise<Sent | Failure> {
  const first = await sendText(to, text)
  if (first.kind !== 'rate-limited' || first.retryAfterMs > RATE_LIMIT_WAIT_MS_MAX) return first
  await clock.sleep(first.retryAfterMs)
  return sendText(to, text)
}

/** Each alarm is sent and logged at most once in this time. */
const AGAIN_MS = 60 * 60_000

interface AlarmOptions extends ClientOptions {
  clock: Clock
  /** Slack users and user groups. A group cannot get a direct message and is left out. */
  admins: readonly string[]
  log: Pick<Log, 'warn' | 'error'>
}

/**
 * Reports what only admins can fix: logs it and sends each admin a direct message. Never throws, and repeats the same
 * text once an hour at most.
 * @param what a sentence for people; no outside text
 */
export function createAlarm({ clock, admins, log, ...options }: AlarmOptions): (what: string) => void {
  const sendText = createSendText(options)
  const users = admins.filter((id) => /^[UW]/.test(id))
  const toldAt = new Map<string, number>()

  async function tell(user: string, text: string): Promise<void> {
    const outcome = await sendText(user, text)
    if (outcome.kind !== 'sent') log.warn({ user, code: outcome.code }, 'an admin could not be notified')
  }

  return (what) => {
    if (clock.now() - (toldAt.get(what) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS) return
    toldAt.set(what, clock.now())
    log.error({ told: users.length }, what)
    void Promise.all(users.map((user) => tell(user, alarmText(what))))
  }
}

/** The text of the direct message. */
export const alarmText = (what: string): string => `:rotating_light: ${what}`

/**
 * `closed`: nothing can be posted there. `code`: the error code that a post would get; or `is_moved`, for an archived
 * channel that was moved to another one. `name`: the channel's, if Slack says it.
 */
export type CanPost = { kind: 'open'; name?: string | null } | { kind: 'closed'; code: string } | SlackTrouble

/**
 * Whether the bot can post in this channel. Asks Slack without posting. Needs `channels:read`, for private channels
 * `groups:read`. Slack does not show the bot a private channel or a group direct message that it is not in. Never
 * throws.
 */
export function createCanPost(options: ClientOptions): (channel: ChannelId) => Promise<CanPost> {
  const client = createClient(options)
  const identity = identityOf(client)
  return async (channel) => {
    try {
      const answer = await client.apiCall('conversations.info', { channel })
      return await canPostIn(fieldOf(answer, 'channel'), async () => (await identity.known()).userId)
    } catch (error) {
      const { kind, code } = classify(error)
      return kind === 'channel-closed' ? { kind: 'closed', code } : troubleOf(error)
    }
  }
}

async function canPostIn(channel: unknown, ourselves: () => Promise<string | null>): Promise<CanPost> {
  if (!isRecord(channel)) return { kind: 'away', code: BROKEN_ANSWER }
  const closed = (code: string) => ({ kind: 'closed', code }) as const
  // Slack sends it as a number.
  if (channel['is_archived'] === true) return closed(Number(channel['is_moved']) > 0 ? 'is_moved' : 'is_archived')
  // A direct message has no members, so `is_member` says nothing there. It has a `user`.
  if (channel['is_member'] === false && textOf(channel['user']) === null) return closed('not_in_channel')
  if (channel['is_read_only'] === true) return closed('restricted_action_read_only_channel')
  if (channel['is_thread_only'] === true) return closed('restricted_action_thread_only_channel')
  const restricted = fieldOf(channel['properties'], 'posting_restricted_to')
  const [types, users] = [fieldOf(restricted, 'type'), fieldOf(restricted, 'user')].map(listIn)
  const open = { kind: 'open', name: textOf(channel['name']) } as const
  if ([...types!, ...users!].length === 0) return open
  // The types are kinds of people, such as admins, and never include apps.
  return users!.includes(await ourselves()) ? open : closed('restricted_action')
}

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
