import type { BuildEvent } from '../domain/builds/build-event.ts'
import { buildKey, LAST_ORDER, type ProjectId } from '../domain/ids.ts'
import { branchKey, REST_MS, revisionSubject } from '../domain/builds/revision.ts'
import { QUEUES, type StoredMessage } from '../domain/cards/plan.ts'
import { recoveredFrom, recoveringFrom } from '../domain/builds/streak.ts'
import { isOpen } from '../domain/cards/request.ts'
import { isAccountNotice, isRed, isVerdict } from '../domain/builds/status.ts'
import { noticeDay } from '../domain/cards/build-view.ts'
import type { Card, EventRef, OutcomeRef } from '../store/records.ts'
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
   * A card stays while it has a young build event, may still change in Slack, or shows the state of a branch. It also
   * stays while another card of its red streak stays: without it, that card's next plan would say something wrong. A
   * success that ended a streak is removed only after the streak: otherwise a later success would be the recovery.
   */
  return (reads: Reads, place: CardRef): Promise<boolean> => staysItself(reads, place, new Set())

  /** @param visited the cards that this check has visited already */
  async function staysItself(
    reads: Reads,
    { revisionKey, cardNumber }: CardRef,
    visited: Set<string>,
  ): Promise<boolean> {
    const subject = revisionSubject(revisionKey, cardNumber)
    if (visited.has(subject)) return false
    const isFirst = visited.size === 0
    visited.add(subject)
    // Read first: in a transaction, this lock keeps other processes from ingesting the revision meanwhile.
    if ((await reads.ingestOf(revisionKey)) !== null) return true
    const buildEvents = await reads.eventsOfCard(revisionKey, cardNumber)
    if (buildEvents.length === 0) return false
    return (
      buildEvents.some((buildEvent) => isYoung(buildEvent, age)) ||
      (await hasNews(reads, buildEvents)) ||
      (await hasRecentRequest(reads, revisionKey, age)) ||
      (await isNeeded(reads, buildEvents)) ||
      (await isStillPosted(reads, subject, age)) ||
      (await someOfStreak(reads, buildEvents, async (card, isEnded) => {
        const isWaitedFor = isFirst && isEnded && revisionSubject(card.revisionKey, card.cardNumber) !== subject
        return isWaitedFor || staysItself(reads, card, visited)
      }))
    )
  }

  function isNeeded(reads: Reads, buildEvents: readonly BuildEvent[]): Promise<boolean> {
    return someOnBranch(buildEvents, async ({ projectId, buildOrder, status }, branch) => {
      const { newest, outcomesFrom } = await neededOf(reads, projectId, branch)
      return buildOrder === newest || (isVerdict(status) && buildOrder >= outcomesFrom)
    })
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

/** Whether any of these build events meets the condition. Builds without a known branch share no history. */
async function someOnBranch(
  buildEvents: readonly BuildEvent[],
  isSo: (buildEvent: BuildEvent, branch: string) => Promise<boolean>,
): Promise<boolean> {
  for (const buildEvent of buildEvents)
    if (buildEvent.branch !== null && (await isSo(buildEvent, buildEvent.branch))) return true
  return false
}

/**
 * Whether a card of the same red streak as one of these events, or the card of the streak's end, meets the condition.
 * @param isSo `isEnded`: the event ended the streak that this card is part of
 */
const someOfStreak = (
  reads: Reads,
  buildEvents: readonly BuildEvent[],
  isSo: (card: CardRef, isEnded: boolean) => Promise<boolean>,
): Promise<boolean> =>
  someOnBranch(buildEvents, async (buildEvent, branch) => {
    const key = branchKey(buildEvent.projectId, branch)
    for (const { revisionKey, cardNumber } of await streakOf(reads, key, buildEvent))
      if (cardNumber === null || (await isSo({ revisionKey, cardNumber }, buildEvent.status === 'success'))) return true
    return false
  })

/** For a red outcome, the successes that recovered from it; for a success, even an overtaken one, what it ended. */
async function streakOf(reads: Reads, key: string, buildEvent: BuildEvent): Promise<EventRef[]> {
  if (buildEvent.status === 'success') return recoveredFrom(buildEvent, await outcomesTo(reads, key, buildEvent))
  if (!isRed(buildEvent.status)) return []
  const recovering: EventRef[] = []
  for (const green of recoveringFrom(buildEvent, await outcomesAfter(reads, key, buildEvent)))
    if (!(await reads.isOvertaken(key, green.buildOrder, green.seq))) recovering.push(green)
  return recovering
}

/** The branch's outcomes up to this success, at least as far back as the success before it. */
async function outcomesTo(reads: Reads, key: string, { buildId, buildOrder, seq }: BuildEvent): Promise<BuildEvent[]> {
  const near = await reads.verdictsBefore(key, buildOrder, OUTCOMES_NEAR)
  const sawEnd = near.some((one) => one.status === 'success' && one.buildId !== buildId && one.seq < seq)
  return sawEnd || near.length < OUTCOMES_NEAR ? near : reads.verdictsBefore(key, buildOrder, OUTCOMES_FAR)
}

/** The branch's outcomes from this build on, at least to a success that came before all newer builds' outcomes. */
async function outcomesAfter(reads: Reads, key: string, { buildId, buildOrder }: BuildEvent): Promise<OutcomeRef[]> {
  const near = await reads.verdictsFrom(key, buildOrder, OUTCOMES_NEAR)
  const isGreenInTurn = (one: OutcomeRef, i: number) =>
    one.status === 'success' && one.buildId !== buildId && near.slice(i + 1).every(({ seq }) => seq > one.seq)
  const isEnough = near.length < OUTCOMES_NEAR || near.slice(0, -1).some(isGreenInTurn)
  return isEnough ? near : reads.verdictsFrom(key, buildOrder, OUTCOMES_FAR)
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
 * `recovered` and `red since` look back to the branch's last success. So its newest old success stays, and the outcomes
 * before it back to the success before that. Then the results for all outcomes that stay are the same as before.
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
