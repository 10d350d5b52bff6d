import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdirSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { join } from 'node:path'

const MAIN = join(import.meta.dirname, '..', '..', 'main.ts')

/** How long the bot may take to open its doors. */
const START_MAX_MS = 20_000

export interface Bot {
  port: number
  /** SIGTERM, and its exit code */
  stop(): Promise<number | null>
}

/** Starts the real bot as a process of its own, with this environment; its log goes to a file. */
export async function startBot(environment: Record<string, string>, logFile: string): Promise<Bot> {
  mkdirSync(join(logFile, '..'), { recursive: true })
  const bot = spawn(process.execPath, [MAIN], {
    env: { PATH: process.env['PATH'] ?? '', PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const log = createWriteStream(logFile)
  bot.stdout.pipe(log)
  bot.stderr.pipe(log)
  const port = await portOf(bot, logFile)
  return {
    port,
    async stop() {
      // Killed by a signal, it has no exit code, and will not exit again.
      if (bot.exitCode !== null || bot.signalCode !== null) return bot.exitCode
      const exited = once(bot, 'exit')
      bot.kill('SIGTERM')
      await exited
      return bot.exitCode
    },
  }
}

function portOf(bot: ChildProcess, logFile: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`the bot ${why}; its log is ${logFile}`))
    const timer = setTimeout(() => fail('did not start in time'), START_MAX_MS)
    bot.once('exit', (code) => fail(`ended at once with ${code}`))
    createInterface({ input: bot.stdout! }).on('line', (line) => {
      const port = /"port":(\d+)/.exec(line)?.[1]
      if (!port) return
      clearTimeout(timer)
      bot.removeAllListeners('exit')
      resolve(Number(port))
    })
  })
}
