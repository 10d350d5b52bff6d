import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { partsOf, verdictOf, type Part } from './parts.ts'

// npm run torture [-- <part>…] [--points 200]: runs one part after the other, prints one line of JSON each on stdout
// and the rest on stderr. The exit code is 1 if anything was lost, doubled or wrong, or a promise was not kept.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { points: { type: 'string', default: '200' } },
})
const points = Number(values.points)
if (!Number.isInteger(points) || points < 1) throw new Error('--points is a whole number above 0')
const parts = partsOf(points)
const chosen = parts.filter(({ name }) => positionals.length === 0 || positionals.some((one) => name.startsWith(one)))
if (chosen.length === 0) throw new Error(`the parts are ${parts.map(({ name }) => name).join(', ')}`)

process.exitCode = 0
for (const part of chosen) if (!(await play(part))) process.exitCode = 1

async function play(part: Part): Promise<boolean> {
  const beganAt = performance.now()
  const { code, printed } = await run(part)
  const { ok, counts } = verdictOf(part, code, printed)
  const seconds = Math.round((performance.now() - beganAt) / 1_000)
  console.log(JSON.stringify({ part: part.name, ok, ...counts, seconds }))
  return ok
}

async function run(part: Part): Promise<{ code: number | null; printed: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'buildline-torture-'))
  const report = join(folder, 'report.json')
  try {
    const { code, printed } = await runReporting(part, report)
    return { code, printed: existsSync(report) ? `${printed}\n${readFileSync(report, 'utf8')}` : printed }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function runReporting({ args, env }: Part, report: string) {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env, REPORT: report },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const stop = () => child.kill('SIGTERM')
  process.once('exit', stop)
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
    process.stderr.write(text)
  })
  const [code] = (await once(child, 'close')) as [number | null]
  process.off('exit', stop)
  return { code, printed }
}
