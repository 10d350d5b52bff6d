import type { ChannelId, MessageTs } from './ids.ts'

// What somebody asked through Slack is written down before Slack hears that we have it, so that it is answered even if
// the process dies. The row goes when the answer was shown. A process that finds one left says that it was interrupted.

/** What was asked, and where its answer goes: as much as an answer after a restart needs. */
export interface ReceivedInteraction {
  /** what Slack calls this one request, as requests know it too */
  interactionKey: string
  user: string
  /** for people, such as `/ci stop acme/web`; outside text, cut */
  what: string
  /** null: in no channel */
  channel: ChannelId | null
  threadTs: MessageTs | null
  /** good for RESPONSE_URL_MS, and a secret for as long: stored only sealed */
  responseUrl: string | null
  receivedAt: number
}

/**
 * `owed`: somebody is at work on it, or was. `given-up`: it is being answered that this was interrupted, and from here on
 * nothing may be asked of CI for it. `told`: that answer was shown.
 */
export type InteractionState = 'owed' | 'given-up' | 'told'

export interface Interaction extends ReceivedInteraction {
  id: string
  state: InteractionState
  /** the process that is at work on it, since when (ms) */
  claimedBy: string
  claimedAt: number
}

/** Slack takes answers at a response_url for this long. */
export const RESPONSE_URL_MS = 30 * 60_000
