import type { BreakageReads, BreakageWrites } from './breakages.ts'
import type { BuildEvent, Observation, Origin } from '../domain/build-event.ts'
import type { ChannelId, MessageTs, Uuid } from '../domain/ids.ts'
import type { Interaction } from '../domain/interaction.ts'
import type { NewestCard, PlacedEvent } from '../domain/revision.ts'
import type { CardState, Queue, Queues, StoredMessage } from '../domain/plan.ts'
import type { Action, ProjectRequest, Request, RequestChange, AttemptRef } from '../domain/request.ts'
import type { DigestReads, DigestWrites } from './digests.ts'
import type { FigureReads } from './figures.ts'
import type {
  BuildPlace,
  StoredEvent,
  Card,
  CardKey,
  Claim,
  ClosedChannel,
  DueRevision,
  EventPlace,
  DeliveredProject,
  KeptDecision,
  KeptSubscription,
  KnownBuild,
  KnownProject,
  Lease,
  VerdictPlace,
  WantedSubscription,
} from './records.ts'
import type { ReportReads, ReportWrites } from './reports.ts'

/**
 * Where everything that must last is kept. One implementation per database, one conformance suite for all.
 * What is written is on disk when `write` resolves, and not before.
 */
export interface Store {
  /**
   * Runs `work` in a transaction and resolves after it is durable. Writes of the same moment share one transaction and
   * one fsync; when one of them throws, the others still succeed, and its error is its own. `work` may be run more than
   * once, so it must have no effect but through `tx`. No network call inside.
   *
   * `canBeRedone`: what is written follows from what is stored already. It is committed, and survives the process; only a
   * loss of power before the next other write may take it back, as a whole.
   */
  write<T>(work: (tx: Tx) => Promise<T>, options?: { canBeRedone?: boolean }): Promise<T>
  /** Committed state, outside any transaction. */
  read: Reads
  /** Brings the tables up to date; safe to run by several processes at once. */
  migrate(): Promise<void>
  /** Resolves when the database answers; rejects with what it said. */
  ping(): Promise<void>
  close(): Promise<void>
  /** The database's own time (ms), which all that share it go by. */
  time(): Promise<number>
  /** whether other processes may share this database */
  shared: boolean
  /** Where processes share the database: how one tells the others of news. A hint, which may be lost. */
  news?: {
    announce(): void
    /** @returns what ends it */
    listen(onNews: () => void): () => Promise<void>
  }
}

export interface Reads extends ReportReads, FigureReads, DigestReads, BreakageReads {
  /** Every build event of a build, in order of receipt: at most the newest BUILD_EVENTS_MAX. */
  eventsOfBuild(projectId: string, buildId: string): Promise<StoredEvent[]>
  /** Every build event of these builds (`project_id/build_id`), in order of receipt. */
  eventsOfBuilds(buildKeys: readonly string[]): Promise<PlacedEvent[]>
  eventsOfCard(revisionKey: string, cardNumber: number): Promise<PlacedEvent[]>
  newestCard(revisionKey: string): Promise<NewestCard | null>
  /** Build events that finish a build of the branch at or before this build, newest build first. */
  verdictsBefore(branchKey: string, buildOrder: string, limit: number): Promise<StoredEvent[]>
  /** Has a newer build of the branch, one of the next hundred, finished before this build event was received? */
  isOvertaken(branchKey: string, buildOrder: string, seq: number): Promise<boolean>
  /**
   * The revisions of newer builds of the branch that are ingested and have an outcome, the next build first.
   * `hasRed`: an attempt of the build may be red.
   */
  revisionsAfter(
    branchKey: string,
    buildOrder: string,
    limit: number,
  ): Promise<{ revisionKey: string; hasRed: boolean }[]>
  /** The revisions to take in now, most urgent first: those with new build events that are not put off, and those woken. */
  dueIngest(now: number, limit: number): Promise<DueRevision[]>
  /** The mark of a revision that was woken or put off. In a transaction it keeps others from taking the revision in. */
  ingestOf(revisionKey: string): Promise<{ revisionKey: string; stamp: number } | null>
  decisionsOf(card: CardKey): Promise<KeptDecision[]>
  decisionsOfEvent(eventSeq: number): Promise<KeptDecision[]>
  /** The build events of a day's account notice in a channel, oldest first, and how many there are by word. */
  noticeEvents(
    day: string,
    channel: ChannelId,
    limit: number,
  ): Promise<{ buildEvents: BuildEvent[]; counts: Map<string, number> }>
  card(key: CardKey): Promise<Card | null>
  cardsOf(subject: string): Promise<CardKey[]>
  messagesOf(card: CardKey): Promise<StoredMessage[]>
  /** Channels with something to post, now or later. */
  channelsToPost(): Promise<ChannelId[]>
  /** Cards due in a queue, most urgent first. */
  dueCards(
    queue: Queue,
    now: number,
    limit: number,
    channel: ChannelId | null,
    not: readonly ChannelId[],
  ): Promise<CardKey[]>
  /** What waits: revisions to take in, cards to post, edit and look up. */
  backlog(): Promise<{ ingest: number; post: number; edit: number; look: number }>
  /** When the oldest news came that is not ingested yet (ms); null: there is none. */
  oldestNews(): Promise<number | null>
  /** Since when the oldest step of a queue is due (ms), those in these channels left out; null: there is none. */
  oldestStep(queue: Queue, not: readonly ChannelId[]): Promise<number | null>
  recentCalls(sinceMs: number): Promise<{ queue: Queue; channel: ChannelId; at: number }[]>
  closedChannels(): Promise<ClosedChannel[]>
  project(names: { uuid: string | null; legacyId: string; names: readonly string[] }): Promise<KnownProject | null>
  /** Those made in Slack, the oldest first. */
  subscriptions(): Promise<KeptSubscription[]>
  subscriptionsOf(channel: ChannelId): Promise<KeptSubscription[]>
  /** The person to mention for a committer: null: nobody claimed the handle, or they have gone or want no mentions. */
  personOf(handle: string): Promise<string | null>
  /** Does the handle mean anybody, whether or not they are to be mentioned? */
  isClaimed(handle: string): Promise<boolean>
  /** The handles that mean this person, the oldest claim (ms) first. */
  handlesOf(user: string): Promise<{ handle: string; at: number }[]>
  /** In a transaction it keeps others from changing the claim meanwhile. */
  claimOf(handle: string): Promise<Claim | null>
  /** Does this person want to be mentioned? Yes, unless they said otherwise. */
  mentionsOf(user: string): Promise<boolean>
  /** People with claims that were not looked at since `before` (ms), the longest waiting first; at most `limit`. */
  claimantsToCheck(before: number, limit: number): Promise<string[]>
  lastDoneAt(job: string): Promise<number | null>
  /** Build events in order of receipt, after this one. */
  eventsAfter(seq: number, limit: number): Promise<EventPlace[]>
  /** Build events that finish a build of the branch, this build or a newer one, oldest build first, then in order of receipt. */
  verdictsFrom(branchKey: string, buildOrder: string, limit: number): Promise<VerdictPlace[]>
  /**
   * Builds that run or wait and were neither heard of nor asked about since then (ms), nor are silent since before
   * `notBefore`; the longest silent first.
   */
  silentBuilds(since: { notAfter: number; notBefore: number }, limit: number): Promise<KnownBuild[]>
  /** Every project of the cache, by name, when it was last read, and when its builds were first taken in (ms; null: not yet). */
  projects(): Promise<(KnownProject & { readAt: number; lookedAt: number | null })[]>
  deliveredProjects(): Promise<DeliveredProject[]>
  build(projectId: string, buildId: string): Promise<KnownBuild | null>
  /** Those of a project that have one of these numbers; at most 500 are looked for. */
  buildsOf(projectId: string, buildIds: readonly string[]): Promise<KnownBuild[]>
  buildByUuid(uuid: Uuid): Promise<KnownBuild | null>
  /** Builds that people know by this number, of one project if given; a build that has no other number by its id. */
  buildsByNumber(number: string, limit: number, projectId?: string): Promise<KnownBuild[]>
  /** The newest build of a project, of one branch if given. */
  newestBuild(projectId: string, branch?: string): Promise<KnownBuild | null>
  /** The builds of a branch with the greatest numbers, newest first. */
  lastBuilds(projectId: string, branch: string, limit: number): Promise<KnownBuild[]>
  /** Builds that run now, newest news first; of these projects, or of all. */
  runningBuilds(projectIds: readonly string[] | null, limit: number): Promise<KnownBuild[]>
  /** Red builds of these projects that no newer build of their branch has followed with an outcome; newest news first. */
  redBuilds(projectIds: readonly string[], limit: number): Promise<KnownBuild[]>
  /** Red builds of these committers that no newer build of their branch has followed with an outcome; newest news first. */
  redBuildsOf(handles: readonly string[], limit: number): Promise<KnownBuild[]>
  /** Builds that wait, newest news first; of these projects, or of all. */
  waitingBuilds(projectIds: readonly string[] | null, limit: number): Promise<KnownBuild[]>
  /** When each project last delivered something (ms), the newest first. */
  lastDeliveries(limit: number): Promise<{ project: string; at: number }[]>
  /** The branches of a project, the one with the newest build first. */
  branchesOf(projectId: string, limit: number): Promise<string[]>
  /** What one of our own messages is about. */
  subjectOf(channel: ChannelId, ts: MessageTs): Promise<string | null>
  /** The requests about the builds of a revision, oldest first. */
  requestsOf(revisionKey: string): Promise<Request[]>
  /** The request that this interaction made, about a build or a project. */
  requestOf(interactionKey: string): Promise<Request | ProjectRequest | null>
  openRequest(run: AttemptRef, action: Action): Promise<Request | null>
  /** The restarts asked of one build, oldest first. */
  restartsOf(projectId: string, buildId: string): Promise<Request[]>
  /** Open requests that CI is to be asked about by now. */
  requestsToLookAt(now: number, limit: number): Promise<Request[]>
  /** The audit: requests about builds and projects in the order they were made, after this place in it. */
  requestsAfter(place: { requestedAt: number; id: string }, limit: number): Promise<(Request | ProjectRequest)[]>
  /** The newest requests about builds and projects, the newest first. */
  newestRequests(limit: number): Promise<(Request | ProjectRequest)[]>
  openProjectRequest(projectUuid: Uuid): Promise<ProjectRequest | null>
  /** Open requests about projects that CI is to be asked about by now. */
  projectRequestsToLookAt(now: number, limit: number): Promise<ProjectRequest[]>
  /** What Slack sent under this key. In a transaction it keeps others from giving it up meanwhile. */
  interactionsOf(interactionKey: string): Promise<Interaction[]>
  /** Interactions whose answer nobody was shown yet, the oldest first. */
  owedInteractions(limit: number): Promise<Interaction[]>
}

export interface Tx extends Reads, ReportWrites, DigestWrites, BreakageWrites {
  /**
   * Stores a build event, which is by itself the mark that its revision has something to take in, at this priority (0 first).
   * `isOfPastAttempt`: it does not count for its branch.
   */
  insertBuildEvent(
    seen: Observation,
    where: { at: number; origin: Origin; priority: number; isOfPastAttempt?: boolean } & BuildPlace,
  ): Promise<number>
  countRepeat(eventSeq: number): Promise<void>
  /** The deliveries of these build events were answered. */
  acknowledge(eventSeqs: readonly number[]): Promise<void>
  insertDelivery(delivery: { receivedAt: number; answer: string; eventSeq: number; body: string }): Promise<number>
  /** Marks a revision to be ingested although no new build event says so; a wake that is already there keeps the earlier time. */
  wakeRevision(revisionKey: string, dueAt: number, priority: number): Promise<void>
  /**
   * Until this write ends, no other one goes on from here with the same name: for what has a maximum
   * number, and is counted first.
   */
  lockName(name: string): Promise<void>
  /** Removes the mark unless somebody woke the revision after `stamp` was read. */
  settleRevision(revisionKey: string, stamp: number): Promise<void>
  /** Puts a revision off, its new build events too. */
  postponeRevision(revisionKey: string, dueAt: number): Promise<void>
  placeEvent(eventSeq: number, cardNumber: number): Promise<void>
  keepDecision(decision: KeptDecision): Promise<void>
  /** Makes the card known if it is not; what is there already keeps its state. */
  ensureCard(card: CardState): Promise<void>
  setQueues(key: CardKey, queues: Queues): Promise<void>
  setTrouble(key: CardKey, trouble: { tries: number; plain: boolean; problem: string | null }): Promise<void>
  insertMessage(message: StoredMessage & CardKey): Promise<void>
  updateMessage(key: string, change: Partial<Omit<StoredMessage, 'key' | 'slot' | 'generation'>>): Promise<void>
  deleteMessage(key: string): Promise<void>
  insertCall(call: { queue: Queue; channel: ChannelId; at: number }): Promise<void>
  forgetCalls(beforeMs: number): Promise<void>
  /** Of one that is closed already, the reason and the next try change; since when, and who was told, stay. */
  closeChannel(channel: Pick<ClosedChannel, 'channel' | 'code' | 'retryAt'> & { at: number }): Promise<void>
  reopenChannel(channel: ChannelId): Promise<void>
  /** Those concerned are told of this closing. Says whether they were not before: of several processes one tells them. */
  markTold(closing: Pick<ClosedChannel, 'channel' | 'closedAt'>, at: number): Promise<boolean>
  /**
   * Makes a subscription, or puts it in the place of the one of its slot, which keeps its id and who made it; `was`: how
   * that one was.
   */
  keepSubscription(
    wanted: WantedSubscription,
    by: { user: string; at: number },
  ): Promise<{ kept: KeptSubscription; was: KeptSubscription | null }>
  /** @returns what is removed; null: there is none of that id (any more) */
  removeSubscription(id: string): Promise<KeptSubscription | null>
  keepProject(project: KnownProject & { readAt: number }): Promise<void>
  linkLegacyProject(uuid: Uuid, legacyId: string, readAt: number): Promise<void>
  /** CI's builds of the project are taken in for the first time (ms). */
  setLooked(uuid: Uuid, at: number): Promise<void>
  forgetProjects(readBeforeMs: number): Promise<void>
  /** A handle belongs to the person who claims it first; says whether that is this one. */
  claimHandle(handle: string, userId: string, at: number): Promise<boolean>
  /** The handle becomes this person's, no matter who had it. @returns whose it was */
  giveHandle(handle: string, userId: string, at: number): Promise<string | null>
  /** @returns whose it was; null: nobody's */
  releaseHandle(handle: string): Promise<string | null>
  setMentions(userId: string, on: boolean): Promise<void>
  /** The person has left the workspace, at the latest then (ms); null: is there. */
  setInactive(userId: string, at: number | null): Promise<void>
  /** Slack was asked about this person (ms). */
  setChecked(userId: string, at: number): Promise<void>
  setLastDoneAt(job: string, at: number): Promise<void>
  /**
   * Takes a lease that nobody holds at `now` (ms); says whether it was free. One that reaches further than `longestMs` was
   * taken by a clock that was wrong, and counts as free.
   */
  takeLease(lease: Lease, at: { now: number; longestMs: number }): Promise<boolean>
  /** Says whether it was still held, even if its time was over. */
  renewLease(lease: Lease): Promise<boolean>
  /** Whether it is held; nobody else can take it before this write has ended. */
  holdsLease(lease: Pick<Lease, 'name' | 'heldBy'>): Promise<boolean>
  releaseLease(lease: Pick<Lease, 'name' | 'heldBy'>): Promise<void>
  /** Says whether this request of Slack's comes for the first time, or for the first time since `lastTakenBefore` (ms). */
  rememberRequest(key: string, at: number, lastTakenBefore?: number): Promise<boolean>
  forgetRequests(takenBefore: number): Promise<void>
  /** CI was asked how these builds stand (ms). */
  setAsked(builds: readonly Pick<KnownBuild, 'projectId' | 'buildId'>[], at: number): Promise<void>
  /**
   * Removes all that is kept of one card of a revision, in every channel: build events, decisions, messages, builds, reports of
   * builds of which nothing is left, and with the revision's last card what people asked about it. @returns how many rows
   */
  removeCardEvents(revisionKey: string, cardNumber: number): Promise<number>
  /** Removes bodies as they came that were received before then (ms), the oldest first. @returns how many */
  removeDeliveries(receivedBefore: number, limit: number): Promise<number>
  /** Removes what people asked about projects before then (ms), if it has ended. @returns how many */
  removeProjectRequests(askedBefore: number, limit: number): Promise<number>
  /**
   * Removes account notices and digests of the days before this one (`YYYY-MM-DD`) that wait for nothing, or for one of
   * these closed channels. @returns how many
   */
  removeNotices(old: { beforeDay: string; closed: readonly ChannelId[] }, limit: number): Promise<number>
  /** @param build `number`: what people see as its number, where that is not its id */
  keepBuild(build: KnownBuild & { number?: string | null }): Promise<void>
  /** A build that turned out not to be there. */
  forgetBuild(projectId: string, buildId: string): Promise<void>
  /** Of two times of delivery the later one stays. */
  hearProject(project: DeliveredProject): Promise<void>
  /**
   * Throws when this interaction has made a request already, or another one is open for the same attempt and action, or for the
   * same project: look first, in the same transaction.
   */
  insertRequest(request: Request | ProjectRequest): Promise<void>
  updateRequest(id: string, change: RequestChange): Promise<void>
  insertInteraction(interaction: Interaction): Promise<void>
  /** Says that this process is still at work on these (ms), unless somebody gave them up. */
  renewInteractions(ids: readonly string[], claim: Pick<Interaction, 'claimedBy' | 'claimedAt'>): Promise<void>
  /** Gives one up: one of our own, or another's that was not renewed since it was read. Says whether it did. */
  claimInteraction(
    id: string,
    stood: Pick<Interaction, 'claimedBy' | 'claimedAt'>,
    claim: Pick<Interaction, 'claimedBy' | 'claimedAt'>,
  ): Promise<boolean>
  /** Its answer was shown: removes it, unless somebody gave it up. */
  settleInteraction(id: string): Promise<void>
  /** It was shown that it was given up; its response_url is not kept. */
  tellInteraction(id: string): Promise<void>
  /** Removes the older ones. @returns how many of them nobody was told about */
  forgetInteractions(receivedBeforeMs: number): Promise<number>
}
