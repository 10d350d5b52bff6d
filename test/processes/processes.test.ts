import { afterAll, describe, expect, test } from 'vitest'
import { agrees } from '../../packages/demo/src/demo/agreement.ts'
import { until as untilWithin } from '../support/app.ts'
import { startPostgres } from '../support/postgres.ts'
import { startCluster, type Cluster, type Member } from './cluster.ts'

/** How long the paused process sleeps: longer than the others take it for alive. `PAUSE_S=60` for the long run. */
const PAUSE_MS = Number(process.env['PAUSE_S'] ?? 8) * 1_000

/** What is promised: after so long nothing of a dead process is left to itself. */
const TAKEOVER_MAX_MS = 10_000

const server = await startPostgres()
const isPossible = !('impossible' in server)
afterAll(async () => (isPossible ? server[Symbol.asyncDispose]() : undefined))

describe.skipIf(!isPossible)('four processes on one PostgreSQL', () => {
  test('tell each build once, within Slack’s limits, though one is killed, one sleeps and one is cut off', async () => {
    const cluster = await startCluster(
      await (server as Exclude<typeof server, { impossible: string }>).createDatabase(),
      {
        processes: 4,
        channels: 10,
      },
    )
    const { members, slack } = cluster
    const [killed, paused, cut] = members as [Member, Member, Member, Member]
    slack.faults.add({ kind: 'slow', method: 'chat.postMessage', ms: 150 })
    cluster.fail(2)
    await cluster.agreed(120_000)
    await untilJobsDone(cluster)
    const jobs = await jobsDone(members)

    cluster.fail(5)
    const [takeoverMs] = await Promise.all([
      interrupt(cluster, killed, () => killed.kill('SIGKILL')),
      interrupt(cluster, paused, () => paused.kill('SIGSTOP')).then((goneAfterMs) => sleep(PAUSE_MS - goneAfterMs)),
      interrupt(cluster, cut, () => cut.cable.cut()),
    ])
    paused.kill('SIGCONT')
    cut.cable.mend()
    cluster.fail(2)
    await cluster.agreed(180_000)
    for (const { output } of [paused, cut]) await until('it has noticed', () => output().includes('taken for dead'))
    await until('both are back', async () => (await presentOf(cluster)).length === 3)
    for (const { output } of members) expect(output()).toContain('"told"')

    expect(cluster.compare()).toSatisfy(agrees)
    expect(Object.entries(slack.counters.snapshot().calls).filter(([, ends]) => 'ratelimited' in ends)).toEqual([])
    expect(takeoverMs).toBeLessThanOrEqual(TAKEOVER_MAX_MS)
    expect(jobs).toEqual(ONCE)
    if (process.env['PAUSE_S']) console.log({ takeoverMs, calls: slack.counters.snapshot().calls })
  }, 600_000)
})

/** As long as a machine with other work takes. */
const until = <T>(what: string, claim: () => T | Promise<T>, withinMs = 90_000) => untilWithin(what, claim, withinMs)

/** What is due at the start, and then not for minutes. */
const RARE = ['read-projects', 'look-at-claimants', 'refresh-silent', 'forget-interactions', 'prune']
const ONCE = Object.fromEntries(RARE.map((job) => [job, 1]))

async function untilJobsDone({ query }: Cluster): Promise<void> {
  await until('each job was done', async () => {
    const rows = await query('select name from job where name = any($1)', [RARE])
    return rows.length === RARE.length
  })
}

/** How often each job was done, by all of them together. */
async function jobsDone(members: readonly Member[]): Promise<Record<string, number>> {
  const texts = await Promise.all(members.map(async (member) => (await fetch(`${await member.url()}/metrics`)).text()))
  const timesIn = (text: string, job: string) =>
    Number(new RegExp(`buildline_jobs_total\\{job="${job}",end="done"\\} (\\d+)`).exec(text)?.[1] ?? 0)
  return Object.fromEntries(RARE.map((job) => [job, texts.reduce((sum, text) => sum + timesIn(text, job), 0)]))
}

/** In the middle of a call. @returns how long it takes until the others have taken its work over (ms) */
async function interrupt(cluster: Cluster, member: Member, stop: () => void): Promise<number> {
  await untilCalling(cluster, member)
  stop()
  return timeUntilGone(cluster, member)
}

const untilCalling = ({ query }: Cluster, { id }: Member) =>
  until('it has a call under way', async () => (await query('select 1 from card where call_by = $1', [id])).length > 0)

/** Until the others have all that was its. @returns after how long (ms) */
async function timeUntilGone({ query }: Cluster, { id }: Member): Promise<number> {
  const beganAt = performance.now()
  await until('its work is taken over', async () => {
    const [row] = await query(
      `select (select count(*) from presence where id = $1) + (select count(*) from card where call_by = $1)
        + (select count(*) from lease where held_by = $1) as left`,
      [id],
    )
    return Number(row!['left']) === 0
  })
  return performance.now() - beganAt
}

const presentOf = ({ query }: Cluster) =>
  query('select id from presence where alive_until > extract(epoch from now()) * 1000')

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
