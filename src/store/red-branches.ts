import { setImmediate as nextTurn } from 'node:timers/promises'
import { branchKey } from '../domain/revision.ts'
import type { BreakageReads } from './breakages.ts'
import type { KnownBuild, Projects } from './records.ts'

/** The reads that find red branches. */
export interface RedReads extends Pick<BreakageReads, 'openBreakages'> {
  redBuilds(projects: Projects | null, limit: number): Promise<KnownBuild[]>
  newestBuild(projectId: string, branch: string): Promise<KnownBuild | null>
}

/** The red branches of these projects: each by its last red build, or by its newest build if that one is run again. */
export async function redBranches(reads: RedReads, projects: Projects, limit: number): Promise<KnownBuild[]> {
  const red = await reads.redBuilds(projects, limit)
  // SQLite's reads do not yield to the event loop, and each of these can give a thousand rows.
  await nextTurn()
  const open = await reads.openBreakages(projects, limit)
  const named = new Set(red.map(({ projectId, branch }) => branchKey(projectId, branch)))
  const again = open.filter((breakage) => !named.has(breakage.branchKey)).slice(0, limit - red.length)
  const newest = await Promise.all(again.map(({ projectId, branch }) => reads.newestBuild(projectId, branch)))
  return [...red, ...newest.filter((build) => build !== null)]
}
