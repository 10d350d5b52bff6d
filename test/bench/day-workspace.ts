import type { Subscription } from '../../src/domain/rules/subscription.ts'
import type { Clock } from '../../src/lib/clock.ts'
import type { Log } from '../../src/lib/log.ts'
import { recordAcknowledged } from '../support/acknowledged.ts'
import type { Reconciler } from '../../src/alerts/reconciler.ts'
import { readPayload } from '../../src/sources/ci-service/endpoint.ts'
import { openStage, type Stage } from '../alerts/stage.ts'
import { createRandom } from '../simulation/random.ts'
import { channelId } from '../support/build-events.ts'
import type { HandClock } from '../support/hand-clock.ts'
import type { PlannedBuild } from './day-builds.ts'
import { createDaySlack, type DaySlack, type SlackCalls } from './day-slack.ts'
import { deliveryBody, projectName } from './delivery.ts'
import { channelId as benchChannel } from './slack.ts'

export interface Workspace {
  builds: readonly PlannedBuild[]
  /** as many as there are projects; each follows one */
  channels: number
  events: readonly string[] | 'every'
  seed: number
  /** it ends then (ms after the beginning), whatever is left; left out: when nothing is left */
  untilMs?: number
}

/** What came of it. Times are of the simulated clock, but for those of the processor. */
export interface Played {
  /** each build that ended, and when Slack said so */
  told: readonly StepResult[]
  calls: SlackCalls
  /** calls answered 429 */
  limited: number
  /** cards that wait for an edit in the end */
  editsLeft: number
  /** warnings and errors in the log */
  complaints: readonly string[]
  /** processor time of the play itself (s) */
  cpuS: number
  /** simulated time for which the clock stood on nothing to do (s), and what a second of nothing to do costs (CPU ms) */
  restedS: number
  restMsPerS: number
  /** how much larger the database is */
  databaseBytes: number
}

export interface StepResult {
  build: PlannedBuild
  /** from the delivery of its end until a new message said it (ms), and until the card did; null: not yet */
  newsAfterMs: number | null
  cardAfterMs: number | null
}

/** Midnight. */
const STARTS_AT = Date.UTC(2026, 2, 2)
const SLICE_MS = 1_000
const REST_MEASURED_MS = 300_000
const STOP_MS = 5_000

/**
 * One workspace: its bot with its own database, the real domain, reconciler and store, between a simulated clock and a
 * Slack in memory that keeps its limits.
 */
export async function playWorkspace(wanted: Workspace): Promise<Played> {
  const subscriptions = followers(wanted)
  await using stage = await openStage({ subscriptions, startAt: STARTS_AT })
  const clock = createLeapingClock(stage.clock)
  const random = createRandom(wanted.seed)
  const slack = createDaySlack(clock, random)
  const complaints: string[] = []
  const { reconciler } = stage.embody({
    store: stage.store,
    clock,
    notifier: slack,
    random: random.next,
    log: complaining(complaints),
    count: () => {},
  })
  const before = databaseBytes(stage)
  const cpu = process.cpuUsage()
  stage.store.listen(reconciler.wake)
  void reconciler.start()
  await play(wanted, { stage, clock, slack })
  const cpuS = secondsOf(process.cpuUsage(cpu))
  const restedS = clock.leaptMs() / 1_000
  const editsLeft = (await stage.store.read.backlog(Date.now())).edit
  const bytes = databaseBytes(stage) - before
  const told = toldOf(wanted.builds, slack, clock.now() - STARTS_AT)
  const restMsPerS = wanted.untilMs === undefined ? await measureRest(stage) : 0
  await end(stage, reconciler)
  return {
    told,
    calls: slack.calls,
    limited: slack.limited(),
    editsLeft,
    complaints,
    cpuS,
    restedS,
    restMsPerS,
    databaseBytes: bytes,
  }
}

const followers = ({ channels, events }: Workspace): Subscription[] =>
  Array.from({ length: channels }, (_, i) => ({
    channel: channelId(benchChannel(i + 1)),
    follows: { what: 'project', name: projectName(i + 1) },
    rules: [{ branch: null, branchMatch: null, events }],
    quiet: false,
    mention: 'nobody',
    source: 'file',
  }))

interface Scene {
  stage: Stage
  clock: LeapingClock
  slack: DaySlack
}

async function play({ builds, untilMs = Infinity }: Workspace, scene: Scene): Promise<void> {
  const { stage, clock } = scene
  for (const { at, build, word } of deliveriesOf(builds)) {
    if (at > untilMs) break
    await runTo(scene, STARTS_AT + at)
    const body = deliveryBody(build, word)
    const reading = readPayload(Buffer.from(body))
    if (reading.kind === 'refusal') throw new Error(reading.reason)
    await recordAcknowledged({ store: stage.store, clock }, { event: reading.event, body })
  }
  if (untilMs === Infinity) while (!(await isAtRest(scene))) await stage.clock.advance(SLICE_MS)
  else await runTo(scene, STARTS_AT + untilMs)
}

const deliveriesOf = (builds: readonly PlannedBuild[]) =>
  builds
    .flatMap((build) => [
      { at: build.startsAt, build, word: 'initiated' },
      { at: build.endsAt, build, word: build.isRed ? 'error' : 'success' },
    ])
    .sort((a, b) => a.at - b.at)

/** Time in which nothing is left to do is leapt over: what a day of it costs is measured apart. */
async function runTo(scene: Scene, at: number): Promise<void> {
  const { clock, stage } = scene
  while (clock.now() < at)
    if (await isAtRest(scene)) clock.leapTo(at)
    else await stage.clock.advance(Math.min(SLICE_MS, at - clock.now()))
}

async function isAtRest({ stage, slack }: Scene): Promise<boolean> {
  await stage.clock.settle()
  if (slack.underWay() > 0) return false
  return Object.values(await stage.store.read.backlog(Date.now())).every((waiting) => waiting === 0)
}

interface LeapingClock extends Clock {
  leapTo(at: number): void
  leaptMs(): number
}

/** Whoever sleeps sleeps on as long as was left: only when nobody waits for anything may time be leapt over. */
function createLeapingClock(hand: HandClock): LeapingClock {
  let leapt = 0
  const now = () => hand.now() + leapt
  return {
    now,
    sleep: hand.sleep,
    leapTo: (at) => void (leapt += at - now()),
    leaptMs: () => leapt,
  }
}

function toldOf(builds: readonly PlannedBuild[], { newsEnds, cardEnds }: DaySlack, untilMs: number): StepResult[] {
  const after = (at: number | undefined, build: PlannedBuild) =>
    at === undefined ? null : at - STARTS_AT - build.endsAt
  return builds
    .filter(({ endsAt }) => endsAt <= untilMs)
    .map((build) => ({
      build,
      newsAfterMs: after(newsEnds.get(String(build.build)), build),
      cardAfterMs: after(cardEnds.get(String(build.build)), build),
    }))
}

async function measureRest({ clock }: Stage): Promise<number> {
  const cpu = process.cpuUsage()
  await clock.advance(REST_MEASURED_MS)
  return (secondsOf(process.cpuUsage(cpu)) * 1_000) / (REST_MEASURED_MS / 1_000)
}

async function end({ clock }: Stage, reconciler: Reconciler): Promise<void> {
  const stopped = reconciler.stop()
  await clock.advance(STOP_MS)
  await stopped
}

const secondsOf = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1_000_000

function databaseBytes({ sql }: Stage): number {
  const [row] = sql('select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()')
  return (row as { bytes: number }).bytes
}

function complaining(complaints: string[]): Log {
  const complain = (_: object, text: string) => void complaints.push(text)
  return { debug: () => {}, info: () => {}, warn: complain, error: complain }
}
