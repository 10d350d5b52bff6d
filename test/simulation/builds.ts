import { isUuid, sourceOf, toUuid, type SourceName, type Uuid } from '../../src/domain/ids.ts'
import { MINUTE, SECOND, T0, type Said } from '../support/build-events.ts'
import { jobsOf, placed, type JobsSay, type Place } from './hosted.ts'
import type { Random } from './random.ts'

// What CI builds, and what it delivers about that: shuffled, late, repeated, and sometimes not at all.

/** What CI says about a build, and when (ms after the beginning). */
export interface Delivery {
  after: number
  said: Said
  /** where the build ran, in its source's words */
  place?: Place
  /** of an end: what the source says of its jobs when it is asked */
  jobs?: JobsSay
}

export interface Builds {
  deliveries: readonly Delivery[]
  /** what really happened to the builds, in order: CI knows it, delivered or not */
  truth: readonly Delivery[]
}

export interface BuildsWanted {
  from: number
  firstBuild: number
  /** which builds have a UUID as their id */
  hasUuid: (n: number) => boolean
  places: readonly Place[]
  /** the digits that name commits: with the same digits, revisions of an earlier chapter continue */
  commits: readonly string[]
  /** the probability that a delivery leaves out everything optional */
  forgetful: number
  /** the probability that a delivery is lost */
  lossy: number
}

export const WEB_PLACES: readonly Place[] = [
  { project: '41', branch: 'main', event: 'push' },
  { project: '41', branch: 'fix/login', event: 'push' },
]

/** In every simulation acme/web is Basic, and both interfaces know it. acme/api is not listed at all. */
export const BASIC = {
  uuid: toUuid('41000000-0000-0000-0000-000000000000'),
  name: 'acme/web',
  legacyId: '41',
  type: 'basic',
  rules: null,
}

export const uuidOfBuild = (build: string): Uuid =>
  toUuid(isUuid(build) ? build : `00000000-0000-0000-0000-${build.padStart(12, '0')}`)

/** The number of a build. CI numbers its builds even if it uses UUIDs. */
export const numberOf = (build: string): number => Number(build.split('-').at(-1))

/** A UUID from which the order of builds cannot be seen. No two begin alike. */
const scrambled = (n: number): string =>
  uuidOfBuild(String(n)).replace(/^0{8}/, (Math.imul(n, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0'))

export function buildsOf(random: Random, wanted: BuildsWanted): Builds {
  const { from, firstBuild, hasUuid, places, commits, forgetful, lossy } = wanted
  const spreadMs = random.pick([0, 2 * SECOND, 20 * SECOND])
  const lateMs = random.pick([0, 0, 3 * SECOND, 15 * SECOND, MINUTE])
  const repeats = random.pick([0, 0.2, 0.6])
  const deliveries: Delivery[] = []
  const truth: Delivery[] = []
  const builds = random.between(1, 7)
  for (let n = 0; n < builds; n++) {
    const number = firstBuild + n
    const place = random.pick(places)
    const { project } = place
    const build = sourceOf(project) === 'ci' && hasUuid(number) ? scrambled(number) : String(number)
    const { branch, sharesCard } = placed(place)
    const sha = random.pick(commits).repeat(40)
    const commit = sharesCard ? sha : null
    let after = from + random.between(0, 30 * SECOND)
    const named = namedBy(sourceOf(project))
    for (const word of sourceOf(project) === 'ci' ? wordsOf(random) : hostedWordsOf(random)) {
      const known = random.chance(forgetful) ? namesOf(build) : detailsOf(project, build)
      const said: Said = { word, build, project, branch, commit, details: { ...known, ...named(word, after) } }
      const jobs = sourceOf(project) !== 'ci' && ENDS.has(word) ? jobsOf(random, word) : undefined
      truth.push({ after, said, place, ...(jobs && { jobs }) })
      if (!random.chance(lossy)) deliveries.push({ after: after + random.between(0, lateMs), said })
      while (random.chance(repeats)) deliveries.push({ after: after + random.between(0, 4 * lateMs), said })
      after += random.between(0, spreadMs)
    }
  }
  return { deliveries: inOrder(deliveries), truth: inOrder(truth) }
}

export const inOrder = (deliveries: readonly Delivery[]): Delivery[] => deliveries.toSorted((a, b) => a.after - b.after)

export const detailsOf = (project: string, build: string): NonNullable<Said['details']> => ({
  projectUuid: project === BASIC.legacyId ? BASIC.uuid : null,
  buildUuid: uuidOfBuild(build),
  projectName: project === BASIC.legacyId ? 'acme/web' : 'acme/api',
  committer: project === BASIC.legacyId ? 'Ada' : 'Grace',
  message: 'fix login',
})

/** How the source of a project distinguishes attempts: what it adds to each word about a build. */
function namedBy(source: SourceName): (word: string, after: number) => NonNullable<Said['details']> {
  let attempt = 1
  let lastEndAt = 0
  return (word, after) => {
    if (source === 'ci') return {}
    const named = { attempt, endedAt: lastEndAt }
    if (!ENDS.has(word)) return source === 'github' ? { attempt: named.attempt } : { lastEndAt: named.endedAt }
    attempt++
    // Whole seconds, and never two ends in the same one.
    lastEndAt = Math.max(Math.floor((T0 + after) / SECOND) * SECOND, lastEndAt + SECOND)
    return source === 'github' ? { attempt: named.attempt } : { lastEndAt }
  }
}

const HOSTED_ENDS = ['success', 'success', 'error', 'error', 'stopped', 'infrastructure_failure']
const ENDS = new Set(HOSTED_ENDS)

/** What GitHub and GitLab say about a build: each attempt that is followed by another has an end. */
function hostedWordsOf(random: Random): string[] {
  const attempts = random.pick([1, 1, 1, 2, 2, 3])
  const words: string[] = []
  for (let attempt = 1; attempt <= attempts; attempt++) {
    if (random.chance(0.5)) words.push('queued')
    if (random.chance(0.9)) words.push('initiated')
    if (random.chance(0.15)) words.push('waiting', 'initiated')
    if (attempt < attempts || random.chance(0.9)) words.push(random.pick(HOSTED_ENDS))
  }
  return words
}

// An id that is a UUID is never left out.
const namesOf = (build: string): NonNullable<Said['details']> =>
  isUuid(build) ? { buildUuid: uuidOfBuild(build) } : {}

const wordsOf = (random: Random): string[] => [
  ...attemptOf(random),
  ...(random.chance(0.3) ? attemptOf(random) : []),
  ...(random.chance(0.1) ? attemptOf(random) : []),
]

const attemptOf = (random: Random): string[] => [
  ...(random.chance(0.9) ? ['initiated'] : []),
  ...(random.chance(0.15) ? ['waiting', 'initiated'] : []),
  ...(random.chance(0.05) ? ['paused'] : []),
  ...(random.chance(0.95) ? [random.pick(FINALS)] : []),
]

const FINALS = [
  'success',
  'success',
  'error',
  'error',
  'error',
  'stopped',
  'ignored',
  'blocked',
  'infrastructure_failure',
]
