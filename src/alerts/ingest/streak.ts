import type { BuildEvent } from '../../domain/builds/build-event.ts'
import { openStreakOf, compareOutcomes, countBuilds, type Streak, type OpenStreak } from '../../domain/builds/streak.ts'
import { LAST_ORDER, type ProjectId } from '../../domain/ids.ts'
import { LEAST_URGENCY } from '../../domain/cards/plan.ts'
import { branchKey, revisionSubject } from '../../domain/builds/revision.ts'
import { OUTCOMES_FAR, OUTCOMES_NEAR } from '../../domain/builds/history.ts'
import { NO_OWNER } from '../../projects/streaks.ts'
import { together } from '../../lib/async.ts'
import type { Tx } from '../../store/store.ts'

/** The branch of the new outcomes. Null: there are none, or their builds name no branch and so share no history. */
export function branchWithOutcome(
  fresh: readonly BuildEvent[],
): { projectId: ProjectId; branch: string; key: string } | null {
  const outcome = fresh.find(({ isOutcome, branch }) => isOutcome && branch !== null)
  if (!outcome || outcome.branch === null) return null
  const { projectId, branch } = outcome
  return { projectId, branch, key: branchKey(projectId, branch) }
}

/**
 * Updates a branch's streak for new outcomes: it begins, goes on or ends, and a late outcome may move its beginning.
 * Lock the branch first, and give the outcomes their cards. Replans cards that no longer show the streak.
 */
export async function updateStreak(
  tx: Tx,
  { projectId, branch, key }: NonNullable<ReturnType<typeof branchWithOutcome>>,
  fresh: readonly BuildEvent[],
  now: number,
): Promise<void> {
  const [open, near] = await together([tx.openStreak(key), readBack(tx, key, OUTCOMES_NEAR)])
  const added = fresh.filter(({ isOutcome }) => isOutcome).toSorted(compareOutcomes)
  const { streak, outcomes } =
    lengthened(open, added) ?? (await readStreak(tx, key, { near, open, from: added[0]!.buildOrder }))
  if (open && cardOf(open) !== (streak && cardOf(streak))) await touchShowing(tx, open, now)
  if (streak) return tx.saveStreak({ projectId, branch, branchKey: key, ...(open ?? NEW), ...streak })
  if (open) await tx.saveStreak({ ...open, ...endOf(outcomes, now) })
}

/** The open streak, if newer failures only make it longer, so that nothing has to be read. Null: more has changed. */
function lengthened(open: Streak | null, added: readonly BuildEvent[]): StreakRead | null {
  if (!open || !added.every(({ status, buildOrder }) => status === 'failed' && buildOrder > open.newestOrder))
    return null
  const builds = open.builds + countBuilds(added)
  return { streak: { ...open, builds, ...newestOf(added.at(-1)!) }, outcomes: [] }
}

/** Replans the two newest cards in each channel: the newest shows the streak, the other may have shown it. */
async function touchShowing(tx: Tx, open: Streak, now: number): Promise<void> {
  const cards = await tx.streakCards(open)
  const showing = [...Map.groupBy(cards, ({ channel }) => channel).values()].flatMap((own) =>
    [...new Set(own.map(({ subject }) => subject))].slice(0, 2),
  )
  for (const subject of new Set([cardOf(open), ...showing])) await tx.touchCards(subject, now, LEAST_URGENCY)
}

const NEW = { ...NO_OWNER, snoozedUntil: null, endedAt: null, endedBy: null, checkedAt: null }

/** What outcomes decide of a stored streak. */
type StreakCourse = Pick<
  Streak,
  'id' | 'beganAt' | 'beganOrder' | 'builds' | 'newestOrder' | 'revisionKey' | 'cardNumber'
>

interface StreakRead {
  /** null: the branch is not red */
  streak: StreakCourse | null
  /** the newest outcomes of the branch */
  outcomes: readonly BuildEvent[]
}

/**
 * Reads only as many outcomes as the streak needs. A streak longer than OUTCOMES_FAR continues the stored one.
 * @param near the newest outcomes
 * @param from the build order of the oldest new outcome
 */
async function readStreak(
  tx: Tx,
  key: string,
  { near, open, from }: { near: OutcomesRead; open: Streak | null; from: string },
): Promise<StreakRead> {
  const isJoined =
    open !== null && from >= open.newestOrder && near.outcomes.some(({ buildOrder }) => buildOrder <= open.newestOrder)
  const { outcomes, isWhole } = near.isWhole || isJoined ? near : await readBack(tx, key, OUTCOMES_FAR)
  const streak = openStreakOf(outcomes)
  if (open && !isWhole) return { streak: grown(open, streak, outcomes), outcomes }
  return { streak: streak && storedStreak(streak, open?.id), outcomes }
}

type OutcomesRead = Awaited<ReturnType<typeof readBack>>

async function readBack(tx: Tx, key: string, limit: number) {
  const read = await tx.verdictsBefore(key, LAST_ORDER, limit)
  // Outcomes that are not ingested yet are counted when they are.
  const outcomes = read.filter(({ cardNumber }) => cardNumber !== null)
  return { outcomes, isWhole: read.length < limit || outcomes.some(({ status }) => status === 'success') }
}

/** A new streak takes the id of its first failure. It keeps it, even if it turns out to have begun earlier. */
const storedStreak = ({ first, newest, builds }: OpenStreak<BuildEvent>, id = String(first.seq)): StreakCourse => ({
  id,
  beganAt: first.details.finishedAt ?? first.at,
  beganOrder: first.buildOrder,
  builds,
  ...newestOf(newest),
})

const newestOf = ({ buildOrder, revisionKey, cardNumber }: BuildEvent) => ({
  newestOrder: buildOrder,
  revisionKey,
  cardNumber: cardNumber!,
})

/** Keeps the stored beginning, and adds the builds that have failed since. */
function grown(open: Streak, streak: OpenStreak<BuildEvent> | null, outcomes: readonly BuildEvent[]): StreakCourse {
  if (!streak) return open
  const added = outcomes.filter(({ status, buildOrder }) => status === 'failed' && buildOrder > open.newestOrder)
  const builds = Math.max(open.builds + new Set(added.map(({ buildId }) => buildId)).size, streak.builds)
  const { id, beganAt, beganOrder } = open
  return { id, beganAt, beganOrder, builds, ...newestOf(streak.newest) }
}

/** The end of a streak: the first build that passed after its last failure. @param outcomes newest first */
function endOf(outcomes: readonly BuildEvent[], now: number): Pick<Streak, 'endedAt' | 'endedBy'> {
  const lastFailed = outcomes.findIndex(({ status }) => status === 'failed')
  const after = lastFailed === -1 ? outcomes : outcomes.slice(0, lastFailed)
  const green = after.findLast(({ status }) => status === 'success')
  return { endedAt: green?.at ?? now, endedBy: green?.buildId ?? null }
}

const cardOf = ({ revisionKey, cardNumber }: StreakCourse): string => revisionSubject(revisionKey, cardNumber)
