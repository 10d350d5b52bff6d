import type { MessageTs } from '../../src/domain/ids.ts'
import { LANDING_MAX_MS } from '../../src/domain/cards/plan.ts'
import { CHECKED_FOR_MS, endGoneBranches } from '../../src/projects/streaks.ts'
import { isOpen } from '../../src/domain/cards/request.ts'
import { openStage, type Stage } from '../alerts/stage.ts'
import { SECOND, T0 } from '../support/build-events.ts'
import type { Shown } from '../support/fake-notifier.ts'
import { BASIC, inOrder, type Delivery } from './builds.ts'
import { HOSTED } from './hosted.ts'
import { openCi, type Ci } from './ci.ts'
import { ADA, judge } from './judge.ts'
import { createMemory, type Memory } from './memory.ts'
import { branchEndsDeps, keepUp, lookAfter, press, type Hands } from './people.ts'
import { promise } from './promises.ts'
import { createProcesses, type Processes } from './processes.ts'
import { reminded, remindBy } from './reminders.ts'
import { calmOf, createScenario, isForGood, type Chapter, type Scenario } from './scenario.ts'
import { traceOf } from './trace.ts'
import { createFate, openOrClose } from './weather.ts'

/** How often dead processes are replaced and deliveries made. */
const SLICE_MS = 250
const SILENCE_MS = LANDING_MAX_MS + 10 * SECOND

/** How often a process looks up requests. */
const LOOK_EVERY_MS = 10 * SECOND

/** Everything in one run. */
export interface World {
  scenario: Scenario
  stage: Stage
  ci: Ci
  processes: Processes
  memory: Memory
  /** messages that people deleted */
  lost: Shown[]
  /** messages that can no longer be edited */
  frozen: Set<MessageTs>
  /** messages that were being sent when the last process took over */
  cutOff: Set<string>
  deliveries: Delivery[]
  /** the last build event of each chapter */
  chapterEnds: number[]
}

export interface Played {
  /** everything that is wrong in the end; empty: Slack agrees with the build events */
  wrongs: string[]
  /** all calls, log lines and messages as one short text, which is the same for the same seed */
  trace: string
  /** processes that died before the end */
  deaths: number
}

/** Plays one seed to its end. */
export async function simulate(seed: number): Promise<Played> {
  return play(createScenario(seed))
}

export async function play(scenario: Scenario): Promise<Played> {
  const { random, chapters, processes } = scenario
  const subscriptions = reminded(chapters[0]!.subscriptions)
  await using stage = await openStage({ subscriptions, random: random.next, shared: processes > 1 })
  await stage.store.write((tx) => tx.claimHandle('Ada', ADA, T0))
  for (const project of [BASIC, ...HOSTED]) await stage.store.write((tx) => tx.saveProject({ ...project, readAt: T0 }))
  const world = createWorld(stage, scenario)
  for (const chapter of chapters) {
    await playChapter(world, chapter)
    if (chapter !== chapters.at(-1)) await passNight(world, chapter, chapters[chapters.indexOf(chapter) + 1]!)
  }
  const last = await comeToRest(world)
  const calls = stage.slack.calls.length
  await stage.clock.advance(SILENCE_MS)
  const restless = stage.slack.calls.length - calls
  last.process.kill()
  await remember(world)
  // A closed channel is tried again now and then.
  const wrongs =
    restless === 0 || isForGood(scenario.weather) ? [] : [`${restless} calls are still made when all is said`]
  return { wrongs: [...wrongs, ...judge(world)], trace: traceOf(stage), deaths: world.processes.deaths() }
}

function createWorld(stage: Stage, scenario: Scenario): World {
  const { random, weather, chapters } = scenario
  const deliveries: Delivery[] = []
  const bringOut = (delivery: Delivery) => {
    deliveries.push(delivery)
    deliveries.splice(0, deliveries.length, ...inOrder(deliveries))
  }
  const gone = new Map(chapters.flatMap((chapter) => [...chapter.gone]))
  const ci = openCi({ clock: stage.clock, random, gone, deliver: bringOut })
  for (const { builds } of chapters) {
    ci.happen(builds.truth)
    builds.deliveries.forEach(bringOut)
  }
  const frozen = new Set<MessageTs>()
  stage.slack.fate(createFate(random, weather, { frozen, since: () => since(stage) }))
  const processes = createProcesses(stage, scenario, ci)
  const memory = createMemory(stage)
  return { scenario, stage, ci, processes, memory, lost: [], frozen, cutOff: new Set(), deliveries, chapterEnds: [] }
}

const since = ({ clock }: Stage): number => clock.now() - T0

async function playChapter(world: World, chapter: Chapter): Promise<void> {
  const { stage, processes, scenario } = world
  const { losses, frosts, presses, promises } = chapter
  const due = { losses: [...losses], frosts: [...frosts], presses: [...presses], promises: [...promises] }
  stage.subscriptions.splice(0, stage.subscriptions.length, ...reminded(chapter.subscriptions))
  let lookedAt = Number.NEGATIVE_INFINITY
  let isKeptUp = false
  for (let after = since(stage); after <= chapter.calmAfterMs; after = since(stage)) {
    await processes.keepAlive(after)
    if (!isKeptUp) for (const hands of processes.living()) void keepUp(hands).catch(NOTHING)
    isKeptUp = true
    await deliver(world, after)
    while (isDue(due.losses, after)) loseOne(world)
    while (isDue(due.frosts, after)) freezeOne(world)
    while (due.presses[0] && due.presses[0].after <= after) await pressOne(world, press, due.presses.shift()!.times)
    while (due.promises[0] && due.promises[0].after <= after)
      await pressOne(world, promise, due.promises.shift()!.times)
    if (after >= lookedAt + LOOK_EVERY_MS) {
      for (const hands of processes.living()) {
        void lookAfter(hands).catch(NOTHING)
        void remindBy(hands).catch(NOTHING)
      }
      lookedAt = after
    }
    openOrClose(stage.slack, scenario.weather.closed, after)
    await stage.clock.advance(SLICE_MS)
  }
}

// Only the final state matters.
const NOTHING = () => {}

const isDue = (times: number[], after: number): boolean => {
  if (times[0] === undefined || times[0] > after) return false
  times.shift()
  return true
}

async function deliver({ stage, scenario, processes, deliveries }: World, after: number): Promise<void> {
  while (deliveries[0] && deliveries[0].after <= after) {
    await stage.hear(deliveries.shift()!.said)
    for (const { process } of processes.living())
      if (scenario.random.chance(scenario.wakes)) process.reconciler.wake('ingest')
  }
}

function loseOne({ stage: { slack }, scenario: { random }, lost }: World): void {
  if (slack.messages.length === 0) return
  const cards = slack.messages.filter(({ thread }) => thread === null)
  const message = random.pick(random.chance(0.7) && cards.length > 0 ? cards : slack.messages)
  slack.lose(message.ts)
  lost.push(message)
}

function freezeOne({ stage: { slack }, scenario: { random }, frozen }: World): void {
  const cards = slack.messages.filter(({ view }) => view.kind === 'card')
  if (cards.length > 0) frozen.add(random.pick(cards).ts)
}

async function pressOne(
  { stage, scenario: { random }, processes }: World,
  one: typeof press,
  times: number,
): Promise<void> {
  // At a time of its own: for two events in the same millisecond, no judge could tell their order.
  await stage.clock.advance(1)
  const living = processes.living()
  if (living.length > 0) one(stage, random, random.pick(living), times)
  await stage.clock.advance(1)
}

/** The bot is down for long, after it has finished everything or in the middle of its work. */
async function passNight(world: World, { endsCalm }: Chapter, next: Chapter): Promise<void> {
  const { stage, processes, memory, chapterEnds } = world
  if (endsCalm) {
    const last = await comeToRest(world)
    last.process.kill()
    const { random, weather } = world.scenario
    stage.slack.fate(createFate(random, weather, { frozen: world.frozen, since: () => since(stage) }))
  } else await processes.kill()
  await remember(world)
  chapterEnds.push(memory.lastSeq())
  await stage.clock.advance(next.fromMs - since(stage))
}

// What dead processes had begun is written by now, or never.
async function remember({ stage, memory }: World): Promise<void> {
  await stage.clock.settle()
  await memory.remember()
}

/** No more faults and no more events: one process finishes whatever is left. */
async function comeToRest(world: World): Promise<Hands> {
  const { stage, scenario, processes, ci, frozen, cutOff } = world
  const { closed } = scenario.weather
  if (closed && !isForGood(scenario.weather)) stage.slack.open(closed.channel)
  const calm = { trouble: 0, slowMs: 0, lags: false, refusals: 0, closed: null, revoked: null }
  stage.slack.fate(createFate(scenario.random, calm, { frozen, since: () => since(stage) }))
  ci.recover()
  for (const key of underWay(stage)) cutOff.add(key)
  const last = await processes.lastOne()
  await keepUpInTime(stage, last)
  await untilAtRest(world, last)
  await askOfBranches(world, last)
  return last
}

async function untilAtRest(world: World, last: Hands): Promise<void> {
  const { clock } = world.stage
  const calmUntil = clock.now() + calmOf(world.scenario)
  do {
    void lookAfter(last)
    await clock.advance(LOOK_EVERY_MS)
  } while (clock.now() < calmUntil && !(await isAtRest(world)))
}

/** Somebody asks what is red, longer after the last question than an answer is remembered. */
async function askOfBranches(world: World, last: Hands): Promise<void> {
  const { stage, scenario } = world
  if (scenario.chapters.at(-1)!.gone.size === 0) return
  await stage.clock.advance(CHECKED_FOR_MS + SECOND)
  const open = await stage.store.read.openStreaks({ except: [] }, 100)
  void endGoneBranches(branchEndsDeps(last), open)
  await untilAtRest(world, last)
}

const underWay = ({ sql }: Stage): string[] =>
  (sql("select key from message where state = 'claimed' or sending is not null") as { key: string }[]).map(
    ({ key }) => key,
  )

/** According to the bot's own database. Slack shows whether that is true. */
async function isAtRest({ stage: { store }, memory }: World): Promise<boolean> {
  const left = Object.values(await store.read.backlog(Number.MAX_SAFE_INTEGER))
  if (left.some((waiting) => waiting > 0)) return false
  if ((await store.read.unreadEnds(Number.MAX_SAFE_INTEGER, 1)).length > 0) return false
  await memory.remember()
  return !memory.requests().some(isOpen)
}

async function keepUpInTime({ clock }: Stage, last: Hands): Promise<void> {
  const done = new AbortController()
  void keepUp(last).finally(() => done.abort())
  while (!done.signal.aborted) await clock.advance(SECOND)
}
