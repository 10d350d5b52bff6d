import type { Decision } from '../domain/decide.ts'
import type { Fact, Observation } from '../domain/fact.ts'
import type { ChannelId, Uuid } from '../domain/ids.ts'
import type { PlacedFact } from '../domain/lineage.ts'
import type { CardState, Lane, Lanes, StoredMessage } from '../domain/plan.ts'
import type { NotificationRule } from '../domain/rule.ts'
import type { Subscription } from '../domain/subscription.ts'

/**
 * Where everything that must last is kept. One implementation per database, one conformance suite for all.
 * What is written is on disk when `write` resolves, and not before.
 */
export interface Store {
  /**
   * Runs `work` in a transaction and resolves after it is durable. Writes of the same moment share one transaction and
   * one fsync; when one of them throws, the others still succeed, and its error is its own. `work` may be run more than
   * once, so it must have no effect but through `tx`. No network call inside.
   */
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Committed state, outside any transaction. */
  read: Reads
  /** Brings the tables up to date; safe to run by several processes at once. */
  migrate(): Promise<void>
  /** Resolves when the database answers; rejects with what it said. */
  ping(): Promise<void>
  close(): Promise<void>
  /** whether other processes may share this database */
  shared: boolean
}

/** A card as stored: what is left to do is in its lanes. */
export interface Card extends CardState {
  lanes: Lanes
  attempts: number
  plain: boolean
  problem: string | null
}

export interface CardKey {
  subject: string
  channel: ChannelId
}

/** A decision with the fact and channel it is about. */
export interface KeptDecision extends Decision {
  factSeq: number
  channel: ChannelId
  subject: string
  recovered: boolean
  noticeDay: string | null
  decidedAt: number
}

export interface BuildPlace {
  lineageKey: string
  branch: string | null
  commitId: string | null
}

/** What is kept of a project: its names and its rules, no secret. `rules` is null where only the legacy interface knows it. */
export interface KnownProject {
  uuid: Uuid
  name: string
  legacyId: string | null
  rules: readonly NotificationRule[] | null
}

export interface ClosedChannel {
  channel: ChannelId
  code: string
  retryAt: number
}

export interface Reads {
  /** Every fact of a build, in order of receipt: at most the newest BUILD_FACTS_MAX. */
  factsOfBuild(projectId: string, buildId: string): Promise<(PlacedFact & BuildPlace)[]>
  factsOfBuilds(lineageKey: string, buildIds: readonly string[]): Promise<PlacedFact[]>
  unplacedFacts(lineageKey: string): Promise<PlacedFact[]>
  factsOfEpisode(lineageKey: string, episode: number): Promise<PlacedFact[]>
  newestEpisode(lineageKey: string): Promise<{ episode: number; lastAt: number; facts: number } | null>
  /** Facts that finish a build of the branch at or before this build, newest build first. */
  verdictsBefore(branchKey: string, buildOrder: string, limit: number): Promise<Fact[]>
  /** Has a newer build of the branch finished before this fact was received? */
  isOvertaken(branchKey: string, buildOrder: string, seq: number): Promise<boolean>
  /** Facts that finish a newer build of the branch, oldest build first. */
  verdictsAfter(branchKey: string, buildOrder: string, limit: number): Promise<(Fact & { lineageKey: string })[]>
  /** The lineages to take in now, most urgent first. */
  dueIntake(now: number, limit: number): Promise<{ lineageKey: string; stamp: number }[]>
  intakeOf(lineageKey: string): Promise<{ lineageKey: string; stamp: number } | null>
  decisionsOf(card: CardKey): Promise<KeptDecision[]>
  decisionsOfFact(factSeq: number): Promise<KeptDecision[]>
  /** The facts of a day's account notice in a channel, oldest first, and how many there are by word. */
  noticeFacts(day: string, channel: ChannelId, limit: number): Promise<{ facts: Fact[]; counts: Map<string, number> }>
  card(key: CardKey): Promise<Card | null>
  cardsOf(subject: string): Promise<CardKey[]>
  messagesOf(card: CardKey): Promise<StoredMessage[]>
  /** Channels with something to post, now or later. */
  channelsToPost(): Promise<ChannelId[]>
  /** Cards due in a lane, most urgent first. */
  dueCards(
    lane: Lane,
    now: number,
    limit: number,
    channel: ChannelId | null,
    not: readonly ChannelId[],
  ): Promise<CardKey[]>
  /** What waits: lineages to take in, cards to post, edit and look up. */
  backlog(): Promise<{ intake: number; post: number; edit: number; look: number }>
  recentCalls(sinceMs: number): Promise<{ lane: Lane; channel: ChannelId; at: number }[]>
  closedChannels(): Promise<ClosedChannel[]>
  project(names: { uuid: string | null; legacyId: string; names: readonly string[] }): Promise<KnownProject | null>
  subscriptions(): Promise<Subscription[]>
  personOf(handle: string): Promise<string | null>
  lastDoneAt(job: string): Promise<number | null>
}

export interface Tx extends Reads {
  insertFact(
    seen: Observation,
    where: { at: number; origin: 'delivery' | 'poll' | 'action' } & BuildPlace,
  ): Promise<number>
  countRepeat(factSeq: number): Promise<void>
  insertDelivery(delivery: { receivedAt: number; answer: string; factSeq: number; body: string }): Promise<number>
  /** Marks a lineage as having something to take in; a wake that is already there keeps the earlier time. */
  wakeLineage(lineageKey: string, dueAt: number, priority: number): Promise<void>
  /** Removes the mark unless somebody woke the lineage after `stamp` was read. */
  settleLineage(lineageKey: string, stamp: number): Promise<void>
  postponeLineage(lineageKey: string, dueAt: number): Promise<void>
  placeFact(factSeq: number, episode: number): Promise<void>
  keepDecision(decision: KeptDecision): Promise<void>
  /** Makes the card known if it is not; what is there already keeps its state. */
  ensureCard(card: CardState): Promise<void>
  setLanes(key: CardKey, lanes: Lanes): Promise<void>
  setTrouble(key: CardKey, trouble: { attempts: number; plain: boolean; problem: string | null }): Promise<void>
  insertMessage(message: StoredMessage & CardKey): Promise<void>
  updateMessage(key: string, change: Partial<Omit<StoredMessage, 'key' | 'slot' | 'generation'>>): Promise<void>
  deleteMessage(key: string): Promise<void>
  insertCall(call: { lane: Lane; channel: ChannelId; at: number }): Promise<void>
  forgetCalls(beforeMs: number): Promise<void>
  closeChannel(channel: ClosedChannel & { at: number }): Promise<void>
  reopenChannel(channel: ChannelId): Promise<void>
  keepProject(project: KnownProject & { readAt: number }): Promise<void>
  linkLegacyProject(uuid: Uuid, legacyId: string, readAt: number): Promise<void>
  forgetProjects(readBeforeMs: number): Promise<void>
  claimHandle(handle: string, userId: string, at: number): Promise<boolean>
  setLastDoneAt(job: string, at: number): Promise<void>
}
