import { beyondOneEvent, PATTERN_CHARS_MAX, patternMode } from './pattern.ts'
import type { Change, ChannelRule, RuleResult, RuleVerdict, Selectable } from './rule.ts'
import { matchRule, selectEverything } from './rule.ts'
import type { Effect } from '../builds/attempt.ts'
import { assertNever, invariant } from '../../lib/assert.ts'
import { isAccountNotice, type Status } from '../builds/status.ts'
import type { Subscription } from './subscription.ts'

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
  | 'history'

/** `post`: it is news to this channel. `update`: only an existing card changes. `silent`: nothing changes. */
export interface Decision {
  verdict: 'post' | 'update' | 'silent'
  reason: Reason
  /** where the deciding rules came from */
  rulesFrom: 'ci' | 'channel' | 'nobody'
  /** the rules of all subscriptions, in order, each with its verdict; at most RULE_RESULTS_MAX */
  ruleResults: readonly RuleResult[]
  /** selected as a failure or a recovery, which the whole channel should notice */
  loud: boolean
}

/** The most rules that are stored with a decision: the first ones, and always the one that decided. */
export const RULE_RESULTS_MAX = 20

/** CI's rules for a project. Null: they could not be read yet. */
export type CiRules = readonly ChannelRule[] | null

export interface DecisionInput {
  branch: string | null
  status: Status
  /** `history`: it was stored without being news */
  effect: Effect | 'history'
  /** the build event's effect on its branch; null: none */
  change: Change | null
  /** the revision already has a card in this channel */
  hasCard: boolean
}

/** The other inputs of a decision: the subscriptions to the build event's project, and the project's own rules. */
export interface Known {
  subscriptions: readonly Subscription[]
  rules: CiRules
}

/** Limits the time that matching takes for one event: rules with regexes beyond the limits match nothing. */
export function boundForOneEvent({ subscriptions, rules }: Known): Known {
  const beyond = beyondOneEvent([...subscriptions.flatMap((one) => one.rules ?? []), ...(rules ?? [])])
  if (beyond.size === 0) return { subscriptions, rules }
  // An exact pattern or a wildcard with the same text costs little.
  const isBeyond = ({ branch, branchMatch }: ChannelRule) =>
    branch !== null && beyond.has(branch) && patternMode(branch, branchMatch) === 'regex'
  const bound = (own: CiRules) =>
    own && own.map((rule) => (isBeyond(rule) ? { ...rule, branchMatch: 'regex, too large' } : rule))
  return { subscriptions: subscriptions.map((one) => ({ ...one, rules: bound(one.rules) })), rules: bound(rules) }
}

/** The decision for one build event and one channel. Of several subscriptions, the one that posts most decides. */
export function decide(input: DecisionInput, subscriptions: readonly Subscription[], ciRules: CiRules): Decision {
  invariant(subscriptions.length > 0, 'a channel without a subscription has nothing to decide')
  const decisions = differing(subscriptions).map((subscription) => decideOne(input, subscription, ciRules))
  const posts = decisions.filter(({ verdict }) => verdict === 'post')
  const decided = posts.find(({ loud }) => loud) ?? posts[0] ?? decisions.find(updates) ?? nearestMiss(decisions)
  return { ...decided, ruleResults: bounded(decisions, decided) }
}

// Subscriptions that use CI's rules all get the same decision, so only the first of them is kept.
const differing = (subscriptions: readonly Subscription[]): readonly Subscription[] => {
  const byCi = subscriptions.find(({ rules }) => rules === null)
  return subscriptions.filter((subscription) => subscription.rules !== null || subscription === byCi)
}

const updates = ({ verdict }: Decision): boolean => verdict === 'update'

const nearestMiss = (decisions: readonly Decision[]): Decision =>
  NEAREST_FIRST.flatMap((wanted) => decisions.find(({ reason }) => reason === wanted) ?? [])[0] ?? decisions[0]!

/** The first RULE_RESULTS_MAX rules. If the rule that decided is not among them, it takes the last place. */
function bounded(decisions: readonly Decision[], decided: Decision): RuleResult[] {
  const looked = decisions.flatMap((one) => one.ruleResults)
  const own = decided.ruleResults.map(({ verdict }) => verdict)
  const verdict = own.includes('selects') ? 'selects' : mostHelpful(own)
  const deciding = decided.ruleResults.find((one) => one.verdict === verdict)
  const first = looked.slice(0, RULE_RESULTS_MAX)
  return !deciding || first.includes(deciding) ? first : [...first.slice(0, -1), deciding]
}

function decideOne(input: DecisionInput, subscription: Subscription, ciRules: CiRules): Decision {
  const rules = subscription.rules ?? ciRules
  const rulesFrom = subscription.rules ? 'channel' : ciRules?.length ? 'ci' : 'nobody'
  const base = { rulesFrom, ruleResults: [], loud: false } as const
  if (input.effect === 'duplicate' || input.effect === 'late')
    return { ...base, verdict: 'silent', reason: input.effect }
  if (input.effect === 'history') return { ...base, verdict: input.hasCard ? 'update' : 'silent', reason: input.effect }
  const events = selectable(input)
  if (events.length === 0)
    return input.hasCard
      ? { ...base, verdict: 'update', reason: 'updates-card' }
      : { ...base, verdict: 'silent', reason: 'event-not-selected' }
  if (!rules || rules.length === 0) {
    const reason = reasonFor(input, rules ? 'every-event' : 'rules-unread')
    return { ...base, verdict: 'post', reason, loud: events.some(isLoud) }
  }
  const lookFor = (wanted: readonly Selectable[]) => rules.map((rule) => matchRule(rule, input.branch, wanted))
  const verdicts = lookFor(events)
  const own = subscription.source === 'file' ? 'file' : 'channel'
  const from = subscription.rules ? own : 'ci'
  const ruleResults = rules.map((rule, n) => ({ rule: shortened(rule), from, verdict: verdicts[n]! }) as const)
  if (verdicts.includes('selects')) {
    const loud = lookFor(events.filter(isLoud)).includes('selects')
    return { rulesFrom, ruleResults, verdict: 'post', reason: reasonFor(input, 'event-selected'), loud }
  }
  // CI offers only four events, so rules with all four mean every event. Channels have more events to choose from.
  if (subscription.rules === null && selectEverything(rules, input.branch))
    return { ...base, ruleResults, verdict: 'post', reason: 'every-event' }
  if (input.hasCard) return { ...base, ruleResults, verdict: 'update', reason: 'updates-card' }
  return { ...base, ruleResults, verdict: 'silent', reason: mostHelpful(verdicts) }
}

const isLoud = (event: Selectable): boolean => event === 'failed' || event === 'broken' || event === 'recovered'

const reasonFor = ({ status }: DecisionInput, reason: Reason): Reason =>
  isAccountNotice(status) ? 'account-notice' : reason

/** The events that rules can select for this build event: one that broke its branch has also failed. */
export function selectable({ status, change }: Pick<DecisionInput, 'status' | 'change'>): Selectable[] {
  switch (status) {
    case 'started':
    case 'waiting':
    case 'stopped':
    case 'unknown':
      return [status]
    case 'success':
      return change === 'recovered' ? ['success', change] : ['success']
    case 'failed':
    case 'infrastructure_failure':
      return change === 'broken' ? ['failed', change] : ['failed']
    case 'queued':
    case 'skipped':
      // Not news: an existing card shows it, but it never causes a new card.
      return []
    case 'ignored':
    case 'blocked':
    case 'quota_exceeded':
      // Account trouble goes to channels that follow failures.
      return ['failed', 'broken']
    default:
      return assertNever(status)
  }
}

// The most helpful reason first: a rule that covered the branch, before one that did not.
const NEAREST_FIRST = ['event-not-selected', 'pattern-invalid', 'branch-unknown', 'branch-not-matched'] as const

const mostHelpful = (verdicts: readonly RuleVerdict[]) =>
  NEAREST_FIRST.find((verdict) => verdicts.includes(verdict)) ?? 'event-not-selected'

// The rule is stored with every build event, so a pattern over the limit is cut, to one character more than the limit.
const shortened = (rule: ChannelRule): ChannelRule =>
  rule.branch !== null && rule.branch.length > PATTERN_CHARS_MAX
    ? { ...rule, branch: rule.branch.slice(0, PATTERN_CHARS_MAX + 1) }
    : rule
