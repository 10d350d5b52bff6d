import { describe, expect, it } from 'vitest'
import { systemClock as clock } from '../../src/lib/clock.ts'
import type { Message } from '../../src/sandbox/slack/messages.ts'
import { CHANNELS, PEOPLE } from '../../src/sandbox/slack/workspace.ts'
import { ask, cardsOf, press, push, type Stage } from '../../src/sandbox/stage.ts'
import { until } from '../support/app.ts'
import { openWorld, untilCard, writesTo } from '../support/world.ts'

const { builds: BUILDS } = CHANNELS

async function openStage(): Promise<Stage> {
  const { ci, slack } = await openWorld({ slack: { rates: 'off' } })
  return { ci, slack, clock, lookMs: 0 }
}

describe('people on the stage', () => {
  it('press a button of a card once it is there, and CI is called', async () => {
    const stage = await openStage()
    const build = push(stage.ci, 'acme/web', { outcome: 'error', ms: 0 })
    await until('the build has failed', () => stage.ci.state().builds[0]?.status === 'error')
    await press(stage, { by: PEOPLE.lin, label: 'Restart', build })
    await untilCard(stage, ['Fixed', 'acme/web #501 (attempt 2)'])
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
