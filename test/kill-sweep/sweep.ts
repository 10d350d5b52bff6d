import { setTimeout as sleep } from 'node:timers/promises'
import { agrees, type Agreement } from '../../packages/demo/src/demo/agreement.ts'
import { howItEnded, type Bot } from '../../packages/demo/src/demo/bot.ts'
import type { Random } from '../simulation/random.ts'
import { createPeople, type People } from './people.ts'
import type { Point } from './points.ts'
import { openStage, FOLLOWED, CLICKED, type Stage } from './stage.ts'
import { compareAll } from './verdict.ts'

export interface SweepOptions {
  /** a `postgres://` address of an empty database; null: an SQLite file */
  databaseUrl: string | null
  points: readonly Point[]
  builds: number
  /** how many times as fast as real time the clocks of the bot, Slack and CI run */
  times: number
  random: Random
  /** aborted: no more processes are started, and the last one is killed */
  signal?: AbortSignal
  /** called after each kill */
  tell: (line: string) => void
}

export interface Swept extends Agreement {
  /** how many processes were killed at each kind of point */
  kills: Map<string, number>
  builds: number
  deliveries: number
  /** unanswered starts that were repeated after the end of their build */
  repeated: number
  clicks: number
  /** the folder with the log and the SQLite file; null: removed, since nothing was wrong */
  folder: string | null
}

/** If the point is not reached so soon after the endpoints have opened, the process is killed at rest. */
const POINT_MAX_MS = 6_000
const AT_REST = 'at rest: what was awaited did not come'

/** This part of the burst comes at once; the rest is spread over the processes, so that each has work. */
const AT_ONCE = 0.3
const EACH_MIN = 3

/** Plays one burst of builds, and kills and restarts a process at each point. @returns what happened */
export async function sweep(options: SweepOptions): Promise<Swept> {
  await using stage = await openStage(options.databaseUrl, options.times)
  const people = createPeople(stage)
  const { points } = options
  const feed = createFeed(stage, options)
  const kills = new Map<string, number>()
  const start = createStarter(stage, options.signal)
  try {
    await warmUp(start.next())
    feed(Math.ceil(options.builds * AT_ONCE))
    const each = Math.max(EACH_MIN, Math.ceil((options.builds * (1 - AT_ONCE)) / points.length))
    for (const [n, point] of points.entries()) {
      feed(each)
      for (const kind of await killAt(point, { stage, people, start })) kills.set(kind, (kills.get(kind) ?? 0) + 1)
      options.tell(`${n + 1} of ${points.length}: ${point.kind}`)
    }
    feed(options.builds)
    const last = start.next()
    await last.port
    const agreement = await compareAll(stage, people)
    const repeated = await stage.repeated()
    last.kill('SIGKILL')
    await last.ended
    const { deliveries, state } = stage.ci
    const ended = start.endings().map((end) => `a process ended by itself: ${end}`)
    const found = { ...agreement, wrong: [...ended, ...agreement.wrong] }
    if (!agrees(found)) stage.keep()
    return {
      ...found,
      folder: agrees(found) ? null : stage.folder,
      kills,
      builds: state().builds.length,
      deliveries: deliveries().length,
      repeated,
      clicks: people.clicks().length,
    }
  } finally {
    await start.end()
  }
}

/** Node writes its compile cache only when a process ends normally, so one process ends before the killing begins. */
async function warmUp(bot: Bot): Promise<void> {
  await bot.port
  bot.kill('SIGTERM')
  await bot.ended
}

/** Pushes so many more builds, up to the size of the burst, spread over the channels. */
function createFeed({ ci }: Stage, { builds, times, random }: SweepOptions): (count: number) => void {
  const channels = FOLLOWED.filter((one) => one !== CLICKED)
  let pushed = 0
  return (count) => {
    for (let n = 0; n < count && pushed < builds; n++, pushed++) {
      const { prefix } = channels[pushed % channels.length]!
      ci.push(random.pick(['acme/web', 'acme/api', 'acme/ios']), {
        branch: `${prefix}${pushed}`,
        message: `Commit ${pushed} of the burst`,
        committer: random.pick(['Ada', 'Grace', 'Lin']),
        outcome: random.pick(['success', 'success', 'error', 'infrastructure_failure', 'stopped']),
        ms: random.between(0, BUILD_MAX_MS) * times,
      })
    }
  }
}

/** Real time: builds end within the life of one or two processes. */
const BUILD_MAX_MS = 2_500

function createStarter(stage: Stage, signal?: AbortSignal) {
  const endings: string[] = []
  let newest: Bot | null = null
  let isAwaited = false
  const killNewest = () => newest?.kill('SIGKILL')
  // If the sweep itself is ended, no bot may be left behind.
  signal?.addEventListener('abort', killNewest)
  process.once('exit', killNewest)
  return {
    /** A new process. An exit before `kill` was called counts as an error. */
    next(): Bot {
      signal?.throwIfAborted()
      const bot = stage.start()
      bot.port.catch(() => {})
      isAwaited = false
      void bot.ended.then((end) => isAwaited || endings.push(howItEnded(end)))
      newest = bot
      return {
        ...bot,
        kill(how) {
          isAwaited = true
          bot.kill(how)
        },
      }
    },
    endings: () => endings,
    async end(): Promise<void> {
      isAwaited = true
      killNewest()
      process.off('exit', killNewest)
      await newest?.ended
    },
  }
}

interface Scene {
  stage: Stage
  people: People
  start: ReturnType<typeof createStarter>
}

/** Starts a process and kills it at this point. @returns the kind of each kill */
async function killAt(point: Point, scene: Scene): Promise<string[]> {
  if (point.at === 'start') {
    for (const part of point.parts) await killInStart(part, scene)
    return point.parts.map(() => point.kind)
  }
  const bot = scene.start.next()
  const isOver = new AbortController()
  const reached = reach(point, scene.stage, bot)
  if (point.press) void scene.people.keepPressing(point.press, isOver.signal)
  const kind = await Promise.race([
    reached.then(() => point.kind),
    bot.ended.then(() => point.kind),
    atRest(bot, isOver.signal),
  ])
  bot.kill('SIGKILL')
  isOver.abort()
  scene.stage.hear = () => 'pass'
  await bot.ended
  return [kind]
}

async function atRest(bot: Bot, signal: AbortSignal): Promise<string> {
  await bot.port.catch(() => {})
  // Only ends the promise; the result of an aborted wait is not used.
  return sleep(POINT_MAX_MS, AT_REST, { signal }).catch(() => AT_REST)
}

/** The maximum duration of a start that is killed in between. */
const START_MS = 500

async function killInStart(part: number, { start }: Scene): Promise<void> {
  const bot = start.next()
  await sleep(part * START_MS)
  bot.kill('SIGKILL')
  await bot.ended
}

/** Resolves when the point is reached; for a passage, the process is dead by then. */
async function reach(point: Exclude<Point, { at: 'start' }>, stage: Stage, bot: Bot): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (point.at === 'passage') {
    let seen = 0
    stage.hear = (gate, moment, { path }) => {
      if (gate !== point.gate || moment !== point.moment || !point.path.test(path) || ++seen !== point.nth)
        return 'pass'
      const kill = () => {
        bot.kill('SIGKILL')
        resolve()
      }
      if (point.afterMs > 0) setTimeout(kill, point.afterMs)
      else kill()
      return point.verdict
    }
    return promise
  }
  await bot.port.catch(() => {})
  if (point.at === 'any') await sleep(point.afterMs)
}
