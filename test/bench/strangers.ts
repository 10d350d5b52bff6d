import { setTimeout as sleep } from 'node:timers/promises'
import { DEFAULT_SIGNING_SECRET } from '../../packages/sandbox-slack/src/sandbox-slack.ts'
import { signedHeaders } from '../../packages/sandbox-slack/src/sign.ts'
import { sendAttack, type AttackKind, type AttackResult } from './attack-order.ts'
import { beginFlood, type Flood } from '../support/flood.ts'
import { githubDelivery, INVENTED, slackCommand, timed, type Signed } from '../support/signed.ts'
import { asRatio, atMost, exactly, inMB, inMs, inS, none, note, type Benchmark, type Row } from './benchmark.ts'
import { DELIVERY_PATH, startBot, untilIngested } from './bot.ts'
import { sendLoad, type LoadResult } from './load-order.ts'
import { residentMB, type ServerProcess } from './processes.ts'
import { openSlack } from './slack.ts'
import { underWorstBodies } from './worst-bodies.ts'
import { worstStall } from './stall.ts'
import { median } from './statistics.ts'

const PER_SECOND = 100
const CONNECTIONS = 8
/** One collection of the heap, or one neighbour on the machine, can be the p99 of one round. */
const ROUNDS = 3
const ROUND_MS = 5_000
const WRONG_SECRETS = 10_000
const LOOK_MS = 100
const TAKEN_IN_MAX_MS = 60_000

const RATIO_MAX = 10
const GROWTH_MAX_MB = 64
const CUT_MAX_MS = 30_000

/** What each is answered, and nothing else. */
const ANSWERS: Readonly<Record<AttackKind, readonly number[]>> = {
  'wrong secrets': [404, 429],
  'idle and slow sockets': [],
  'large bodies': [413],
  'deep bodies': [400],
  'gzip bombs': [415],
  'header floods': [431],
  'unsigned bodies for Slack': [401, 503],
  replays: [200],
}

/** Patterns on which an engine that backtracks never ends; each channel has one as its rule. */
const BOMBS = ['(a+)+$', '(a|aa)+$', '(.*a){100}', '(?:a?){300}b', '(a*)*b', '([a-z]+)*1', '(x+x+)+y', '.{0,300}z']

export const strangers: Benchmark = {
  name: 'strangers',
  about: `${PER_SECOND} deliveries a second (open loop) during one kind of attack at a time, beside the same load without an attack (medians of ${ROUNDS} rounds). Memory is the highest resident memory during the attacks, beside the memory before them.`,
  async run(stage) {
    const slack = await openSlack(BOMBS.length)
    const bot = await startBot(stage, {
      name: 'strangers',
      slackUrl: slack.sandbox.apiUrl,
      settings: { GITHUB_WEBHOOK_SECRET: GITHUB_SECRET },
    })
    await load(bot, ROUND_MS)
    const idle: number[] = []
    for (let round = 0; round < ROUNDS; round++) idle.push((await load(bot, ROUND_MS)).p99Ms)
    const idleMs = median(idle)
    await askForHelp(bot)
    const watch = watchMemory(bot)
    const rows: Row[] = [note('no attack: p99 acknowledgement', inMs(idleMs))]
    for (const kind of Object.keys(ANSWERS) as AttackKind[]) {
      rows.push(...(await underAttack(bot, kind, idleMs)))
      rows.push(note(`${kind}: memory growth so far`, inMB(watch.growth())))
    }
    rows.push(...watch.rows('all attacks: '))
    for (const flood of FLOODS) rows.push(...(await underFlood(bot, flood)))
    await untilIngested(bot, TAKEN_IN_MAX_MS)
    await bot.stop()
    const armed = await startBot(stage, {
      name: 'strangers-patterns',
      slackUrl: slack.sandbox.apiUrl,
      subscriptions: BOMBS.map((branch, n) => ({
        channel: `C0BENCH${String(n + 1).padStart(3, '0')}`,
        project: 'all',
        branch,
        branch_match: 'regex',
      })),
    })
    await load(armed, ROUND_MS)
    const armedWatch = watchMemory(armed)
    const { p99Ms } = await load(armed, ROUND_MS)
    rows.push(
      atMost('pattern bombs in rules: p99, ratio', p99Ms / idleMs, RATIO_MAX, asRatio),
      ...armedWatch.rows('pattern bombs in rules: '),
    )
    await armed.stop()
    rows.push(...(await underWorstBodies(stage, slack.sandbox.apiUrl)))
    await slack.sandbox.stop()
    return rows
  },
}

const GITHUB_SECRET = 'github-secret-for-the-benchmarks'
const KIB = 1024
const SAMPLES = 30
const FLOOD_RATIO_MAX = 25
const FLOOD_GROWTH_MAX_MB = 128

interface FloodCase extends Omit<Flood, 'port' | 'from' | 'head' | 'sentBytes'> {
  name: string
  head: () => string
  honest: () => Signed
}

/** Senders that the bot must read before it can refuse them. */
const FLOODS: readonly FloodCase[] = [
  {
    name: '900 senders of 1 MiB with an invented signature of GitHub',
    connections: 900,
    bodyBytes: 1024 * KIB,
    head: INVENTED.github,
    honest: () => githubDelivery(GITHUB_SECRET, 150 * KIB),
  },
  {
    name: '500 senders of 4 MiB with an invented signature of Slack',
    connections: 500,
    bodyBytes: 4096 * KIB,
    head: INVENTED.slack,
    honest: () => slackCommand(DEFAULT_SIGNING_SECRET, 100 * KIB),
  },
]

/** Beside the same requests without strangers, of which those from the honest sender's own address are the worst. */
async function underFlood(bot: ServerProcess, { name, honest, head, ...how }: FloodCase): Promise<Row[]> {
  const before = residentMB(bot.pid)
  const alone = { ms: await medianOf(bot, honest), stallMs: await worstStall(bot.port, ROUND_MS) }
  const flood = await beginFlood({ port: bot.port, from: '127.0.0.1', head: head(), sentBytes: how.bodyBytes, ...how })
  // The first one waits until all connections have been accepted.
  await timed(`http://127.0.0.1:${bot.port}`, honest())
  const stallMs = await worstStall(bot.port, ROUND_MS)
  const ms = await medianOf(bot, honest)
  const growth = residentMB(bot.pid) - before
  await flood.end()
  return [
    note(`${name}: an honest request alone`, inMs(alone.ms)),
    note(`${name}: among them`, inMs(ms)),
    atMost(`${name}: delay, ratio`, ms / alone.ms, FLOOD_RATIO_MAX, asRatio),
    note(`${name}: longest stall alone`, inMs(alone.stallMs)),
    note(`${name}: longest stall`, inMs(stallMs)),
    atMost(`${name}: memory growth`, growth, FLOOD_GROWTH_MAX_MB, inMB),
  ]
}

async function medianOf({ port }: ServerProcess, honest: () => Signed): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < SAMPLES; n++) {
    const { status, ms } = await timed(`http://127.0.0.1:${port}`, honest())
    if (status !== 202 && status !== 200) throw new Error(`an honest request was answered ${status}`)
    times.push(ms)
  }
  return median(times)
}

/** What Slack sends is read by a library that is loaded for the first request: that is no stranger's doing. */
async function askForHelp({ port }: ServerProcess): Promise<void> {
  const body = 'command=%2Fci&text=help&user_id=U0LIN&channel_id=C0BUILDS01&trigger_id=0'
  const signed = signedHeaders(DEFAULT_SIGNING_SECRET, Math.floor(Date.now() / 1_000), body)
  const headers = { 'content-type': 'application/x-www-form-urlencoded', ...signed }
  const { status } = await fetch(`http://127.0.0.1:${port}/slack/events`, { method: 'POST', headers, body })
  if (status !== 200) throw new Error(`a signed request was answered ${status}`)
}

let firstBuild = 1

const load = ({ port }: ServerProcess, forMs: number) => {
  firstBuild += 1_000_000
  return sendLoad({ port, path: DELIVERY_PATH, connections: CONNECTIONS, firstBuild, forMs, perSecond: PER_SECOND })
}

async function underAttack(bot: ServerProcess, kind: AttackKind, idleMs: number): Promise<Row[]> {
  const rounds: { attacked: AttackResult; loaded: LoadResult }[] = []
  for (let round = 0; round < ROUNDS; round++) rounds.push(await attackOnce(bot, kind))
  const p99Ms = median(rounds.map(({ loaded }) => loaded.p99Ms))
  const cutAfterMs = Math.max(...rounds.map(({ attacked }) => attacked.cutAfterMs))
  return [
    atMost(`${kind}: p99, ratio`, p99Ms / idleMs, RATIO_MAX, asRatio),
    exactly(
      `${kind}: deliveries not accepted`,
      rounds.reduce((sum, { loaded }) => sum + loaded.errors, 0),
      0,
    ),
    ...(kind === 'idle and slow sockets'
      ? [atMost(`${kind}: the last socket is cut after`, cutAfterMs / 1_000, CUT_MAX_MS / 1_000, inS)]
      : answersOf(
          kind,
          rounds.map(({ attacked }) => attacked),
        )),
  ]
}

/** The load lasts as long as the attack. */
async function attackOnce(bot: ServerProcess, kind: AttackKind) {
  const count = kind === 'wrong secrets' ? { count: WRONG_SECRETS } : {}
  const attack = {
    kind,
    port: bot.port,
    path: DELIVERY_PATH,
    signingSecret: DEFAULT_SIGNING_SECRET,
    forMs: ROUND_MS,
    ...count,
  }
  const [attacked, loaded] = await Promise.all([sendAttack(attack), load(bot, ROUND_MS)])
  await sleep(LOOK_MS)
  return { attacked, loaded }
}

function answersOf(kind: AttackKind, attacks: readonly AttackResult[]): Row[] {
  const answers: Record<string, number> = {}
  for (const attack of attacks)
    for (const [status, times] of Object.entries(attack.answers)) answers[status] = (answers[status] ?? 0) + times
  const wrong = Object.keys(answers).filter((status) => !ANSWERS[kind].includes(Number(status)))
  const told = Object.entries(answers).map(([status, times]) => `${status}: ${times.toLocaleString('en-US')}`)
  return [note(`${kind}: answers`, told.join(', ')), none(`${kind}: wrong answers`, wrong)]
}

function watchMemory(bot: ServerProcess) {
  const before = residentMB(bot.pid)
  let highest = before
  const looking = setInterval(() => (highest = Math.max(highest, residentMB(bot.pid))), LOOK_MS)
  return {
    growth: () => highest - before,
    rows(where: string): Row[] {
      clearInterval(looking)
      return [
        note(`${where}memory before`, inMB(before)),
        atMost(`${where}memory growth at most`, highest - before, GROWTH_MAX_MB, inMB),
      ]
    },
  }
}
