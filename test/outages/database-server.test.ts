import { afterAll, describe, expect, it } from 'vitest'
import { BUILDS } from '../app/channel.ts'
import { delivery, openStage, send, until } from '../support/app.ts'
import { queryOnce, startOwnPostgres } from '../support/postgres.ts'
import { openGate } from './gate.ts'
import { IS_LONG, readyAt, redBuild, sendRed, untilTaken, untilTold } from './team-at-door.ts'

/** The endpoint's own timeout, with a margin for a busy machine. */
const ANSWERED_MAX_MS = 15_000
const READY_ANSWERED_MAX_MS = 8_000

const started = await startOwnPostgres()
const server = 'impossible' in started ? null : started
afterAll(() => server?.[Symbol.asyncDispose]())

/** The address of the test's database, through the server's own port or a gate's. */
function urlAt(port: number): string {
  const url = new URL(server!.addressOf('postgres'))
  url.port = String(port)
  return url.href
}

describe.skipIf(!server)('a database server', () => {
  it('that restarts leads to 503s until it is back; acknowledged builds are shown once', async () => {
    const { app, slack } = await openTeam(server!.port)
    const kept = await sendRed(app.url, [1, 2, 3])
    await server!.stop()
    const refused = await send(app.url, delivery(redBuild(4)))
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([503, true])
    expect(await readyAt(app.url)).toMatchObject({ status: 503, store: 'unreachable', wrong: [WORDS] })
    expect((await fetch(`${app.url}/healthz`)).status).toBe(200)
    await server!.start()
    await untilTaken(app.url, 5)
    await untilTold(slack, [999, ...kept, 5])
    expect(await storedBuilds()).not.toContain('4')
    await until('it is ready', async () => (await readyAt(app.url)).status === 200)
  }, 120_000)

  it.runIf(IS_LONG)(
    'that hangs leads to 503s in time without storing anything, and is used again when it answers',
    async () => {
      const gate = await openGate({ host: '127.0.0.1', port: server!.port })
      const { app, slack } = await openTeam(gate.port)
      const kept = await sendRed(app.url, [11, 12])
      gate.swallow()
      const beganAt = performance.now()
      const refused = await Promise.all([21, 22, 23].map((n) => send(app.url, delivery(redBuild(n)))))
      expect(refused.map(({ status }) => status)).toEqual([503, 503, 503])
      expect(performance.now() - beganAt).toBeLessThan(ANSWERED_MAX_MS)
      const requestedAt = performance.now()
      expect(await readyAt(app.url)).toMatchObject({ status: 503, store: 'unreachable', wrong: [WORDS] })
      expect((await fetch(`${app.url}/metrics`)).status).toBe(200)
      expect(performance.now() - requestedAt).toBeLessThan(READY_ANSWERED_MAX_MS)
      gate.open()
      await untilTaken(app.url, 13)
      await untilTold(slack, [999, ...kept, 13])
      for (const n of ['21', '22', '23']) expect(await storedBuilds()).not.toContain(n)
    },
    120_000,
  )

  it.runIf(IS_LONG)(
    'that is slow delays the answer to a delivery',
    async () => {
      const gate = await openGate({ host: '127.0.0.1', port: server!.port })
      const { app, slack } = await openTeam(gate.port)
      await sendRed(app.url, [31])
      gate.hold()
      const sending = sendRed(app.url, [32])
      expect(await readyAt(app.url)).toMatchObject({ status: 503 })
      gate.open()
      expect(await sending).toEqual([32])
      await untilTold(slack, [999, 31, 32])
    },
    60_000,
  )

  it.runIf(IS_LONG)(
    'whose connections break again and again loses and duplicates nothing that was acknowledged',
    async () => {
      const gate = await openGate({ host: '127.0.0.1', port: server!.port })
      const { app, slack } = await openTeam(gate.port)
      const kept: number[] = []
      for (let round = 0; round < 6; round++) {
        const sending = sendRed(app.url, [100 + round * 2, 101 + round * 2])
        gate.refuse()
        gate.open()
        kept.push(...(await sending))
      }
      await untilTaken(app.url, 199)
      await untilTold(slack, [999, ...kept, 199])
    },
    90_000,
  )
})

const WORDS: unknown = expect.stringMatching(
  /^The database does not answer: deliveries are refused with 503 until it does/,
)

/** Build 999 was shown there while everything was fine. */
const openTeam = async (port: number) => {
  const url = urlAt(port)
  await queryOnce(urlAt(server!.port), 'drop schema public cascade; create schema public')
  const stage = await openStage({
    slack: { rates: { timeScale: 20 } },
    settings: { DATABASE_URL: url, DEFAULT_CHANNEL: BUILDS },
  })
  await untilTaken(stage.app.url, 999)
  await untilTold(stage.slack, [999])
  return stage
}

const storedBuilds = async (): Promise<unknown[]> => {
  const rows = await queryOnce(urlAt(server!.port), 'select build_id from fact')
  return rows.map((row) => (row as { build_id: string }).build_id)
}
