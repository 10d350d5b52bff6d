import type { BuildEvent } from '../domain/builds/build-event.ts'
import { buildKey, LAST_ORDER, type ProjectId } from '../domain/ids.ts'
import { branchKey, REST_MS, revisionSubject } from '../domain/builds/revision.ts'
import { QUEUES, type StoredMessage } from '../domain/cards/plan.ts'
import { isOpen } from '../domain/cards/request.ts'
import { isAccountNotice, isRed, isVerdict } from '../domain/builds/status.ts'
import { noticeDay } from '../domain/cards/view.ts'
import type { Card, EventRef } from '../store/records.ts'
import { OUTCOMES_FAR, OUTCOMES_NEAR } from '../domain/builds/history.ts'
import type { Reads } from '../store/store.ts'

/** A branch without a build for this many times the retention is removed, with its last outcome. */
export const BRANCH_TIMES = 4

/** What counts as old: events before `before`, and branches without a build since `forgottenBefore` (ms). */
interface Age {
  now: number
  before: number
  forgottenBefore: number
}

/** What must be kept of a branch: its newest build, and the outcomes from this place on. Places are `orderOf`. */
interface Needed {
  newest: string
  outcomesFrom: string
}

/** Creates the check whether a card must stay. It reads `reads` for each card, and caches what branches need. */
export function createStays(age: Age) {
  const branches = new Map<string, Needed>()

  /**
   * A card stays while it has a young build event, may still change in Slack, or shows the state of a branch. What it
   * says about a red streak is stored, so it does not need the red builds' cards. But they need it: without the success
   * that ended the streak, another late outcome of theirs would make the next success the one that ended it.
   */
  return async (reads: Reads, { revisionKey, cardNumber }: CardRef): Promise<boolean> => {
    // Read first: in a transaction, this lock keeps other processes from ingesting the revision meanwhile.
    if ((await reads.ingestOf(revisionKey)) !== null) return true
    const buildEvents = await reads.eventsOfCard(revisionKey, cardNumber)
    if (buildEvents.length === 0) return false
    return (
      buildEvents.some((buildEvent) => isYoung(buildEvent, age)) ||
      (await hasNews(reads, buildEvents)) ||
      (await hasRecentRequest(reads, revisionKey, age)) ||
      (await isNeeded(reads, buildEvents)) ||
      (await isStillPosted(reads, revisionSubject(revisionKey, cardNumber), age)) ||
      (await isAfterRed(reads, buildEvents))
    )
  }

  async function isNeeded(reads: Reads, buildEvents: readonly BuildEvent[]): Promise<boolean> {
    for (const { projectId, branch, buildOrder, status } of buildEvents) {
      // Builds without a known branch share no history.
      if (branch === null) continue
      const { newest, outcomesFrom } = await neededOf(reads, projectId, branch)
      if (buildOrder === newest || (isVerdict(status) && buildOrder >= outcomesFrom)) return true
    }
    return false
  }

  async function neededOf(reads: Reads, projectId: ProjectId, branch: string): Promise<Needed> {
    const key = branchKey(projectId, branch)
    // Safe to cache: while the job runs, a branch can only come to need less.
    const needed = branches.get(key) ?? (await findNeeded(reads, projectId, branch, age))
    branches.set(key, needed)
    return needed
  }
}

type CardRef = { revisionKey: string; cardNumber: number }

/** The cards of these build events that are older than `before` (ms), each once. */
export function cardsOfEvents(buildEvents: readonly EventRef[], before: number): CardRef[] {
  const cards = new Map<string, CardRef>()
  for (const { at, revisionKey, cardNumber } of buildEvents)
    if (at < before && cardNumber !== null)
      cards.set(revisionSubject(revisionKey, cardNumber), { revisionKey, cardNumber })
  return [...cards.values()]
}

/** Whether the outcome before one of these successes, on another card, is red. */
async function isAfterRed(reads: Reads, buildEvents: readonly BuildEvent[]): Promise<boolean> {
  const own = new Set(buildEvents.map(({ buildId }) => buildId))
  for (const { projectId, branch, buildOrder, status } of buildEvents) {
    if (branch === null || status !== 'success') continue
    const before = await reads.verdictsBefore(branchKey(projectId, branch), buildOrder, OUTCOMES_NEAR)
    const last = before.find(({ buildId }) => !own.has(buildId))
    if (last && isRed(last.status)) return true
  }
  return false
}

// A day's account notice is removed as a whole, so the builds that it counts stay as long as the notice.
const isYoung = ({ at, status }: BuildEvent, { before }: Age): boolean =>
  at >= before || (isAccountNotice(status) && noticeDay(at) >= noticeDay(before))

async function hasNews(reads: Reads, buildEvents: readonly BuildEvent[]): Promise<boolean> {
  const builds = new Set(buildEvents.map(({ projectId, buildId }) => buildKey(projectId, buildId)))
  return (await reads.eventsOfBuilds([...builds])).some(({ cardNumber }) => cardNumber === null)
}

const hasRecentRequest = async (reads: Reads, revisionKey: string, { before }: Age): Promise<boolean> =>
  (await reads.requestsOf(revisionKey)).some((request) => isOpen(request) || request.requestedAt >= before)

async function isStillPosted(reads: Reads, subject: string, age: Age): Promise<boolean> {
  for (const key of await reads.cardsOf(subject)) {
    const card = await reads.card(key)
    if (card && hasSteps(card) && !(await isClosed(reads, card, age))) return true
    if ((await reads.messagesOf(key)).some((message) => wasWrittenLately(message, age))) return true
  }
  return false
}

const hasSteps = ({ queues }: Card): boolean => QUEUES.some((queue) => queues[queue] !== null)

// A channel that was closed for so long does not count: if it is reopened, it should not get all old messages at once.
const isClosed = async (reads: Reads, { channel }: Card, { before }: Age): Promise<boolean> =>
  (await reads.closedChannels()).some((closed) => closed.channel === channel && closed.closedAt < before)

const wasWrittenLately = ({ claimedAt, sendingAt, writtenAt }: StoredMessage, { now }: Age): boolean =>
  Math.max(claimedAt, sendingAt ?? 0, writtenAt ?? 0) >= now - REST_MS

/**
 * The branch's next outcome is judged by those since its last success. That success stays, too, and the outcomes before
 * it back to the success before that: a late outcome has it judged again.
 */
async function findNeeded(
  reads: Reads,
  projectId: ProjectId,
  branch: string,
  { before, forgottenBefore }: Age,
): Promise<Needed> {
  const newest = await reads.newestBuild(projectId, branch)
  if (!newest || newest.at < forgottenBefore) return NOTHING
  const needed = { newest: newest.buildOrder, outcomesFrom: '' }
  for (const limit of [OUTCOMES_NEAR, OUTCOMES_FAR]) {
    const outcomes = await reads.verdictsBefore(branchKey(projectId, branch), LAST_ORDER, limit)
    const greens = outcomes.filter(({ status, at }) => status === 'success' && at < before)
    const last = greens[0]
    const first = greens.find((green) => last && green.seq < last.seq && green.buildId !== last.buildId)
    if (first) return { ...needed, outcomesFrom: first.buildOrder }
    if (outcomes.length < limit) return needed
    if (limit === OUTCOMES_FAR) return { ...needed, outcomesFrom: outcomes.at(-1)!.buildOrder }
  }
  return needed
}

const NOTHING: Needed = { newest: '', outcomesFrom: LAST_ORDER }
