import { describe, expect, it } from 'vitest'
import { DEMO_MAX_MS, openDemo, startDemo } from '../../../../test/support/demo.ts'

/** The process of the bot that runs now, as the demo named it. */
const botOf = (output: string): number => Number([...output.matchAll(/\bpid (\d+)(?::|\.)/g)].at(-1)![1])

describe('the demo', { timeout: DEMO_MAX_MS }, () => {
  it('loses and doubles nothing when its bot is killed while a build runs, before a channel follows, and in the burst', async () => {
    const demo = startDemo('--once')
    for (const act of ['2. A push', '7. Lin types', '9. A burst']) {
      await demo.says(act)
      process.kill(botOf(demo.output()), 'SIGKILL')
    }
    expect([await demo.exit, demo.output()]).toEqual([0, expect.stringContaining('lost 0 · doubled 0 · wrong 0')])
    expect(demo.output().match(/was ended by SIGKILL; it is started again as pid \d+\.\n/g)).toHaveLength(3)
  })
})

describe('the page', () => {
  it('is opened with a word on how long it plays; interrupted, the demo ends with 0', async () => {
    const demo = startDemo('--port', '0')
    await demo.says('for about a minute')
    const page = /Open +(\S+)/.exec(demo.output())![1]!
    expect((await fetch(page)).status).toBe(200)
    demo.interrupt()
    expect(await demo.exit).toBe(0)
    expect(demo.output()).not.toContain('was ended')
  })
})

describe('the plug', { timeout: DEMO_MAX_MS }, () => {
  it('is pulled in a storm, and nothing is lost or doubled; a reset begins anew; interrupted, all of it ends with 0', async () => {
    const demo = await openDemo()
    const begun = await demo.state()
    await demo.post('ci/projects/acme%2Fweb/storm', { builds: 4, failEvery: 2, ms: 500 })
    await demo.reaches('the first is told', ({ watched: { standing } }) => standing.right > 0)
    await demo.post('panel/plug', { isIn: false })
    await demo.reaches('the bot is down', ({ watched: { bot } }) => bot.state === 'unplugged')
    await demo.post('ci/projects/acme%2Fapi/push', { outcome: 'error', ms: 0 })
    await demo.reaches('the news is not taken', ({ watched: { standing } }) => standing.notTaken > 0)
    expect(await demo.state()).toMatchObject({ watched: { queue: null, bot: { starts: 1 }, standing: { lost: [] } } })
    await demo.post('panel/plug', { isIn: true })
    await demo.reaches('all five are told', ({ watched: { standing } }) => standing.right === 5)
    expect((await demo.state()).watched).toMatchObject({
      bot: { state: 'running', starts: 2 },
      lag: { medianMs: expect.any(Number), oldestMs: null },
      standing: { lost: [], doubled: [], wrong: [], onTheWay: 0, notTaken: 0 },
    })

    expect(await demo.post('panel/reset')).toBe(202)
    await demo.reaches('another demo is there', ({ startedAt }) => startedAt > begun.startedAt)
    const { buildsTotal, watched } = await demo.state()
    expect([buildsTotal, watched.bot.starts, watched.standing.right]).toEqual([0, 1, 0])
    await demo.post('panel/plug', { isIn: false })
    demo.interrupt()
    expect(await demo.exit).toBe(0)
  })
})
