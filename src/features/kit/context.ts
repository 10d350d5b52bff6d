import { setNewest } from '../../lib/bounded.ts'
import type { WebClient } from '@slack/web-api'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Seal } from '../../lib/seal.ts'
import type { Permits } from '../../projects/outcomes.ts'
import type { Reads } from '../../store/store.ts'
import type { Answer } from '../../slack/messages/answer.ts'
import type { PendingInteraction } from './pending-interactions.ts'

/** What the handlers of Slack's interactions need. */
export interface SlackDeps {
  permits: Permits
  reads: Reads
  /** never retries a call: a retried post could appear twice */
  client: WebClient
  clock: Clock
  log: Log
  /** a short id that an answer and its log line share */
  newReference: () => string
  /** knows the newest of several choices in one modal */
  newest: Newest
  /** encrypts a form's metadata */
  seal: Seal
  /** the stored interaction that is being handled; null: no answer is expected */
  pending: PendingInteraction | null
}

/** The answer to an interaction, and the outcome's name in the log. */
export interface Reply {
  /** null: a modal already shows it */
  answer: Answer | null
  outcome: string
}

/** At most this many modals are remembered. A forgotten one shows each answer as it arrives. */
export const MODALS_MAX = 1_000

/** Knows the newest interaction of each modal, within this process. */
interface Newest {
  /** Makes this interaction the newest of its modal. The returned function says whether it still is. */
  begin(viewId: string): () => boolean
}

export function createNewest(): Newest {
  const newest = new Map<string, symbol>()
  return {
    begin(viewId) {
      const ask = Symbol(viewId)
      setNewest(newest, viewId, ask, MODALS_MAX)
      return () => (newest.get(viewId) ?? ask) === ask
    },
  }
}
