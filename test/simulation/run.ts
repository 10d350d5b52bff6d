import { fork } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'

// npm run simulate [-- --seeds 10000] [--from 1] [--processes 2]: plays many seeds, by default on all cores, and what
// each delivers in several orders.
// A failing seed is printed with everything that is wrong. To play it again: SEED=17 npm test -- test/simulation

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

/** The reason of an early exit is searched in so many last characters of the output: Node prints its stack after it. */
const LAST_WORDS_CHARS_MAX = 10_000

if (values.part === undefined) await playAll()
else await playPart(Number(values.part))

/** Plays this process's seeds one by one, and reports how each ended. */
async function playPart(part: number): Promise<void> {
  const [{ simulate }, { judgeOrders }] = await Promise.all([import('./simulate.ts'), import('./orders.ts')])
  for (const seed of seedsOf(part)) {
    const wrongs = await Promise.all([simulate(seed), judgeOrders(seed)]).then(
      ([played, ordered]) => [...played.wrongs, ...ordered],
      (error: unknown) => [String(error)],
    )
    process.send?.({ seed, wrongs } satisfies Report)
  }
  process.disconnect?.()
}

/** Every nth seed. */
function seedsOf(part: number): number[] {
  const own: number[] = []
  for (let seed = from + part; seed < from + seeds; seed += processes) own.push(seed)
  return own
}

async function playAll(): Promise<void> {
  const failed: number[] = []
  const ended: string[] = []
  let played = 0
  const say = () => console.log(`${played} of ${seeds} seeds played, ${failed.length} failed`)
  const progress = setInterval(say, PROGRESS_EVERY_MS)
  function hear({ seed, wrongs }: Report): void {
    played++
    if (wrongs.length === 0) return
    failed.push(seed)
    console.log([`SEED=${seed}`, ...wrongs.map((wrong) => wrong.slice(0, SHOWN_CHARS_MAX))].join('\n  '))
  }
  async function playOne(part: number): Promise<void> {
    const end = await playElsewhere(part, hear)
    if (end === null) return
    ended.push(`process ${part + 1} of ${processes} ${end}`)
    console.log(ended.at(-1))
  }
  await Promise.all(Array.from({ length: processes }, (_, part) => playOne(part)))
  clearInterval(progress)
  say()
  // Once more, since it may have happened hours and many lines ago.
  for (const end of ended) console.log(end)
  if (failed.length > 0) console.log(`one of them again: SEED=${failed[0]} npm test -- test/simulation`)
  process.exitCode = failed.length === 0 && ended.length === 0 && played === seeds ? 0 : 1
}

/** @returns null if the process finished well, otherwise how it ended, and at which seed */
function playElsewhere(part: number, hear: (report: Report) => void): Promise<string | null> {
  const own = ['--seeds', String(seeds), '--from', String(from), '--processes', String(processes)]
  const child = fork(import.meta.filename, [...own, '--part', String(part)], {
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  })
  const due = seedsOf(part)
  let played = 0
  let lastWords = ''
  child.on('message', (report) => {
    played++
    hear(report as Report)
  })
  child.stderr?.setEncoding('utf8').on('data', (words: string) => {
    process.stderr.write(words)
    lastWords = (lastWords + words).slice(-LAST_WORDS_CHARS_MAX)
  })
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(`did not begin: ${error.message}`))
    // Not on `exit`: its output may not be complete by then.
    child.once('close', (code, signal) => {
      const isWhole = code === 0 && played === due.length
      resolve(
        isWhole ? null : `ended ${signal ? `by ${signal}` : `with code ${code}`} ${where()}${reasonIn(lastWords)}`,
      )
    })
  })

  function where(): string {
    const at = due[played] === undefined ? '' : `, at SEED=${due[played]}`
    return `after ${played} of ${due.length} seeds${at}`
  }
}

/** The part of an output that names the error, as `: FATAL ERROR: Reached heap limit`; or an empty text. */
function reasonIn(lastWords: string): string {
  const line = lastWords.split('\n').findLast((words) => /error(?: \[\w+\])?: |unsettled/i.test(words))
  return line === undefined ? '' : `: ${line.trim()}`
}
