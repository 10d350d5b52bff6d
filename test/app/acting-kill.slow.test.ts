import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { databasePath, rowsOf, settled, until } from '../support/app.ts'
import { LATE_MAX_MS } from '../../src/features/kit/pending-interactions.ts'
import {
  answersTo,
  openScene,
  press,
  pressAgain,
  pushRed,
  startBot,
  type,
  type Scene,
  type Shown,
} from '../support/world.ts'
import { untilAnswered, untilCard, untilKnown, untilThread, writesTo } from '../support/world.ts'

const { builds: BUILDS, elsewhere: ELSEWHERE } = CHANNELS
const { ada, grace, lin } = PEOPLE

const NOTHING_DONE = ['Interrupted', 'Nothing was done', 'Try again']

const mentioned = ({ ts }: Shown, text: string) => ({
  type: 'app_mention',
  user: lin,
  channel: BUILDS,
  ts: '1.000001',
  thread_ts: ts,
  text: `<@U0BUILDBOT> ${text}`,
})

const answersOf = (scene: Scene, ...users: readonly string[]) => users.map((user) => answersTo(scene, user).length)

/** Makes everything that people have requested too old to be carried out. */
function age({ folder }: Scene): void {
  using db = new DatabaseSync(databasePath(folder))
  db.exec(`update interaction set received_at = received_at - ${LATE_MAX_MS}`)
}

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
  scene.ci.push('acme/web', { branch: 'release-1', outcome: 'none' })
  await untilCard(scene, ['Running', 'release-1'])
  await untilKnown(scene, 3)
  scene.slack.faults.add({ kind: 'slow', method: 'users.info', ms: 60_000 })
  return { scene, running, failed, bot }
}

describe('a process that is killed after the acknowledgement, before it has done anything', () => {
  it('leaves what it acknowledged to the next one, which does it: clicks, commands and mentions, once', async () => {
    const { scene, running, failed, bot } = await openSlow()
    const { people } = scene.slack
    expect(await press(scene, lin, running, ACTION_IDS.stop)).toMatchObject({ status: 200 })
    expect(await press(scene, grace, failed, ACTION_IDS.restart)).toMatchObject({ status: 200 })
    expect(await type(scene, ada, '/ci stop acme/web@release-1')).toMatchObject({ status: 200 })
    await people.sendEvent(mentioned(failed, 'status'), { eventId: 'Ev0STATUS1' })
    bot.kill('SIGKILL')
    await bot.exit
    expect(statesIn(scene)).toEqual(['owed', 'owed', 'owed', 'owed'])
    expect(requestsIn(scene)).toEqual([])
    scene.slack.faults.clear()
    const next = await startBot(scene)
    await untilAnswered(scene, lin, ['Stop requested', '#501'])
    await untilAnswered(scene, grace, ['Restart requested', '#502'])
    await untilAnswered(scene, ada, ['Stop requested', '#503'])
    await untilAnswered(scene, lin, ['Failed', '#502'])
    await untilThread(scene, running, `Stop requested by <@${lin}>`)
    await until('nothing is owed', () => statesIn(scene).length === 0)
    for (const what of [`click ${ACTION_IDS.stop}`, `click ${ACTION_IDS.restart}`, 'command /ci', 'event app_mention'])
      expect(await people.resend(what)).toMatchObject({ status: 200 })
    await settled(await next.url())
    expect(answersOf(scene, ada, grace, lin)).toEqual([1, 1, 2])
    expect(writesTo(scene.ci, 'stop')).toHaveLength(2)
    expect(writesTo(scene.ci, 'restart')).toHaveLength(1)
  })

  it('does nothing any more for a build that has changed, a form, or a person without the right: they are told', async () => {
    const { scene, running, bot } = await openSlow()
    await type(scene, grace, '/ci restart acme/api')
    await type(scene, ada, '/ci subscribe')
    await press(scene, lin, running, ACTION_IDS.stop)
    // Another build fails, which Grace has not seen.
    await pushRed(scene, 'acme/api')
    await untilCard(scene, ['Still failing', 'acme/api', '#504'])
    bot.kill('SIGKILL')
    await bot.exit
    scene.slack.faults.clear()
    await startBot({ ...scene, settings: { ...scene.settings, CI_OPERATORS: `${ada},${grace}` } })
    await untilAnswered(scene, lin, ['Not allowed', 'stop builds'])
    await untilAnswered(scene, ada, ['Interrupted', '/ci subscribe'])
    await untilAnswered(scene, grace, [...NOTHING_DONE, '/ci restart acme/api'])
    await until('nothing is owed', () => statesIn(scene).length === 0)
    expect([...writesTo(scene.ci, 'stop'), ...writesTo(scene.ci, 'restart')]).toEqual([])
  })

  it('leaves what is older than a minute to the next one, which says once that nothing was done', async () => {
    const { scene, running, bot } = await openSlow()
    expect(await press(scene, lin, running, ACTION_IDS.stop)).toMatchObject({ status: 200 })
    await scene.slack.people.sendEvent(mentioned(running, 'stop'), { eventId: 'Ev0STOP001' })
    bot.kill('SIGKILL')
    await bot.exit
    scene.slack.faults.clear()
    age(scene)
    const next = await startBot(scene)
    await untilAnswered(scene, lin, [...NOTHING_DONE, 'Stop of #501'])
    await untilAnswered(scene, lin, [...NOTHING_DONE, '@buildline stop'])
    await until('all are known to be told', () => statesIn(scene).every((state) => state === 'told'))
    expect(await scene.slack.people.resend(`click ${ACTION_IDS.stop}`)).toMatchObject({ status: 200 })
    expect(await scene.slack.people.resend('event app_mention')).toMatchObject({ status: 200 })
    await settled(await next.url())
    expect(answersOf(scene, lin)).toEqual([2])
    expect(requestsIn(scene)).toEqual([])
    expect(writesTo(scene.ci, 'stop')).toEqual([])
    // A new click works.
    await pressAgain(scene, lin, running, ACTION_IDS.stop)
    await untilThread(scene, running, `Stop requested by <@${lin}>`)
    expect(writesTo(scene.ci, 'stop')).toHaveLength(1)
  })

  it('leaves a requester who is told in a direct message if the bot is not in the channel', async () => {
    const { scene, bot } = await openSlow()
    await type(scene, ada, '/ci stop acme/web', ELSEWHERE)
    bot.kill('SIGKILL')
    await bot.exit
    age(scene)
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
