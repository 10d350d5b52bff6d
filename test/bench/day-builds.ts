import { createRandom, type Random } from '../simulation/random.ts'
import type { SampleBuild } from './delivery.ts'

/** A build that will be: when it begins and ends (ms after the beginning), and how. */
export interface PlannedBuild extends SampleBuild {
  startsAt: number
  endsAt: number
  isRed: boolean
}

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

export const BUILDS_PER_DAY = 1_000
export const PROJECTS_PER_ORGANIZATION = 10
export const RED_SHARE = 0.25

/** At this hour every project builds its branches anew, all at once. */
export const NIGHTLY_HOUR = 2
const NIGHTLY_SHARE = 0.1
const NIGHTLY_WITHIN_MS = 10 * SECOND_MS

/** How the other builds are spread over the hours of a day: an office, and a little of everything else. */
const HOURS = [1, 1, 1, 1, 1, 1, 1, 2, 8, 16, 24, 24, 16, 16, 24, 24, 20, 16, 8, 2, 1, 1, 1, 1]

/** One beginning in so many is that of a burst: somebody pushes all that belongs together. */
const BURST_CHANCE = 0.04
const BURST_BUILDS = 10
const BURST_WITHIN_MS = 30 * SECOND_MS

const MAIN_SHARE = 0.3
const FEATURES = 20

/** What the busiest hour has of a day's builds. */
export const BUSIEST_HOUR_SHARE = ((1 - NIGHTLY_SHARE) * Math.max(...HOURS)) / HOURS.reduce((sum, each) => sum + each)

/** The builds of one organization on one day, in the order in which they begin; the same for the same seed. */
export function planDay(seed: number): PlannedBuild[] {
  const random = createRandom(seed)
  const nightly = Math.round(BUILDS_PER_DAY * NIGHTLY_SHARE)
  const builds = Array.from({ length: nightly }, (_, i) => planNightly(random, i))
  while (builds.length < BUILDS_PER_DAY) {
    const at = momentOfDay(random)
    const project = random.between(1, PROJECTS_PER_ORGANIZATION)
    const size = random.chance(BURST_CHANCE) ? BURST_BUILDS : 1
    for (let n = 0; n < size && builds.length < BUILDS_PER_DAY; n++)
      builds.push(planned(random, project, at + (n === 0 ? 0 : random.between(0, BURST_WITHIN_MS)), [1, 12]))
  }
  return numbered(builds)
}

/** Builds of many projects that come evenly, so many a minute, each running for a minute or two. */
export function planEvenly(
  seed: number,
  { perMinute, minutes, projects }: { perMinute: number; minutes: number; projects: number },
): PlannedBuild[] {
  const random = createRandom(seed)
  return numbered(
    Array.from({ length: perMinute * minutes }, () =>
      planned(random, random.between(1, projects), random.between(0, minutes * MINUTE_MS - 1), [1, 2]),
    ),
  )
}

const planNightly = (random: Random, n: number): PlannedBuild => ({
  ...planned(
    random,
    1 + (n % PROJECTS_PER_ORGANIZATION),
    NIGHTLY_HOUR * HOUR_MS + random.between(0, NIGHTLY_WITHIN_MS),
    [10, 30],
  ),
  branch: `release-${Math.floor(n / PROJECTS_PER_ORGANIZATION)}`,
})

function momentOfDay(random: Random): number {
  let left = random.next() * HOURS.reduce((sum, each) => sum + each)
  const hour = HOURS.findIndex((weight) => (left -= weight) < 0)
  return hour * HOUR_MS + random.between(0, HOUR_MS - 1)
}

function planned(
  random: Random,
  project: number,
  startsAt: number,
  [least, most]: readonly [number, number],
): PlannedBuild {
  const branch = random.chance(MAIN_SHARE) ? 'main' : `feature-${random.between(1, FEATURES)}`
  const endsAt = startsAt + random.between(least * MINUTE_MS, most * MINUTE_MS)
  return { project, build: 0, branch, startsAt, endsAt, isRed: random.chance(RED_SHARE) }
}

const numbered = (builds: readonly PlannedBuild[]): PlannedBuild[] =>
  builds.toSorted((a, b) => a.startsAt - b.startsAt).map((build, i) => ({ ...build, build: 1_000 + i }))
