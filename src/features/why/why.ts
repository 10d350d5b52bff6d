import { selectable } from '../../domain/rules/decide.ts'
import type { BuildEvent } from '../../domain/builds/build-event.ts'
import type { ChannelId, MessageTs } from '../../domain/ids.ts'
import type { StoredDecision, Card, CardKey } from '../../store/records.ts'
import type { Requester, Target, BuildSummary, NotFound } from '../../projects/outcomes.ts'
import {
  detailedSummaryOf,
  findBuild,
  summariesOf,
  type FindBuildDeps,
  type FindDeps,
} from '../../projects/find-build.ts'
import { followedBy, visibleTo, type FollowedDeps, type VisibleDeps } from '../../projects/projects.ts'
import { newestOf, type StoredMessage } from '../../domain/cards/plan.ts'
import { attemptKey, type Attempt } from '../../domain/builds/attempt.ts'
import { noticeSubject } from '../../domain/builds/revision.ts'
import type { Reads } from '../../store/store.ts'
import type { RuleResult, Selectable } from '../../domain/rules/rule.ts'

/** Why one build event was posted in one channel, or was not. Another version of the bot may have stored other reasons. */
export interface Explained
  extends Pick<BuildEvent, 'rawStatus' | 'at' | 'branch'>, Pick<StoredDecision, 'channel' | 'verdict' | 'rulesFrom'> {
  /** the events that rules could select for this build event */
  events: readonly Selectable[]
  reason: string
  /** the rules in their order, at most RULE_RESULTS_MAX */
  ruleResults: readonly RuleResult[]
  /** the messages about it in this channel: the card, the attempt's reply, or the day's account notice */
  posted: readonly Posted[]
}

/** `slot`: `card`, `run:<build>.<n>` or `notice`. `waiting`: not posted yet, or not known to be. */
export interface Posted {
  slot: string
  state: 'posted' | 'waiting' | 'gone'
  ts: MessageTs | null
}

export type WhyOutcome =
  | {
      kind: 'why'
      build: BuildSummary
      decisions: readonly Explained[]
      more: number
      /** how many channels are left out because the requester cannot see them */
      hidden: number
    }
  | NotFound

/** The most decisions in one answer; the newest are shown. */
export const DECISIONS_MAX = 20

/**
 * Why each channel got each build event of a build, or did not: the recorded decisions, and the messages that are
 * posted there now. Without a target, the newest build of the channel's projects.
 */
export async function explain(
  deps: FindBuildDeps & FollowedDeps & VisibleDeps,
  target: Target | null,
  by: Pick<Requester, 'user' | 'channel'>,
): Promise<WhyOutcome> {
  const meant = target ?? (await newestHere(deps, by.channel))
  if (!meant) return { kind: 'no-build', project: "this channel's projects", branch: null, nearest: null }
  const result = await findBuild(deps, meant)
  if (result.kind !== 'found') return result
  const { found } = result
  const own = found.buildEvents.filter(({ buildId }) => buildId === found.attempt.buildId)
  const all: Made[] = []
  for (const buildEvent of own)
    for (const decision of await deps.store.read.decisionsOfEvent(buildEvent.seq)) all.push({ buildEvent, decision })
  const isVisible = await visibleTo(deps, by)
  const shown = all.filter(({ decision }) => isVisible(decision.channel))
  const hidden = new Set(all.map(({ decision }) => decision.channel).filter((one) => !isVisible(one))).size
  const postedFor = createPosted(deps.store.read, found.attempts)
  const decisions: Explained[] = []
  for (const { buildEvent, decision } of shown.slice(-DECISIONS_MAX))
    decisions.push(explained(buildEvent, decision, await postedFor(buildEvent, decision)))
  const build = await detailedSummaryOf(deps, found, by.channel)
  return { kind: 'why', build, decisions, more: shown.length - decisions.length, hidden }
}

interface Made {
  buildEvent: BuildEvent
  decision: StoredDecision
}

function explained(buildEvent: BuildEvent, decision: StoredDecision, posted: readonly Posted[]): Explained {
  const { rawStatus, at, branch, status } = buildEvent
  const { channel, verdict, reason, rulesFrom, ruleResults, change } = decision
  return {
    channel,
    rawStatus,
    at,
    branch,
    events: selectable({ status, change }),
    verdict,
    reason,
    rulesFrom,
    ruleResults,
    posted,
  }
}

async function newestHere(deps: FindDeps & FollowedDeps, channel: ChannelId | null): Promise<Target | null> {
  const { projects } = await followedBy(deps, channel)
  const [summary] = await summariesOf(deps, await deps.store.read.newestBuilds(projects, 1))
  return summary ? { kind: 'run', ref: summary.ref } : null
}

/**
 * The recorded messages in Slack about one build event in the channel of a decision.
 * @param attempts of the revision that the build events belong to, oldest first
 */
function createPosted(
  reads: Reads,
  attempts: readonly Attempt[],
): (buildEvent: BuildEvent, decision: StoredDecision) => Promise<Posted[]> {
  const read = new Map<string, Promise<CardState>>()

  // Build events of one build share their cards.
  const cardState = (key: CardKey) => {
    const name = `${key.subject} ${key.channel}`
    const found = read.get(name) ?? readCardState(reads, key)
    read.set(name, found)
    return found
  }

  return async (buildEvent, { subject, channel, noticeDay }) => {
    const own = await cardState({ subject, channel })
    const notice = noticeDay === null ? null : await cardState({ subject: noticeSubject(noticeDay), channel })
    return [...cardOf('card', own), ...replyOf(buildEvent, attempts, own), ...(notice ? cardOf('notice', notice) : [])]
  }
}

interface CardState {
  messages: readonly StoredMessage[]
  card: Card | null
}

async function readCardState(reads: Reads, key: CardKey): Promise<CardState> {
  const [messages, card] = await Promise.all([reads.messagesOf(key), reads.card(key)])
  return { messages, card }
}

function cardOf(slot: string, { messages, card }: CardState): Posted[] {
  const posted = newestOf('card', messages)
  if (posted) return [toPosted(slot, posted)]
  const waits = card !== null && card.queues.post !== null
  return waits ? [{ slot, state: 'waiting', ts: null }] : []
}

function replyOf(buildEvent: BuildEvent, attempts: readonly Attempt[], { messages }: CardState): Posted[] {
  const attempt = attemptOf(buildEvent, attempts)
  const slot = attempt && `run:${attemptKey(attempt)}`
  const reply = slot && newestOf(slot, messages)
  return slot && reply ? [toPosted(slot, reply)] : []
}

const toPosted = (slot: string, { state, ts }: StoredMessage): Posted => ({
  slot,
  state: state === 'posted' || state === 'gone' ? state : 'waiting',
  ts,
})

/** A repeated or late build event that names no attempt belongs to the one during which it came. */
function attemptOf({ buildId, seq, details }: BuildEvent, attempts: readonly Attempt[]): Attempt | undefined {
  const ofBuild = attempts.filter((attempt) => attempt.buildId === buildId)
  const named = ofBuild.find(({ n }) => n === details.attempt)
  return named ?? ofBuild.findLast(({ firstSeq }) => firstSeq <= seq)
}
