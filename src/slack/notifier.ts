import type { ChannelId, MessageTs } from '../domain/ids.ts'
import type { View } from '../domain/cards/view.ts'

/**
 * The interface to Slack, or to another target. It makes one attempt per call, never retries, and classifies how the
 * attempt ended; the reconciler decides what to do next. Source of the classes: the target's own error codes.
 */
export interface Notifier {
  /** Posts a view. `key` is stored in the message, so that `find` can tell later whether it arrived. */
  post(message: Post): Promise<Sent | Failure>
  /** Replaces the message `ts` by a view. Idempotent. */
  edit(message: Edit): Promise<Sent | Failure>
  /** Finds all messages of the channel (or thread) that carry the key and were posted since `sinceMs`, oldest first. */
  find(search: Search): Promise<SearchResult | Failure>
  /** Deletes one of our own messages. Idempotent: a message that is already gone counts as sent. */
  remove(message: { channel: ChannelId; ts: MessageTs }): Promise<Sent | Failure>
  /** Makes one cheap call to see whether the target answers and accepts our token. */
  ping(): Promise<{ kind: 'sent' } | Failure>
}

export interface Post {
  channel: ChannelId
  view: View
  /** the claim's key: unique per message, no secret */
  key: string
  /** the attempt whose end the message shows when posted. Stored in the message too: our record may be lost */
  postedAttempt: string | null
  /** the card to reply to; null posts to the channel */
  thread: MessageTs | null
  /** without blocks, in case the target refuses them */
  plain?: boolean
}

/** `key` and `postedAttempt` are those that it was posted with. */
export interface Edit extends Omit<Post, 'thread'> {
  ts: MessageTs
}

export interface Search {
  channel: ChannelId
  thread: MessageTs | null
  key: string
  /** ms since the epoch */
  sinceMs: number
  /** ms since the epoch; now if left out */
  untilMs?: number
}

export interface Sent {
  kind: 'sent'
  ts: MessageTs
}

export interface SearchResult {
  kind: 'found'
  /** empty: no such message is visible (yet) */
  copies: readonly Copy[]
}

/** One message that carries the key. After a post with an unclear outcome there may be several. */
export interface Copy {
  ts: MessageTs
  /** as given to `post`; undefined if an older version, which did not store it, posted the message */
  postedAttempt: string | null | undefined
}

/** How an attempt failed. `code` is the target's own, for logs and people, and holds no secret or outside text. */
export type Failure =
  /** not processed; retry after `retryAfterMs` */
  | { kind: 'rate-limited'; code: string; retryAfterMs: number }
  /** certainly not delivered; a retry may succeed */
  | { kind: 'unsent'; code: string }
  /** it may have been delivered: no answer, a broken one, or a server error */
  | { kind: 'unclear'; code: string }
  /** the message (or the card to reply to) is deleted or can no longer be edited */
  | { kind: 'message-gone'; code: string }
  /** nothing can be posted in this channel until a person fixes it: archived, not a member, restricted */
  | { kind: 'channel-closed'; code: string }
  /** nothing can be posted at all until a person fixes it: token revoked, account inactive, scope missing */
  | { kind: 'workspace-closed'; code: string }
  /** this channel does not allow replies in threads, only top-level messages */
  | { kind: 'thread-closed'; code: string }
  /** the target refuses this message as it is */
  | { kind: 'refused'; code: string }
