import { ID_DIGITS_MAX, idOrder, type ProjectId } from '../../domain/ids.ts'
import { branchKey, REST_MS, type PlacedFact } from '../../domain/lineage.ts'
import { LANES, type StoredMessage } from '../../domain/plan.ts'
import { isOpen } from '../../domain/request.ts'
import { isAccountNotice, isVerdict } from '../../domain/status.ts'
import { lineageSubject } from '../../domain/subject.ts'
import { noticeDay } from '../../domain/notice.ts'
import type { Card, FactPlace } from '../../store/kept.ts'
import type { Reads } from '../../store/store.ts'

/** A branch on which nothing was built for so many times as long is forgotten with its last outcome. */
export const BRANCH_TIMES = 4

/** Outcomes of a branch that are looked at: most branches passed lately; beyond the far end nobody reads. */
const OUTCOMES_NEAR = 8
const OUTCOMES_FAR = 500

const NEWEST_ORDER = idOrder('9'.repeat(ID_DIGITS_MAX))

/** What is old: what happened before `before` (ms), of a branch that was silent since `forgottenBefore`. */
export interface Age {
  now: number
  before: number
  forgottenBefore: number
}

/** What of a branch is needed still: its newest build, and outcomes from this place on. Places are `idOrder`s. */
interface Needed {
  newest: string
  outcomesFrom: string
}

/** Says of one card of a lineage whether it must stay, asking `reads` each time. Remembers what branches need. */
export function createStays(age: Age) {
  const branches = new Map<string, Needed>()

  /** Nothing of a story goes while any of it is young, may still change in Slack, or tells how a branch stands. */
  return async function stays(reads: Reads, { lineageKey, episode }: Place): Promise<boolean> {
    // First: in a transaction it keeps others from taking in what comes meanwhile.
    if ((await reads.intakeOf(lineageKey)) !== null) return true
    const facts = await reads.factsOfEpisode(lineageKey, episode)
    if (facts.length === 0) return false
    return (
      facts.some((fact) => isYoung(fact, age)) ||
      (await hasNews(reads, facts)) ||
      (await isAskedAbout(reads, lineageKey, age)) ||
      (await isNeeded(reads, facts)) ||
      (await isToldStill(reads, lineageSubject(lineageKey, episode), age))
    )
  }

  async function isNeeded(reads: Reads, facts: readonly PlacedFact[]): Promise<boolean> {
    for (const { projectId, branch, buildId, status } of facts) {
      // Builds of which no branch is known share no history.
      if (branch === null) continue
      const { newest, outcomesFrom } = await neededOf(reads, projectId, branch)
      const order = idOrder(buildId)
      if (order === newest || (isVerdict(status) && order >= outcomesFrom)) return true
    }
    return false
  }

  async function neededOf(reads: Reads, projectId: ProjectId, branch: string): Promise<Needed> {
    const key = branchKey(projectId, branch)
    // While the walk goes on a branch can only come to need less.
    const needed = branches.get(key) ?? (await findNeeded(reads, projectId, branch, age))
    branches.set(key, needed)
    return needed
  }
}

type Place = { lineageKey: string; episode: number }

/** The cards that these facts are on, each once. */
export function cardsOfFacts(facts: readonly FactPlace[], before: number): Place[] {
  const cards = new Map<string, Place>()
  for (const { at, lineageKey, episode } of facts)
    if (at < before && episode !== null) cards.set(lineageSubject(lineageKey, episode), { lineageKey, episode })
  return [...cards.values()]
}

// A day's notice goes as a whole: while it stands, so do the builds that it counts.
const isYoung = ({ at, status }: PlacedFact, { before }: Age): boolean =>
  at >= before || (isAccountNotice(status) && noticeDay(at) >= noticeDay(before))

async function hasNews(reads: Reads, facts: readonly PlacedFact[]): Promise<boolean> {
  const builds = new Set(facts.map(({ projectId, buildId }) => `${projectId}/${buildId}`))
  return (await reads.factsOfBuilds([...builds])).some(({ episode }) => episode === null)
}

const isAskedAbout = async (reads: Reads, lineageKey: string, { before }: Age): Promise<boolean> =>
  (await reads.requestsOf(lineageKey)).some((request) => isOpen(request) || request.askedAt >= before)

async function isToldStill(reads: Reads, subject: string, age: Age): Promise<boolean> {
  for (const key of await reads.cardsOf(subject)) {
    const card = await reads.card(key)
    if (card && hasSteps(card) && !(await isClosed(reads, card, age))) return true
    if ((await reads.messagesOf(key)).some((message) => wasWrittenLately(message, age))) return true
  }
  return false
}

const hasSteps = ({ lanes }: Card): boolean => LANES.some((lane) => lanes[lane] !== null)

// Nobody reads there, and what waits would fall on whoever opens the channel again.
const isClosed = async (reads: Reads, { channel }: Card, { before }: Age): Promise<boolean> =>
  (await reads.closedChannels()).some((closed) => closed.channel === channel && closed.closedAt < before)

const wasWrittenLately = ({ claimedAt, sendingAt, writtenAt }: StoredMessage, { now }: Age): boolean =>
  Math.max(claimedAt, sendingAt ?? 0, writtenAt ?? 0) >= now - REST_MS

/**
 * `recovered` and `red since` look back to the last time that the branch was green. So its newest green that is old
 * stays, and the red before it up to the green before that: then each outcome that stays still adds up to the same.
 */
async function findNeeded(
  reads: Reads,
  projectId: ProjectId,
  branch: string,
  { before, forgottenBefore }: Age,
): Promise<Needed> {
  const newest = await reads.newestBuild(projectId, branch)
  if (!newest || newest.at < forgottenBefore) return NOTHING
  const needed = { newest: idOrder(newest.buildId), outcomesFrom: '' }
  for (const limit of [OUTCOMES_NEAR, OUTCOMES_FAR]) {
    const outcomes = await reads.verdictsBefore(branchKey(projectId, branch), NEWEST_ORDER, limit)
    const greens = outcomes.filter(({ status, at }) => status === 'success' && at < before)
    const last = greens[0]
    const first = greens.find((green) => last && green.seq < last.seq && green.buildId !== last.buildId)
    if (first) return { ...needed, outcomesFrom: idOrder(first.buildId) }
    if (outcomes.length < limit) return needed
    if (limit === OUTCOMES_FAR) return { ...needed, outcomesFrom: idOrder(outcomes.at(-1)!.buildId) }
  }
  return needed
}

/** Sorts after every place. */
const NOTHING: Needed = { newest: '', outcomesFrom: '~' }
