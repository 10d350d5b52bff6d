import { recordLookedUp } from '../../src/alerts/record/record.ts'
import { isFinal, toStatus } from '../../src/domain/builds/status.ts'
import { systemClock, type Clock } from '../../src/lib/clock.ts'
import { createGithubClient } from '../../src/sources/github/client.ts'
import { polledGithub } from '../../src/sources/github/source.ts'
import { createTransport } from '../../src/sources/http/transport.ts'
import { createPoll } from '../../src/sources/poll.ts'
import { createSandboxGithub } from '../../packages/sandbox-github/src/server.ts'
import { sqlitePlaces } from '../support/stores.ts'
import { asCount, asRatio, atMost, inS, note, type Benchmark, type Row } from './benchmark.ts'
import { percentile } from './statistics.ts'

const REPOSITORIES = 20
const RUNS = 500
/** How long GitHub takes to answer a call. */
const CALL_MS = 150
/** The scheduler's interval. */
const STEP_MS = 5_000
const HOUR_MS = 60 * 60_000
const BEGINS_AT = Date.UTC(2026, 10, 25)
const DAY_MS = 24 * HOUR_MS
/** Most runs start in these hours. */
const WORK = { fromHour: 8, toHour: 18, share: 0.9 }
const RUN_MS = { least: 15_000, most: 20 * 60_000 }
/** What a token of a person may call in an hour. */
const RATE = 5_000

const MEDIAN_MAX_S = 5
const P95_MAX_S = 15

export const polling: Benchmark = {
  name: 'polling',
  about: `A day without webhooks, on a simulated clock: ${REPOSITORIES} repositories in the sandbox GitHub, ${RUNS} runs of ${RUN_MS.least / 1_000} s to ${RUN_MS.most / 60_000} min, most of them from ${WORK.fromHour}:00 to ${WORK.toHour}:00. Each call takes ${CALL_MS} ms. Lag: from the end of a run until it is recorded. GitHub does not count a call that it answers with 304.`,
  async run() {
    const places = await sqlitePlaces()
    const { store } = await places.open()
    let now = BEGINS_AT
    const clock: Clock = { now: () => now, sleep: async () => {} }
    const counted = { calls: 0, unchanged: 0, byHour: new Map<number, number>() }
    const names = Array.from({ length: REPOSITORIES }, (_, n) => `acme/repo-${n}`)
    const github = createSandboxGithub({
      clock,
      repositories: names.map((name) => ({ name, workflows: ['CI'] })),
      watch(_, reply) {
        now += CALL_MS
        counted.calls++
        if (reply?.statusCode === 304) return void counted.unchanged++
        const hour = Math.floor(now / HOUR_MS)
        counted.byHour.set(hour, (counted.byHour.get(hour) ?? 0) + 1)
      },
    })
    await github.start()
    const { apiUrl, token } = github.address()
    const transport = createTransport({ clock: systemClock })
    const client = createGithubClient({ apiUrl, token, transport })
    const ends = new Map<string, number>()
    const lags: number[] = []
    const silent = { debug() {}, info() {}, warn() {}, error() {} }
    const poll = createPoll(
      {
        store,
        clock,
        log: silent,
        async record(build, origin) {
          const { buildId, rawStatus } = build.event
          const endedAt = ends.get(buildId)
          if (isFinal(toStatus(rawStatus)) && endedAt !== undefined) lags.push(now - endedAt)
          return recordLookedUp({ store, clock }, build, origin)
        },
      },
      polledGithub(client, names, store.read),
    )
    const waiting = planned()
    const running: { id: number; endsAt: number }[] = []
    while (now < BEGINS_AT + DAY_MS) {
      const stepEndsAt = now - (now % STEP_MS) + STEP_MS
      while (waiting[0] && waiting[0].at <= now) {
        const { repository, ms, at } = waiting.shift()!
        const pushed = github.push(names[repository]!, { outcome: 'none' })
        if (pushed.kind === 'run') running.push({ id: pushed.run.id, endsAt: at + ms })
      }
      for (const run of running.filter(({ endsAt }) => endsAt <= now)) {
        running.splice(running.indexOf(run), 1)
        ends.set(String(run.id), run.endsAt)
        github.finish(run.id, 'failure')
      }
      await poll(new AbortController().signal)
      now = Math.max(now, stepEndsAt)
    }
    await Promise.all([github.stop(), transport.close()])
    await store.close()
    await places[Symbol.asyncDispose]()
    return rowsOf(lags, counted)
  },
}

/** The same day each time. */
function planned(): { at: number; repository: number; ms: number }[] {
  let state = 1
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
  return Array.from({ length: RUNS }, () => {
    const isAtWork = random() < WORK.share
    const hour = isAtWork ? WORK.fromHour + random() * (WORK.toHour - WORK.fromHour) : random() * 24
    const ms = RUN_MS.least + random() ** 2 * (RUN_MS.most - RUN_MS.least)
    return { at: BEGINS_AT + hour * HOUR_MS, repository: Math.floor(random() * REPOSITORIES), ms }
  })
    .filter(({ at, ms }) => at + ms < BEGINS_AT + DAY_MS - HOUR_MS)
    .sort((a, b) => a.at - b.at)
}

function rowsOf(
  lags: readonly number[],
  { calls, unchanged, byHour }: { calls: number; unchanged: number; byHour: ReadonlyMap<number, number> },
): Row[] {
  const s = (share: number) => percentile(lags, share) / 1_000
  return [
    note('polling: ends recorded', asCount(lags.length)),
    atMost('polling: lag, median', s(0.5), MEDIAN_MAX_S, inS),
    atMost('polling: lag, 95th percentile', s(0.95), P95_MAX_S, inS),
    note('polling: longest lag', inS(Math.max(...lags) / 1_000)),
    note('polling: calls in the day', asCount(calls)),
    note('polling: of them answered with 304', asCount(unchanged)),
    atMost(
      'polling: counted calls in the busiest hour, to the rate limit',
      Math.max(...byHour.values()) / RATE,
      0.5,
      asRatio,
    ),
  ]
}
