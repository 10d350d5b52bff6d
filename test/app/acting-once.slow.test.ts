import { describe, expect, it } from 'vitest'
import { ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { rowsOf, settled, until } from '../support/app.ts'
import { answersTo, openScene, openWorld, press, pushRed, startBot, threadOf, untilAnswered } from '../support/world.ts'
import { untilCard, untilThread, writesTo, type Shown, type World } from '../support/world.ts'

const { builds: BUILDS } = CHANNELS
const { ada, grace, lin } = PEOPLE

/** A running build, and a CI that is slow to stop it. */
async function openRunning(): Promise<{ world: World; card: Shown }> {
  const world = await openWorld({ ci: { switches: { stopIsForgotten: true } } })
  world.ci.push('acme/web', { outcome: 'none' })
  const card = await untilCard(world, ['Running'], ACTION_IDS.stop)
  world.ci.addFault({ kind: 'slow', ms: 300, where: 'v2' })
  return { world, card }
}

const told = (world: World, user: string, words: string): Shown[] =>
  answersTo(world, user).filter(({ text }) => text.includes(words))

describe('CI is called once', () => {
  it('for a double click, which has one answer', async () => {
    const { world, card } = await openRunning()
    await Promise.all([press(world, lin, card, ACTION_IDS.stop), press(world, lin, card, ACTION_IDS.stop)])
    await untilAnswered(world, lin, ['CI accepted the request.'])
    await untilThread(world, card, 'Stop requested')
    await settled(world.app.url)
    expect(answersTo(world, lin)).toHaveLength(1)
    expect([writesTo(world.ci, 'stop').length, threadOf(world, card).length]).toEqual([1, 1])
  })

  it('for two concurrent people: one is told about the other', async () => {
    const { world, card } = await openRunning()
    const people = [ada, grace] as const
    await Promise.all(people.map((user) => press(world, user, card, ACTION_IDS.stop)))
    await until('both are answered', () => people.every((user) => told(world, user, 'requested').length === 1))
    const [second] = people.filter((user) => told(world, user, 'Stop was already requested').length === 1)
    const first = second === ada ? grace : ada
    expect(told(world, second!, `<@${first}> asked for it`)).toHaveLength(1)
    await untilThread(world, card, `Stop requested by <@${first}>`)
    expect([writesTo(world.ci, 'stop').length, threadOf(world, card).length]).toEqual([1, 1])
  })

  it.each(['while it is under way', 'after it was answered'])('for a request that is replayed %s', async (when) => {
    const { world, card } = await openRunning()
    await press(world, lin, card, ACTION_IDS.stop)
    if (when.startsWith('after')) await untilAnswered(world, lin, ['CI accepted the request'])
    expect(await world.slack.people.replay(`click ${ACTION_IDS.stop}`)).toMatchObject({ status: 200 })
    await untilAnswered(world, lin, ['CI accepted the request'])
    await settled(world.app.url)
    expect(told(world, lin, 'already')).toEqual([])
    expect(writesTo(world.ci, 'stop')).toHaveLength(1)
  })

  it('for a mention that Slack delivers twice', async () => {
    const { world, card } = await openRunning()
    const event = { type: 'app_mention', user: lin, channel: BUILDS, thread_ts: card.ts, text: '<@U0BUILDBOT> stop' }
    const { people } = world.slack
    await people.sendEvent({ ...event, ts: '1.000001' }, { eventId: 'Ev0STOP001' })
    await people.sendEvent({ ...event, ts: '1.000001' }, { eventId: 'Ev0STOP001', retryNum: 1 })
    await untilAnswered(world, lin, ['CI accepted the request'])
    // After a restart of the bot, only the database knows the event.
    await world.restartApp()
    await people.sendEvent({ ...event, ts: '1.000001' }, { eventId: 'Ev0STOP001', retryNum: 2 })
    await settled(world.app.url)
    expect(told(world, lin, 'already')).toEqual([])
    expect(writesTo(world.ci, 'stop')).toHaveLength(1)
  })

  it('for a restart of one attempt, however often it is clicked, and again for the next attempt', async () => {
    const world = await openWorld({ ci: { switches: { restartOutcome: 'error', buildMs: 20 } } })
    await pushRed(world)
    const card = await untilCard(world, ['Failed'], ACTION_IDS.restart)
    await Promise.all([ada, grace, lin].map((user) => press(world, user, card, ACTION_IDS.restart)))
    await untilCard(world, ['Failed', 'attempt 2'], ACTION_IDS.restart)
    expect(writesTo(world.ci, 'restart')).toHaveLength(1)
    await press(world, ada, card, ACTION_IDS.restart)
    await untilCard(world, ['Failed', 'attempt 3'], ACTION_IDS.restart)
    expect(writesTo(world.ci, 'restart')).toHaveLength(2)
  })
})

describe('a process that is killed between recording and answering', () => {
  it('has called CI once; the next one looks up the outcome, and the thread says so', async () => {
    const scene = await openScene({ ci: { switches: { stopMs: 0, restartKeepsId: false, buildMs: 20 } } })
    const { ci } = scene
    const bot = await startBot(scene)
    ci.push('acme/web', { outcome: 'none' })
    await pushRed(scene, 'acme/api')
    const running = await untilCard(scene, ['Running', 'acme/web'], ACTION_IDS.stop)
    const failed = await untilCard(scene, ['Failed', 'acme/api'], ACTION_IDS.restart)
    ci.addFault({ kind: 'hang', where: 'v2', times: 1 })
    await press(scene, ada, running, ACTION_IDS.stop)
    await until('CI is asked to stop', () => writesTo(ci, 'stop').length === 1)
    ci.addFault({ kind: 'hang', where: 'legacy', method: 'POST', times: 1 })
    await press(scene, grace, failed, ACTION_IDS.restart)
    await until('CI is asked to restart', () => writesTo(ci, 'restart').length === 1)
    bot.kill('SIGKILL')
    await bot.exit
    expect(rowsOf(scene.folder, 'select state from request')).toEqual([{ state: 'calling' }, { state: 'calling' }])
    // CI got both calls, and its deliveries are lost: only a look-up shows the outcome.
    ci.setSwitches({ holdDeliveries: true })
    ci.stopBuild('501')
    ci.restart('502', 'success')
    await startBot(scene)
    await untilThread(scene, running, `Stop requested by <@${ada}>`, 'Stopped')
    await untilThread(scene, failed, `Restart requested by <@${grace}>`, 'attempt 2 is #503')
    await untilCard(scene, ['Stopped', 'acme/web'])
    await untilCard(scene, ['flaky', 'acme/api'])
    expect([writesTo(ci, 'stop').length, writesTo(ci, 'restart').length]).toEqual([1, 1])
    const states = () => rowsOf(scene.folder, 'select state from request').map(({ state }) => state)
    await until('both are confirmed', () => states().every((state) => state === 'confirmed'))
  })
})
