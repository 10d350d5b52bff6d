import { describe, expect, it } from 'vitest'
import { buildOf, delivery, send, settingsWith, settled, testFolder, until } from '../../support/app.ts'
import { queryOnce, startOwnPostgres, startPostgres } from '../../support/postgres.ts'
import { startProcess } from '../../support/process.ts'

async function startOn(database: string) {
  const bot = startProcess(testFolder(), settingsWith('', { DATABASE_URL: database, LOG_LEVEL: 'info' }))
  const url = await bot.url()
  await until('it takes deliveries', async () => (await send(url, delivery())).status === 202)
  await settled(url)
  return { bot, url }
}

describe('a database server', () => {
  it('that goes away while the process is up makes the endpoint answer 503, and the process stays up', async (test) => {
    const server = await startOwnPostgres()
    if ('impossible' in server) return test.skip(server.impossible)
    const { url } = await startOn(await server.createDatabase())
    await server[Symbol.asyncDispose]()
    const refused = await send(url, delivery(buildOf(2)))
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([503, true])
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    expect((await fetch(`${url}/readyz`)).status).toBe(503)
  })

  it('that is empty has its tables when the port opens, so each of two processes can accept the first delivery', async (test) => {
    const server = await startPostgres()
    if ('impossible' in server) return test.skip(server.impossible)
    const settings = settingsWith('', { DATABASE_URL: await server.createDatabase() })
    const bots = [1, 2].map(() => startProcess(testFolder(), settings))
    const answers = bots.map(async (bot, i) => (await send(await bot.url(), delivery(buildOf(i + 1)))).status)
    expect(await Promise.all(answers)).toEqual([202, 202])
  })

  // A client that is checked out but idle has no listener for its `error` event.
  it('that closes connections in the middle of work does not end the process', { timeout: 60_000 }, async (test) => {
    const server = await startPostgres()
    if ('impossible' in server) return test.skip(server.impossible)
    const database = await server.createDatabase()
    const { bot, url } = await startOn(database)
    const cut = `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
    try {
      for (let n = 1; n <= 150; n++) {
        const sending = [1, 2, 3, 4, 5, 6].map((more) => send(url, delivery(buildOf(n * 10 + more))))
        await queryOnce(database, cut)
        for (const { status } of await Promise.all(sending)) expect([202, 503]).toContain(status)
      }
    } finally {
      bot.kill('SIGKILL')
      await bot.exit
      await server[Symbol.asyncDispose]()
    }
  })
})
