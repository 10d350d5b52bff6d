import { coversBranch, matchBranch } from './pattern.ts'

/** A notification rule as CI stores it; unknown words stay as they are. */
export interface NotificationRule {
  notifier: string
  target: string | null
  /** null or empty: every branch */
  branch: string | null
  /** `exact`, `regex`, `wildcard`; null if CI did not say */
  branchMatch: string | null
  /** CI's `build_statuses`: `started`, `failed`, `success`, `recovered`, or words outside the list */
  buildStatuses: readonly string[]
}

/** A channel's rule: a notification rule, reduced to what a channel can select. */
export interface ChannelRule {
  branch: string | null
  branchMatch: string | null
  /** the selected events; `every` also covers stopped builds and unknown words */
  events: readonly string[] | 'every'
}

/** The events that a channel can select by name. `broken` and `recovered` are computed, never delivered. */
export const RULE_EVENTS = ['started', 'failed', 'broken', 'success', 'recovered', 'waiting', 'stopped'] as const

/** The events that `changes` is short for: the branch turned red, or green again. */
export const CHANGES = ['broken', 'recovered'] as const

/** What an attempt did to its branch. */
export type Change = (typeof CHANGES)[number]

/** Everything that a rule can select. Only `every` selects `unknown`. */
export type Selectable = (typeof RULE_EVENTS)[number] | 'unknown'

/** The project's own rules with the notifier `slack`, as channel rules. */
export const slackRules = (rules: readonly NotificationRule[]): ChannelRule[] => rulesFor('slack', rules)

/** The project's own rules with one notifier, as channel rules. */
export const rulesFor = (notifier: string, rules: readonly NotificationRule[]): ChannelRule[] =>
  rules
    .filter((rule) => rule.notifier.toLowerCase() === notifier)
    .map(({ branch, branchMatch, buildStatuses }) => ({ branch, branchMatch, events: eventsOf(buildStatuses) }))

const eventsOf = (buildStatuses: readonly string[]): readonly string[] =>
  buildStatuses.map((word) => WORDS.get(word.trim().toLowerCase()) ?? word)

const WORDS = new Map([
  ['started', 'started'],
  ['initiated', 'started'],
  ['testing', 'started'],
  ['failed', 'failed'],
  ['error', 'failed'],
  ['success', 'success'],
  ['succeeded', 'success'],
  ['recovered', 'recovered'],
  ['waiting', 'waiting'],
  ['requires_approval', 'waiting'],
  ['requires approval', 'waiting'],
  ['stopped', 'stopped'],
])

/** The result of one rule for one build event: the first condition that failed, or `selects`. */
export type RuleVerdict = 'selects' | 'branch-not-matched' | 'branch-unknown' | 'pattern-invalid' | 'event-not-selected'

/** One rule and its result for a build event. Older versions stored only the verdict. */
export interface RuleResult {
  rule: ChannelRule | null
  /** the rule's owner: the project in CI, the channel, or the subscriptions file; null: not known */
  from: 'ci' | 'channel' | 'file' | null
  verdict: RuleVerdict
}

export function matchRule(rule: ChannelRule, branch: string | null, selectable: readonly Selectable[]): RuleVerdict {
  const match = matchBranch(rule.branch, rule.branchMatch, branch)
  if (match === 'invalid-pattern') return 'pattern-invalid'
  if (match === 'unknown-branch') return 'branch-unknown'
  if (!coversBranch(match)) return 'branch-not-matched'
  const { events } = rule
  return selectable.some((event) => events === 'every' || events.includes(event)) ? 'selects' : 'event-not-selected'
}

// The four statuses that CI offers. CI's rules that select all four select every event.
export const EVERY_BUILD_STATUS = ['started', 'failed', 'success', 'recovered'] as const

/** Whether these rules together select every event on this branch, so that stopped builds and unknown words are news. */
export const selectEverything = (rules: readonly ChannelRule[], branch: string | null): boolean =>
  leftAway(rules, branch).length === 0

/** The events that none of these rules selects on this branch. Branch null: only rules for every branch count. */
export function leftAway(rules: readonly ChannelRule[], branch: string | null): string[] {
  const covering = rules.filter((rule) => coversBranch(matchBranch(rule.branch, rule.branchMatch, branch)))
  const selected = covering.flatMap(({ events }) => (events === 'every' ? EVERY_BUILD_STATUS : events))
  return EVERY_BUILD_STATUS.filter((word) => !selected.includes(word))
}
