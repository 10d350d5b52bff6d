import type { Clock } from '../lib/clock.ts'
import type { Failure } from '../slack/notifier.ts'

/** So many calls in a row that reached nobody, and Slack is taken to be down. */
const FAILURES_MAX = 3

/** While it is down, one cheap call asks so often whether it is back; nothing else is sent. */
const ASK_DOWN_MS = 1_000

/** A revoked token comes back only when somebody changes it. */
const ASK_CLOSED_MS = 30_000

/** How a call ended. */
type Outcome = { kind: 'sent' | 'found' } | Failure

const codeOf = (outcome: Outcome): string => ('code' in outcome ? outcome.code : outcome.kind)

export interface Outage {
  /** Why nothing is sent now; null: Slack is reachable as far as we know. */
  reason(): string | null
  /** The time of the next question (ms). */
  askAt(): number
  /** A question is on its way. The next one does not wait for its answer: where nothing answers, that takes long. */
  asked(): void
  heard(outcome: Outcome): void
}

/** Keeps a whole backlog from knocking at a closed door, one card after the other. */
export function createOutage(clock: Clock): Outage {
  let failures = 0
  let reason: string | null = null
  let askAt = 0

  return {
    reason: () => reason,
    askAt: () => askAt,
    asked() {
      askAt = clock.now() + ASK_DOWN_MS
    },
    heard(outcome) {
      const { kind } = outcome
      const unreached = kind === 'unclear' || kind === 'unsent'
      failures = unreached ? failures + 1 : 0
      const closed = kind === 'workspace-closed'
      reason = closed || failures >= FAILURES_MAX || (unreached && reason !== null) ? codeOf(outcome) : null
      if (reason !== null) askAt = clock.now() + (closed ? ASK_CLOSED_MS : ASK_DOWN_MS)
    },
  }
}
