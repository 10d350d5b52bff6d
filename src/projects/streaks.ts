import { ownershipOf, type Streak, type StreakChange, type BranchEnd } from '../domain/builds/streak.ts'
import { REQUEST_URGENCY, LEAST_URGENCY } from '../domain/cards/plan.ts'
import { revisionSubject } from '../domain/builds/revision.ts'
import { streakLock, redBranches } from '../store/streaks.ts'
import type { Projects } from '../store/records.ts'
import type { Store, Tx } from '../store/store.ts'
import type { Clock } from '../lib/clock.ts'
import { summariesOf, type FindDeps } from './find-build.ts'
import type { BuildSummary } from './outcomes.ts'
import { isProjectId } from '../domain/ids.ts'
import type { Log } from '../lib/log.ts'
import { CiError } from '../sources/http/errors.ts'
import type { BranchState, Sources } from '../sources/source.ts'

/**
 * Stores a changed streak and the change. The change is a row of the audit and a line in the thread of the streak's
 * newest card. A channel without that card gets the line in the thread of the newest card that it has.
 */
export async function changeStreak(
  tx: Tx,
  streak: Streak,
  change: Omit<StreakChange, 'streakId' | 'subject' | 'channel' | 'number'>,
): Promise<StreakChange> {
  const subject = revisionSubject(streak.revisionKey, streak.cardNumber)
  const made = { ...change, streakId: streak.id, subject, channel: null, number: null }
  await tx.saveStreak(streak)
  await tx.insertStreakChange(made)
  const newest = new Map((await tx.streakCards(streak)).toReversed().map((card) => [card.channel, card]))
  const others = [...newest.values()].filter((card) => card.subject !== subject)
  for (const other of others)
    await tx.insertStreakChange({ ...made, ...other, id: `${made.id}:${other.channel}`, interactionKey: null })
  for (const touched of new Set([subject, ...others.map((one) => one.subject)]))
    await tx.touchCards(touched, change.at, REQUEST_URGENCY)
  return made
}

export const NO_OWNER = { owner: null, ownedAt: null, ownerUntil: null }

/** The red branches that this person is on now. */
export const heldBy = async (
  { store, clock }: { store: Pick<Store, 'read'>; clock: Pick<Clock, 'now'> },
  user: string,
): Promise<Streak[]> =>
  (await store.read.streaksOf(user)).filter((streak) => ownershipOf(streak, clock.now()).owner !== null)

/** Removes a person who has left the workspace from their red branches. Each branch's thread gets a line about it. */
export async function dropOwner(
  { store, clock, newId }: { store: Store; clock: Pick<Clock, 'now'>; newId: () => string },
  user: string,
): Promise<void> {
  for (const { branchKey } of await store.read.streaksOf(user)) {
    const id = newId()
    await store.write(async (tx) => {
      await tx.lockName(streakLock(branchKey))
      const open = await tx.openStreak(branchKey)
      const at = clock.now()
      if (open?.owner !== user || open.ownerUntil === null || open.ownerUntil <= at) return
      const left = { id, interactionKey: null, kind: 'left', by: user, to: null, until: null, at } as const
      await changeStreak(tx, { ...open, ...NO_OWNER }, left)
    })
  }
}

/** The most red branches in one list. */
export const RED_MAX = 10
/** More red branches than any channel follows; used to count how many a list leaves out. */
export const RED_COUNTED_MAX = 1_000

/** Asks the sources whether these red branches still exist. Those that do not are no longer red afterwards. */
export type EndGone = (open: readonly Streak[]) => Promise<void>

/** The red branches of these projects, with since when and who is on each. `more`: how many the list leaves out. */
export async function redNow(
  deps: FindDeps & { endGone: EndGone },
  projects: Projects,
): Promise<{ builds: BuildSummary[]; more: number }> {
  const { read } = deps.store
  await deps.endGone(await read.openStreaks(projects, RED_MAX))
  const [shown, total] = await Promise.all([
    redBranches(read, projects, RED_MAX),
    read.countRed(projects, RED_COUNTED_MAX),
  ])
  return { builds: await summariesOf(deps, shown), more: Math.max(0, total - RED_MAX) }
}

// A deleted branch, or a merged or closed request, stays red in the store, because no build will follow.

export interface BranchEndsDeps {
  store: Store
  clock: Clock
  log: Log
  sources: Sources
  newId: () => string
}

/** A branch is checked again only after this time, however often an answer names it. */
export const CHECKED_FOR_MS = 60_000

/** Before an answer names red branches, at most this many are checked, for at most this long. */
const ASK_MAX_MS = 2_000
const ASKED_MAX = 10

/**
 * Asks the sources whether these red branches still exist, before an answer names them. One that does not is no longer
 * red, and its thread says why. One that cannot be checked now stays red.
 */
export async function endGoneBranches(deps: BranchEndsDeps, open: readonly Streak[]): Promise<void> {
  const since = deps.clock.now() - CHECKED_FOR_MS
  const due = open.filter(({ checkedAt }) => (checkedAt ?? 0) < since).slice(0, ASKED_MAX)
  await Promise.all(due.map((streak) => endIfGone(deps, streak, AbortSignal.timeout(ASK_MAX_MS))))
}

/** Checks one branch. If that fails, the others go on, and it is checked again before an answer names it. */
export async function endIfGone(deps: BranchEndsDeps, streak: Streak, signal: AbortSignal): Promise<void> {
  const { store, clock, log } = deps
  const state = await stateOf(deps, streak, signal).catch((error: unknown) => {
    if (!(error instanceof CiError)) throw error
    log.warn({ err: error, project: streak.projectId }, 'could not check whether a red branch still exists')
    return null
  })
  if (state === null || state === 'there') await store.write((tx) => tx.setBranchCheckedAt(streak.id, clock.now()))
  else await endStreak(deps, streak, state === 'tag' ? null : state)
}

async function stateOf(
  { store, sources }: BranchEndsDeps,
  { projectId, branch: stream }: Streak,
  signal: AbortSignal,
): Promise<BranchState | null> {
  const read = isProjectId(projectId) ? sources(projectId)?.readBranch : null
  const project = read ? await store.read.project({ uuid: null, legacyId: projectId, names: [] }) : null
  return read && project ? read({ projectId, project: project.name, stream }, signal) : null
}

async function endStreak(
  { store, clock, log, newId }: BranchEndsDeps,
  { id, branchKey, projectId }: Streak,
  kind: BranchEnd | null,
): Promise<void> {
  const change = newId()
  const isEnded = await store.write(async (tx) => {
    await tx.lockName(streakLock(branchKey))
    const open = await tx.openStreak(branchKey)
    if (open?.id !== id) return false
    const at = clock.now()
    const ended = { ...open, ...NO_OWNER, endedAt: at, endedBy: null, checkedAt: at }
    if (kind === null) {
      await tx.saveStreak(ended)
      await tx.touchCards(revisionSubject(open.revisionKey, open.cardNumber), at, LEAST_URGENCY)
    } else await changeStreak(tx, ended, { id: change, interactionKey: null, kind, by: '', to: null, until: null, at })
    await tx.forgetOutcomes(branchKey)
    return true
  })
  if (!isEnded) return
  log.info({ project: projectId, streak: id, end: kind ?? 'tag' }, 'a red branch no longer exists')
}

/** Each red branch is checked a day after it broke, and then once a day, even if no answer names it. */
const CHECK_AGAIN_MS = 24 * 60 * 60_000

/** One round checks at most this many branches. Each takes two or three calls. */
const CHECKED_MAX = 10

/** Ends the streaks of red branches that are gone, so that none stays red forever. */
export async function checkBranches(deps: BranchEndsDeps, signal: AbortSignal): Promise<void> {
  for (const streak of await deps.store.read.streaksToCheck(deps.clock.now() - CHECK_AGAIN_MS, CHECKED_MAX)) {
    if (signal.aborted) return
    await endIfGone(deps, streak, signal)
  }
}
