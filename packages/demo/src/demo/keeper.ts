import type { Clock } from '../../../../src/lib/clock.ts'
import { howItEnded, type Bot, type Ended } from './bot.ts'

/** After this many crashes within the window, the bot is not restarted. */
export const DEATHS_MAX = 5
export const DEATHS_WINDOW_MS = 60_000

/** A bot that is restarted when its process dies, with the same port and database. */
export interface KeptBot {
  /** the same for each of its processes */
  readonly port: number
  /** of the newest process */
  readonly pid: number | undefined
  /** `unplugged`: stays down until it is plugged in · `gone`: gave up, or was stopped */
  readonly state: 'running' | 'starting' | 'unplugged' | 'gone'
  /** how many processes there have been */
  readonly starts: number
  /** Pulls the plug: SIGKILL, and it stays down. */
  pull(): void
  /** Starts it again after that, at the same port. */
  plugIn(): void
  /** Resolves, in words, when it has died too often and stays down. */
  readonly givenUp: Promise<string>
  /** SIGTERM, for good; its exit code, null when a signal ended it, 0 where it was unplugged. Idempotent. */
  stop(): Promise<number | null>
}

export interface KeeperParts {
  /** starts one process; port 0 takes any free one */
  start: (port: number) => Bot
  clock: Clock
  /** hears of each death, in one line */
  tell: (line: string) => void
}

/** Starts a bot, and starts it again whenever it ends unasked. Rejects when it does not start the first time. */
export async function keepBot({ start, clock, tell }: KeeperParts): Promise<KeptBot> {
  const givenUp = Promise.withResolvers<string>()
  const deaths: number[] = []
  let [isStopping, isIn, isAlive, isOpen, starts] = [false, true, false, false, 0]
  let bot = begin(0)
  const port = await bot.port
  void bot.ended.then(succeed)

  function begin(at: number): Bot {
    const begun = start(at)
    starts += 1
    isAlive = true
    isOpen = false
    // If it dies first, `ended` reports that.
    begun.port.then(
      () => (isOpen = isAlive && begun === bot),
      () => {},
    )
    return begun
  }

  function succeed(end: Ended): void {
    isAlive = isOpen = false
    if (isStopping || !isIn) return
    deaths.push(clock.now())
    if (isTooOften(deaths)) {
      isStopping = true
      givenUp.resolve(`The bot ended ${DEATHS_MAX} times within a minute, the last time by ${howItEnded(end)}.`)
      return
    }
    const { pid } = bot
    startAgain()
    tell(`The bot (pid ${pid}) was ended by ${howItEnded(end)}; it is started again as pid ${bot.pid}.`)
  }

  function startAgain(): void {
    bot = begin(port)
    void bot.ended.then(succeed)
  }

  function pull(): void {
    if (isStopping || !isIn) return
    isIn = false
    bot.kill('SIGKILL')
    tell(`The plug was pulled: the bot (pid ${bot.pid}) is down until it is started again.`)
  }

  function plugIn(): void {
    if (isStopping || isIn) return
    isIn = true
    // Its end is not known yet; `succeed` will start it.
    if (isAlive) return
    startAgain()
    tell(`The bot is started again as pid ${bot.pid}.`)
  }

  async function stop(): Promise<number | null> {
    isStopping = true
    bot.kill('SIGTERM')
    const { code } = await bot.ended
    return isIn ? code : 0
  }

  const state = () => {
    if (isStopping) return 'gone'
    if (!isIn) return 'unplugged'
    return isOpen ? 'running' : 'starting'
  }

  return {
    port,
    get pid() {
      return bot.pid
    },
    get state() {
      return state()
    },
    get starts() {
      return starts
    },
    pull,
    plugIn,
    givenUp: givenUp.promise,
    stop,
  }
}

/** Whether the last of these deaths (ms) is the one too many. */
export function isTooOften(deaths: readonly number[]): boolean {
  const first = deaths.at(-DEATHS_MAX)
  return first !== undefined && deaths.at(-1)! - first < DEATHS_WINDOW_MS
}
