import type { Known } from '../../domain/rules/decide.ts'
import { mergeDetails, type BuildDetails, type BuildEvent } from '../../domain/builds/build-event.ts'
import {
  buildKey,
  isUuid,
  repositoryOf,
  shortId,
  sourceOf,
  type ChannelId,
  type BuildId,
  type ProjectId,
} from '../../domain/ids.ts'
import { repositoryIn } from '../../domain/ci-project/project-names.ts'
import { branchKey, placeEvents, cardNumberOf, revisionSubject, noticeSubject } from '../../domain/builds/revision.ts'
import { afterEvent, restartRequests, type Request, shownBy } from '../../domain/cards/request.ts'
import { isFinal, isVerdict } from '../../domain/builds/status.ts'
import { leastDetails } from '../../domain/rules/subscription.ts'
import { projectName, buildView } from '../../domain/cards/view.ts'
import { together } from '../../lib/async.ts'
import type { CardKey, DeliveredProject, DueRevision, StoredDecision } from '../../store/records.ts'
import type { Tx } from '../../store/store.ts'
import { streakLock } from '../../store/streaks.ts'
import { updateStreak } from './streak.ts'
import { readOnce } from '../../store/read-once.ts'
import { prefetch, decideCard, opensCard, type CardOfRevision } from './decisions.ts'
import type { ReconcileDeps, Working } from '../deps.ts'
import { readNews, type News } from './news.ts'
import { requeue } from '../plan-card/planner.ts'
import { readAgainAt, type Attempt } from '../../domain/builds/attempt.ts'

/** When an outcome comes late, at most this many newer builds of its branch are ingested again. */
const SUCCESSORS_MAX = 100

/**
 * How ingesting a revision ended: the channels whose cards may have something to do. `waits`: postponed, because its
 * rules are being read for the first time or Slack is being asked. `lost`: another process sends now.
 */
export type Ingested = ChannelId[] | 'waits' | 'lost'

/**
 * Ingests the news of some revisions: gives each build event its card, decides for each channel whether to send it,
 * stores the decisions with their reasons, and queues the cards that may change. All in one transaction. Idempotent.
 */
export async function ingestRevisions(deps: Working, due: readonly DueRevision[]): Promise<Ingested[]> {
  const ingested = await deps.store.write((tx) => ingestWith(tx, deps, due), { canBeRedone: true })
  if (ingested === 'lost') return due.map(() => ingested)
  return ingested.map((one, i) => {
    if (one === 'waits') return one
    const { revisionKey } = due[i]!
    for (const decision of one.decided) report(deps, revisionKey, decision)
    reportIngested(deps, { revisionKey, ...one })
    return [...new Set(one.touched.map(({ channel }) => channel))]
  })
}

interface IngestedOne {
  touched: readonly CardKey[]
  decided: readonly StoredDecision[]
  buildEvents: readonly number[]
}

async function ingestWith(
  stored: Tx,
  deps: Working,
  due: readonly DueRevision[],
): Promise<(IngestedOne | 'waits')[] | 'lost'> {
  const tx = readOnce(stored, STABLE)
  // Sent together, as each wait for PostgreSQL delays the message; `holds` first, which locks the lease.
  const isHolding = deps.term.holds(tx)
  const subscriptions = deps.subscriptions(tx)
  const [isHeld, all] = await together([
    isHolding,
    together(due.map((one) => readNews(tx, deps, one, subscriptions))),
    subscriptions,
  ])
  if (!isHeld) return 'lost'
  const news = all.filter((one) => one !== 'waits')
  const changed = [...new Set(news.flatMap(({ changes }) => changes?.key ?? []))].toSorted()
  const results = new Map<string, IngestedOne>()
  const cached = readOnce(tx, STABLE_ONCE_PLACED)
  const branches = [...Map.groupBy(news, ({ branch }) => branch).values()]
  await together([
    // Lock the branches before any card: transactions that change the same branch wait for each other here only.
    ...changed.map((key) => tx.lockName(streakLock(key))),
    // One after the other within a branch: each revision is judged by those before it.
    ...branches.map(async (ofBranch) => {
      for (const one of ofBranch) results.set(one.revisionKey, await ingestOne(tx, cached, deps, one))
    }),
  ])
  const touched = [...results.values()].flatMap((one) => one.touched)
  const cards = new Map(touched.map((key) => [`${key.subject} ${key.channel}`, key]))
  const planTx = readOnce(cached, STABLE_ONCE_INGESTED)
  await together([...cards.values()].map((key) => requeue(planTx, deps, key, { underWay: deps.isUnderWay(key) })))
  return all.map((one) => (one === 'waits' ? one : results.get(one.revisionKey)!))
}

/** Reads that repeat, and whose result ingesting never changes. */
const STABLE = ['project'] as const
/** Reads that repeat, and whose result no longer changes once a revision's build events have their cards. */
const STABLE_ONCE_PLACED = ['eventsOfCard', 'verdictsBefore', 'isOvertaken'] as const
/** Reads of one revision whose result stays the same from the removal of outdated judgements until the decision. */
const STABLE_UNTIL_DECIDED = ['judgements', 'decisionsOf', 'cardsOf'] as const
/** Reads that repeat, and whose result no longer changes once all revisions are ingested. */
const STABLE_ONCE_INGESTED = ['requestsOf', 'openStreak', 'judgements', 'streakChangesOf', 'reportsOf'] as const

/**
 * Ingests one revision, except for the queues of its cards: they are planned when all revisions are ingested.
 * @param cached may have read outcomes before they got their cards: not for reads that count only those with cards
 */
async function ingestOne(tx: Tx, cached: Tx, deps: Working, news: News): Promise<IngestedOne> {
  const { revisionKey, mark, requests, known, changes } = news
  const now = deps.clock.now()
  const own = readOnce(cached, STABLE_UNTIL_DECIDED)
  const { placed, newest } = await place(tx, news)
  const cardNumbers = new Set([
    ...placed.map(({ cardNumber }) => cardNumber),
    // Woken without new build events: an older build's outcome may have changed whether this build recovered.
    ...(newest ? [newest.cardNumber] : []),
    ...requests.map(({ subject }) => cardNumberOf(subject)),
  ])
  await together([
    changes && updateStreak(tx, changes, placed, now),
    ...placed.map((buildEvent) => judgeLaterAgain(tx, buildEvent, news, now)),
    ...[...cardNumbers].map((cardNumber) => prefetch(own, { revisionKey, cardNumber, known, placed })),
  ])
  const touched: CardKey[] = []
  const decided: StoredDecision[] = []
  for (const cardNumber of cardNumbers) {
    const { attempts, decisions } = await decideCard(own, { revisionKey, cardNumber, known, requests, now })
    const subject = revisionSubject(revisionKey, cardNumber)
    const [cards] = await together([
      keepCards(own, subject, decisions, known),
      keepBuilds(tx, { revisionKey, cardNumber, attempts, fresh: placed, requests }),
      settleRequests(tx, { subject, all: requests, attempts, now }),
    ])
    decided.push(...decisions)
    touched.push(...cards)
  }
  for (const { projectId, buildId } of placed) await claimReports(tx, projectId, buildId)
  if (mark) await tx.settleRevision(revisionKey, mark.stamp)
  return { touched, decided, buildEvents: placed.map(({ seq }) => seq) }
}

/** Gives cards to the build events without one. @returns these build events, and the newest card */
async function place(tx: Tx, { buildEvents, newest: before, requests }: News) {
  const { placed, newest } = placeEvents(buildEvents, before, restartRequests(requests))
  for (const [seq, cardNumber] of placed) await tx.placeEvent(seq, cardNumber)
  const fresh = buildEvents.filter(({ cardNumber }) => cardNumber === null)
  return { placed: fresh.map((one) => ({ ...one, cardNumber: placed.get(one.seq)! })), newest }
}

/**
 * Creates the cards that decisions ask for.
 * @param tx may have read the existing cards already
 * @returns all cards whose queues may change
 */
async function keepCards(
  tx: Tx,
  subject: string,
  decisions: readonly StoredDecision[],
  { subscriptions }: Known,
): Promise<CardKey[]> {
  const existing = await tx.cardsOf(subject)
  const keys = new Map<string, CardKey>()
  const ensure = async (key: CardKey) => {
    const name = `${key.subject} ${key.channel}`
    if (keys.has(name)) return
    keys.set(name, key)
    const ofChannel = subscriptions.filter(({ channel }) => channel === key.channel)
    const quiet = ofChannel.some((subscription) => subscription.quiet)
    const mention = ofChannel.some((subscription) => subscription.mention === 'committer')
    const details = leastDetails(ofChannel)
    await tx.ensureCard({ ...key, quiet, mention, ...(details && { details }) })
  }
  for (const decision of decisions) {
    if (opensCard(decision)) await ensure({ subject, channel: decision.channel })
    if (decision.noticeDay) await ensure({ subject: noticeSubject(decision.noticeDay), channel: decision.channel })
  }
  // Existing cards still follow their revision, even if the rules would not open them now.
  for (const key of existing) keys.set(`${key.subject} ${key.channel}`, key)
  return [...keys.values()]
}

/** Reports of a run that came before it was ingested name its repository: a build step does not know its workflow's id. */
async function claimReports(tx: Tx, projectId: ProjectId, buildId: BuildId): Promise<void> {
  const repository = repositoryOf(projectId)
  if (repository !== null) await tx.moveReports(buildKey(repository, buildId), buildKey(projectId, buildId))
}

/**
 * A late outcome may change what those of newer builds did. A failure lengthens their red streaks, and makes the build
 * that passed after it a recovered one; a success shortens them. So they are judged again: not only the next build,
 * since others may be red. Builds that are not ingested yet will see the outcome anyway.
 */
async function judgeLaterAgain(
  tx: Tx,
  buildEvent: BuildEvent,
  { revisionKey, buildEvents }: News,
  now: number,
): Promise<void> {
  const { status, origin, buildId, buildOrder, details, seq } = buildEvent
  const isOfAttempt = (other: BuildEvent) =>
    other.buildId === buildId && details.attempt !== null && other.details.attempt === details.attempt
  // An attempt that failed, and then turns out to have been stopped, has failed no more.
  const isCorrected = buildEvents.some((other) => other.seq < seq && isVerdict(other.status) && isOfAttempt(other))
  if (!isVerdict(status) && !(isFinal(status) && isCorrected)) return
  const branch = branchKey(buildEvent.projectId, buildEvent.branch)
  const isLaterAttempt = (other: BuildEvent) =>
    other.buildId === buildId && details.attempt !== null && (other.details.attempt ?? 0) > details.attempt
  await tx.forgetJudgements(branch, buildOrder, { ofBuild: buildEvents.some(isLaterAttempt) })
  if (origin === 'history') return
  const newer = await tx.revisionsAfter(branch, buildOrder, SUCCESSORS_MAX)
  for (const key of new Set(newer.map((one) => one.revisionKey)))
    if (key !== revisionKey) await tx.wakeRevision(key, now, 1)
}

function report({ log, count }: ReconcileDeps, revisionKey: string, decision: StoredDecision): void {
  count({ what: 'decision', reason: decision.reason })
  const { eventSeq, channel, verdict, reason } = decision
  log.debug({ revision: revisionKey, buildEvent: eventSeq, channel, verdict, reason }, 'decided')
}

// Logs one line between the delivery's and the message's; each decision is logged at `debug`.
function reportIngested(
  { log }: ReconcileDeps,
  {
    revisionKey,
    buildEvents,
    decided,
  }: { revisionKey: string; buildEvents: readonly number[]; decided: readonly StoredDecision[] },
): void {
  if (buildEvents.length === 0) return
  const verdicts: Record<string, number> = {}
  for (const { verdict } of decided) verdicts[verdict] = (verdicts[verdict] ?? 0) + 1
  log.info({ revision: revisionKey, buildEvents, verdicts }, 'ingested')
}

// Build events also change the state of builds, and requests.

/** Stores the state of each build with new build events or a request to restart it, and its project's names. */
async function keepBuilds(
  tx: Tx,
  news: CardOfRevision & {
    attempts: readonly Attempt[]
    fresh: readonly BuildEvent[]
    requests: readonly Request[]
  },
): Promise<void> {
  const { revisionKey, cardNumber, attempts, fresh, requests } = news
  const newest = new Map(attempts.map((attempt) => [attempt.buildId, attempt]))
  const withEvents = new Set(
    fresh.filter((buildEvent) => buildEvent.cardNumber === cardNumber).map(({ buildId }) => buildId),
  )
  for (const buildId of new Set([...withEvents, ...restartedOn(news)])) {
    const attempt = newest.get(buildId)
    if (!attempt) continue
    const { projectId } = attempt.buildEvents[0]!
    // Without new build events, a build is updated only if its state is on this card already.
    if (!withEvents.has(buildId) && (await tx.build(projectId, buildId))?.cardNumber !== cardNumber) continue
    const at = Math.max(
      attempt.buildEvents.at(-1)!.at,
      ...fresh.filter((buildEvent) => buildEvent.buildId === buildId).map((buildEvent) => buildEvent.at),
    )
    const { branch } = buildView(attempt, attempts)
    const { n, status, rawStatus, buildOrder } = attempt
    const { buildUuid, committer, number } = attempt.details
    const seenAs = isUuid(buildId) ? shortId(buildId) : null
    const where = { projectId, buildId, buildOrder, attempt: n, revisionKey, cardNumber, branch }
    const readEndAt = sourceOf(projectId) === 'ci' ? null : readAgainAt(attempt, at)
    await tx.saveBuild({ ...where, status, rawStatus, at, buildUuid, committer, number: number ?? seenAs, readEndAt })
    const details = mergeDetails([...attempts, attempt])
    const delivered = fresh.filter((buildEvent) => buildEvent.buildId === buildId && buildEvent.origin === 'delivery')
    const deliveredAt = Math.max(0, ...delivered.map((buildEvent) => buildEvent.at))
    await listProject(tx, { projectId, details, at: deliveredAt })
  }
  for (const { projectId, newBuildId, code } of requests)
    if (code === 'not-restarted' && newBuildId && !newest.has(newBuildId)) await tx.forgetBuild(projectId, newBuildId)
}

/** Stores a project's name from its builds. A GitHub or GitLab project keeps its stored name: see `isSameProject`. */
async function listProject(
  tx: Tx,
  { projectId, details, at }: Pick<DeliveredProject, 'projectId' | 'at'> & { details: BuildDetails },
): Promise<void> {
  const { projectFullName, projectUuid } = details
  const called = { name: projectName(details, projectId), fullName: projectFullName }
  const isOfCi = sourceOf(projectId) === 'ci'
  const hosted = isOfCi ? null : await tx.project({ uuid: null, legacyId: projectId, names: [] })
  const shown = hosted ? { name: hosted.name, fullName: repositoryIn(hosted.name) } : called
  await tx.saveDeliveredProject({ projectId, ...shown, projectUuid, at })
}

/** The builds whose attempts may change with the state of a request to restart them. */
function restartedOn({
  revisionKey,
  cardNumber,
  requests,
}: CardOfRevision & { requests: readonly Request[] }): Set<BuildId> {
  const subject = revisionSubject(revisionKey, cardNumber)
  const restarts = requests.filter((request) => request.subject === subject && request.action === 'restart')
  return new Set(restarts.map(({ buildId }) => buildId))
}

/** Confirms the requests whose results the build events show, even those already unconfirmed. */
async function settleRequests(
  tx: Tx,
  {
    subject,
    all,
    attempts,
    now,
  }: { subject: string; all: readonly Request[]; attempts: readonly Attempt[]; now: number },
): Promise<void> {
  // Attempts are numbered from 1 on each card. A stop concerns its own card; a restart may have begun the next card.
  for (const request of all.filter((one) => one.subject === subject || one.action === 'restart')) {
    // While CI is being called, the caller decides how the request ends.
    if (request.state === 'calling' || !shownBy(request, attempts, all)) continue
    const change = afterEvent(request, { kind: 'shown' }, now)
    if (change) await tx.updateRequest(request.id, change)
  }
}
