import { matchBranch } from '../../domain/pattern.ts'
import type { FieldFault } from '../../domain/project.ts'
import type { ChannelRule } from '../../domain/rule.ts'
import { EVENTS } from '../../domain/status.ts'
import type { PatternQuestion, SubscribeWish } from './outcomes.ts'

/** What a channel can select by name. */
export const SELECTABLE_EVENTS = [...EVENTS, 'stopped'] as const

/** What is wrong with a wish, by field; empty: it can be kept. Pure. */
export const faultsOf = (wish: SubscribeWish): FieldFault[] => [
  ...(wish.project.trim() === '' ? [{ field: 'project', reason: 'is empty' }] : []),
  ...eventFaults(wish.events),
  ...patternFaults(wish),
]

function eventFaults(events: SubscribeWish['events']): FieldFault[] {
  if (events === null || events === 'every') return []
  if (events.length === 0) return [{ field: 'events', reason: 'needs at least one event' }]
  const known: readonly string[] = SELECTABLE_EVENTS
  return events
    .filter((event) => !known.includes(event))
    .map((event) => ({ field: 'events', reason: `knows no event ${event}` }))
}

function patternFaults({ branch, branchMatch }: SubscribeWish): FieldFault[] {
  if (branch === null || branch === '')
    return branchMatch === null || branchMatch === 'wildcard'
      ? []
      : [{ field: 'branch', reason: 'is empty, and there is a way to match it' }]
  return isPattern({ branch, branchMatch })
    ? []
    : [{ field: 'branch', reason: 'is no valid pattern, or too large a one' }]
}

export const isPattern = ({ branch, branchMatch }: Pick<PatternQuestion, 'branch' | 'branchMatch'>): boolean =>
  matchBranch(branch, branchMatch, 'main') !== 'invalid-pattern'

/** The rules that a wish comes to; null: the project's own, as CI holds them. */
export const rulesOf = ({ events, branch, branchMatch }: SubscribeWish): ChannelRule[] | null =>
  events === null && !branch
    ? null
    : [{ branch: branch || null, branchMatch: branch ? branchMatch : null, events: eventsOf(events) }]

/** The events that are chosen, in their order; all of them together are every event, also one that CI may add. */
export function eventsOf(events: SubscribeWish['events']): ChannelRule['events'] {
  if (events === null || events === 'every') return 'every'
  const chosen = SELECTABLE_EVENTS.filter((event) => events.includes(event))
  return chosen.length === SELECTABLE_EVENTS.length ? 'every' : chosen
}
