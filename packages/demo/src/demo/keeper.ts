import type { Clock } from '../../../../src/lib/clock.ts'
import { howItEnded, type Bot, type Ended } from './bot.ts'

/** A bot that dies so often in so short a time is not started any more: starting again will not help. */
export const DEATHS_MAX = 5
export const DEATHS_WINDOW_MS = 60_000

/** A bot that comes back: whoever kills it finds it again at the same port, over the same database. */
export interface KeptBot {
  /** the same for each of its processes */
  readonly port: number
  /** of the newest process */
  readonly pid: number | undefined
  /** SIGKILL. It is started again by itself. */
  kill(): void
  /** `unplugged`: stays away until it is plugged in · `gone`: has been given up, or stopped */
  readonly state: 'running' | 'starting' | 'unplugged' | 'gone'
  /** how many processes there have been */
  readonly starts: number
  /** Pulls the plug: SIGKILL, and it stays away. */
  pull(): void
  /** Starts it again after that, at the same port. */
  plugIn(): void
  /** Kills it, and resolves when the endpoints are open again. */
  restart(): Promise<void>
  /** Resolves, in words, when it has died too often and stays away. */
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
  let next = successor()

  function begin(at: number): Bot {
    const begun = start(at)
    starts += 1
    isAlive = true
    isOpen = false
    // That one dies before its endpoints are open is told by its end.
    begun.port.then(
      () => (isOpen = isAlive && begun === bot),
      () => {},
    )
    return begun
  }

  function successor(): Promise<Bot | null> {
    return bot.ended.then(succeed)
  }

  function succeed(end: Ended): Bot | null {
    isAlive = isOpen = false
    if (isStopping || !isIn) return null
    deaths.push(clock.now())
    if (isTooOften(deaths)) {
      isStopping = true
      givenUp.resolve(`The bot ended ${DEATHS_MAX} times within a minute, the last time by ${howItEnded(end)}.`)
      return null
    }
    const { pid } = bot
    startAgain()
    tell(`The bot (pid ${pid}) was ended by ${howItEnded(end)}; it is started again as pid ${bot.pid}.`)
    return bot
  }

  function startAgain(): void {
    bot = begin(port)
    next = successor()
  }

  function pull(): void {
    if (isStopping || !isIn) return
    isIn = false
    bot.kill('SIGKILL')
    tell(`The plug was pulled: the bot (pid ${bot.pid}) is away until it is started again.`)
  }

  function plugIn(): void {
    if (isStopping || isIn) return
    isIn = true
    // Where its end has not been heard of yet, that starts it.
    if (isAlive) return
    startAgain()
    tell(`The bot is started again as pid ${bot.pid}.`)
  }

  async function restart(): Promise<void> {
    const coming = next
    bot.kill('SIGKILL')
    await (
      await coming
    )?.port
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
    kill: () => bot.kill('SIGKILL'),
    restart,
    givenUp: givenUp.promise,
    stop,
  }
}

/** Whether the last of these deaths (ms) is the one too many. */
export function isTooOften(deaths: readonly number[]): boolean {
  const first = deaths.at(-DEATHS_MAX)
  return first !== undefined && deaths.at(-1)! - first < DEATHS_WINDOW_MS
}
