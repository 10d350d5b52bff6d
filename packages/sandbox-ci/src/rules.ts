import { assertNever } from '../../lib/assert.ts'
import { ruleSelectsBranch } from './branches.ts'
import { RULE_STATUSES } from './state.ts'
import type { BuildStatus, NotificationRule } from './state.ts'

export type RuleVerdict =
  | { kind: 'send'; event: string }
  | { kind: 'silent'; reason: 'branch-not-selected' | 'event-not-selected' | 'status-has-no-event' }

/** What a rule decides about: a status of a build on a branch. */
export interface Question {
  branch: string
  status: BuildStatus
  /** this run succeeded, and the last one before it that passed or failed had failed */
  isRecovered: boolean
}

/**
 * Whether a rule sends this status of a build. With `deliverEverything` a rule with all four events gets every status;
 * without it, `waiting` is sent only by rules that list it, and `stopped` by no rule.
 */
export function verdictOf(rule: NotificationRule, question: Question, deliverEverything: boolean): RuleVerdict {
  if (!ruleSelectsBranch(rule, question.branch)) return { kind: 'silent', reason: 'branch-not-selected' }
  if (deliverEverything && hasEveryEvent(rule)) return { kind: 'send', event: 'every' }
  const events = eventsOf(question)
  if (events.length === 0) return { kind: 'silent', reason: 'status-has-no-event' }
  const event = events.find((candidate) => rule.build_statuses.includes(candidate))
  return event === undefined ? { kind: 'silent', reason: 'event-not-selected' } : { kind: 'send', event }
}

const hasEveryEvent = (rule: NotificationRule): boolean =>
  RULE_STATUSES.every((event) => rule.build_statuses.includes(event))

function eventsOf({ status, isRecovered }: Question): string[] {
  switch (status) {
    case 'initiated':
      return ['started']
    case 'waiting':
      return ['waiting']
    case 'success':
      return isRecovered ? ['success', 'recovered'] : ['success']
    case 'error':
    case 'infrastructure_failure':
    case 'ignored':
    case 'blocked':
      return ['failed']
    case 'stopped':
      return []
    default:
      return assertNever(status)
  }
}
