import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'

const RUN = join(import.meta.dirname, 'run.ts')
const RUN_MAX_MS = 120_000

/** Plays seeds 1 to 6 in three processes. After its first seed, a process runs the code for its part. */
async function playSix(then: Readonly<Record<number, string>> = {}): Promise<{ code: number | null; lines: string[] }> {
  // Between two seeds no temporary folder is open, so that a killed process leaves none behind.
  const preload = `
    const { send } = process
    const then = (${JSON.stringify(then)})[process.argv.includes('--part') ? process.argv.at(-1) : '']
    if (then) process.send = (report) => { send.call(process, report); new Function(then)() }`
  const own = ['--import', `data:text/javascript,${encodeURIComponent(preload)}`]
  const run = spawn(process.execPath, [...own, RUN, '--seeds', '6', '--processes', '3'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [said, [code]] = await Promise.all([text(run.stdout), once(run, 'close') as Promise<[number | null]>])
  return { code, lines: said.trim().split('\n') }
}

test(
  'a run whose processes all finish ends with success, and names none of them',
  { timeout: RUN_MAX_MS },
  async () => {
    const { code, lines } = await playSix()
    expect(code).toBe(0)
    expect(lines.at(-1)).toBe('6 of 6 seeds played, 0 failed')
    expect(lines.filter((line) => line.startsWith('process'))).toEqual([])
  },
)

test(
  'a process that is killed or fails before it has finished is named, and the run fails',
  { timeout: RUN_MAX_MS },
  async () => {
    const { code, lines } = await playSix({
      1: "process.emit('exit', 0); process.kill(process.pid, 'SIGKILL')",
      2: "throw new RangeError('out of fuses')",
    })
    expect(code).toBe(1)
    expect(lines.at(-3)).toBe('4 of 6 seeds played, 0 failed')
    const ends = [
      'process 2 of 3 ended by SIGKILL after 1 of 2 seeds, at SEED=5',
      'process 3 of 3 ended with code 1 after 1 of 2 seeds, at SEED=6: RangeError: out of fuses',
    ]
    expect(lines.slice(-2).toSorted()).toEqual(ends)
    // Once when it happens, and once more at the end.
    expect(lines.filter((line) => line.startsWith('process')).toSorted()).toEqual([...ends, ...ends].toSorted())
  },
)
