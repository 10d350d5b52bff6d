import type { BuildLife, Push } from './builds.ts'
import type { Build } from './state.ts'
import type { World } from './world.ts'

/** Many pushes at once. Every `failEvery`-th build fails; 0: none fails. Builds take between half and all of `ms`. */
export interface Storm {
  builds: number
  ms?: number | undefined
  failEvery?: number | undefined
  /** How many branches get the builds: `storm-1`, `storm-2`… By default one for each build. */
  branches?: number | undefined
}

export const STORM_BUILDS_MAX = 2_000

/** Pushes the builds. Returns fewer than requested if the project's branch filter leaves some out. */
export function storm({ switches, random }: World, life: BuildLife, project: string, wanted: Storm): Build[] {
  const pushes = stormPushes({ ...wanted, ms: wanted.ms ?? switches.buildMs }, () => random.next())
  const results = Array.from(pushes, (push) => life.push(project, push))
  return results.flatMap((result) => (result.kind === 'build' ? [result.build] : []))
}

export function* stormPushes(wanted: Storm & { ms: number }, random: () => number): Generator<Push> {
  const count = Math.min(wanted.builds, STORM_BUILDS_MAX)
  for (let n = 1; n <= count; n++) yield stormPush(wanted, random, n)
}

function stormPush(
  { builds, ms, failEvery = 0, branches = builds }: Storm & { ms: number },
  random: () => number,
  n: number,
): Push {
  return {
    branch: `storm-${((n - 1) % Math.max(1, branches)) + 1}`,
    message: `Storm commit ${n}`,
    committer: n % 2 === 0 ? 'Grace' : 'Ada',
    outcome: failEvery > 0 && n % failEvery === 0 ? 'error' : 'success',
    ms: Math.round(ms * (0.5 + random() / 2)),
  }
}
