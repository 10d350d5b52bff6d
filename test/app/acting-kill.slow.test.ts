import { describe, expect, it } from 'vitest'
import { ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { rowsOf, settled, until } from '../support/app.ts'
import {
  answersTo,
  openScene,
  press,
  pressAgain,
  pushRed,
  startBot,
  threadOf,
  type,
  type Scene,
  type Shown,
} from '../support/world.ts'
import { untilAnswered, untilCard, untilKnown, untilThread, writesTo } from '../support/world.ts'

const { builds: BUILDS, elsewhere: ELSEWHERE } = CHANNELS
const { ada, grace, lin } = PEOPLE

const NOTHING_DONE = ['Interrupted', 'Nothing was done', 'Try again']

const statesIn = ({ folder }: Scene) => rowsOf(folder, 'select state from interaction').map(({ state }) => state)
const requestsIn = ({ folder }: Scene) => rowsOf(folder, 'select action, state from request')

/** A running and a failed build. Slack does not say who people are while requests arrive. */
async function openSlow(): Promise<{
  scene: Scene
  running: Shown
  failed: Shown
  bot: Awaited<ReturnType<typeof startBot>>
}> {
  const scene = await openScene({ ci: { switches: { stopIsForgotten: true, restartOutcome: 'none' } } })
  const bot = await startBot(scene)
  scene.ci.push('acme/web', { outcome: 'none' })
  await pushRed(scene, 'acme/api')
  const running = await untilCard(scene, ['Running', 'acme/web'], ACTION_IDS.stop)
  const failed = await untilCard(scene, ['Failed', 'acme/api'], ACTION_IDS.restart)
  await untilKnown(scene, 2)
  scene.slack.faults.add({ kind: 'slow', method: 'users.info', ms: 60_000 })
  return { scene, running, failed, bot }
}

describe('a process that is killed after the acknowledgement, before it has done anything', () => {
  it('leaves requests to the next one, which tells each requester once that nothing was done', async () => {
    const { scene, running, failed, bot } = await openSlow()
    expect(await press(scene, lin, running, ACTION_IDS.stop)).toMatchObject({ status: 200 })
    expect(await press(scene, grace, failed, ACTION_IDS.restart)).toMatchObject({ status: 200 })
    expect(await type(scene, ada, '/ci stop acme/web')).toMatchObject({ status: 200 })
    expect(statesIn(scene)).toEqual(['owed', 'owed', 'owed'])
    bot.kill('SIGKILL')
    await bot.exit
    expect(requestsIn(scene)).toEqual([])
    scene.slack.faults.clear()
    const before = [ada, grace, lin].map((user) => answersTo(scene, user).length)
    await startBot(scene)
    await untilAnswered(scene, lin, [...NOTHING_DONE, 'Stop of #501'])
    await untilAnswered(scene, grace, [...NOTHING_DONE, 'Restart of #502'])
    await untilAnswered(scene, ada, [...NOTHING_DONE, '/ci stop acme/web'])
    await until('all are known to be told', () => statesIn(scene).every((state) => state === 'told'))
    expect([ada, grace, lin].map((user, i) => answersTo(scene, user).length - before[i]!)).toEqual([1, 1, 1])
    expect([...writesTo(scene.ci, 'stop'), ...writesTo(scene.ci, 'restart')]).toEqual([])
    expect(threadOf(scene, running)).toEqual([])
    // There is nobody left to tell, and a new click works.
    await pressAgain(scene, lin, running, ACTION_IDS.stop)
    await untilThread(scene, running, `Stop requested by <@${lin}>`)
    expect(writesTo(scene.ci, 'stop')).toHaveLength(1)
  })

  it('leaves nothing to do for a repeated mention, since its requester was told', async () => {
    const { scene, running, bot } = await openSlow()
    const { people } = scene.slack
    const event = { type: 'app_mention', user: lin, channel: BUILDS, thread_ts: running.ts, text: '<@U0BUILDBOT> stop' }
    await people.sendEvent({ ...event, ts: '1.000001' }, { eventId: 'Ev0STOP001' })
    bot.kill('SIGKILL')
    await bot.exit
    scene.slack.faults.clear()
    const next = await startBot(scene)
    await untilAnswered(scene, lin, [...NOTHING_DONE, '@buildline stop'])
    await until('it is known to be told', () => statesIn(scene).join() === 'told')
    await people.sendEvent({ ...event, ts: '1.000001' }, { eventId: 'Ev0STOP001', retryNum: 1 })
    await settled(await next.url())
    expect(answersTo(scene, lin)).toHaveLength(1)
    expect(requestsIn(scene)).toEqual([])
    expect(writesTo(scene.ci, 'stop')).toEqual([])
  })

  it('leaves a requester who is told in a direct message if the bot is not in the channel', async () => {
    const { scene, bot } = await openSlow()
    await type(scene, ada, '/ci stop acme/web', ELSEWHERE)
    bot.kill('SIGKILL')
    await bot.exit
    scene.slack.faults.clear()
    scene.slack.faults.add({ kind: 'error', method: 'response_url', error: 'expired_url' })
    await startBot(scene)
    await until('it is known to be told', () => statesIn(scene).join() === 'told')
    expect(scene.slack.counters.calls('chat.postMessage', 'ok')).toBeGreaterThan(0)
    const direct = [...scene.slack.workspace.channels.values()].find(({ id }) => id.startsWith('D'))
    expect(scene.slack.transcript(direct!.id)).toContain('Nothing was done')
  })
})

describe("a process that is killed during CI's call", () => {
  it('leaves a requester who is told that the request is recorded, and CI is not called again', async () => {
    const { scene, running, bot } = await openSlow()
    scene.slack.faults.clear()
    scene.ci.addFault({ kind: 'hang', where: 'v2', times: 1 })
    await press(scene, lin, running, ACTION_IDS.stop)
    await until('CI is asked to stop', () => writesTo(scene.ci, 'stop').length === 1)
    bot.kill('SIGKILL')
    await bot.exit
    await startBot(scene)
    await untilAnswered(scene, lin, ['Interrupted', 'is recorded', 'no need to ask again'])
    await untilThread(scene, running, `Stop requested by <@${lin}>`)
    expect(writesTo(scene.ci, 'stop')).toHaveLength(1)
  })
})

describe('a process that is told to stop', () => {
  it('tells every unanswered requester, exits with 0, and the next one tells nobody again', async () => {
    const { scene, running, bot } = await openSlow()
    scene.slack.faults.clear()
    scene.ci.push('acme/api', { outcome: 'none' })
    const other = await untilCard(scene, ['Running', 'acme/api'], ACTION_IDS.stop)
    scene.ci.addFault({ kind: 'hang', where: 'v2' })
    await press(scene, lin, running, ACTION_IDS.stop)
    await until('CI is asked to stop', () => writesTo(scene.ci, 'stop').length === 1)
    // The ids of the build are looked up there before anything is recorded.
    scene.ci.addFault({ kind: 'hang', where: 'legacy' })
    await press(scene, grace, other, ACTION_IDS.stop)
    bot.kill('SIGTERM')
    expect(await bot.exit).toEqual({ code: 0, signal: null })
    await untilAnswered(scene, grace, NOTHING_DONE)
    await untilAnswered(scene, lin, ['Interrupted', 'is recorded', 'no need to ask again'])
    expect(statesIn(scene)).toEqual(['told', 'told'])
    const told = [grace, lin].map((user) => answersTo(scene, user).length)
    await startBot(scene)
    await untilThread(scene, running, `Stop requested by <@${lin}>`, 'not clear yet')
    expect([grace, lin].map((user) => answersTo(scene, user).length)).toEqual(told)
    expect(writesTo(scene.ci, 'stop')).toHaveLength(1)
  }, 60_000)

  it('leaves that to the next one if Slack does not answer either', async () => {
    const { scene, running, bot } = await openSlow()
    scene.slack.faults.add({ kind: 'slow', ms: 60_000 })
    await press(scene, lin, running, ACTION_IDS.stop)
    bot.kill('SIGTERM')
    expect(await bot.exit).toEqual({ code: 0, signal: null })
    expect(statesIn(scene)).toEqual(['given-up'])
    scene.slack.faults.clear()
    await startBot(scene)
    await untilAnswered(scene, lin, NOTHING_DONE)
    expect(requestsIn(scene)).toEqual([])
  }, 60_000)
})
