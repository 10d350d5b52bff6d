import { afterAll, describe, expect, test } from 'vitest'
import { agrees } from '../../packages/demo/src/demo/agreement.ts'
import { until as untilWithin } from '../support/app.ts'
import { startPostgres } from '../support/postgres.ts'
import { startCluster, type Cluster, type Member } from './cluster.ts'

/** How long a process is paused: longer than its lease lasts. `PAUSE_S=60` for the long run. */
const PAUSE_MS = Number(process.env['PAUSE_S'] ?? 8) * 1_000

/** The documented limit after which another process sends. */
const TAKEOVER_MAX_MS = 10_000

const server = await startPostgres()
const isPossible = !('impossible' in server)
afterAll(async () => (isPossible ? server[Symbol.asyncDispose]() : undefined))

describe.skipIf(!isPossible)('four processes on one PostgreSQL', () => {
  test("send each build once, within Slack's limits, although the sender is killed, paused, and cut off from the database", async () => {
    const cluster = await startCluster(
      await (server as Exclude<typeof server, { impossible: string }>).createDatabase(),
      {
        processes: 4,
        channels: 10,
      },
    )
    const { members, slack } = cluster
    slack.faults.add({ kind: 'slow', method: 'chat.postMessage', ms: 150 })
    cluster.fail(2)
    await cluster.agreed(120_000)
    await untilJobsDone(cluster)
    const jobs = await jobsDone(members)

    // Always the process that sends: one is killed, one is paused, one loses its database.
    cluster.fail(20)
    const [killed, afterKillMs] = await interrupt(cluster, (member) => member.kill('SIGKILL'))
    const pausedAt = performance.now()
    const [paused, afterPauseMs] = await interrupt(cluster, (member) => member.kill('SIGSTOP'))
    const [cut, afterCutMs] = await interrupt(cluster, (member) => member.cable.cut())
    await sleep(Math.max(0, PAUSE_MS - (performance.now() - pausedAt)))
    paused.kill('SIGCONT')
    cut.cable.mend()
    cluster.fail(2)
    await cluster.agreed(180_000)
    expect(new Set([killed, paused, cut]).size).toBe(3)
    for (const { output } of [paused, cut]) await until('it has noticed', () => output().includes('lease lost'))

    expect(cluster.compare()).toSatisfy(agrees)
    expect(Object.entries(slack.counters.snapshot().calls).filter(([, ends]) => 'ratelimited' in ends)).toEqual([])
    for (const ms of [afterKillMs, afterPauseMs, afterCutMs]) expect(ms).toBeLessThanOrEqual(TAKEOVER_MAX_MS)
    expect(jobs).toEqual(ONCE)
    if (process.env['PAUSE_S'])
      console.log({ afterKillMs, afterPauseMs, afterCutMs, calls: slack.counters.snapshot().calls })
  }, 600_000)
})

/** With a timeout for a busy machine. */
const until = <T>(what: string, claim: () => T | Promise<T>, withinMs = 90_000) => untilWithin(what, claim, withinMs)

/** Jobs that are due at the start, and then not for minutes. */
const RARE = ['read-projects', 'look-at-claimants', 'refresh-silent', 'forget-interactions', 'prune']
const ONCE = Object.fromEntries(RARE.map((job) => [job, 1]))

async function untilJobsDone({ query }: Cluster): Promise<void> {
  await until('each job was done', async () => {
    const rows = await query('select name from job where name = any($1)', [RARE])
    return rows.length === RARE.length
  })
}

/** How often each job was done by all processes together. */
async function jobsDone(members: readonly Member[]): Promise<Record<string, number>> {
  const texts = await Promise.all(members.map(async (member) => (await fetch(`${await member.url()}/metrics`)).text()))
  const timesIn = (text: string, job: string) =>
    Number(new RegExp(`buildline_jobs_total\\{job="${job}",end="done"\\} (\\d+)`).exec(text)?.[1] ?? 0)
  return Object.fromEntries(RARE.map((job) => [job, texts.reduce((sum, text) => sum + timesIn(text, job), 0)]))
}

/** Interrupts the process that sends during a call. @returns it, and the time (ms) until another one sends */
async function interrupt(cluster: Cluster, stop: (member: Member) => void): Promise<[Member, number]> {
  const { query, members, slack } = cluster
  const sending = await until('a call is under way', async () => {
    const [row] = await query(
      `select held_by from lease where exists (select 1 from message where claimed_by = held_by and state = 'claimed')`,
    )
    return row ? String(row['held_by']) : null
  })
  const member = members.find(({ output }) => output().includes(sending))!
  stop(member)
  const stoppedAt = performance.now()
  await until('another process holds the lease', async () => {
    const [row] = await query('select held_by from lease where held_by <> $1', [sending])
    return row !== undefined
  })
  const before = sentBy(slack)
  await until('it sends', () => sentBy(slack) > before)
  return [member, performance.now() - stoppedAt]
}

const sentBy = ({ counters }: Cluster['slack']): number =>
  Object.values(counters.snapshot().calls).reduce(
    (sum, ends) => sum + Object.values(ends).reduce((all, count) => all + count, 0),
    0,
  )

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
