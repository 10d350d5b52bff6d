import type { Clock } from '../../lib/clock.ts'
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
  /** Pulls the plug: SIGKILL. It is started again by itself. */
  kill(): void
  /** Pulls the plug, and resolves when the doors are open again. */
  restart(): Promise<void>
  /** Resolves, in words, when it has died too often and stays away. */
  readonly givenUp: Promise<string>
  /** SIGTERM, for good; its exit code, null when a signal ended it. Idempotent. */
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
  let isStopping = false
  let bot = start(0)
  const port = await bot.port
  let next = successor()

  function successor(): Promise<Bot | null> {
    // That a successor dies before its doors are open is told by its end.
    bot.port.catch(() => {})
    return bot.ended.then(succeed)
  }

  function succeed(end: Ended): Bot | null {
    if (isStopping) return null
    deaths.push(clock.now())
    if (isTooOften(deaths)) {
      givenUp.resolve(`The bot ended ${DEATHS_MAX} times within a minute, the last time by ${howItEnded(end)}.`)
      return null
    }
    const { pid } = bot
    bot = start(port)
    next = successor()
    tell(`The bot (pid ${pid}) was ended by ${howItEnded(end)}; it is started again as pid ${bot.pid}.`)
    return bot
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
    return (await bot.ended).code
  }

  return {
    port,
    get pid() {
      return bot.pid
    },
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
