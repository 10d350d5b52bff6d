import type { Breakage, BreakageChange } from '../domain/breakage.ts'
import { REQUEST_URGENCY } from '../domain/plan.ts'
import { revisionSubject } from '../domain/revision.ts'
import { breakageLock } from '../store/breakages.ts'
import type { Projects } from '../store/records.ts'
import { redBranches } from '../store/red-branches.ts'
import type { Store, Tx } from '../store/store.ts'
import type { Clock } from '../lib/clock.ts'
import { summariesOf, type FindDeps } from './find-build.ts'
import type { BuildSummary } from './outcomes.ts'

/**
 * Stores a changed breakage and the change. The change is a row of the audit and a line in the thread of the breakage's
 * newest card. A channel without that card gets the line in the thread of the newest card that it has.
 */
export async function changeBreakage(
  tx: Tx,
  breakage: Breakage,
  change: Omit<BreakageChange, 'breakageId' | 'subject' | 'channel' | 'number'>,
): Promise<BreakageChange> {
  const subject = revisionSubject(breakage.revisionKey, breakage.cardNumber)
  const made = { ...change, breakageId: breakage.id, subject, channel: null, number: null }
  await tx.saveBreakage(breakage)
  await tx.insertBreakageChange(made)
  const newest = new Map((await tx.breakageCards(breakage)).toReversed().map((card) => [card.channel, card]))
  const others = [...newest.values()].filter((card) => card.subject !== subject)
  for (const other of others)
    await tx.insertBreakageChange({ ...made, ...other, id: `${made.id}:${other.channel}`, interactionKey: null })
  for (const touched of new Set([subject, ...others.map((one) => one.subject)]))
    await tx.touchCards(touched, change.at, REQUEST_URGENCY)
  return made
}

export const NO_OWNER = { owner: null, ownedAt: null, ownerUntil: null }

/** Removes a person who has left the workspace from their red branches. Each branch's thread gets a line about it. */
export async function dropOwner(
  { store, clock, newId }: { store: Store; clock: Pick<Clock, 'now'>; newId: () => string },
  user: string,
): Promise<void> {
  for (const { branchKey } of await store.read.breakagesOf(user)) {
    const id = newId()
    await store.write(async (tx) => {
      await tx.lockName(breakageLock(branchKey))
      const open = await tx.openBreakage(branchKey)
      const at = clock.now()
      if (open?.owner !== user || open.ownerUntil === null || open.ownerUntil <= at) return
      const left = { id, interactionKey: null, kind: 'left', by: user, to: null, until: null, at } as const
      await changeBreakage(tx, { ...open, ...NO_OWNER }, left)
    })
  }
}

/** The most red branches in one list. */
export const RED_MAX = 10
/** More red branches than any channel follows: the list says how many it leaves out. */
export const RED_COUNTED_MAX = 1_000

/** Asks the sources whether these red branches are still there: one that is gone is no longer red afterwards. */
export type EndGone = (open: readonly Breakage[]) => Promise<void>

/** The red branches of these projects: since when, and who is on each. `more`: how many the list leaves out. */
export async function redNow(
  deps: FindDeps & { endGone: EndGone },
  projects: Projects,
): Promise<{ builds: BuildSummary[]; more: number }> {
  await deps.endGone(await deps.store.read.openBreakages(projects, RED_MAX))
  const all = await redBranches(deps.store.read, projects, RED_COUNTED_MAX)
  return { builds: await summariesOf(deps, all.slice(0, RED_MAX)), more: Math.max(0, all.length - RED_MAX) }
}
