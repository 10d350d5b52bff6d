import { fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { simulate } from './simulate.ts'

// npm run simulate [-- --seeds 10000] [--from 1] [--processes 2]: plays many seeds, in as many processes as there are cores.
// A seed that fails is printed with all that is wrong, and plays the same again: SEED=17 npm test -- test/simulation

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10000' },
    from: { type: 'string', default: '1' },
    processes: { type: 'string', default: String(availableParallelism()) },
    part: { type: 'string' },
  },
})
const [from, seeds, processes] = [Number(values.from), Number(values.seeds), Number(values.processes)]

interface Report {
  seed: number
  wrongs: readonly string[]
}

const SHOWN_CHARS_MAX = 2_000
const PROGRESS_EVERY_MS = 10_000

if (values.part === undefined) await playAll()
else await playPart(Number(values.part))

/** One process plays every nth seed, and says how each ended. */
async function playPart(part: number): Promise<void> {
  for (let seed = from + part; seed < from + seeds; seed += processes) {
    const wrongs = await simulate(seed).then(
      (played) => played.wrongs,
      (error: unknown) => [String(error)],
    )
    process.send?.({ seed, wrongs } satisfies Report)
  }
  process.disconnect?.()
}

async function playAll(): Promise<void> {
  const failed: number[] = []
  let played = 0
  const say = () => console.log(`${played} of ${seeds} seeds played, ${failed.length} failed`)
  const progress = setInterval(say, PROGRESS_EVERY_MS)
  function hear({ seed, wrongs }: Report): void {
    played++
    if (wrongs.length === 0) return
    failed.push(seed)
    console.log([`SEED=${seed}`, ...wrongs.map((wrong) => wrong.slice(0, SHOWN_CHARS_MAX))].join('\n  '))
  }
  await Promise.all(Array.from({ length: processes }, (_, part) => playElsewhere(part, hear)))
  clearInterval(progress)
  say()
  if (failed.length > 0) console.log(`one of them again: SEED=${failed[0]} npm test -- test/simulation`)
  process.exitCode = failed.length === 0 && played === seeds ? 0 : 1
}

function playElsewhere(part: number, hear: (report: Report) => void): Promise<void> {
  const own = ['--seeds', String(seeds), '--from', String(from), '--processes', String(processes)]
  const child = fork(import.meta.filename, [...own, '--part', String(part)])
  child.on('message', (report) => hear(report as Report))
  return new Promise((resolve) => child.once('exit', () => resolve()))
}
