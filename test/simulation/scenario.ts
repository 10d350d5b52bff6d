import type { ChannelId } from '../../src/domain/ids.ts'
import type { Subscription } from '../../src/domain/subscription.ts'
import { BUILDS, follower, RELEASES } from '../reconcile/stage.ts'
import { channelId, MINUTE, SECOND, type Said } from '../support/facts.ts'
import {
  limited,
  SMOOTH,
  unclearButLands,
  UNCLEAR_LOST,
  UNSENT,
  type Call,
  type Fate,
} from '../support/fake-notifier.ts'
import type { Interfaces } from '../../src/store/history.ts'
import { BASIC, uuidOfBuild } from './people.ts'
import { createRandom, type Random } from './random.ts'

// What happens in one simulated run, all of it decided by the seed.

export interface Scenario {
  random: Random
  subscriptions: readonly Subscription[]
  /** what CI delivers, and when (ms after the beginning) */
  deliveries: readonly { after: number; said: Said }[]
  fateOf: (call: Call) => Partial<Fate>
  /** a process lives for so many steps */
  fuse: () => number
  /** and the next one begins so much later */
  downMs: () => number
  /** processes at work at once, on one store */
  processes: number
  closed: { channel: ChannelId; fromMs: number; toMs: number } | null
  /** when people delete a card, if there is one */
  losses: readonly number[]
  /** when somebody presses a button, and how often at once */
  presses: readonly { after: number; times: number }[]
  interfaces: Interfaces
  /** the probability that a wake arrives */
  wakes: number
  /** from then on nothing goes wrong any more */
  calmAfterMs: number
}

const QUIET = channelId('C0QUIET001')

const CHANNELS: readonly (() => Subscription)[] = [
  () => follower(BUILDS, { mention: 'committer' }),
  () => follower(RELEASES, { rules: [{ branch: null, branchMatch: null, events: ['failed', 'recovered'] }] }),
  () => follower(QUIET, { rules: null, quiet: true }),
  () => follower(RELEASES, { follows: { what: 'project', name: 'acme/web' } }),
  () => follower(BUILDS, { follows: { what: 'unfollowed' }, mention: 'committer' }),
]

/** A call that takes effect does so by then, whatever its caller was told. */
const LANDS_BY_MS = 12 * SECOND
const LISTED_BY_MS = 4 * SECOND

export function createScenario(seed: number): Scenario {
  const random = createRandom(seed)
  const trouble = random.pick([0, 0.03, 0.1, 0.3, 0.5])
  const crashes = random.pick([0, 60, 200, 600])
  const first = random.between(0, CHANNELS.length - 1)
  const subscriptions = [CHANNELS[first]!(), CHANNELS[(first + 1) % CHANNELS.length]!()]
  // Who follows a project that nobody else follows must know its name at once.
  const isNameNeeded = subscriptions.some(({ follows }) => follows.what === 'unfollowed')
  const deliveries = toDeliveries(random, isNameNeeded ? 0 : random.pick([0, 0, 0.4]))
  const presses = random.chance(0.5) ? [] : toPresses(random)
  const lastAt = Math.max(...deliveries.map(({ after }) => after), ...presses.map(({ after }) => after + ECHO_MS))
  const calmAfterMs = lastAt + random.between(0, 90 * SECOND)
  const closed = { channel: random.pick([BUILDS, RELEASES]), fromMs: random.between(0, MINUTE), toMs: calmAfterMs }
  return {
    random,
    subscriptions,
    deliveries,
    fateOf: (call) => fateOf(random, trouble, call),
    fuse: () => (crashes === 0 ? Number.POSITIVE_INFINITY : random.between(1, crashes)),
    downMs: () => random.pick([0, 0, random.between(0, 8 * SECOND)]),
    processes: random.chance(0.2) ? 2 : 1,
    closed: random.chance(0.15) ? closed : null,
    losses: random.chance(0.15) ? [random.between(0, calmAfterMs), random.between(0, calmAfterMs)] : [],
    presses,
    interfaces: presses.length > 0 ? { v2: true, legacy: true } : random.pick(INTERFACES),
    wakes: random.pick([0, 0.5, 1]),
    calmAfterMs,
  }
}

/** What a press brings about is delivered by then. */
const ECHO_MS = 45 * SECOND

const INTERFACES: readonly Interfaces[] = [
  { v2: false, legacy: false },
  { v2: true, legacy: true },
  { v2: true, legacy: false },
  { v2: false, legacy: true },
]

const toPresses = (random: Random) =>
  Array.from({ length: random.between(1, 6) }, () => ({
    after: random.between(SECOND, 90 * SECOND),
    times: random.chance(0.3) ? 2 : 1,
  })).toSorted((a, b) => a.after - b.after)

function toDeliveries(random: Random, forgetful: number): { after: number; said: Said }[] {
  const spreadMs = random.pick([0, 2 * SECOND, 20 * SECOND])
  const lateMs = random.pick([0, 0, 3 * SECOND, 15 * SECOND, MINUTE])
  const repeats = random.pick([0, 0.2, 0.6])
  const places = random.pick(PLACES)
  const builds = random.between(1, 7)
  const commits = random.between(1, builds)
  const deliveries: { after: number; said: Said }[] = []
  for (let build = 1; build <= builds; build++) {
    const commit = String(random.between(1, commits)).repeat(40)
    const [project, branch] = random.pick(places)
    let after = random.between(0, 30 * SECOND)
    for (const word of wordsOf(random)) {
      const details = random.chance(forgetful) ? {} : detailsOf(project, String(500 + build))
      const said: Said = { word, build: String(500 + build), project, branch, commit, details }
      deliveries.push({ after: after + random.between(0, lateMs), said })
      while (random.chance(repeats)) deliveries.push({ after: after + random.between(0, 4 * lateMs), said })
      after += random.between(0, spreadMs)
    }
  }
  return deliveries.toSorted((a, b) => a.after - b.after)
}

const PLACES: readonly (readonly (readonly [project: string, branch: string])[])[] = [
  [['41', 'main']],
  [
    ['41', 'main'],
    ['41', 'fix/login'],
    ['42', 'main'],
  ],
]

const detailsOf = (project: string, build: string) => ({
  projectUuid: project === '41' ? BASIC.uuid : null,
  buildUuid: uuidOfBuild(build),
  projectName: project === '41' ? 'acme/web' : 'acme/api',
  committer: project === '41' ? 'Ada' : 'Grace',
  message: 'fix login',
})

const wordsOf = (random: Random): string[] => [
  ...runOf(random),
  ...(random.chance(0.3) ? runOf(random) : []),
  ...(random.chance(0.1) ? runOf(random) : []),
]

const runOf = (random: Random): string[] => [
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

function fateOf(random: Random, trouble: number, { name }: Call): Partial<Fate> {
  const smooth = { ...SMOOTH, landsAfterMs: random.between(1, 300), listedAfterMs: random.between(0, LISTED_BY_MS) }
  if (!random.chance(trouble)) return smooth
  const answersAfterMs = random.pick([random.between(1, 500), 10 * SECOND])
  const failures: Partial<Fate>[] = [
    { ...limited(random.between(1, 5) * SECOND), answersAfterMs },
    { ...UNSENT, answersAfterMs },
    { ...UNCLEAR_LOST, answersAfterMs },
    { ...unclearButLands(random.between(1, 500)), answersAfterMs },
    { ...unclearButLands(random.between(0, LANDS_BY_MS)), answersAfterMs },
  ]
  return { ...smooth, ...random.pick(name === 'ping' ? failures.slice(0, 3) : failures) }
}
