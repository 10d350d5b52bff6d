import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'

const RUN = join(import.meta.dirname, 'run.ts')
const RUN_MAX_MS = 120_000

/** Plays seeds 1 to 4 in two processes. The second one runs this code after it has reported its first seed, 2. */
async function playFour(then: string): Promise<{ code: number | null; lines: string[] }> {
  // Between two seeds no temporary folder is open, so that a killed process leaves none behind.
  const preload = `
    const { send } = process
    if (process.argv.at(-1) === '1' && process.argv.includes('--part'))
      process.send = (report) => { send.call(process, report); ${then} }`
  const own = ['--import', `data:text/javascript,${encodeURIComponent(preload)}`]
  const run = spawn(process.execPath, [...own, RUN, '--seeds', '4', '--processes', '2'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [said, [code]] = await Promise.all([text(run.stdout), once(run, 'close') as Promise<[number | null]>])
  return { code, lines: said.trim().split('\n') }
}

test(
  'a run whose processes all finish ends with success, and names none of them',
  { timeout: RUN_MAX_MS },
  async () => {
    const { code, lines } = await playFour('')
    expect(code).toBe(0)
    expect(lines.at(-1)).toBe('4 of 4 seeds played, 0 failed')
    expect(lines.filter((line) => line.startsWith('process'))).toEqual([])
  },
)

test.for([
  [
    'is killed',
    "process.emit('exit', 0); process.kill(process.pid, 'SIGKILL')",
    'by SIGKILL after 1 of 2 seeds, at SEED=4',
  ],
  [
    'fails',
    "throw new RangeError('out of fuses')",
    'with code 1 after 1 of 2 seeds, at SEED=4: RangeError: out of fuses',
  ],
])(
  'a process that %s before it has finished is named, and the run fails',
  { timeout: RUN_MAX_MS },
  async ([, then, how]) => {
    const { code, lines } = await playFour(then!)
    expect(code).toBe(1)
    expect(lines.slice(-2)).toEqual(['3 of 4 seeds played, 0 failed', `process 2 of 2 ended ${how}`])
    // Once when it happens, and once more at the end.
    expect(lines.filter((line) => line.startsWith('process'))).toHaveLength(2)
  },
)
