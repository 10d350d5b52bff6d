import { setTimeout as sleep } from 'node:timers/promises'
import { DEFAULT_SIGNING_SECRET } from '../../packages/sandbox-slack/src/sandbox-slack.ts'
import { signedHeaders } from '../../packages/sandbox-slack/src/sign.ts'
import { sendAttack, type AttackKind, type AttackResult } from './attack-order.ts'
import { asRatio, atMost, exactly, inMB, inMs, inS, none, note, type Benchmark, type Row } from './benchmark.ts'
import { DELIVERY_PATH, startBot, untilIngested } from './bot.ts'
import { sendLoad, type LoadResult } from './load-order.ts'
import { residentMB, type ServerProcess } from './processes.ts'
import { openSlack } from './slack.ts'
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
const BOMBS = ['(a+)+$', '(a|aa)+$', '(.*a){200}', '(?:a?){300}b', '(a*)*b', '([a-z]+)*1', '(x+x+)+y', '.{0,700}z']

export const strangers: Benchmark = {
  name: 'strangers',
  about: `Deliveries at ${PER_SECOND} a second (open loop) while strangers attack, each kind by itself, beside the same with nobody else (medians of ${ROUNDS} rounds); the highest resident memory meanwhile beside that before.`,
  async run(stage) {
    const slack = await openSlack(BOMBS.length)
    const bot = await startBot(stage, { name: 'strangers', slackUrl: slack.sandbox.apiUrl })
    await load(bot, ROUND_MS)
    const idle: number[] = []
    for (let round = 0; round < ROUNDS; round++) idle.push((await load(bot, ROUND_MS)).p99Ms)
    const idleMs = median(idle)
    await askForHelp(bot)
    const watch = watchMemory(bot)
    const rows: Row[] = [note('p99 acknowledgement: nobody else', inMs(idleMs))]
    for (const kind of Object.keys(ANSWERS) as AttackKind[]) {
      rows.push(...(await underAttack(bot, kind, idleMs)))
      rows.push(note(`memory growth so far, after ${kind}`, inMB(watch.growth())))
    }
    rows.push(...watch.rows())
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
      atMost('p99 acknowledgement, pattern bombs in rules: ratio', p99Ms / idleMs, RATIO_MAX, asRatio),
      ...armedWatch.rows(', pattern bombs in rules'),
    )
    await Promise.all([armed.stop(), slack.sandbox.stop()])
    return rows
  },
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
    atMost(`p99 acknowledgement, ${kind}: ratio`, p99Ms / idleMs, RATIO_MAX, asRatio),
    exactly(
      `deliveries not accepted, ${kind}`,
      rounds.reduce((sum, { loaded }) => sum + loaded.errors, 0),
      0,
    ),
    ...(kind === 'idle and slow sockets'
      ? [atMost('sockets that were idle or slow: the last is cut after', cutAfterMs / 1_000, CUT_MAX_MS / 1_000, inS)]
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
  return [note(`answers, ${kind}`, told.join(', ')), none(`wrong answers, ${kind}`, wrong)]
}

function watchMemory(bot: ServerProcess) {
  const before = residentMB(bot.pid)
  let highest = before
  const looking = setInterval(() => (highest = Math.max(highest, residentMB(bot.pid))), LOOK_MS)
  return {
    growth: () => highest - before,
    rows(where = ''): Row[] {
      clearInterval(looking)
      return [
        note(`memory before${where}`, inMB(before)),
        atMost(`memory growth while strangers attack${where}`, highest - before, GROWTH_MAX_MB, inMB),
      ]
    },
  }
}
