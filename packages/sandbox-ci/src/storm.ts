import type { BuildLife, Push } from './builds.ts'
import type { Build } from './state.ts'
import type { World } from './world.ts'

/** Many pushes at once. Every `failEvery`-th build fails; 0: none. Builds take between half and all of `ms`. */
export interface Storm {
  builds: number
  ms?: number | undefined
  failEvery?: number | undefined
  /** How many branches they are spread over: `storm-1`, `storm-2`… Left out: each its own. */
  branches?: number | undefined
}

export const STORM_BUILDS_MAX = 2_000

/** The builds that were made; fewer than asked for if the project's branch filter leaves some out. */
export function storm(world: World, life: BuildLife, project: string, wanted: Storm): Build[] {
  const count = Math.min(wanted.builds, STORM_BUILDS_MAX)
  const pushes = Array.from({ length: count }, (_, index) => life.push(project, stormPush(world, wanted, index + 1)))
  return pushes.flatMap((result) => (result.kind === 'build' ? [result.build] : []))
}

function stormPush(world: World, { builds, ms, failEvery = 0, branches = builds }: Storm, n: number): Push {
  const longestMs = ms ?? world.switches.buildMs
  return {
    branch: `storm-${((n - 1) % Math.max(1, branches)) + 1}`,
    message: `Storm commit ${n}`,
    committer: n % 2 === 0 ? 'Grace' : 'Ada',
    outcome: failEvery > 0 && n % failEvery === 0 ? 'error' : 'success',
    ms: Math.round(longestMs * (0.5 + world.random.next() / 2)),
  }
}
