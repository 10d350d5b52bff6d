import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { buildOf, delivery, send, settingsWith, testFolder, until, type Settings } from '../support/app.ts'
import { START } from '../support/start-command.ts'
import { answersIn, syncsIn } from './trace.ts'

const SETTINGS: Settings = { DEFAULT_CHANNEL: 'C0BUILDS01', LOG_LEVEL: 'info' }
const DELIVERIES = 20

const missing = whyNoStrace()
if (missing !== null) console.warn(`\nNOT TESTED: what is on disk before an answer (SQLite). ${missing}\n`)

describe('a power loss after an acknowledgement', () => {
  it.skipIf(missing !== null)(
    'loses nothing in SQLite: before each 202 there is a sync, one by one and all at once',
    async () => {
      const { url, stop } = await startTraced()
      const send202 = async (n: number) => expect(await send(url, delivery(buildOf(n)))).toMatchObject({ status: 202 })
      for (let n = 1; n <= DELIVERIES; n++) await send202(n)
      await Promise.all(Array.from({ length: DELIVERIES }, (_, n) => send202(100 + n)))
      const trace = await stop()
      const answers = answersIn(trace)
      expect(answers).toHaveLength(2 * DELIVERIES)
      expect(answers.filter(({ isSynced }) => !isSynced)).toEqual([])
      expect(syncsIn(trace)).toBeGreaterThanOrEqual(DELIVERIES)
    },
    60_000,
  )

  it('an answer without a sync before it is found in a trace', () => {
    const trace = (...lines: string[]) => answersIn(lines.map((line) => `812  ${line}`).join('\n'))
    const asked = 'read(22, "POST /webhooks/builds/door-secre"..., 65536) = 812'
    const answered = 'writev(22, [{iov_base="HTTP/1.1 202 Accepted\\r\\n"..., iov_len=150}], 2) = 170'
    expect(trace(asked, 'fdatasync(19) = 0', answered)).toEqual([{ delivery: 1, isSynced: true }])
    expect(trace(asked, '<... fdatasync resumed>) = 0', answered)).toEqual([{ delivery: 1, isSynced: true }])
    const halves = [
      'read(22,  <unfinished ...>',
      '<... read resumed>"POST /webhooks/builds/door-secre"..., 65536) = 812',
    ]
    expect(trace(...halves, 'fdatasync(19) = 0', answered)).toEqual([{ delivery: 1, isSynced: true }])
    expect(trace('fdatasync(19) = 0', ...halves, answered)).toEqual([{ delivery: 1, isSynced: false }])
    expect(trace('fdatasync(19) = 0', asked, answered)).toEqual([{ delivery: 1, isSynced: false }])
    expect(trace(asked, 'fdatasync(19) = -1 EIO (Input/output error)', answered)).toMatchObject([{ isSynced: false }])
    expect(trace(asked, answered, 'fdatasync(19) = 0')).toMatchObject([{ isSynced: false }])
  })
})

/** The bot under strace; `stop` resolves with the trace. */
async function startTraced(): Promise<{ url: string; stop: () => Promise<string> }> {
  const folder = testFolder()
  const file = join(folder, 'trace')
  const calls = 'trace=read,write,writev,fsync,fdatasync'
  // -D makes the bot our own child process, with the tracer beside it.
  const words = ['-D', '-f', '-s', '32', '-e', calls, '-e', 'signal=none', '-o', file, process.execPath, START.file]
  const bot = spawn('strace', words, {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...settingsWith(folder, SETTINGS) },
  })
  let output = ''
  for (const stream of [bot.stdout, bot.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const ended = new Promise((resolve) => bot.once('close', resolve))
  onTestFinished(async () => {
    bot.kill('SIGKILL')
    await ended
  })
  const port = await until('the doors are open', () => /"port":(\d+)\D/.exec(output)?.[1] ?? null, 40_000)
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      bot.kill('SIGTERM')
      await ended
      return until('the trace is whole', () => {
        const trace = readFileSync(file, 'utf8')
        return new RegExp(`^${bot.pid} +\\+\\+\\+ exited`, 'm').test(trace) && trace
      })
    },
  }
}

function whyNoStrace(): string | null {
  const { status, error, stderr } = spawnSync('strace', ['-o', '/dev/null', 'true'], { encoding: 'utf8' })
  if (error) return 'strace is not installed'
  return status === 0 ? null : `strace may not trace here: ${stderr.trim()}`
}
