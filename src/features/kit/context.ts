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
