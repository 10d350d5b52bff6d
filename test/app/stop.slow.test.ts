import { describe, expect, it } from 'vitest'
import { buildOf, delivery, prepareStage, rowsOf, send, sendAll, until, WEBHOOK_SECRET } from '../support/app.ts'
import { startProcess, type Process } from '../support/process.ts'
import { head, openWire, statuses } from '../support/wire.ts'
import { startCi } from '../../packages/sandbox-ci/test/support.ts'
import { BUILDS, headlines, OPS, saidIn, untilSaid, WEB } from './channel.ts'

/** Requests in flight have 10 s to end, and the process a moment to exit. */
const STOP_MS_MAX = 11_500

const EVERYBODY = [BUILDS, WEB, OPS].map((channel) => `{ channel: ${channel}, project: all }`)
const CLEAN = { code: 0, signal: null }

async function stopped(bot: Process, signal: NodeJS.Signals = 'SIGTERM') {
  const sinceMs = Date.now()
  bot.kill(signal)
  const exit = await bot.exit
  return { exit, tookMs: Date.now() - sinceMs }
}

describe('a process that is told to stop', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('by %s exits at once with 0 if nothing is in flight', async (signal) => {
    const { folder, settings } = await prepareStage({ subscriptions: EVERYBODY })
    const bot = startProcess(folder, settings)
    const url = await bot.url()
    await sendAll(url, { status: 'initiated' })
    const { exit, tookMs } = await stopped(bot, signal)
    expect(exit).toEqual(CLEAN)
    expect(tookMs).toBeLessThan(5_000)
  })

  it('keeps working, and exits, even if nobody reads its log', async () => {
    const { folder, settings } = await prepareStage({ subscriptions: EVERYBODY })
    const bot = startProcess(folder, settings)
    const url = await bot.url()
    bot.leaveOutput()
    // A pipe holds 64 KB, and a line has at least 200 bytes: this is more than twice as much.
    for (let n = 1; n <= 35; n++) await sendAll(url, ...Array.from({ length: 20 }, () => ({ message: `${n}` })))
    const { exit, tookMs } = await stopped(bot)
    expect(exit).toEqual(CLEAN)
    expect(tookMs).toBeLessThan(8_000)
  })

  it('finishes its calls to Slack, and the next process repeats and loses nothing', async () => {
    const { folder, settings, slack } = await prepareStage({ subscriptions: EVERYBODY })
    const bot = startProcess(folder, settings)
    const url = await bot.url()
    slack.faults.add({ kind: 'slow', ms: 2_000 })
    await sendAll(url, ...[1, 2, 3].map((n) => buildOf(n, { status: 'error' })))
    await until('calls are under way', () => saidIn(slack, BUILDS).length > 0)
    const { exit, tookMs } = await stopped(bot)
    expect(exit).toEqual(CLEAN)
    expect(tookMs).toBeLessThan(STOP_MS_MAX)
    expect(rowsOf(folder, `select * from message where state = 'claimed'`)).toEqual([])
    slack.faults.clear()
    startProcess(folder, settings)
    const all = ['Failed acme/web #1', 'Still failing acme/web #2', 'Still failing acme/web #3']
    for (const channel of [BUILDS, WEB, OPS])
      await until('all is told', () => JSON.stringify(headlines(slack, channel).sort()) === JSON.stringify(all))
  })

  it('answers the delivery that is arriving', async () => {
    const { folder, settings } = await prepareStage()
    const bot = startProcess(folder, settings)
    const wire = openWire(await bot.url())
    const body = JSON.stringify(delivery())
    wire.write(
      head(`/webhooks/builds/${WEBHOOK_SECRET}`, { 'content-type': 'application/json', 'content-length': body.length }),
    )
    wire.write(body.slice(0, 100))
    await send(await bot.url(), 'the half one has arrived')
    bot.kill('SIGTERM')
    await until('it is stopping', () => bot.output().includes('"stopping"'))
    wire.write(body.slice(100))
    expect(await bot.exit).toEqual(CLEAN)
    await wire.closed
    expect(statuses(wire)).toEqual([202])
    expect(rowsOf(folder, 'select word from fact')).toEqual([{ word: 'initiated' }])
  })

  it('waits at most 10 s for a sender that never ends and for a Slack that never answers', async () => {
    const { folder, settings, slack } = await prepareStage({ subscriptions: EVERYBODY })
    const bot = startProcess(folder, settings)
    const url = await bot.url()
    slack.faults.add({ kind: 'slow', ms: 60_000 })
    const wire = openWire(url)
    wire.write(
      head(`/webhooks/builds/${WEBHOOK_SECRET}`, { 'content-type': 'application/json', 'content-length': 500 }),
    )
    await sendAll(url, { status: 'error' })
    await until('a call is under way', () => saidIn(slack, BUILDS).length > 0)
    const { exit, tookMs } = await stopped(bot)
    expect(exit).toEqual(CLEAN)
    expect(tookMs).toBeLessThan(STOP_MS_MAX)
    slack.faults.clear()
    startProcess(folder, settings)
    await untilSaid(slack, BUILDS, ['Failed acme/web #512'])
  }, 60_000)

  it('waits at most 10 s for a CI that never answers', async () => {
    const ci = await startCi()
    ci.addFault({ kind: 'hang', where: 'all' })
    const { baseUrl, organizationUuid, authorization } = ci.address()
    const { folder, settings } = await prepareStage({
      settings: { CI_BASE_URL: baseUrl, CI_ORGANIZATION_UUID: organizationUuid, CI_AUTHORIZATION: authorization },
    })
    const bot = startProcess(folder, settings)
    await bot.url()
    await until('CI was called', () => ci.calls().length > 0)
    const { exit, tookMs } = await stopped(bot)
    expect(exit).toEqual(CLEAN)
    expect(tookMs).toBeLessThan(STOP_MS_MAX)
  })

  it('logs no error', async () => {
    const { folder, settings, slack } = await prepareStage({ subscriptions: EVERYBODY })
    const bot = startProcess(folder, settings)
    await sendAll(await bot.url(), ...[1, 2, 3, 4].map((n) => buildOf(n, { status: 'error' })))
    await until('some of it is told', () => saidIn(slack, BUILDS).length > 0)
    expect((await stopped(bot)).exit).toEqual(CLEAN)
    expect(
      bot
        .output()
        .split('\n')
        .filter((line) => /"level":(?:50|60)/.test(line)),
    ).toEqual([])
    expect(bot.output()).toContain('buildline is down')
  })
})
