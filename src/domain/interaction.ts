import type { ChannelId, MessageTs } from './ids.ts'

// An interaction with Slack is stored before it is acknowledged, so that it is answered even if the process dies. The
// row is removed once the answer was shown. A process that finds a row of a dead one carries it out, or tells the
// person.

/** An interaction and where its answer goes: everything that an answer after a restart needs. */
export interface ReceivedInteraction {
  /** Slack's id of the interaction; a request to CI that it makes has the same key */
  interactionKey: string
  user: string
  /** for people, such as `/ci stop acme/web`; outside text, shortened */
  what: string
  /** null: in no channel */
  channel: ChannelId | null
  threadTs: MessageTs | null
  /** valid for RESPONSE_URL_MS, and a secret while it is valid: stored only sealed */
  responseUrl: string | null
  receivedAt: number
}

/** `owed`: a process is handling it, or died while doing so. `late`: another one carries it out. `given-up`: the person is
 * being told that it was interrupted, and CI must no longer be called for it. `told`: the person was told. */
export type InteractionState = 'owed' | 'late' | 'given-up' | 'told'

export interface StoredInteraction extends ReceivedInteraction {
  id: string
  state: InteractionState
  /** the process that is handling it, since when (ms) */
  claimedBy: string
  claimedAt: number
}

/** Slack accepts answers at a response_url for this long. */
export const RESPONSE_URL_MS = 30 * 60_000
