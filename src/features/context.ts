import type { WebClient } from '@slack/web-api'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Seal } from '../lib/seal.ts'
import type { Operations } from './operations.ts'
import type { Answer } from '../slack/messages/answer.ts'
import type { Homes } from './home/watch.ts'
import type { PendingInteraction } from './pending-interactions.ts'

/** What the handlers of Slack's requests need. */
export interface SlackDeps {
  operations: Operations
  /** never repeats a call: a repeated post would be seen twice */
  client: WebClient
  clock: Clock
  log: Log
  /** a short id that an answer and its log line share */
  newReference: () => string
  /** which of several choices in one modal came last */
  newest: Newest
  /** seals what a form remembers and nobody may read */
  seal: Seal
  /** the App Homes that are open */
  homes: Homes
  /** the stored request that is being handled; null: nobody expects an answer */
  pending: PendingInteraction | null
}

/** The answer to a request, and the outcome's name in the log. */
export interface Reply {
  /** null: a modal shows it already */
  answer: Answer | null
  outcome: string
}

/** This many modals are remembered; a forgotten one shows its answers in the order in which they come. */
export const MODALS_MAX = 1_000

/** Which request is the newest of each modal, within this process. */
interface Newest {
  /** From now on this request is the newest of its modal; the answer says whether it still is. */
  note(viewId: string): () => boolean
}

export function createNewest(max = MODALS_MAX): Newest {
  const newest = new Map<string, symbol>()
  return {
    note(viewId) {
      const ask = Symbol(viewId)
      newest.delete(viewId)
      newest.set(viewId, ask)
      for (const oldest of newest.keys()) {
        if (newest.size <= max) break
        newest.delete(oldest)
      }
      return () => (newest.get(viewId) ?? ask) === ask
    },
  }
}
