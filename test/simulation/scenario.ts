import type { Subscription } from '../../src/domain/rules/subscription.ts'
import type { Configured } from '../../src/domain/cards/capabilities.ts'
import { BUILDS, follower, RELEASES } from '../alerts/stage.ts'
import { channelId, HOUR, MINUTE, SECOND } from '../support/build-events.ts'
import { sourceOf } from '../../src/domain/ids.ts'
import { buildsOf, WEB_PLACES, type Builds, type Delivery } from './builds.ts'
import { ECHO_MS } from './ci.ts'
import { HOSTED_PLACES, placed, streamName, type Gone, type Place } from './hosted.ts'
import { createRandom, type Random } from './random.ts'
import { CLOSED_CODES, REVOKED_CODES, type Closing, type Weather } from './weather.ts'

// Everything that happens in one simulated run. The seed decides all of it.

export interface Scenario {
  random: Random
  chapters: readonly Chapter[]
  weather: Weather
  /** the number of steps that a process lives */
  fuse: () => number
  /** how much later the next one starts */
  downMs: () => number
  /** processes that run at once on one store */
  processes: number
  /** the last of them is paused now and then */
  stalls: boolean
  configured: Configured
  /** the probability that a wake-up arrives */
  wakes: number
}

/** A stretch of time. Before the next one the bot is down for long. Times are in ms after the beginning. */
export interface Chapter {
  fromMs: number
  subscriptions: readonly Subscription[]
  builds: Builds
  /** when people delete a message, if there is one */
  losses: readonly number[]
  /** when some card becomes impossible to edit */
  frosts: readonly number[]
  /** when somebody clicks a button, and how often at once */
  presses: readonly { after: number; times: number }[]
  /** when somebody does something about a red branch */
  promises: readonly { after: number; times: number }[]
  /** the branches and requests that end, by the name of their stream: nothing is built there any more */
  gone: ReadonlyMap<string, Gone>
  /** after this time nothing more happens */
  calmAfterMs: number
  /** the bot has finished everything before this chapter ends */
  endsCalm: boolean
}

/** Longer than any retry delay: with a closed channel, and without. */
export const CALM_AFTER_CLOSURE_MS = 12 * MINUTE
export const CALM_MS = 3 * MINUTE

export const calmOf = ({ weather: { closed } }: Pick<Scenario, 'weather'>): number =>
  closed ? CALM_AFTER_CLOSURE_MS : CALM_MS

/** Older cards are removed, if the night is long enough. */
export const RETENTION_DAYS = 90

const QUIET = channelId('C0QUIET001')

const CHANNELS: readonly (() => Subscription)[] = [
  () => follower(BUILDS, { mention: 'committer' }),
  () => follower(RELEASES, { rules: [{ branch: null, branchMatch: null, events: ['failed', 'recovered'] }] }),
  () => follower(QUIET, { rules: null, quiet: true }),
  () => follower(RELEASES, { follows: { what: 'project', name: 'acme/web' } }),
  () => follower(BUILDS, { follows: { what: 'unfollowed' }, mention: 'committer' }),
]

/** A channel that follows acme/web, and the default channel. */
const DEFAULTED = CHANNELS.slice(-2)

export function createScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const trouble = random.pick([0, 0.03, 0.1, 0.3, 0.5])
  const crashes = random.pick([0, 60, 200, 600])
  const processes = random.pick([1, 1, 1, 2, 3])
  const configured = random.pick(CONFIGURED)
  const days = daysOf(random)
  const hasUuid = UUIDS[seed % UUIDS.length]!
  const closed = closingOf(random)
  const weather: Weather = {
    trouble,
    slowMs: random.pick([300, 300, 9 * SECOND]),
    lags: processes === 1 && random.chance(0.3),
    refusals: random.pick([0, 0, 0, 0.1]),
    closed,
    revoked: random.chance(0.1) ? { code: random.pick(REVOKED_CODES), ...windowOf(random) } : null,
  }
  return {
    random,
    chapters: chaptersOf(random, {
      days,
      hasUuid,
      configured,
      calmMs: calmOf({ weather }),
      hasDefault: isForGood(weather),
    }),
    weather,
    fuse: () => (crashes === 0 ? Number.POSITIVE_INFINITY : random.between(1, crashes)),
    downMs: () => random.pick([0, 0, random.between(0, 8 * SECOND)]),
    processes,
    stalls: processes > 1 && random.chance(0.5),
    configured,
    wakes: random.pick([0, 0.5, 1]),
  }
}

/** Some channels are never open again: then the default channel gets what they are subscribed to. */
function closingOf(random: Random): Closing | null {
  if (!random.chance(0.2)) return null
  const { fromMs, toMs } = windowOf(random)
  const isForGood = random.chance(0.5)
  const channel = isForGood ? RELEASES : random.pick([BUILDS, RELEASES])
  return { channel, code: random.pick(CLOSED_CODES), fromMs, toMs: isForGood ? Number.POSITIVE_INFINITY : toMs }
}

export const isForGood = ({ closed }: Pick<Weather, 'closed'>): boolean => closed?.toMs === Number.POSITIVE_INFINITY

const never = () => false

/** Most scenarios have integers as ids, some UUIDs, and in some CI changes back and forth. */
const UUIDS: readonly ((n: number) => boolean)[] = [() => true, (n) => n % 3 === 0, never, never, never]

const windowOf = (random: Random) => {
  const fromMs = random.between(0, MINUTE)
  return { fromMs, toMs: fromMs + random.between(SECOND, 2 * MINUTE) }
}

const CONFIGURED: readonly Configured[] = [
  { v2: false, legacy: false },
  { v2: true, legacy: true },
  { v2: true, legacy: true },
  { v2: true, legacy: true },
  { v2: true, legacy: false },
  { v2: false, legacy: true },
]

/** Most scenarios have one chapter. Others have a second one after a night, the card's rest, or retention. */
type Days = 'one' | 'night' | 'day' | 'season'

const daysOf = (random: Random): Days =>
  random.pick(['one', 'one', 'one', 'one', 'one', 'one', 'one', 'night', 'day', 'season'])

const GAPS_MS: Record<Exclude<Days, 'one'>, number> = { night: 4 * HOUR, day: 26 * HOUR, season: 100 * 24 * HOUR }

interface Course {
  days: Days
  hasUuid: (n: number) => boolean
  configured: Configured
  calmMs: number
  /** see `DEFAULTED` */
  hasDefault: boolean
}

function chaptersOf(random: Random, { days: wanted, hasUuid, configured, calmMs, hasDefault }: Course): Chapter[] {
  const days = hasDefault ? 'one' : wanted
  const subscriptions = hasDefault ? DEFAULTED.map((one) => one()) : followersOf(random)
  const first = chapterOf(random, {
    fromMs: 0,
    firstBuild: 501,
    hasUuid,
    subscriptions,
    configured,
    isAnew: false,
    isTelling: days === 'season',
    isLast: days === 'one',
  })
  if (days === 'one') return [first]
  const changes = random.chance(0.5)
  const endsCalm = changes || days === 'season' || random.chance(0.5)
  const fromMs = first.calmAfterMs + (endsCalm ? calmMs : 0) + GAPS_MS[days]
  const later = changes ? followersOf(random) : subscriptions
  // It must be clear which subscriptions apply to old builds: after a change, new builds are on another branch.
  const second = {
    fromMs,
    firstBuild: 701,
    hasUuid,
    subscriptions: later,
    configured,
    isAnew: changes,
    isTelling: days === 'season',
    isLast: true,
  }
  return [{ ...first, endsCalm }, chapterOf(random, second)]
}

function followersOf(random: Random): Subscription[] {
  const first = random.between(0, CHANNELS.length - 1)
  return [CHANNELS[first]!(), CHANNELS[(first + 1) % CHANNELS.length]!()]
}

interface ChapterWanted {
  fromMs: number
  firstBuild: number
  hasUuid: (n: number) => boolean
  subscriptions: readonly Subscription[]
  configured: Configured
  /** no earlier build continues */
  isAnew: boolean
  /** every delivery is complete, since earlier ones may have been removed */
  isTelling: boolean
  /** no other chapter follows */
  isLast: boolean
}

function chapterOf(
  random: Random,
  { fromMs, firstBuild, hasUuid, subscriptions, configured, ...how }: ChapterWanted,
): Chapter {
  const { isAnew, isTelling, isLast } = how
  // A channel that gets projects nobody follows must know their names from the first event.
  const isNameNeeded = subscriptions.some(({ follows }) => follows.what === 'unfollowed')
  const builds = buildsOf(random, {
    from: fromMs,
    firstBuild,
    hasUuid,
    places: isAnew ? newPlacesOf(random) : placesOf(random),
    commits: COMMITS.slice(0, random.between(1, COMMITS.length)),
    forgetful: isNameNeeded || isTelling ? 0 : random.pick([0, 0, 0.4]),
    lossy: random.pick([0, 0, 0.2]),
  })
  const isPressed = !isAnew && !(isTelling && fromMs > 0) && (configured.v2 || configured.legacy) && random.chance(0.6)
  const presses = isPressed ? pressesOf(random, fromMs) : []
  const ends = [...builds.truth, ...builds.deliveries].map(({ after }) => after)
  const lastAt = Math.max(fromMs, ...ends, ...presses.map(({ after }) => after + ECHO_MS))
  const calmAfterMs = lastAt + random.between(0, 90 * SECOND)
  const times = (most: number) =>
    random.chance(0.15) ? Array.from({ length: most }, () => random.between(fromMs, calmAfterMs)) : []
  const losses = times(2).toSorted((a, b) => a - b)
  const frosts = times(1)
  const promises = random.chance(0.7) ? pressesOf(random, fromMs) : []
  const gone = new Map(isLast && random.chance(0.5) ? goneIn(random, builds) : [])
  return { fromMs, subscriptions, builds, losses, frosts, presses, promises, gone, calmAfterMs, endsCalm: false }
}

/** Some streams end, each after everything about it was delivered. */
function goneIn(random: Random, { truth, deliveries }: Builds): (readonly [string, Gone])[] {
  const hosted = truth.flatMap(({ place }) => (place && sourceOf(place.project) !== 'ci' ? place : []))
  return [...new Set(hosted)].flatMap((place) => {
    const { branch } = placed(place)
    const isOwn = ({ said }: Delivery) => said.project === place.project && said.branch === branch
    const after =
      Math.max(...[...truth, ...deliveries].filter(isOwn).map((one) => one.after)) + random.between(0, MINUTE)
    const how = random.pick(['deleted', 'renamed', 'merged', 'closed'] as const)
    return random.chance(0.5) ? [[streamName(place.project, branch), { after, how }] as const] : []
  })
}

const COMMITS = ['1', '2', '3', '4', '5', '6', '7']

/** Besides acme/web: a project that CI does not list, a workflow of GitHub, and a project of GitLab. */
const OTHERS: readonly Place[] = [{ project: '42', branch: 'main', event: 'push' }, ...HOSTED_PLACES]

const placesOf = (random: Random): readonly Place[] =>
  random.pick([
    () => WEB_PLACES.slice(0, 1),
    () => [...WEB_PLACES, random.pick(OTHERS), random.pick(OTHERS)],
    () => hostedPlacesOf(random),
  ])()

/** Several streams of one branch or commit. */
function hostedPlacesOf(random: Random): readonly Place[] {
  const { project } = random.pick(HOSTED_PLACES)
  const own = HOSTED_PLACES.filter((place) => place.project === project)
  return [random.pick(own), random.pick(own), random.pick(own)]
}

const newPlacesOf = (random: Random): readonly Place[] => [
  { ...WEB_PLACES[0]!, branch: 'release/1' },
  { ...random.pick(OTHERS), branch: 'release/1' },
]

const pressesOf = (random: Random, fromMs: number) =>
  Array.from({ length: random.between(1, 6) }, () => ({
    after: fromMs + random.between(SECOND, 90 * SECOND),
    times: random.chance(0.3) ? 2 : 1,
  })).toSorted((a, b) => a.after - b.after)
