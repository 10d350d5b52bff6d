import { describe, expect, it } from 'vitest'
import { systemClock as clock } from '../../../../src/lib/clock.ts'
import type { SandboxCi } from '../../../sandbox-ci/src/server.ts'
import type { Message } from '../../../sandbox-slack/src/messages.ts'
import { CHANNELS, PEOPLE } from '../../../sandbox-slack/src/workspace.ts'
import {
  ask,
  awaitCard,
  awaitOwner,
  cardsOf,
  messagesIn,
  ownerOn,
  press,
  push,
  TRIES_MAX,
  type Stage,
} from '../../src/stage.ts'
import { NOBODY, rowsOf, until } from '../../../../test/support/app.ts'
import { openScene, openWorld, startBot, untilCard, writesTo } from '../../../../test/support/world.ts'

const { builds: BUILDS, ops: OPS } = CHANNELS

async function openStage(): Promise<Stage & { ci: SandboxCi }> {
  const { ci, slack } = await openWorld({ slack: { rates: 'off' } })
  return { ci, slack, clock, lookMs: 0 }
}

describe('people on the stage', () => {
  it('press a button of a card once it is there, and CI is called', async () => {
    const stage = await openStage()
    const build = push(stage.ci, 'acme/web', { outcome: 'error', ms: 0 })
    await until('the build has failed', () => stage.ci.state().builds[0]?.status === 'error')
    await press(stage, { by: PEOPLE.lin, label: 'Restart', build })
    await untilCard(stage, ['Passed on attempt 2 (flaky)', 'acme/web #501'])
    expect(writesTo(stage.ci, 'restart')).toHaveLength(1)
  })

  it('press nothing when somebody was quicker', async () => {
    const stage = await openStage()
    const build = push(stage.ci, 'acme/web', { outcome: 'none' })
    const pressed = press(stage, { by: PEOPLE.lin, label: 'Restart', build })
    stage.ci.finish(build.id, 'success')
    await pressed
    await untilCard(stage, ['Passed'], 'build_restart')
    expect(writesTo(stage.ci, 'restart')).toEqual([])
  })

  it('ask, and have the answer alone', async () => {
    const stage = await openStage()
    await ask(stage, { by: PEOPLE.ada, text: 'list' })
    expect(stage.slack.ephemerals(BUILDS, PEOPLE.ada)[0]?.message.text).toContain('*3 projects*')
    expect(stage.slack.ephemerals(BUILDS, PEOPLE.lin)).toEqual([])
  })

  it('ask in another channel, and have the answer there alone', async () => {
    const stage = await openStage()
    await ask(stage, { by: PEOPLE.ada, text: 'list', channel: OPS })
    expect(stage.slack.ephemerals(OPS, PEOPLE.ada)[0]?.message.text).toContain('*3 projects*')
    expect(stage.slack.ephemerals(BUILDS)).toEqual([])
  })

  it('look at a channel until the card of a build is there, and not for that of another', async () => {
    const stage = await openStage()
    push(stage.ci, 'acme/api', { outcome: 'error', ms: 0 })
    const build = push(stage.ci, 'acme/web', { outcome: 'error', ms: 1_000 })
    await awaitCard(stage, BUILDS, build)
    expect(cardsOf(messagesIn(stage.slack, BUILDS), build)).toHaveLength(1)
  })

  it('look at a red card until it names who is on it, and then nobody', async () => {
    const stage = await openStage()
    const build = push(stage.ci, 'acme/api', { branch: 'main', outcome: 'error', ms: 0 })
    const owner = () => cardsOf(messagesIn(stage.slack, BUILDS), build).map(ownerOn)
    await awaitOwner(stage, build, null)
    expect(owner()).toEqual([null])
    await ask(stage, { by: PEOPLE.ada, text: 'on it 30m acme/api@main' })
    await awaitOwner(stage, build, PEOPLE.ada)
    expect(owner()).toEqual([PEOPLE.ada])
    await ask(stage, { by: PEOPLE.ada, text: 'let go acme/api@main' })
    await awaitOwner(stage, build, null)
    expect(owner()).toEqual([null])
  })

  it('try again when nobody was there, and CI is called once', async () => {
    const { slack, ci, app } = await openWorld()
    const stage: Stage = { ci, slack, clock, lookMs: 0 }
    const build = push(ci, 'acme/web', { outcome: 'error', ms: 0 })
    await untilCard(stage, ['Failed'])
    slack.connectBot(NOBODY)
    const tried = Promise.all([
      press(stage, { by: PEOPLE.lin, label: 'Restart', build }),
      ask(stage, { by: PEOPLE.ada, text: 'list' }),
    ])
    await until('both met nobody', () => slack.sender.acknowledgements.length === 2)
    expect(slack.sender.acknowledgements.map(({ kind }) => kind)).toEqual(['unreachable', 'unreachable'])
    slack.connectBot(`${app.url}/slack/events`)
    await tried
    expect(writesTo(ci, 'restart')).toHaveLength(1)
    expect(slack.ephemerals(BUILDS, PEOPLE.ada)).toHaveLength(1)
  })

  it('get their answer from the next bot when one was killed before it could give it', async () => {
    const scene = await openScene()
    const bot = await startBot(scene)
    for (const method of ['response_url', 'chat.postEphemeral']) scene.slack.faults.add({ kind: 'down', method })
    const asked = ask({ ...scene, clock, lookMs: 0 }, { by: PEOPLE.ada, text: 'me ada' })
    await until('it is kept', () => rowsOf(scene.folder, 'select 1 from person where handle is not null').length === 1)
    bot.kill('SIGKILL')
    await bot.exit
    scene.slack.faults.clear()
    await startBot(scene)
    await asked
    const answers = scene.slack.ephemerals(BUILDS, PEOPLE.ada).map(({ message }) => message.text)
    expect(answers).toEqual([expect.stringContaining('`ada` *is already yours*')])
  })

  it('give it up when nobody comes back', async () => {
    const { slack, ci } = await openWorld()
    slack.connectBot(NOBODY)
    await ask({ ci, slack, clock, lookMs: 0 }, { by: PEOPLE.ada, text: 'list' })
    expect(slack.sender.acknowledgements).toHaveLength(TRIES_MAX)
    expect(slack.ephemerals(BUILDS, PEOPLE.ada)).toEqual([])
  })

  it('cannot push a branch that CI does not build: that is a mistake of the scenario', async () => {
    const { ci } = await openStage()
    expect(() => push(ci, 'acme/nothing', {})).toThrow('did not build acme/nothing')
  })
})

describe('the cards of a build', () => {
  const said = (text: string, threadTs?: string) => ({ text, ...(threadTs && { threadTs }) }) as Message

  it.each([
    ['its own', said(':x: *Failed* acme/web #51 on `main`'), 1],
    ['at the end of the line', said('acme/web #51'), 1],
    ['of a number that begins alike', said(':x: *Failed* acme/web #512 on `main`'), 0],
    ['of another project', said(':x: *Failed* acme/api #51 on `main`'), 0],
    ['in a thread, where there are no cards', said(':x: *Failed* · acme/web #51', '1.2'), 0],
  ])('%s', (_, message, found) => {
    expect(cardsOf([message], { project: 'acme/web', id: '51' })).toHaveLength(found)
  })
})
