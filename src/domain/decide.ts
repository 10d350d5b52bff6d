import type { ChannelRule, RuleVerdict, Selectable } from './rule.ts'
import { lookAt, selectEverything } from './rule.ts'
import type { Effect } from './run.ts'
import { assertNever, invariant } from '../lib/assert.ts'
import { isAccountNotice, type Status } from './status.ts'
import type { Subscription } from './subscription.ts'

/** Why a channel was told, or not. Each has a sentence in `explain`. */
export type Reason =
  | 'event-selected'
  | 'every-event'
  | 'rules-unread'
  | 'account-notice'
  | 'updates-card'
  | 'event-not-selected'
  | 'branch-not-matched'
  | 'branch-unknown'
  | 'pattern-invalid'
  | 'duplicate'
  | 'late'

/** `tell`: it is news to this channel. `update`: only a card that is there already changes. `silent`: nothing. */
export interface Decision {
  verdict: 'tell' | 'update' | 'silent'
  reason: Reason
  /** where the deciding rules came from */
  rulesFrom: 'ci' | 'channel' | 'nobody'
  /** every rule that was looked at, and the first of its conditions that failed */
  looked: readonly RuleVerdict[]
  /** selected as a failure or a recovery: what the whole channel should notice */
  loud: boolean
}

/** What CI's rules for a project are, as far as we know: null means that they could not be read yet. */
export type CiRules = readonly ChannelRule[] | null

export interface Question {
  branch: string | null
  status: Status
  effect: Effect
  recovered: boolean
  /** the lineage has a card in this channel already */
  hasCard: boolean
}

/** One decision for one fact and one channel; of several subscriptions of the channel the most telling one counts. */
export function decide(question: Question, subscriptions: readonly Subscription[], ciRules: CiRules): Decision {
  invariant(subscriptions.length > 0, 'a channel without a subscription has nothing to decide')
  const decisions = subscriptions.map((subscription) => decideOne(question, subscription, ciRules))
  const tells = decisions.filter(({ verdict }) => verdict === 'tell')
  return tells.find(({ loud }) => loud) ?? tells[0] ?? decisions.find(updates) ?? decisions[0]!
}

const updates = ({ verdict }: Decision): boolean => verdict === 'update'

function decideOne(question: Question, subscription: Subscription, ciRules: CiRules): Decision {
  const rules = subscription.rules ?? ciRules
  const rulesFrom = subscription.rules ? 'channel' : ciRules?.length ? 'ci' : 'nobody'
  const base = { rulesFrom, looked: [], loud: false } as const
  if (question.effect === 'duplicate' || question.effect === 'late')
    return { ...base, verdict: 'silent', reason: question.effect }
  const events = selectable(question)
  if (!rules || rules.length === 0) {
    const reason = toldAs(question, rules ? 'every-event' : 'rules-unread')
    return { ...base, verdict: 'tell', reason, loud: events.some(isLoud) }
  }
  const lookFor = (wanted: readonly Selectable[]) => rules.map((rule) => lookAt(rule, question.branch, wanted))
  const looked = lookFor(events)
  if (looked.includes('selects')) {
    const loud = lookFor(events.filter(isLoud)).includes('selects')
    return { rulesFrom, looked, verdict: 'tell', reason: toldAs(question, 'event-selected'), loud }
  }
  // CI offers four events to choose from, a channel more: only CI's four can mean everything.
  if (subscription.rules === null && selectEverything(rules, question.branch))
    return { ...base, looked, verdict: 'tell', reason: 'every-event' }
  if (question.hasCard) return { ...base, looked, verdict: 'update', reason: 'updates-card' }
  return { ...base, looked, verdict: 'silent', reason: mostTelling(looked) }
}

const isLoud = (event: Selectable): boolean => event === 'failed' || event === 'recovered'

const toldAs = ({ status }: Question, reason: Reason): Reason => (isAccountNotice(status) ? 'account-notice' : reason)

/** The events of the fact that rules can select: a recovered build is also a success. */
export function selectable({ status, recovered }: Pick<Question, 'status' | 'recovered'>): Selectable[] {
  switch (status) {
    case 'started':
    case 'waiting':
    case 'stopped':
    case 'failed':
    case 'unknown':
      return [status]
    case 'success':
      return recovered ? ['success', 'recovered'] : ['success']
    case 'infrastructure_failure':
      return ['failed']
    case 'ignored':
    case 'blocked':
      // Account trouble goes to whoever follows failures.
      return ['failed']
    default:
      return assertNever(status)
  }
}

// The nearest miss says most: a rule that covered the branch, before one that did not.
const NEAREST_FIRST = ['event-not-selected', 'pattern-invalid', 'branch-unknown', 'branch-not-matched'] as const

const mostTelling = (looked: readonly RuleVerdict[]): Reason =>
  NEAREST_FIRST.find((verdict) => looked.includes(verdict)) ?? 'event-not-selected'
