import { describe, expect, it } from 'vitest'
import { ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { delivery, send, settled, until } from '../support/app.ts'
import { answersTo, openScene, openWorld, press, startBot, type, untilAnswered, untilCard } from '../support/world.ts'
import { untilSocket, untilThread, writesTo, type World } from '../support/world.ts'

const { ada, grace, lin } = PEOPLE

/** After Slack's warning, a new connection must be open within this time. */
const RECONNECTED_MS_MAX = 2_000

async function openRunning(): Promise<{ world: World; card: { ts: string } }> {
  const world = await openWorld({ socketMode: true })
  world.ci.push('acme/web', { outcome: 'none' })
  return { world, card: await untilCard(world, ['Running'], ACTION_IDS.stop) }
}

describe('in Socket Mode', () => {
  it('a build is stopped and restarted, and projects are listed, as over HTTP', async () => {
    const { world, card } = await openRunning()
    expect(await press(world, lin, card, ACTION_IDS.stop)).toMatchObject({ kind: 'answered', status: 200 })
    await untilAnswered(world, lin, ['Stop requested'])
    await untilThread(world, card, `Stop requested by <@${lin}>`, 'Stopped')
    await press(world, grace, await untilCard(world, ['Stopped'], ACTION_IDS.restart), ACTION_IDS.restart)
    await untilThread(world, card, `Restart requested by <@${grace}>`, 'attempt 2')
    await type(world, ada, '/ci list')
    await untilAnswered(world, ada, ['3 projects', 'acme/web · Basic'])
    expect([writesTo(world.ci, 'stop').length, writesTo(world.ci, 'restart').length]).toEqual([1, 1])
  })

  it('the endpoint for CI is open, and the one for Slack is closed', async () => {
    const { world } = await openRunning()
    expect(await send(world.app.url, delivery({ build_id: 900 }))).toMatchObject({ status: 202 })
    expect(await send(world.app.url, {}, { path: '/slack/events' })).toMatchObject({ status: 404 })
  })

  it('a double click is one call with one answer', async () => {
    const { world, card } = await openRunning()
    world.ci.addFault({ kind: 'slow', ms: 300, where: 'v2', times: 1 })
    await Promise.all([press(world, lin, card, ACTION_IDS.stop), press(world, lin, card, ACTION_IDS.stop)])
    await untilAnswered(world, lin, ['CI accepted the request.'])
    await settled(world.app.url)
    expect([writesTo(world.ci, 'stop').length, answersTo(world, lin).length]).toEqual([1, 1])
  })

  it('no click is lost when Slack closes the connection, since a new one opens at once', async () => {
    const { world, card } = await openRunning()
    const { sockets } = world.slack
    const saidAt = Date.now()
    sockets.refresh()
    // Clicked in the moment when there is no other connection yet.
    expect(await press(world, lin, card, ACTION_IDS.stop)).toMatchObject({ kind: 'answered', status: 200 })
    await until('a new connection stands beside the old one', () => sockets.count() === 2)
    expect(Date.now() - saidAt).toBeLessThan(RECONNECTED_MS_MAX)
    // One click after the other, until the old connection is gone and the new one alone is used.
    for (let isOld = true; isOld;) {
      isOld = sockets.count() === 2
      expect(await type(world, ada, '/ci help')).toMatchObject({ kind: 'answered', status: 200 })
    }
    await untilAnswered(world, lin, ['Stop requested'])
    expect([sockets.count(), writesTo(world.ci, 'stop').length]).toEqual([1, 1])
  })
})

describe('a process that is told to stop while it handles a click', () => {
  it.each([
    ['over HTTP', false],
    ['over a socket', true],
  ])('(%s) calls CI once, answers and exits with 0', async (_, socketMode) => {
    const scene = await openScene({ socketMode })
    const bot = await startBot(scene)
    if (socketMode) await untilSocket(scene)
    scene.ci.push('acme/web', { outcome: 'none' })
    const card = await untilCard(scene, ['Running'], ACTION_IDS.stop)
    scene.ci.addFault({ kind: 'slow', ms: 1_000, where: 'v2', times: 1 })
    expect(await press(scene, lin, card, ACTION_IDS.stop)).toMatchObject({ kind: 'answered', status: 200 })
    bot.kill('SIGTERM')
    expect(await bot.exit).toEqual({ code: 0, signal: null })
    await untilAnswered(scene, lin, ['Stop requested', 'CI accepted the request'])
    expect(writesTo(scene.ci, 'stop')).toMatchObject([{ statusCode: 202 }])
    // The next process shows the outcome, which it may be the first to receive.
    await startBot(scene)
    await untilThread(scene, card, `Stop requested by <@${lin}>`)
  })
})
