import type { Known } from '../domain/decide.ts'
import { mergeDetails, type BuildDetails, type BuildEvent } from '../domain/build-event.ts'
import { claimable } from '../domain/handle.ts'
import { isUuid, shortId, type ChannelId, type BuildId } from '../domain/ids.ts'
import {
  branchKey,
  placeEvents,
  type PlacedEvent,
  cardNumberOf,
  revisionSubject,
  noticeSubject,
} from '../domain/revision.ts'
import { afterEvent, restartRequests, type Request, shownBy } from '../domain/request.ts'
import { isVerdict } from '../domain/status.ts'
import { following, type ProjectNames, type Subscription } from '../domain/subscription.ts'
import { projectName, buildView } from '../domain/build-view.ts'
import type { CardKey, DueRevision, KeptDecision } from '../store/records.ts'
import type { Tx } from '../store/store.ts'
import { breakageLock } from '../store/breakages.ts'
import { branchOf, keepBreakage } from './breakage.ts'
import { decideCard, opensCard, type NewestCard } from './decisions.ts'
import type { ReconcileDeps, Working } from './deps.ts'
import { requeue } from './queues.ts'
import type { Attempt } from '../domain/attempt.ts'

/**
 * How long build events wait for a first reading of the project's rules, and for whose the author's address is; CI or
 * Slack being down or slow must not delay an alert.
 */
export const PATIENCE_MS = 1_000
export const LOOK_AGAIN_MS = 50

/** How many newer outcomes of a branch are looked at again when an older build turns out to have failed. */
const SUCCESSORS_MAX = 100

/**
 * Takes in what is new of one revision: gives each build event its card, decides for each channel whether it is told and keeps
 * why, and puts the cards concerned in their queues. All in one transaction; running it again changes nothing.
 * @returns the channels that have something to do; `waits`: the rules are being read for the first time, or Slack is
 * being asked; `lost`: another process sends now
 */
export async function ingestRevision(deps: Working, due: DueRevision): Promise<ChannelId[] | 'waits' | 'lost'> {
  const { revisionKey } = due
  const project = await projectOf(deps, due)
  const rules = project ? await deps.rulesOf(project.names) : null
  const subscriptions = project ? following(await deps.subscriptions(), project.names) : []
  const isWaiting = rules === 'wait' || (project !== null && (await isAskedFor(deps, project, subscriptions)))
  if (isWaiting && deps.clock.now() < project!.receivedAt + PATIENCE_MS) {
    await deps.store.write((tx) => tx.postponeRevision(revisionKey, deps.clock.now() + LOOK_AGAIN_MS), {
      canBeRedone: true,
    })
    return 'waits'
  }
  const known: Known = { subscriptions, rules: rules === 'wait' ? null : rules }
  const taken = await deps.store.write((tx) => ingestWith(tx, deps, due, { ...known, seen: project?.seen ?? NONE }), {
    canBeRedone: true,
  })
  if (!taken) return 'lost'
  const { touched, decided, buildEvents } = taken
  for (const decision of decided) report(deps, revisionKey, decision)
  reportTaken(deps, { revisionKey, buildEvents, decided })
  return [...new Set(touched.map(({ channel }) => channel))]
}

interface Project {
  names: ProjectNames
  receivedAt: number
  seen: ReadonlySet<number>
  /** of a commit that has just failed */
  failed: Pick<BuildDetails, 'committer' | 'author'> | null
}

async function projectOf({ store }: ReconcileDeps, { revisionKey, buildKeys }: DueRevision): Promise<Project | null> {
  const own = await store.read.eventsOfBuilds(buildKeys)
  const newest = (await store.read.newestCard(revisionKey))?.cardNumber ?? 0
  let told = newest > 0 ? await store.read.eventsOfCard(revisionKey, newest) : []
  if (newest > 1 && mergeDetails([...told, ...own]).projectName === null)
    told = [...(await store.read.eventsOfCard(revisionKey, newest - 1)), ...told]
  const first = own.find(({ cardNumber }) => cardNumber === null) ?? told[0]
  if (!first) return null
  // Later deliveries may leave out what the first ones said, of the same build or of another one of the commit.
  const details = mergeDetails([...told, ...own])
  const names = [details.projectName, details.projectFullName, projectName(details, first.projectId)]
  return {
    names: { projectId: first.projectId, projectUuid: details.projectUuid, names },
    receivedAt: first.at,
    seen: new Set(own.map(({ seq }) => seq)),
    failed: own.some(isNewFailure) ? details : null,
  }
}

const isNewFailure = ({ cardNumber, status, origin }: PlacedEvent): boolean =>
  cardNumber === null && status === 'failed' && origin !== 'history'

/** Whether Slack is being asked whose the author's address is: it is where nobody has claimed the committer's name. */
async function isAskedFor(
  { store, addresses }: ReconcileDeps,
  { failed }: Project,
  subscriptions: readonly Subscription[],
): Promise<boolean> {
  if (addresses === null || !failed?.committer || !failed.author?.email) return false
  const isMentioned = subscriptions.some(({ mention }) => mention === 'committer')
  const isClaimable = isMentioned && claimable(failed.committer).kind === 'ok'
  return isClaimable && !(await store.read.isClaimed(failed.committer)) && addresses.ask(failed.author.email)
}

const NONE: ReadonlySet<number> = new Set()

async function ingestWith(
  tx: Tx,
  deps: Working,
  { revisionKey, buildKeys }: DueRevision,
  { seen, ...known }: Known & { seen: ReadonlySet<number> },
) {
  if (!(await deps.term.holds(tx))) return null
  const mark = await tx.ingestOf(revisionKey)
  const requests = await tx.requestsOf(revisionKey)
  // Who follows was asked for the build events that were known then: one that came since may name the project, and waits its turn.
  const buildEvents = (await tx.eventsOfBuilds(buildKeys)).filter(
    ({ seq, cardNumber }) => cardNumber !== null || seen.has(seq),
  )
  const branch = branchOf(buildEvents.filter(({ cardNumber }) => cardNumber === null))
  // Before any card: two that change one branch wait for each other here, and nowhere else.
  if (branch) await tx.lockName(breakageLock(branch.key))
  const placed = await place(tx, revisionKey, buildEvents, requests)
  if (branch) await keepBreakage(tx, branch, placed, deps.clock.now())
  const cardNumbers = new Set([
    ...placed.map(({ cardNumber }) => cardNumber!),
    ...(await newestOnly(tx, revisionKey)),
    ...requests.map(({ subject }) => cardNumberOf(subject)),
  ])
  const touched: CardKey[] = []
  const decided: KeptDecision[] = []
  for (const cardNumber of cardNumbers) {
    const { attempts, decisions } = await decideCard(tx, {
      revisionKey,
      cardNumber,
      known,
      requests,
      now: deps.clock.now(),
    })
    await keepBuilds(tx, { revisionKey, cardNumber, attempts, fresh: placed, requests })
    const subject = revisionSubject(revisionKey, cardNumber)
    await settleRequests(tx, { subject, all: requests, attempts, now: deps.clock.now() })
    decided.push(...decisions)
    touched.push(...(await wakeCards(tx, deps, subject, decisions, known)))
  }
  for (const buildEvent of placed) await wakeSuccessors(tx, buildEvent, revisionKey, deps.clock.now())
  if (mark) await tx.settleRevision(revisionKey, mark.stamp)
  return { touched, decided, buildEvents: placed.map(({ seq }) => seq) }
}

/** Gives the build events that have none their card. @returns those build events */
async function place(
  tx: Tx,
  revisionKey: string,
  buildEvents: readonly PlacedEvent[],
  requests: readonly Request[],
): Promise<PlacedEvent[]> {
  const fresh = buildEvents.filter(({ cardNumber }) => cardNumber === null)
  if (fresh.length === 0) return []
  const { placed } = placeEvents(buildEvents, await tx.newestCard(revisionKey), restartRequests(requests))
  for (const [seq, cardNumber] of placed) await tx.placeEvent(seq, cardNumber)
  return fresh.map((buildEvent) => ({ ...buildEvent, cardNumber: placed.get(buildEvent.seq)! }))
}

// A wake without new build events: an older build's outcome may have changed whether this one recovered.
const newestOnly = async (tx: Tx, revisionKey: string): Promise<number[]> => {
  const newest = await tx.newestCard(revisionKey)
  return newest ? [newest.cardNumber] : []
}

async function wakeCards(
  tx: Tx,
  deps: Working,
  subject: string,
  decisions: readonly KeptDecision[],
  { subscriptions }: Known,
): Promise<CardKey[]> {
  const keys = new Map<string, CardKey>()
  const ensure = async (key: CardKey) => {
    const own = subscriptions.filter(({ channel }) => channel === key.channel)
    const quiet = own.some((subscription) => subscription.quiet)
    await tx.ensureCard({ ...key, quiet, mention: own.some(({ mention }) => mention === 'committer') })
    keys.set(`${key.subject} ${key.channel}`, key)
  }
  for (const decision of decisions) {
    if (opensCard(decision)) await ensure({ subject, channel: decision.channel })
    if (decision.noticeDay) await ensure({ subject: noticeSubject(decision.noticeDay), channel: decision.channel })
  }
  // Cards that stand already follow their revision, whatever the rules say now.
  for (const key of await tx.cardsOf(subject)) keys.set(`${key.subject} ${key.channel}`, key)
  for (const key of keys.values()) await requeue(tx, deps, key, { underWay: deps.isUnderWay(key) })
  return [...keys.values()]
}

// An outcome that comes late changes the red streaks of newer builds: a red one lengthens them and makes the build that
// passed after it a recovered one, a green one shortens them. Not only the next build's: other red ones may lie between.
// What is not ingested yet sees the outcome by itself.
async function wakeSuccessors(tx: Tx, buildEvent: BuildEvent, revisionKey: string, now: number): Promise<void> {
  if (!isVerdict(buildEvent.status) || buildEvent.origin === 'history') return
  const branch = branchKey(buildEvent.projectId, buildEvent.branch)
  const newer = await tx.revisionsAfter(branch, buildEvent.buildOrder, SUCCESSORS_MAX)
  for (const key of new Set(newer.map((one) => one.revisionKey)))
    if (key !== revisionKey) await tx.wakeRevision(key, now, 1)
}

function report({ log, count }: ReconcileDeps, revisionKey: string, decision: KeptDecision): void {
  count({ what: 'decision', reason: decision.reason })
  const { eventSeq, channel, verdict, reason } = decision
  log.debug({ revision: revisionKey, buildEvent: eventSeq, channel, verdict, reason }, 'decided')
}

// The line between a delivery's and that of its message; each decision is logged at `debug`.
function reportTaken(
  { log }: ReconcileDeps,
  {
    revisionKey,
    buildEvents,
    decided,
  }: { revisionKey: string; buildEvents: readonly number[]; decided: readonly KeptDecision[] },
): void {
  if (buildEvents.length === 0) return
  const verdicts: Record<string, number> = {}
  for (const { verdict } of decided) verdicts[verdict] = (verdicts[verdict] ?? 0) + 1
  log.info({ revision: revisionKey, buildEvents, verdicts }, 'ingested')
}

// What follows from the build events beside cards: where each build stands, and what became of requests.

/** Keeps where each build with news stands, and what its project is called. */
async function keepBuilds(
  tx: Tx,
  news: NewestCard & { attempts: readonly Attempt[]; fresh: readonly PlacedEvent[]; requests: readonly Request[] },
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
    // Without new build events only what stands on this card already may change.
    if (!withEvents.has(buildId) && (await tx.build(projectId, buildId))?.cardNumber !== cardNumber) continue
    const at = Math.max(
      attempt.buildEvents.at(-1)!.at,
      ...fresh.filter((buildEvent) => buildEvent.buildId === buildId).map((buildEvent) => buildEvent.at),
    )
    const { branch } = buildView(attempt, attempts)
    const { n, status, word, buildOrder } = attempt
    const { buildUuid, committer, number } = attempt.details
    const seenAs = isUuid(buildId) ? shortId(buildId) : null
    const where = { projectId, buildId, buildOrder, attempt: n, revisionKey, cardNumber, branch }
    await tx.keepBuild({ ...where, status, word, at, buildUuid, committer, number: number ?? seenAs })
    const details = mergeDetails([...attempts, attempt])
    const { projectFullName: fullName, projectUuid } = details
    const delivered = fresh.filter((buildEvent) => buildEvent.buildId === buildId && buildEvent.origin === 'delivery')
    const deliveredAt = Math.max(0, ...delivered.map((buildEvent) => buildEvent.at))
    const name = projectName(details, projectId)
    await tx.hearProject({ projectId, name, fullName, projectUuid, at: deliveredAt })
  }
  for (const { projectId, newBuildId, code } of requests)
    if (code === 'not-restarted' && newBuildId && !newest.has(newBuildId)) await tx.forgetBuild(projectId, newBuildId)
}

/** The builds whose runs may change as the request to restart them goes on. */
function restartedOn({
  revisionKey,
  cardNumber,
  requests,
}: NewestCard & { requests: readonly Request[] }): Set<BuildId> {
  const subject = revisionSubject(revisionKey, cardNumber)
  const restarts = requests.filter((request) => request.subject === subject && request.action === 'restart')
  return new Set(restarts.map(({ buildId }) => buildId))
}

// Each card counts its attempts from one: a stop is about an attempt of its own card, a restart may have begun the next one.
const requestsOn = (subject: string, requests: readonly Request[]): Request[] =>
  requests.filter((request) => request.subject === subject || request.action === 'restart')

/** What the build events show of requests confirms them, even after we had given up on it. */
async function settleRequests(
  tx: Tx,
  {
    subject,
    all,
    attempts,
    now,
  }: { subject: string; all: readonly Request[]; attempts: readonly Attempt[]; now: number },
): Promise<void> {
  for (const request of requestsOn(subject, all)) {
    // While CI is being called, the caller has the last word.
    if (request.state === 'calling' || !shownBy(request, attempts, all)) continue
    const change = afterEvent(request, { kind: 'shown' }, now)
    if (change) await tx.updateRequest(request.id, change)
  }
}
