import type { ChannelId, MessageTs } from '../domain/ids.ts'
import type { View } from '../domain/view.ts'

/**
 * The hand that tells. It makes one attempt per call, never retries by itself, and classifies how the attempt ended: the
 * reconciler decides what comes next. Source of the classes: the target's own error codes.
 */
export interface Notifier {
  /** Posts a view. `key` travels with the message, so that `find` can tell later whether it arrived. */
  post(message: Post): Promise<Sent | Failure>
  /** Replaces the message `ts` by a view. Idempotent. */
  edit(message: Edit): Promise<Sent | Failure>
  /** Every message of the channel (or thread) that carries the key, oldest first, posted since `sinceMs`. */
  find(search: Search): Promise<Found | Failure>
  /** Takes back one of our own messages. Idempotent: a message that is gone already counts as sent. */
  remove(message: { channel: ChannelId; ts: MessageTs }): Promise<Sent | Failure>
  /** One cheap call that tells whether the target answers and knows us. */
  ping(): Promise<{ kind: 'sent' } | Failure>
}

export interface Post {
  channel: ChannelId
  view: View
  /** our claim's key: unique per message, no secret */
  key: string
  /** the attempt whose end the message tells as it appears, if it does: it travels along, since nobody else may know later */
  postedAttempt: string | null
  /** the card to reply to; null posts to the channel */
  thread: MessageTs | null
  /** text alone: the way out when the target refuses the blocks */
  plain?: boolean
}

export interface Edit {
  channel: ChannelId
  ts: MessageTs
  view: View
  /** as it was posted */
  key: string
  postedAttempt: string | null
  plain?: boolean
}

export interface Search {
  channel: ChannelId
  thread: MessageTs | null
  key: string
  /** ms since the epoch */
  sinceMs: number
  /** ms since the epoch; left out: until now */
  untilMs?: number
}

export interface Sent {
  kind: 'sent'
  ts: MessageTs
}

export interface Found {
  kind: 'found'
  /** empty: no such message is visible (yet) */
  copies: readonly Copy[]
}

/** One message that carries the key: after a post of unclear end there may be several. */
export interface Copy {
  ts: MessageTs
  /** as it was posted; undefined: posted by a version that did not say */
  postedAttempt: string | null | undefined
}

/** How an attempt failed; `code` is the target's own, for logs and people. No secret, no outside text. */
export type Failure =
  /** not processed; ask again after `retryAfterMs` */
  | { kind: 'rate-limited'; code: string; retryAfterMs: number }
  /** certainly not delivered: nobody was reached */
  | { kind: 'unsent'; code: string }
  /** it may have been delivered: no answer, a broken one, or a server error */
  | { kind: 'unclear'; code: string }
  /** the message (or the card to reply to) is deleted or can no longer be edited */
  | { kind: 'message-gone'; code: string }
  /** nothing can be said in this channel until somebody changes something: archived, not a member, restricted */
  | { kind: 'channel-closed'; code: string }
  /** nothing can be said at all until somebody changes something: token revoked, account inactive, scope missing */
  | { kind: 'workspace-closed'; code: string }
  /** replies are not ingested this channel; messages of their own are */
  | { kind: 'thread-closed'; code: string }
  /** the message as such was refused */
  | { kind: 'refused'; code: string }
