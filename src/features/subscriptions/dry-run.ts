import { filterInWords, wouldBuild } from '../../domain/branch-filter.ts'
import { boundForOneEvent, decide, type CiRules, type Question } from '../../domain/decide.ts'
import { following, type Subscription } from '../../domain/subscription.ts'
import type { ClosedChannel, KnownProject } from '../../store/kept.ts'
import { findProject } from '../../catalog/projects.ts'
import { visibleTo } from '../../catalog/visible.ts'
import type { Asker } from '../../catalog/outcomes.ts'
import type { DryChannel, DryEvent, DryRunOutcome } from './outcomes.ts'
import type { SubscribeDeps } from './deps.ts'
import { namedProjects } from './names.ts'
import { pausedIn } from './shown.ts'
import { SELECTABLE_EVENTS } from './wish.ts'

export interface DryQuestion {
  project: string
  branch: string
  /** a word of the rules; null: each of them */
  event: string | null
}

type DryWord = (typeof SELECTABLE_EVENTS)[number]

/** Who would be told of a build before any runs, and why: decided as deliveries are, about a build that has no card yet. */
export async function dryRun(
  deps: SubscribeDeps,
  question: DryQuestion,
  by: Pick<Asker, 'user' | 'channel'>,
): Promise<DryRunOutcome> {
  const events = wordsOf(question.event)
  if (events.length === 0) return { kind: 'unknown-event', text: question.event ?? '', events: SELECTABLE_EVENTS }
  const { read } = deps.store
  const found = await findProject(read, question.project)
  if (found.kind !== 'project') return found
  const { project } = found
  const named = (await namedProjects(read)).find(
    (one) => one.project.name === project.name && one.project.uuid === project.uuid,
  )
  const names = named?.names ?? { projectId: project.projectId ?? '', projectUuid: project.uuid, names: [project.name] }
  const [rules, closed, subscriptions] = await Promise.all([
    deps.rulesOf(names),
    read.closedChannels(),
    deps.subscriptions(),
  ])
  const known = await read.project({ uuid: project.uuid, legacyId: project.projectId ?? '', names: [project.name] })
  const ciRules = rules === 'wait' ? null : rules
  const isVisible = await visibleTo(deps, by)
  const followers = following(subscriptions, names)
  const shown = followers.filter(({ channel }) => isVisible(channel))
  const bound = boundForOneEvent({ subscriptions: shown, rules: ciRules })
  const situation = { ciRules: bound.rules, closed, subscriptions: bound.subscriptions }
  return {
    kind: 'dry-run',
    project,
    branch: question.branch,
    events: events.map((event) => dryEvent(event, question.branch, situation)),
    filter: filterFor(known, question.branch),
    unread: ciRules === null,
    hidden: countChannels(followers) - countChannels(shown),
  }
}

const countChannels = (subscriptions: readonly Subscription[]): number =>
  new Set(subscriptions.map(({ channel }) => channel)).size

/** The events that a word means; none: it means nothing. */
function wordsOf(word: string | null): readonly DryWord[] {
  if (word === null) return SELECTABLE_EVENTS
  const wanted = word.trim().toLowerCase()
  return SELECTABLE_EVENTS.filter((event) => event === (SYNONYMS.get(wanted) ?? wanted))
}

const SYNONYMS = new Map([
  ['passed', 'success'],
  ['fixed', 'recovered'],
])

interface Situation {
  ciRules: CiRules
  closed: readonly ClosedChannel[]
  subscriptions: readonly Subscription[]
}

const dryEvent = (event: DryWord, branch: string, { ciRules, closed, subscriptions }: Situation): DryEvent => ({
  event,
  channels: [...Map.groupBy(subscriptions, ({ channel }) => channel)].map(([channel, own]): DryChannel => ({
    channel,
    decision: decide(questionOf(event, branch), own, ciRules),
    quiet: own.some(({ quiet }) => quiet),
    mentions: own.some(({ mention }) => mention === 'committer'),
    paused: pausedIn(closed, { channel }),
  })),
})

const questionOf = (event: DryWord, branch: string): Question => ({
  branch,
  status: event === 'recovered' ? 'success' : event,
  effect: 'opened',
  recovered: event === 'recovered',
  hasCard: false,
})

function filterFor(known: KnownProject | null, branch: string): Extract<DryRunOutcome, { kind: 'dry-run' }>['filter'] {
  if (!known?.filter) return null
  return { words: filterInWords(known.filter), ...wouldBuild(known.filter, branch) }
}
