import { describe, expect, test } from 'vitest'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { openStage, until, type RunningApp } from '../support/app.ts'
import { buildlineDoctor } from './doctor-stage.ts'

const { builds: BUILDS } = CHANNELS
const { ada, grace } = PEOPLE

/** pino's level */
const WARN = 40

const linesOf = ({ lines }: RunningApp) =>
  lines.map((line) => JSON.parse(line) as { level: number; part?: string; msg: string })

describe('Socket Mode', () => {
  const openSocketStage = async () => {
    const settings = { SLACK_APP_TOKEN: 'xapp-sandbox-token', CI_ADMINS: grace, DEFAULT_CHANNEL: BUILDS }
    const stage = await openStage({ settings })
    const isOpen = () => until('a connection stands', () => stage.slack.sockets.count() > 0)
    await isOpen()
    const warnings = () => linesOf(stage.app).filter(({ level, part }) => level === WARN && part === 'slack')
    const readyz = async () => (await fetch(`${stage.app.url}/readyz`)).json() as Promise<Record<string, unknown>>
    return { ...stage, sockets: stage.slack.sockets, isOpen, warnings, readyz }
  }

  test.each([
    ['link_disabled', /Socket Mode is turned off .* Turn it on under Socket Mode/],
    ['too_many_websockets', /Ten connections are open .* Stop another copy/],
  ])('says that Slack refuses connections (%s), and goes on when one stands again', async (reason, words) => {
    const { app, slack, sockets, isOpen, warnings, readyz, settings, folder } = await openSocketStage()
    const isOff = reason === 'link_disabled'
    if (isOff) sockets.disable()
    else sockets.occupy(10)
    sockets.drop()
    const tries = () => linesOf(app).filter(({ msg }) => msg.includes('could not be opened')).length
    await until('it was refused several times', () => tries() > 3)
    expect(warnings().map(({ msg }) => msg)).toEqual([expect.stringMatching(words)])
    expect(await readyz()).toMatchObject({ socket: reason, wrong: [expect.stringMatching(words)] })
    // Nobody can type `/ci doctor` now.
    const { out } = await buildlineDoctor({ settings, folder }, { PORT: new URL(app.url).port })
    expect(out.replaceAll(/\s+→/g, '')).toMatch(words)
    sockets.enable()
    sockets.occupy(0)
    await isOpen()
    expect(await readyz()).toMatchObject({ socket: 'ok' })
    expect(await slack.people.runCommand({ user: ada, channel: BUILDS, command: '/ci' })).toMatchObject({
      kind: 'answered',
    })
  })

  test('says once that connections are cut right after they have opened', async () => {
    const { app, sockets, warnings, isOpen, slack } = await openSocketStage()
    sockets.cutEarly(true)
    sockets.drop()
    const opened = () => slack.counters.calls('apps.connections.open')
    await until('six were cut', () => opened() > 6)
    expect(warnings().map(({ msg }) => msg)).toEqual([expect.stringContaining('keep closing soon after')])
    sockets.cutEarly(false)
    await isOpen()
    await slack.people.runCommand({ user: ada, channel: BUILDS, command: '/ci' })
    await until('says that one is good', () => linesOf(app).some(({ msg }) => msg.includes('is open again')))
  })
})
