import { spawn, type ChildProcess } from 'node:child_process'
import { createWriteStream, mkdirSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { dirname, join } from 'node:path'

/** What `npm start` runs too: it starts in a third of the time that the sources take. */
const MAIN = join(import.meta.dirname, '..', '..', '..', '..', 'dist', 'main.js')

/** How long the bot may take to open its endpoints; then it is killed. */
const START_MAX_MS = 20_000

/** One process of the bot. */
export interface Bot {
  pid: number | undefined
  /** Resolves when its endpoints are open; rejects when it ends before that. */
  port: Promise<number>
  /** Resolves when it has ended, whatever ended it. */
  ended: Promise<Ended>
  kill(signal: NodeJS.Signals): void
}

export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
}

/**
 * Starts the real bot as a separate process with this environment; its log is appended to a file.
 */
export function startBot(
  environment: Readonly<Record<string, string>>,
  logFile: string,
  startMaxMs = START_MAX_MS,
): Bot {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env
  const bot = spawn(process.execPath, [MAIN], {
    env: { PATH, NODE_COMPILE_CACHE, PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  keepLog(bot, logFile)
  const ended = endOf(bot)
  return {
    pid: bot.pid,
    port: portOf(bot, { ended, logFile, startMaxMs }),
    ended,
    kill: (signal) => void bot.kill(signal),
  }
}

function keepLog({ stdout, stderr }: ChildProcess, logFile: string): void {
  mkdirSync(dirname(logFile), { recursive: true })
  const log = createWriteStream(logFile, { flags: 'a' })
  for (const stream of [stdout, stderr]) stream?.on('data', (chunk: Buffer) => log.write(chunk))
}

const endOf = (bot: ChildProcess): Promise<Ended> =>
  new Promise((resolve) => {
    bot.once('exit', (code, signal) => resolve({ code, signal }))
    // It could not even be started.
    bot.once('error', () => resolve({ code: null, signal: null }))
  })

async function portOf(
  bot: ChildProcess,
  { ended, logFile, startMaxMs }: { ended: Promise<Ended>; logFile: string; startMaxMs: number },
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const timer = setTimeout(() => bot.kill('SIGKILL'), startMaxMs)
  createInterface({ input: bot.stdout! }).on('line', (line) => {
    const port = /"port":(\d+)/.exec(line)?.[1]
    if (port !== undefined) resolve(Number(port))
  })
  void ended.then((end) => reject(new Error(`the bot did not start: ${howItEnded(end)}; its log is ${logFile}`)))
  return promise.finally(() => clearTimeout(timer))
}

/** `SIGKILL`, or `exit code 1`. */
export const howItEnded = ({ code, signal }: Ended): string => signal ?? `exit code ${code ?? 'unknown'}`
