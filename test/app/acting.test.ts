import { describe, expect, it } from 'vitest'
import { ACTION_IDS } from '../../src/slack/messages/ids.ts'
import type { Switches } from '../../packages/sandbox-ci/src/switches.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { until } from '../support/app.ts'
import { buttonsOf, openWorld, press, pushRed, threadOf, type, untilAnswered, untilCard } from '../support/world.ts'
import { untilThread, writesTo, type Shown, type World } from '../support/world.ts'

const { builds: BUILDS } = CHANNELS
const { ada, lin } = PEOPLE

const open = (switches: Partial<Switches> = {}) => openWorld({ ci: { switches } })

/** A build that runs until the test ends it. */
const RUNNING = { outcome: 'none', message: 'Fix login' } as const

describe('Stop', () => {
  it('is accepted by CI, shown in the thread at once, and confirmed when CI delivers that the build has stopped', async () => {
    const world = await open({ stopMs: 300 })
    const { ci } = world
    ci.push('acme/web', RUNNING)
    const card = await untilCard(world, ['Running'], ACTION_IDS.stop)
    expect(await press(world, lin, card, ACTION_IDS.stop)).toMatchObject({ kind: 'answered', status: 200 })
    await untilAnswered(world, lin, ['Stop requested', 'CI accepted the request'])
    await untilThread(world, card, `Stop requested by <@${lin}>`)
    const stopped = await untilCard(world, ['Stopped', '#501'], ACTION_IDS.restart)
    expect(stopped.ts).toBe(card.ts)
    expect(buttonsOf(stopped)).not.toContain(ACTION_IDS.stop)
    expect(JSON.stringify(stopped)).toContain(`Stop requested by <@${lin}>`)
    await untilThread(world, card, `Stop requested by <@${lin}>`, 'Stopped')
    expect(threadOf(world, card).filter((line) => line.includes('Stop requested'))).toHaveLength(1)
    expect(writesTo(ci, 'stop')).toMatchObject([{ statusCode: 202 }])
  })

  it.each<[string, Partial<Switches>, string, number]>([
    ['the delivery itself', { extraFields: true }, 'acme/ios', 0],
    ["the build's address", { buildUrlForm: 'uuids' }, 'acme/ios', 0],
    ['the legacy project', {}, 'acme/web', 1],
  ])('finds the uuids in %s', async (_, switches, project, lookUps) => {
    const world = await open(switches)
    const { ci } = world
    const pushed = ci.push(project, RUNNING)
    const card = await untilCard(world, ['Running'], ACTION_IDS.stop)
    const lookedUpBefore = ci.calls().filter(isLookUp).length
    await press(world, ada, card, ACTION_IDS.stop)
    await untilCard(world, ['Stopped'])
    const uuid = pushed.kind === 'build' ? pushed.build.uuid : ''
    expect(writesTo(ci, 'stop')).toMatchObject([{ path: expect.stringContaining(`/builds/${uuid}/stop`) }])
    expect(ci.calls().filter(isLookUp).length - lookedUpBefore).toBe(lookUps)
  })

  it('is not offered for a Pro build without uuids; the card says why, and so does a typed request', async () => {
    const world = await open()
    world.ci.push('acme/ios', RUNNING)
    const card = await untilCard(world, ['Running', 'acme/ios'])
    await until('the card says why', () => JSON.stringify(world.slack.messages(BUILDS)).includes('no Stop button'))
    expect(buttonsOf(card)).not.toContain(ACTION_IDS.stop)
    await type(world, ada, '/ci stop acme/ios')
    await untilAnswered(world, ada, ['Stop is not possible', "CI did not name the build's uuid"])
    expect(writesTo(world.ci, 'stop')).toEqual([])
  })

  it('is not offered without the v2 interface, and the card says why', async () => {
    const world = await openWorld({
      settings: { CI_BASE_URL: undefined, CI_ORGANIZATION_UUID: undefined, CI_AUTHORIZATION: undefined },
    })
    world.ci.push('acme/web', RUNNING)
    const card = await untilCard(world, ['Running'])
    expect(JSON.stringify(card)).toContain("no Stop button: CI's v2 interface is not configured")
    expect(buttonsOf(card)).not.toContain(ACTION_IDS.stop)
  })

  it('does nothing if the person cancels the confirmation', async () => {
    const world = await open()
    world.ci.push('acme/web', RUNNING)
    const { ts } = await untilCard(world, ['Running'], ACTION_IDS.stop)
    const { people } = world.slack
    const pressed = await people.click({ user: lin, channel: BUILDS, ts, actionId: ACTION_IDS.stop, confirmed: false })
    expect(pressed.kind).toBe('unsent')
    expect(writesTo(world.ci, 'stop')).toEqual([])
  })

  it('for a build that has ended meanwhile says so, and does not call CI', async () => {
    const world = await open({ buildMs: 20 })
    world.ci.push('acme/web', { message: 'Fix login' })
    await untilCard(world, ['Passed', '#501'], ACTION_IDS.restart)
    const old = await postOld(world, ACTION_IDS.stop, '11/501.1')
    await press(world, ada, old, ACTION_IDS.stop)
    await untilAnswered(world, ada, ['nothing to stop', 'It has already finished'])
    expect(writesTo(world.ci, 'stop')).toEqual([])
  })

  it('for an earlier attempt does not stop the current one', async () => {
    const world = await open({ restartOutcome: 'none' })
    await pushRed(world)
    await press(world, ada, await untilCard(world, ['Failed'], ACTION_IDS.restart), ACTION_IDS.restart)
    await untilCard(world, ['Running'], ACTION_IDS.stop)
    const old = await postOld(world, ACTION_IDS.stop, '11/501.1')
    await press(world, ada, old, ACTION_IDS.stop)
    await untilAnswered(world, ada, ['not stopped'])
    expect(writesTo(world.ci, 'stop')).toEqual([])
  })
})

describe('Restart', () => {
  it.each([
    ['the same id', true, '501'],
    ['a new id', false, '502'],
  ])('runs again with %s: card and thread show the requester and attempt 2, and then Fixed', async (_, keeps, id) => {
    const world = await open({ restartKeepsId: keeps, restartOutcome: 'none' })
    const { ci } = world
    await pushRed(world)
    const card = await untilCard(world, ['Failed'], ACTION_IDS.restart)
    await press(world, lin, card, ACTION_IDS.restart)
    await untilAnswered(world, lin, ['Restart requested', 'CI accepted the request'])
    const running = await untilCard(world, ['Running', `#${id}`, 'attempt 2'], ACTION_IDS.stop)
    expect(running.ts).toBe(card.ts)
    expect(JSON.stringify(running)).toContain(`Restart requested by <@${lin}>`)
    expect(buttonsOf(running)).not.toContain(ACTION_IDS.restart)
    await untilThread(world, card, `Restart requested by <@${lin}>`, 'attempt 2')
    ci.finish(id, 'success')
    const fixed = await untilCard(world, ['flaky', `#${id}`], ACTION_IDS.restart)
    expect(fixed.ts).toBe(card.ts)
    await untilThread(world, card, 'attempt 2', 'flaky')
    expect(threadOf(world, card).filter((line) => line.includes('Restart requested'))).toHaveLength(1)
    expect(writesTo(ci, 'restart')).toMatchObject([{ path: '/api/v1/builds/501/restart.json', statusCode: 200 }])
  })

  it('for a Pro build is not offered, and a typed request says why', async () => {
    const world = await open()
    await pushRed(world, 'acme/ios')
    const card = await untilCard(world, ['Failed', 'acme/ios'])
    expect(buttonsOf(card)).not.toContain(ACTION_IDS.restart)
    expect(JSON.stringify(card)).toContain('no Restart button: CI restarts Basic projects only')
    await type(world, ada, '/ci-restart acme/ios@main')
    await untilAnswered(world, ada, ['Restart is not possible', 'CI restarts Basic projects only'])
    expect(writesTo(world.ci, 'restart')).toEqual([])
  })

  it('for a running build is refused in words', async () => {
    const world = await open()
    world.ci.push('acme/web', RUNNING)
    await untilCard(world, ['Running'], ACTION_IDS.stop)
    await type(world, ada, '/ci restart acme/web')
    await untilAnswered(world, ada, ['not restarted', 'It is still running'])
    expect(writesTo(world.ci, 'restart')).toEqual([])
  })
})

describe('the buttons of a card', () => {
  it('change with the state of the build', async () => {
    const world = await open({ buildMs: 100, restartOutcome: 'none' })
    const { ci } = world
    const pushed = ci.push('acme/web', { ...RUNNING, needsApproval: true })
    const uuid = pushed.kind === 'build' ? pushed.build.uuid : ''
    expect(buttonsOf(await untilCard(world, ['Waiting']))).toEqual([ACTION_IDS.open])
    ci.approve(uuid)
    expect(buttonsOf(await untilCard(world, ['Running'], ACTION_IDS.stop))).not.toContain(ACTION_IDS.restart)
    ci.finish(uuid, 'error')
    const failed = await untilCard(world, ['Failed'], ACTION_IDS.restart)
    expect(buttonsOf(failed)).not.toContain(ACTION_IDS.stop)
    await press(world, ada, failed, ACTION_IDS.restart)
    const again = await untilCard(world, ['Running', 'attempt 2'], ACTION_IDS.stop)
    expect(buttonsOf(again)).not.toContain(ACTION_IDS.restart)
    ci.finish(uuid, 'infrastructure_failure')
    // After a machine error, Restart comes first.
    expect(buttonsOf(await untilCard(world, ['CI machine error'], ACTION_IDS.restart))[0]).toBe(ACTION_IDS.restart)
  })

  it('work on cards from before a restart of the bot', async () => {
    const world = await open({ stopMs: 0 })
    world.ci.push('acme/web', RUNNING)
    await pushRed(world, 'acme/api')
    const running = await untilCard(world, ['Running', 'acme/web'], ACTION_IDS.stop)
    const failed = await untilCard(world, ['Failed', 'acme/api'], ACTION_IDS.restart)
    await world.restartApp()
    await press(world, lin, running, ACTION_IDS.stop)
    await press(world, lin, failed, ACTION_IDS.restart)
    await untilCard(world, ['Stopped', 'acme/web'])
    await untilThread(world, failed, `Restart requested by <@${lin}>`)
    expect([writesTo(world.ci, 'stop').length, writesTo(world.ci, 'restart').length]).toEqual([1, 1])
  })

  it.each([
    ['an unknown id', 'build_launch', '11/501.1'],
    ['an unknown value', ACTION_IDS.stop, 'what an older version wrote'],
  ])('with %s, from an older version, are answered in words', async (_, actionId, value) => {
    const world = await open()
    world.ci.push('acme/web', RUNNING)
    await untilCard(world, ['Running'], ACTION_IDS.stop)
    expect(await press(world, ada, await postOld(world, actionId, value), actionId)).toMatchObject({ status: 200 })
    await untilAnswered(world, ada, ['older version', 'no longer works'])
    expect(writesTo(world.ci, 'stop')).toEqual([])
  })
})

/** A message with one button, as an older version posted it. */
async function postOld({ slack }: World, actionId: string, value: string): Promise<Pick<Shown, 'ts'>> {
  const button = { type: 'button', action_id: actionId, text: { type: 'plain_text', text: 'Old' }, value }
  const blocks = [{ type: 'actions', block_id: 'build_actions', elements: [button] }]
  const response = await fetch(`${slack.apiUrl}chat.postMessage`, {
    method: 'POST',
    headers: { authorization: `Bearer ${slack.botToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ channel: BUILDS, text: 'Old', blocks }),
  })
  const { ts } = (await response.json()) as { ts: string }
  return { ts }
}

const isLookUp = ({ path }: { path: string }): boolean => path.startsWith('/api/v1/projects/')
