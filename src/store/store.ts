import type { StreakReads, StreakWrites } from './streaks.ts'
import type { OutcomeReads } from '../domain/builds/history.ts'
import type { Judgement } from '../domain/builds/streak.ts'
import type { BuildEvent, ReceivedEvent, Origin } from '../domain/builds/build-event.ts'
import type { ChannelId, MessageTs, SourceName, Uuid } from '../domain/ids.ts'
import type {
  StoredInteraction,
  DigestReads,
  DigestWrites,
  Card,
  CardKey,
  Claim,
  ClosedChannel,
  DueRevision,
  Namesake,
  Renamed,
  EventRef,
  DeliveredProject,
  ListedProject,
  ListedQuery,
  NameSearch,
  Projects,
  CardDecision,
  StoredDecision,
  StoredSubscription,
  KnownBuild,
  KnownProject,
  ProjectClaim,
  StoredLease,
  NewSubscription,
  ReportReads,
  ReportWrites,
} from './records.ts'
import type { NewestCard } from '../domain/builds/revision.ts'
import type { CardState, Queue, Queues, StoredMessage } from '../domain/cards/plan.ts'
import type { Action, ProjectRequest, Request, RequestChange, AttemptRef } from '../domain/cards/request.ts'
import type { FigureReads } from './figures.ts'

/**
 * Durable storage. One implementation per database, one conformance suite for all. `write` resolves when what it wrote
 * is on disk, except with `canBeRedone`.
 */
export interface Store {
  /**
   * Runs `work` in a transaction and resolves after it is durable. Concurrent writes may share one transaction and one
   * fsync; if one of them throws, only that one fails. `work` may run more than once, so it must have no effect but
   * through `tx`. No network call inside.
   *
   * On PostgreSQL, a write that returns nothing may resolve before it is done: if it fails, the transaction does. So `work`
   * must not catch a write's error.
   *
   * `canBeRedone`: the write follows from what is stored already. It is committed and survives the process. Only a
   * power failure before the next other write may undo it, as a whole.
   */
  write<T>(work: (tx: Tx) => Promise<T>, options?: { canBeRedone?: boolean }): Promise<T>
  /** Committed state, outside any transaction. */
  read: Reads
  /** Brings the tables up to date; safe to run by several processes at once. */
  migrate(): Promise<void>
  /** Resolves when the database answers; rejects with its error. */
  ping(): Promise<void>
  close(): Promise<void>
  /** The database's time (ms), which all processes that share it use. */
  time(): Promise<number>
  /** whether other processes may share this database */
  shared: boolean
  /**
   * Calls `onNews` after each write, of this process or another, that made something due. Only a hint, which may be lost.
   * @returns a function that ends it
   */
  listen(onNews: OnNews): () => Promise<void>
}

/** What may have become due: revisions to ingest, cards of this channel, or anything. */
export type News = 'ingest' | ChannelId | 'anything'

export type OnNews = (news: News) => void

export type BuildIds = Pick<KnownBuild, 'projectId' | 'buildId'>

export interface Reads extends OutcomeReads, ReportReads, FigureReads, DigestReads, StreakReads {
  /** Every build event of a build, in order of receipt: at most the newest BUILD_EVENTS_MAX. */
  eventsOfBuild(projectId: string, buildId: string): Promise<BuildEvent[]>
  /** Every build event of these builds (`project_id/build_id`), in order of receipt. */
  eventsOfBuilds(buildKeys: readonly string[]): Promise<BuildEvent[]>
  eventsOfCard(revisionKey: string, cardNumber: number): Promise<BuildEvent[]>
  newestCard(revisionKey: string): Promise<NewestCard | null>
  /**
   * The revisions of newer builds of the branch that are ingested and have an outcome, the next build first.
   * `hasRed`: an attempt of the build may be red.
   */
  revisionsAfter(
    branchKey: string,
    buildOrder: string,
    limit: number,
  ): Promise<{ revisionKey: string; hasRed: boolean }[]>
  /** The revisions to ingest now, most urgent first: those woken, and those with new build events, unless postponed. */
  dueIngest(now: number, limit: number): Promise<DueRevision[]>
  /** When the next revision becomes due that is not due at `now` (ms); null: none will. */
  nextIngestAt(now: number): Promise<number | null>
  /** The mark of a woken or postponed revision. In a transaction, also locks it: no other transaction ingests it. */
  ingestOf(revisionKey: string): Promise<{ revisionKey: string; stamp: number } | null>
  decisionsOf(card: CardKey): Promise<CardDecision[]>
  decisionsOfEvent(eventSeq: number): Promise<StoredDecision[]>
  /** The build events of a day's account notice in a channel, oldest first, and how many there are by word. */
  noticeEvents(
    day: string,
    channel: ChannelId,
    limit: number,
  ): Promise<{ buildEvents: BuildEvent[]; counts: Map<string, number> }>
  card(key: CardKey): Promise<Card | null>
  cardsOf(subject: string): Promise<CardKey[]>
  messagesOf(card: CardKey): Promise<StoredMessage[]>
  /** The message that shows a card in Slack; null if none is posted. */
  postedCard(card: CardKey): Promise<MessageTs | null>
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
  /** When the next step of a card becomes due that is not due at `now` (ms), in any queue; null: none will. */
  nextStepAt(now: number): Promise<number | null>
  /**
   * How much waits at this time (ms): build events and revisions to ingest, cards to post, edit and look up. A card
   * counts if its step is due within LANDING_MAX_MS, or tried again; not if it is edited when an owner's time is up.
   */
  backlog(now: number): Promise<{ ingest: number; post: number; edit: number; look: number }>
  /** When the oldest build event that is not ingested was received (ms); null: there is none. */
  oldestNews(): Promise<number | null>
  /** Since when the oldest step of a queue is due (ms), without those in these channels; null: there is none. */
  oldestStep(queue: Queue, not: readonly ChannelId[]): Promise<number | null>
  recentCalls(sinceMs: number): Promise<{ queue: Queue; channel: ChannelId; at: number }[]>
  closedChannels(): Promise<ClosedChannel[]>
  /** The current ids of moved channels (`moveChannel`), by their former ids. */
  movedChannels(): Promise<ReadonlyMap<ChannelId, ChannelId>>
  project(names: { uuid: string | null; legacyId: string; names: readonly string[] }): Promise<KnownProject | null>
  /** Which sources have projects of these names, in any case; `name` is in lower case. */
  namesakes(names: readonly string[]): Promise<(Namesake & { name: string })[]>
  /** The projects and repositories that had these names, in any case. */
  renamed(names: readonly string[]): Promise<Renamed[]>
  /** The subscriptions made in Slack, oldest first. */
  subscriptions(): Promise<StoredSubscription[]>
  subscriptionsOf(channel: ChannelId): Promise<StoredSubscription[]>
  /** The person to mention for a committer. Null: nobody claimed the handle, or they have left or want no mentions. */
  personOf(handle: string): Promise<string | null>
  /** Whether anybody claimed the handle, even if they are not to be mentioned. */
  isClaimed(handle: string): Promise<boolean>
  /** The handles that this person claimed, the oldest claim (ms) first. */
  handlesOf(user: string): Promise<{ handle: string; at: number }[]>
  /** In a transaction, also locks the claim. */
  claimOf(handle: string): Promise<Claim | null>
  /** Whether this person wants to be mentioned. By default, yes. */
  mentionsOf(user: string): Promise<boolean>
  /** People with claims who were not checked since `before` (ms), the longest waiting first; at most `limit`. */
  claimantsToCheck(before: number, limit: number): Promise<string[]>
  lastDoneAt(job: string): Promise<number | null>
  /** Build events in order of receipt, after this one. */
  eventsAfter(seq: number, limit: number): Promise<EventRef[]>
  /**
   * Builds that run or wait, whose newest event is from `notBefore` to `notAfter` (ms), and about which CI was not
   * asked after `notAfter`; the longest silent first.
   */
  silentBuilds(since: { notAfter: number; notBefore: number }, limit: number): Promise<KnownBuild[]>
  /** A page of the projects that their sources list, by name. */
  listedProjects(query: ListedQuery, page: { limit: number; offset: number }): Promise<ListedProject[]>
  /** How many these are, and when the first of them was last read (ms; null: there is none). */
  countListed(query: ListedQuery): Promise<{ total: number; oldestReadAt: number | null }>
  /** Listed projects with one of these as their uuid, id or name; all in lower case. By name. */
  listedAs(keys: readonly string[], limit: number): Promise<ListedProject[]>
  /** The same of projects that builds have named, by name or full name. */
  deliveredAs(keys: readonly string[], limit: number): Promise<DeliveredProject[]>
  searchListed(search: NameSearch, limit: number): Promise<ListedProject[]>
  /** The same of projects that builds have named, by full name if known. */
  searchDelivered(search: NameSearch, limit: number): Promise<DeliveredProject[]>
  /** Names in lower case around a text in their order: of listed projects, then of those that builds have named. */
  namesAround(text: string, limit: number): Promise<string[]>
  /** Projects that builds have named, by full name if known. */
  deliveredProjects(projects: Projects, order: 'asc' | 'desc', limit: number): Promise<DeliveredProject[]>
  /** Projects with a claim whose uuid comes after this one, by uuid. */
  claimedProjects(after: string, limit: number): Promise<{ project: KnownProject; claim: ProjectClaim }[]>
  build(projectId: string, buildId: string): Promise<KnownBuild | null>
  /** Builds whose sources are to be asked by this time (ms) how they ended; the longest due first. */
  unreadEnds(dueAt: number, limit: number): Promise<KnownBuild[]>
  /** The builds of a project with these ids; only the first 500 ids are looked up. */
  buildsOf(projectId: string, buildIds: readonly string[]): Promise<KnownBuild[]>
  /** The builds of a source with this id, of whatever project, the newest event first. */
  buildsWithId(source: SourceName, buildId: string, limit: number): Promise<KnownBuild[]>
  buildByUuid(uuid: Uuid): Promise<KnownBuild | null>
  /** Builds that people know by this number, of one project if given. A build without a number is found by its id. */
  buildsByNumber(number: string, limit: number, projectId?: string): Promise<KnownBuild[]>
  /** The newest build of a project, of one branch if given. */
  newestBuild(projectId: string, branch?: string): Promise<KnownBuild | null>
  /** The newest build of each project, the newest event first; `not-red`: without those that `redBranches` gives. */
  newestBuilds(projects: Projects, limit: number, which?: 'all' | 'not-red'): Promise<KnownBuild[]>
  /** How many these are, counted up to `max`. */
  countNewest(projects: Projects, max: number, which?: 'all' | 'not-red'): Promise<number>
  /** The newest builds of a branch, newest first. */
  lastBuilds(projectId: string, branch: string, limit: number): Promise<KnownBuild[]>
  /** Builds that run now, the newest event first; of these projects, or all. */
  runningBuilds(projects: Projects | null, limit: number): Promise<KnownBuild[]>
  /** Red builds of these projects without a newer outcome on their branch, the newest event first. */
  redBuilds(projects: Projects | null, limit: number): Promise<KnownBuild[]>
  /** How many branches of these projects are red (`redBranches`), counted up to `max`. */
  countRed(projects: Projects, max: number): Promise<number>
  /** Red builds of these committers without a newer outcome on their branch, the newest event first. */
  redBuildsOf(handles: readonly string[], limit: number): Promise<KnownBuild[]>
  /** Builds that wait, the newest event first; of these projects, or all. */
  waitingBuilds(projects: Projects | null, limit: number): Promise<KnownBuild[]>
  /** The branches of a project, the one with the newest build first. */
  branchesOf(projectId: string, limit: number): Promise<string[]>
  /**
   * The revisions with build events for a channel in which a card still has to be posted, edited or looked for, and which
   * were not decided for another channel.
   */
  unshownIn(channel: ChannelId, undecidedFor: ChannelId, limit: number): Promise<string[]>
  /** The subject of one of the bot's messages. */
  subjectOf(channel: ChannelId, ts: MessageTs): Promise<string | null>
  /** The requests about the builds of a revision, oldest first. */
  requestsOf(revisionKey: string): Promise<Request[]>
  /** The request that this interaction made, about a build or a project. */
  requestOf(interactionKey: string): Promise<Request | ProjectRequest | null>
  openRequest(attempt: AttemptRef, action: Action): Promise<Request | null>
  /** The requests to restart one build, oldest first. */
  restartsOf(projectId: string, buildId: string): Promise<Request[]>
  /** Open requests that are due to be checked with CI. */
  requestsToCheck(now: number, limit: number): Promise<Request[]>
  /** The audit: requests about builds and projects in the order they were made, after this place in it. */
  requestsAfter(place: { requestedAt: number; id: string }, limit: number): Promise<(Request | ProjectRequest)[]>
  /** The newest requests about builds and projects, the newest first. */
  newestRequests(limit: number): Promise<(Request | ProjectRequest)[]>
  openProjectRequest(projectUuid: Uuid): Promise<ProjectRequest | null>
  /** Open requests about projects that are due to be checked with CI. */
  projectRequestsToCheck(now: number, limit: number): Promise<ProjectRequest[]>
  /** The interactions with this key. In a transaction, also locks them, so that nobody gives them up meanwhile. */
  interactionsOf(interactionKey: string): Promise<StoredInteraction[]>
  /** Interactions whose answer was not shown yet, oldest first. */
  unansweredInteractions(limit: number): Promise<StoredInteraction[]>
  /** What Slack sent, as `insertInteraction` got it; null: it is gone, or was not stored. */
  interactionBody(id: string): Promise<string | null>
}

export interface Tx extends Reads, ReportWrites, DigestWrites, StreakWrites {
  /**
   * Stores a build event. That alone makes its revision due to be ingested, at this priority (0 first).
   * `isOfPastAttempt`: it does not count as an outcome of its branch.
   */
  insertBuildEvent(
    event: ReceivedEvent,
    where: { at: number; origin: Origin; priority: number; isOfPastAttempt?: boolean; revisionKey: string },
  ): Promise<number>
  countRepeat(eventSeq: number): Promise<void>
  /** Marks the deliveries of these build events as answered. */
  acknowledge(eventSeqs: readonly number[]): Promise<void>
  /** Stores a delivery, unless one with its key is stored. */
  insertDelivery(delivery: {
    receivedAt: number
    answer: string
    eventSeq: number
    body: string
    key?: string | null
  }): Promise<void>
  /** The build event of the stored delivery with this key; its revision is `''` if retention has removed the event. */
  deliveredBefore(key: string): Promise<{ seq: number; revisionKey: string } | null>
  /** Makes a revision due without a new build event. Of several wakes the earliest time and highest urgency count. */
  wakeRevision(revisionKey: string, dueAt: number, priority: number): Promise<void>
  /** Locks a name until this transaction ends, for example to count rows before one more is inserted. */
  lockName(name: string): Promise<void>
  /** Removes the mark, unless the revision was woken again after `stamp` was read. */
  settleRevision(revisionKey: string, stamp: number): Promise<void>
  /** Postpones a revision and its new build events. */
  postponeRevision(revisionKey: string, dueAt: number): Promise<void>
  placeEvent(eventSeq: number, cardNumber: number): Promise<void>
  saveJudgement(eventSeq: number, judgement: Judgement): Promise<void>
  /** Removes the judgements of the branch's builds after this one; `ofBuild`: and of the build itself. */
  forgetJudgements(branchKey: string, buildOrder: string, also: { ofBuild: boolean }): Promise<void>
  saveDecision(decision: StoredDecision): Promise<void>
  /** Creates the card. An existing one gets only `quiet`, `mention` and `details`. */
  ensureCard(card: CardState): Promise<void>
  setQueues(key: CardKey, queues: Queues): Promise<void>
  setRetryState(key: CardKey, trouble: { tries: number; plain: boolean; problem: string | null }): Promise<void>
  insertMessage(message: StoredMessage & CardKey): Promise<void>
  updateMessage(key: string, change: Partial<Omit<StoredMessage, 'key' | 'slot' | 'generation'>>): Promise<void>
  deleteMessage(key: string): Promise<void>
  insertCall(call: { queue: Queue; channel: ChannelId; at: number }): Promise<void>
  forgetCalls(beforeMs: number): Promise<void>
  /** If it is closed already, only the code and `retryAt` change. */
  closeChannel(channel: Pick<ClosedChannel, 'channel' | 'code' | 'retryAt'> & { at: number }): Promise<void>
  reopenChannel(channel: ChannelId): Promise<void>
  /**
   * Slack has given a channel another id: moves everything that is stored under the former one, and remembers it. What
   * is there under both ids stays as it is under the present one, but no subscription is lost. Idempotent.
   */
  moveChannel(from: ChannelId, to: ChannelId): Promise<void>
  /** Claims to notify people of this closing. False: another process has notified them. */
  markNotified(closing: Pick<ClosedChannel, 'channel' | 'closedAt'>, at: number): Promise<boolean>
  /**
   * Creates a subscription, or replaces the one in its slot, which keeps its id and creator. `was`: the replaced one.
   */
  saveSubscription(
    subscription: NewSubscription,
    by: { user: string; at: number },
  ): Promise<{ saved: StoredSubscription; was: StoredSubscription | null }>
  /** @returns the removed one; null: there is none with that id (any more) */
  removeSubscription(id: string): Promise<StoredSubscription | null>
  /** Stores a project as its source shows it. */
  saveProject(project: KnownProject & { readAt: number }): Promise<void>
  /** Stores a project as a delivery describes it, unless it is known. */
  addProject(project: KnownProject): Promise<void>
  /** Stores a delivery's claim about a known project, until its source is asked. The newest claim counts. */
  claimProject(uuid: Uuid, claim: ProjectClaim): Promise<void>
  /** Removes a claim, unless there is a newer one. */
  settleClaim(uuid: Uuid, claim: ProjectClaim): Promise<void>
  linkLegacyProject(uuid: Uuid, legacyId: string, readAt: number): Promise<void>
  /** Records when CI's builds of the project were first read (ms). */
  setBuildsReadAt(uuid: Uuid, at: number): Promise<void>
  forgetProjects(readBeforeMs: number): Promise<void>
  /** Claims a handle for this person. False: it is claimed already. */
  claimHandle(handle: string, userId: string, at: number): Promise<boolean>
  /** Gives the handle to this person, even if another one has it. @returns the previous owner */
  giveHandle(handle: string, userId: string, at: number): Promise<string | null>
  /** @returns the previous owner; null: there was none */
  releaseHandle(handle: string): Promise<string | null>
  setMentions(userId: string, on: boolean): Promise<void>
  /** Records that the person has left the workspace, at this time (ms) or before; null: has not left. */
  setInactive(userId: string, at: number | null): Promise<void>
  /** Records when Slack was asked about this person (ms). */
  setChecked(userId: string, at: number): Promise<void>
  setLastDoneAt(job: string, at: number): Promise<void>
  /**
   * Takes a lease that nobody holds at `now` (ms). False: somebody holds it. A lease that ends more than `longestMs`
   * later was taken with a wrong clock, and counts as free.
   */
  takeLease(lease: StoredLease, at: { now: number; longestMs: number }): Promise<boolean>
  /** True if it was still held, even if it had expired. */
  renewLease(lease: StoredLease): Promise<boolean>
  /** Whether it is held. If so, nobody else can take it until this transaction ends. */
  holdsLease(lease: Pick<StoredLease, 'name' | 'heldBy'>): Promise<boolean>
  releaseLease(lease: Pick<StoredLease, 'name' | 'heldBy'>): Promise<void>
  /** Stores a key of a request from Slack. True if it is new, or was last taken before `lastTakenBefore` (ms). */
  rememberRequest(key: string, at: number, lastTakenBefore?: number): Promise<boolean>
  forgetRequests(takenBefore: number): Promise<void>
  /** Records when CI was asked about these builds (ms). */
  setCiCheckedAt(builds: readonly BuildIds[], at: number): Promise<void>
  /**
   * Removes all about one card of a revision, in every channel: build events, decisions, messages, builds, reports of
   * builds without events, and with the revision's last card its requests. @returns how many rows
   */
  removeCardEvents(revisionKey: string, cardNumber: number): Promise<number>
  /** Removes bodies of deliveries that were received before then (ms), oldest first. @returns how many */
  removeDeliveries(receivedBefore: number, limit: number): Promise<number>
  /** Removes requests about projects that were made before then (ms) and have ended. @returns how many */
  removeProjectRequests(requestedBefore: number, limit: number): Promise<number>
  /**
   * Removes account notices and digests of the days before this one (`YYYY-MM-DD`) that have no step left, or are in
   * one of these closed channels. @returns how many
   */
  removeNotices(old: { beforeDay: string; closed: readonly ChannelId[] }, limit: number): Promise<number>
  /**
   * Removes projects that only deliveries have named and that have no builds any more. Looks at some of them, those that
   * come after this id. @returns the last one that it looked at (null: no more follow), and how many it removed
   */
  removeEmptyProjects(after: string, limit: number): Promise<{ last: string | null; removed: number }>
  /**
   * @param build `number`: the number that people see, if it is not the id; `readEndAt`: when its source is to be asked
   *   how it ended (ms)
   */
  saveBuild(build: KnownBuild & { number?: string | null; readEndAt?: number | null }): Promise<void>
  /**
   * When to ask the source again about this attempt (ms); null: it need not be asked any more. Changes nothing if the
   * attempt has news since: they say whether it is to be asked.
   */
  setReadEndAt(build: Pick<KnownBuild, 'projectId' | 'buildId' | 'attempt' | 'at'>, at: number | null): Promise<void>
  /** Removes a build that turned out not to exist. */
  forgetBuild(projectId: string, buildId: string): Promise<void>
  /** Stores what a project's builds call it. The later time of delivery stays. */
  saveDeliveredProject(project: DeliveredProject): Promise<void>
  /**
   * Throws if this interaction has made a request already, or if another one is open for the same attempt and action,
   * or for the same project. Check that first, in the same transaction.
   */
  insertRequest(request: Request | ProjectRequest): Promise<void>
  updateRequest(id: string, change: RequestChange): Promise<void>
  /** @param body what Slack sent, sealed */
  insertInteraction(interaction: StoredInteraction, body?: string | null): Promise<void>
  /** Records that this process still works on these interactions (ms), unless they were given up. */
  renewInteractions(ids: readonly string[], claim: Pick<StoredInteraction, 'claimedBy' | 'claimedAt'>): Promise<void>
  /** Gives up an interaction, or takes it over: our own, or one that was not renewed since it was read. @returns whether it did */
  claimInteraction(
    id: string,
    stood: Pick<StoredInteraction, 'claimedBy' | 'claimedAt'>,
    claim: Pick<StoredInteraction, 'state' | 'claimedBy' | 'claimedAt'>,
  ): Promise<boolean>
  /** Removes an interaction whose answer was shown, unless it was given up. */
  settleInteraction(id: string): Promise<void>
  /** Records that the requester was told that it was given up. Removes its response_url and body. */
  markInteractionNotified(id: string): Promise<void>
  /** Removes interactions received before then. @returns how many of them had no answer */
  forgetInteractions(receivedBeforeMs: number): Promise<number>
}
