import { coversBranch, matchBranch } from './pattern.ts'

/** One notification rule in the shape CI holds it; words that we do not know stay as they are. */
export interface NotificationRule {
  notifier: string
  target: string | null
  /** null or empty: every branch */
  branch: string | null
  /** `exact`, `regex`, `wildcard`; null where CI did not say */
  branchMatch: string | null
  /** CI's `build_statuses`: `started`, `failed`, `success`, `recovered`, or words outside the list */
  buildStatuses: readonly string[]
}

/** A rule of a channel: the same shape, reduced to what a channel can select. */
export interface ChannelRule {
  branch: string | null
  branchMatch: string | null
  /** what is selected; `every` also covers stopped builds and unknown words */
  events: readonly string[] | 'every'
}

/** What a channel can select by name. `broken` and `recovered` are computed, never delivered. */
export const EVENTS = ['started', 'failed', 'broken', 'success', 'recovered', 'waiting', 'stopped'] as const

/** What `changes` is short for: the branch turned red, or green again. */
export const CHANGES = ['broken', 'recovered'] as const

/** Everything that a rule can select; `unknown` only by `every`. */
export type Selectable = (typeof EVENTS)[number] | 'unknown'

/** What the project's own rules say to Slack: the union of its rules with notifier `slack`. */
export const slackRules = (rules: readonly NotificationRule[]): ChannelRule[] => rulesFor('slack', rules)

/** What the project's own rules say to one notifier. */
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

/** How one rule looked at one build event: the first condition that failed, or that it selects. */
export type RuleVerdict = 'selects' | 'branch-not-matched' | 'branch-unknown' | 'pattern-invalid' | 'event-not-selected'

/** One rule with how it looked at a build event; older versions kept the verdict alone. */
export interface Looked {
  rule: ChannelRule | null
  /** whose rule it is: the project's own, as CI holds them, the channel's, or the file's; null: not known */
  from: 'ci' | 'channel' | 'file' | null
  verdict: RuleVerdict
}

export function lookAt(rule: ChannelRule, branch: string | null, selectable: readonly Selectable[]): RuleVerdict {
  const match = matchBranch(rule.branch, rule.branchMatch, branch)
  if (match === 'invalid-pattern') return 'pattern-invalid'
  if (match === 'unknown-branch') return 'branch-unknown'
  if (!coversBranch(match)) return 'branch-not-matched'
  const { events } = rule
  return selectable.some((event) => events === 'every' || events.includes(event)) ? 'selects' : 'event-not-selected'
}

// CI lists four statuses to choose from; a channel that has all of them has chosen everything there is.
export const EVERY_BUILD_STATUS = ['started', 'failed', 'success', 'recovered'] as const

/** Do these rules together select every event on this branch? Then stopped builds and unknown words are told as well. */
export const selectEverything = (rules: readonly ChannelRule[], branch: string | null): boolean =>
  leftAway(rules, branch).length === 0

/** The events that none of these rules selects on this branch; without a branch: on every one. */
export function leftAway(rules: readonly ChannelRule[], branch: string | null): string[] {
  const covering = rules.filter((rule) => coversBranch(matchBranch(rule.branch, rule.branchMatch, branch)))
  const selected = covering.flatMap(({ events }) => (events === 'every' ? EVERY_BUILD_STATUS : events))
  return EVERY_BUILD_STATUS.filter((word) => !selected.includes(word))
}
