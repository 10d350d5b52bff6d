import type { Decision } from '../domain/rules/decide.ts'
import type { ChannelId, ProjectId, SourceName, Uuid, MessageTs } from '../domain/ids.ts'
import type { BuildEvent } from '../domain/builds/build-event.ts'
import type { CardState, Queues } from '../domain/cards/plan.ts'
import type { AttemptRef } from '../domain/cards/request.ts'
import type { Change, NotificationRule } from '../domain/rules/rule.ts'
import type { Status } from '../domain/builds/status.ts'
import type { Subscription } from '../domain/rules/subscription.ts'
import type { Schedule } from '../domain/rules/digest.ts'
import type { DigestView } from '../domain/cards/view.ts'
import type { FailureReport } from '../domain/builds/failure.ts'

// Stored records, in the shapes in which they are read and written.

/** A card as stored; its queues hold the remaining steps. */
export interface Card extends CardState {
  queues: Queues
  tries: number
  plain: boolean
  problem: string | null
}

export interface CardKey {
  subject: string
  channel: ChannelId
}

/** A decision with the build event and channel it is about. */
export interface StoredDecision extends Decision {
  eventSeq: number
  channel: ChannelId
  subject: string
  change: Change | null
  noticeDay: string | null
  decidedAt: number
}

/** The part of a decision that a card needs. */
export type CardDecision = Pick<StoredDecision, 'eventSeq' | 'verdict' | 'reason' | 'change' | 'loud' | 'decidedAt'>

/** What is stored of a project, without secrets. `rules` is null if only the legacy interface knows it. */
export interface KnownProject {
  uuid: Uuid
  name: string
  legacyId: string | null
  /** `basic`, `pro`, or CI's own word; null if only the legacy interface knows it, which lists Basic projects alone */
  type: string | null
  rules: readonly NotificationRule[] | null
}

/** Where a delivery differs from this row. It may be forged. */
export type ProjectClaim = Pick<KnownProject, 'name' | 'rules'>

/** A project as its builds name it. */
export interface DeliveredProject {
  projectId: ProjectId
  name: string
  fullName: string | null
  projectUuid: Uuid | null
  /** when its newest ingested delivery was received (ms); 0: it never delivered */
  at: number
}

/** A project as its source lists it. `readAt`: last read; `buildsReadAt`: its builds' first read (ms; null: none yet). */
export type ListedProject = KnownProject & { readAt: number; buildsReadAt: number | null }

/** Of the projects that builds have named: only those with these ids, or all except these. */
export type Projects = { only: readonly string[] } | { except: readonly string[] }

/**
 * Which names a search means, in any case. `last`: the text is the last part (`web` of `acme/web`); `whole`: it is the name,
 * or that of the repository (`acme/web` of `acme/web CI`).
 */
export interface NameSearch {
  text: string
  at: 'begin' | 'last' | 'whole' | 'anywhere'
}

/** A source that has a project or repository of some name. `isListed`: CI's own list has it, not only deliveries. */
export interface Namesake {
  source: SourceName
  isListed: boolean
  /** null: one of the CI service, of which many may have the name */
  id: string | null
}

/** A project or repository that its source has renamed. */
export interface Renamed {
  /** in lower case */
  former: string
  id: string
  name: string
}

/** A part of the projects that their sources list, by name. */
export interface ListedQuery {
  /** a part of the name, in any case; null: all */
  text: string | null
  /** null: all */
  type: string | null
  /** leaves out projects of the CI service that were last read before then (ms) */
  readSince: number
}

/** The state of a build: its newest attempt, as ingested. */
export interface KnownBuild extends AttemptRef {
  revisionKey: string
  cardNumber: number
  /** see BuildEvent */
  buildOrder: string
  branch: string | null
  status: Status
  /** CI's own word */
  rawStatus: string
  /** when the newest build event of it was received (ms) */
  at: number
  buildUuid: Uuid | null
  /** the committer's handle in its normal form; null where CI named none */
  committer: string | null
}

export type EventRef = Pick<BuildEvent, 'seq' | 'at' | 'cardNumber' | 'revisionKey'>

/** A lease: only its holder may do something, until `heldUntil` (ms). */
export interface StoredLease {
  name: string
  heldBy: string
  heldUntil: number
}

/** A revision to ingest: woken, or with build events of these builds (`project_id/build_id`) that have no card yet. */
export interface DueRevision {
  revisionKey: string
  buildKeys: readonly string[]
}

export interface ClosedChannel {
  channel: ChannelId
  code: string
  retryAt: number
  /** since when (ms) */
  closedAt: number
  /** when the people concerned were told (ms); null: not yet */
  notifiedAt: number | null
}

export interface StoredSubscription extends Subscription {
  source: 'slack'
  id: string
  createdBy: string
  createdAt: number
  /** who last replaced it, and when (ms); null: nobody has */
  changedBy: string | null
  changedAt: number | null
}

export type NewSubscription = Pick<
  Subscription,
  'channel' | 'follows' | 'rules' | 'quiet' | 'mention' | 'details' | 'remind'
>

/** Who owns a committer's handle, since when (ms), and since when that person has left the workspace. */
export interface Claim {
  user: string
  at: number
  inactiveAt: number | null
}

/** A channel's digest: its schedule, and the newest one with its content. */
export interface StoredDigest {
  channel: ChannelId
  schedule: Schedule
  /** a Slack user, and when (ms) */
  setBy: string
  setAt: number
  /** when the next one is due (ms) */
  nextAt: number
  last: PlannedDigest | null
}

export interface PlannedDigest {
  /** the name of its period */
  period: string
  dueAt: number
  plannedAt: number
  view: DigestView
}

export interface DigestReads {
  digest(channel: ChannelId): Promise<StoredDigest | null>
  /** Those that are due by then (ms). */
  digestsDue(now: number): Promise<StoredDigest[]>
  /** Those that are due after then (ms). */
  digestsAfter(at: number): Promise<StoredDigest[]>
}

export interface DigestWrites {
  /** Replaces the channel's schedule; the planned digest stays. */
  saveDigest(digest: Omit<StoredDigest, 'last'>): Promise<void>
  /** @returns whether there was one */
  removeDigest(channel: ChannelId): Promise<boolean>
  /** Moves on to the next due time and stores `planned`. False: another process did so, or the digest was set again. */
  advanceDigest(
    digest: Pick<StoredDigest, 'channel' | 'nextAt' | 'setAt'>,
    to: { nextAt: number; planned: PlannedDigest | null },
  ): Promise<boolean>
}

// An interaction with Slack is stored before it is acknowledged, so that it is answered even if the process dies. The
// row is removed once the answer was shown. A process that finds a row of a dead one carries it out, or tells the
// person.

/** An interaction and where its answer goes: everything that an answer after a restart needs. */
export interface ReceivedInteraction {
  /** Slack's id of the interaction; a request to CI that it makes has the same key */
  interactionKey: string
  user: string
  /** for people, such as `/ci stop acme/web`; outside text, shortened */
  what: string
  /** null: in no channel */
  channel: ChannelId | null
  threadTs: MessageTs | null
  /** valid for RESPONSE_URL_MS, and a secret while it is valid: stored only sealed */
  responseUrl: string | null
  receivedAt: number
}

/** `owed`: a process is handling it, or died while doing so. `late`: another one carries it out. `given-up`: the person is
 * being told that it was interrupted, and CI must no longer be called for it. `told`: the person was told. */
type InteractionState = 'owed' | 'late' | 'given-up' | 'told'

export interface StoredInteraction extends ReceivedInteraction {
  id: string
  state: InteractionState
  /** the process that is handling it, since when (ms) */
  claimedBy: string
  claimedAt: number
}

/** Slack accepts answers at a response_url for this long. */
export const RESPONSE_URL_MS = 30 * 60_000

export interface StoredReport {
  id: number
  /** the build event that opened the attempt it is about; 0: the build is not known */
  attemptSeq: number
  receivedAt: number
  report: FailureReport
}

export interface ReportReads {
  /** The reports of a build (`project_id/build_id`), in order of receipt. */
  reportsOf(buildKey: string): Promise<StoredReport[]>
  /** How many reports of each build of these projects were received then (ms) or later; the newest report first. */
  reportedBuilds(projectIds: readonly ProjectId[], since: number, limit: number): Promise<Map<string, number>>
}

export interface ReportWrites {
  insertReport(report: Omit<StoredReport, 'id'> & { buildKey: string }): Promise<void>
  /** Gives the reports of one build (`project_id/build_id`) to another. */
  moveReports(from: string, to: string): Promise<void>
  removeReport(id: number): Promise<void>
  /** Removes reports of unknown builds that were received before then (ms). @returns how many */
  removeEarlyReports(receivedBefore: number, limit: number): Promise<number>
  /** Removes all but this many of the newest reports of unknown builds of one project; null: of all. Call it after each. */
  boundEarlyReports(kept: number, projectId: ProjectId | null): Promise<void>
}
