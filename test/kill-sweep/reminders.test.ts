import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../support/app.ts'
import { startPostgres } from '../support/postgres.ts'
import { openStoreAt } from '../support/stores.ts'
import { FOLLOWED, openStage, type Stage } from './stage.ts'
import type { Moment, Verdict } from './tap.ts'

// A real process is killed around the moment when a reminder is due, at a different moment for each red branch; and at
// different ones on each of the two databases.

const TIMES = 5
const HOUR_MS = 60 * 60_000
const MAX_MS = 240_000

/** At this moment of the reminder's call to Slack, or so many ms after the endpoints are open. */
type Kill = { moment: Moment; verdict: Verdict } | { afterMs: number }

const KILLS: readonly Kill[] = [
  { moment: 'arrived', verdict: 'drop' },
  { moment: 'arrived', verdict: { lateMs: 3_000 } },
  { moment: 'sent', verdict: 'pass' },
  { moment: 'done', verdict: 'drop' },
  { moment: 'answered', verdict: 'pass' },
  ...[0, 50, 100, 200, 400].map((afterMs) => ({ afterMs })),
]

const half = (which: 0 | 1) => KILLS.filter((_, n) => n % 2 === which)

const { channel: CHANNEL, prefix: PREFIX } = FOLLOWED[1]!

let server: Awaited<ReturnType<typeof startPostgres>>
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => ('impossible' in server ? undefined : server[Symbol.asyncDispose]()))

describe('a process that is killed when reminders are due leaves exactly one of each', () => {
  it.concurrent('on SQLite', async () => expectOneEach(null, half(0)), MAX_MS)

  it.concurrent(
    'on PostgreSQL',
    async (test) => {
      if ('impossible' in server) return test.skip(server.impossible)
      await expectOneEach(await server.createDatabase(), half(1))
    },
    MAX_MS,
  )
})

async function expectOneEach(databaseUrl: string | null, kills: readonly Kill[]): Promise<void> {
  await using stage = await openStage(databaseUrl, TIMES, { remind: '30m 0-24 daily' })
  const url = databaseUrl ?? `sqlite:${join(stage.folder, 'buildline.db')}`
  const first = stage.start()
  const port = await first.port
  await until('it is ready', async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok)
  const branches = kills.map((_, n) => `${PREFIX}${n}`)
  for (const branch of branches) stage.ci.push('acme/web', { branch, outcome: 'error', ms: 0 })
  await until('every branch is red', async () => (await red(url)).length === branches.length, MAX_MS)
  await until('every card stands', () => isAtRest(url), MAX_MS)
  await kill(first)
  for (const [n, how] of kills.entries()) {
    await letBeDue(stage, url, branches[n]!)
    await killAt(stage, how)
  }
  const last = stage.start()
  await until('each is reminded', () => branches.every((branch) => remindersOf(stage, branch) > 0), MAX_MS)
  await until('nothing is left to do', () => isAtRest(url), MAX_MS)
  await kill(last)
  expect(branches.map((branch) => remindersOf(stage, branch))).toEqual(branches.map(() => 1))
}

async function kill(bot: ReturnType<Stage['start']>): Promise<void> {
  bot.kill('SIGKILL')
  await bot.ended
}

async function killAt(stage: Stage, how: Kill): Promise<void> {
  const reached = Promise.withResolvers<void>()
  const bot = stage.start()
  bot.port.catch(() => {})
  let isKilled = false
  stage.hear = (gate, moment, { body }) => {
    if (isKilled || 'afterMs' in how || gate !== 'slack' || moment !== how.moment || !IS_REMINDER.test(body))
      return 'pass'
    isKilled = true
    bot.kill('SIGKILL')
    reached.resolve()
    return how.verdict
  }
  if ('afterMs' in how) await bot.port.then(() => sleep(how.afterMs))
  else await reached.promise
  await kill(bot)
  stage.hear = () => 'pass'
}

const IS_REMINDER = /nobody(?:\+|%20| )is(?:\+|%20| )on(?:\+|%20| )it/

async function withStore<T>(url: string, work: (store: ReturnType<typeof openStoreAt>) => Promise<T>): Promise<T> {
  const store = openStoreAt(url)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

const red = (url: string) => withStore(url, ({ read }) => read.openStreaks({ except: [] }, 100))

const isAtRest = (url: string) =>
  withStore(url, async ({ read }) =>
    Object.values(await read.backlog(Number.MAX_SAFE_INTEGER)).every((count) => count === 0),
  )

/** Makes the branch red for an hour. */
async function letBeDue({ clock }: Stage, url: string, branch: string): Promise<void> {
  const stands = (await red(url)).find((one) => one.branch === branch)!
  await withStore(url, (store) => store.write((tx) => tx.saveStreak({ ...stands, beganAt: clock.now() - HOUR_MS })))
}

const remindersOf = ({ slack }: Stage, branch: string): number =>
  slack.messages(CHANNEL).filter(({ text }) => String(text).includes(`on \`${branch}\` has been red for`)).length
