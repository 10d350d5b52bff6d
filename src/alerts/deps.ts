import type { CiRules } from '../domain/decide.ts'
import type { ProjectNames, Subscription } from '../domain/subscription.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Notifier } from '../slack/notifier.ts'
import type { Addresses } from '../slack/api/addresses.ts'
import type { Interfaces } from '../store/history.ts'
import type { CardKey } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import type { Term } from './lease.ts'

/** What the reconciler stands on. */
export interface ReconcileDeps {
  store: Store
  notifier: Notifier
  clock: Clock
  log: Log
  /** uniform in [0, 1) */
  random: () => number
  /** unguessable and unique: the keys of our claims */
  newKey: () => string
  /** since when and until when this process sends */
  term: Term
  /** all subscriptions in force now */
  subscriptions: () => Promise<readonly Subscription[]>
  /**
   * The project's own rules for Slack as last read from CI, `null` when they cannot be known, or `wait` while a first
   * reading is under way that is worth a moment's patience.
   */
  rulesOf: (project: ProjectNames) => Promise<CiRules | 'wait'>
  /** whose an e-mail address is; null: Slack is not asked */
  addresses: Addresses | null
  /** which interfaces of CI are configured: what cannot be asked of CI is not offered */
  interfaces: Interfaces
  /** deliveries are waiting for their answer: the endpoint comes first */
  isPressed: () => boolean
  /** what happened, for metrics */
  count: (what: Counted) => void
}

/** The same, inside the reconciler: it knows which cards it is working on. */
export interface Working extends ReconcileDeps {
  isUnderWay: (card: CardKey) => boolean
}

export type Counted =
  | { what: 'decision'; reason: string }
  | { what: 'call'; queue: string; outcome: string }
  | { what: 'lag'; ms: number; priority: number }
  | { what: 'look'; found: boolean }
