import type { SubscriptionDeps } from './channel.ts'
import { isRed } from '../../domain/builds/status.ts'
import { isProjectId, LAST_ORDER, type ChannelId } from '../../domain/ids.ts'
import { branchKey } from '../../domain/builds/revision.ts'
import { boundForOneEvent, decide, type DecisionInput, type Decision } from '../../domain/rules/decide.ts'
import type { Subscription } from '../../domain/rules/subscription.ts'
import { followersOf } from '../../projects/followers.ts'
import { visibleTo } from '../../projects/projects.ts'
import type { Requester, ProjectNotFound } from '../../projects/outcomes.ts'
import { findNamed, pausedIn, type ShownSubscription } from '../../projects/subscriptions.ts'
import { RULE_EVENTS } from '../../domain/rules/rule.ts'
import { EVENTS_BY_WORD } from './subscribe-input.ts'
import type { Reads } from '../../store/store.ts'
import type { ProjectRef } from '../../domain/ci-project/project-names.ts'

/** What one event of one branch would do in one channel. */
export interface DryChannel {
  channel: ChannelId
  decision: Decision
  quiet: boolean
  mentions: boolean
  paused: ShownSubscription['paused']
}

export type DryRunOutcome =
  | {
      kind: 'dry-run'
      project: ProjectRef
      branch: string
      events: readonly { event: string; channels: readonly DryChannel[] }[]
      /** the project's rules could not be read yet, so channels get every event */
      unread: boolean
      /** how many channels are left out, because the requester cannot see them */
      hidden: number
    }
  | { kind: 'unknown-event'; text: string; events: readonly string[] }
  | ProjectNotFound

export interface DryRunQuery {
  project: string
  branch: string
  /** one event of the rules; null: each of them */
  event: string | null
}

type DryWord = (typeof RULE_EVENTS)[number]

/** Finds which channels would get a build, and why. Decides as for deliveries, for a build without a card. */
export async function dryRun(
  deps: SubscriptionDeps,
  { project: text, branch, event: word }: DryRunQuery,
  by: Pick<Requester, 'user' | 'channel'>,
): Promise<DryRunOutcome> {
  const events = eventsMeant(word)
  if (events.length === 0) return { kind: 'unknown-event', text: word ?? '', events: RULE_EVENTS }
  const { read } = deps.store
  const found = await findNamed(read, text)
  if (found.kind !== 'project') return found
  const { project, names } = found
  const [rules, closed, subscriptions] = await Promise.all([
    deps.rulesOf(names),
    read.closedChannels(),
    deps.subscriptions(),
  ])
  const ciRules = rules === 'wait' ? null : rules
  const isVisible = await visibleTo(deps, by)
  const followers = await followersOf(read, subscriptions, names, branch)
  const shown = followers.filter(({ channel }) => isVisible(channel))
  const bound = boundForOneEvent({ subscriptions: shown, rules: ciRules })
  const byChannel = [...Map.groupBy(bound.subscriptions, ({ channel }) => channel)]
  // All events are listed side by side: then `failed` is a failure on a red branch, beside `broken`.
  const wasRed = word === null ? null : await isRedNow(read, project.projectId, branch)
  const channelsFor = (event: DryWord) =>
    byChannel.map(([channel, own]): DryChannel => ({
      channel,
      decision: decide(questionOf(event, branch, wasRed), own, bound.rules),
      quiet: own.some(({ quiet }) => quiet),
      mentions: own.some(({ mention }) => mention === 'committer'),
      paused: pausedIn(closed, channel),
    }))
  return {
    kind: 'dry-run',
    project,
    branch,
    events: events.map((event) => ({ event, channels: channelsFor(event) })),
    unread: ciRules === null,
    hidden: countChannels(followers) - byChannel.length,
  }
}

const countChannels = (subscriptions: readonly Subscription[]): number =>
  new Set(subscriptions.map(({ channel }) => channel)).size

/** The events that a word means; empty if it is not an event. */
function eventsMeant(word: string | null): readonly DryWord[] {
  if (word === null) return RULE_EVENTS
  const meant = EVENTS_BY_WORD.get(word.trim().toLowerCase()) ?? []
  return RULE_EVENTS.filter((event) => meant.includes(event))
}

async function isRedNow(read: Reads, projectId: string | null, branch: string): Promise<boolean> {
  if (projectId === null || !isProjectId(projectId)) return false
  const [newest] = await read.verdictsBefore(branchKey(projectId, branch), LAST_ORDER, 1)
  return newest !== undefined && isRed(newest.status)
}

/** @param wasRed whether the branch was red before the event; null: the event itself says so */
const questionOf = (event: DryWord, branch: string, wasRed: boolean | null): DecisionInput => ({
  branch,
  status: event === 'recovered' ? 'success' : event === 'broken' ? 'failed' : event,
  effect: 'opened',
  change: changeOf(event, wasRed),
  hasCard: false,
})

function changeOf(event: DryWord, wasRed: boolean | null): DecisionInput['change'] {
  if (event === 'recovered' || event === 'broken') return event
  if (event === 'failed' && wasRed === false) return 'broken'
  return event === 'success' && wasRed ? 'recovered' : null
}
