import type { CiRules } from '../domain/rules/decide.ts'
import type { ProjectNames, Subscription } from '../domain/rules/subscription.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Notifier } from '../slack/notifier.ts'
import type { Addresses } from '../slack/api/addresses.ts'
import type { Configured } from '../domain/cards/capabilities.ts'
import type { CardKey } from '../store/records.ts'
import type { Reads, Store } from '../store/store.ts'
import type { Term } from './send/lease.ts'

export interface ReconcileDeps {
  store: Store
  notifier: Notifier
  clock: Clock
  log: Log
  /** uniform in [0, 1) */
  random: () => number
  /** a unique, unguessable key for a claim */
  newKey: () => string
  /** this process's term as holder of the lease: it sends only during its term */
  term: Term
  /** all subscriptions in force now; in a transaction, pass it */
  subscriptions: (reads?: Reads) => Promise<readonly Subscription[]>
  /**
   * The project's own Slack rules, as last read from CI. Null if they are unknown; `wait` while they are read for the
   * first time, so that the caller may wait a moment for them.
   */
  rulesOf: (project: ProjectNames, reads?: Reads) => Promise<CiRules | 'wait'>
  /** finds the person with an e-mail address; null: Slack is not asked */
  addresses: Addresses | null
  /** cards offer only actions for which credentials are configured */
  configured: Configured
  /** whether deliveries wait to be stored: ingesting then gives way to them */
  hasWaitingDeliveries: () => boolean
  /** counts an event for the metrics */
  count: (what: Counted) => void
}

/** The same inside the reconciler, which knows the cards with a call in flight. */
export interface Working extends ReconcileDeps {
  isUnderWay: (card: CardKey) => boolean
}

export type Counted =
  | { what: 'decision'; reason: string }
  | { what: 'call'; queue: string; outcome: string }
  | { what: 'lag'; ms: number; priority: number }
