import { describe, expect, it } from 'vitest'
import type { Clock } from '../../../src/lib/clock.ts'
import { createLogThrottle } from '../../../src/lib/log.ts'
import { answerAction } from '../../../src/features/builds/action-messages.ts'
import { OPEN_WITHIN_MS, SocketReceiver } from '../../../src/slack/socket/receiver.ts'
import { createSocketWatch, GOOD_AFTER_MS } from '../../../src/slack/socket/watch.ts'
import { openPeopleStage } from '../../features/kit/people-stage.ts'
import { type Line, ada, BUILDS, openStage, postCard, STOP_REQUESTED, until } from '../../features/kit/stage.ts'

const stopWeb = { user: ada, channel: BUILDS, command: '/ci', text: 'stop acme/web' }
/** The log without its debug lines. */
const saidOf = (lines: readonly Line[]) => lines.filter(({ level }) => level !== 'debug').map(({ text }) => text)
const requested = (reference: string) => answerAction(STOP_REQUESTED, { command: 'stop', branch: null, reference }).text

describe('Socket Mode', () => {
  it('answers commands, clicks, shortcuts and mentions as over HTTP', async () => {
    const { slack, door, asked } = await openStage({ socket: true })
    expect(door.handle).toBeNull()
    const ts = await postCard(slack)
    const spot = { user: ada, channel: BUILDS, ts }
    await slack.people.runCommand(stopWeb)
    await asked(1)
    await slack.people.click({ ...spot, actionId: 'build_restart' })
    await asked(2)
    await slack.people.useShortcut({ ...spot, callbackId: 'restart_build' })
    await asked(3)
    await slack.people.mentionBot({ user: ada, channel: BUILDS, text: 'stop', threadTs: ts })
    const calls = (await asked(4)).map(([action, , { via }]) => `${action} by ${via}`)
    expect(calls).toEqual(['stop by command', 'restart by button', 'restart by shortcut', 'stop by mention'])
    expect(slack.ephemerals(BUILDS, ada)).toHaveLength(4)
  })

  it('opens forms and looks up the options of their menus', async () => {
    const { slack } = await openPeopleStage({}, { socket: true })
    await slack.people.runCommand({ user: ada, channel: BUILDS, command: '/ci', text: 'subscribe' })
    await until(() => slack.views.stack(ada).length === 1)
    const { options } = await slack.people.suggest({ user: ada, actionId: 'subscribe_project', value: 'web' })
    expect(options).toMatchObject([{ text: { text: 'acme/web' } }])
  })

  it('ignores a repeated envelope', async () => {
    const { slack, asked } = await openStage({ socket: true })
    await slack.people.runCommand(stopWeb)
    await slack.people.replay('command /ci')
    await slack.people.runCommand(stopWeb)
    const keys = (await asked(2)).map(([, , by]) => by.interactionKey)
    expect(new Set(keys).size).toBe(2)
  })

  it('acknowledges unknown envelopes, with a log line', async () => {
    const { slack, lines } = await openStage({ socket: true })
    const envelope = { type: 'interactive', payload: { type: 'block_levitation' } } as const
    const sent = await slack.sender.send({ what: 'odd', contentType: 'application/json', body: '{}', envelope })
    expect(sent).toMatchObject({ kind: 'answered', status: 200 })
    expect(lines.map(({ text }) => text)).toContain('Slack sent something that Buildline does not handle')
  })

  it('opens a new connection within 2 s of a warning, long before the old one closes', async () => {
    const { slack, untilTold } = await openStage({ socket: true })
    const noticedAt = Date.now()
    const opened = slack.counters.calls('apps.connections.open')
    slack.sockets.refresh()
    await until(() => slack.counters.calls('apps.connections.open') === opened + 1 && slack.sockets.count() === 1)
    expect(Date.now() - noticedAt).toBeLessThan(2_000)
    expect(await slack.people.runCommand(stopWeb)).toMatchObject({ kind: 'answered' })
    expect(await untilTold(1)).toEqual([requested('00000001')])
  })

  it('reconnects within 2 s of a broken connection', async () => {
    const { slack, untilTold } = await openStage({ socket: true })
    const tornAt = Date.now()
    slack.sockets.drop()
    await until(() => slack.sockets.count() === 1)
    expect(Date.now() - tornAt).toBeLessThan(2_000)
    expect(await slack.people.runCommand(stopWeb)).toMatchObject({ kind: 'answered' })
    expect(await untilTold(1)).toEqual([requested('00000001')])
  })

  it('reconnects after several failed tries, and the process keeps working', async () => {
    const { slack, lines, untilTold } = await openStage({ socket: true })
    slack.faults.add({ kind: '5xx', method: 'apps.connections.open', times: 2 })
    slack.faults.add({ kind: 'down', method: 'apps.connections.open', times: 1 })
    slack.sockets.drop()
    await until(() => slack.sockets.count() === 1)
    await until(() => saidOf(lines).length > 1)
    const tries = lines.filter(({ text }) => text.startsWith('a Socket Mode connection could not be opened'))
    expect(tries.map(({ level }) => level)).toEqual(['debug', 'debug', 'debug'])
    expect(saidOf(lines)).toEqual([
      'Slack cannot be reached (http_503); messages wait until it can. Check that this machine can reach slack.com; if SLACK_API_URL is set, correct it.',
      'a Socket Mode connection to Slack is open again',
    ])
    expect(JSON.stringify(lines)).not.toContain(slack.appToken)
    await slack.people.runCommand(stopWeb)
    expect(await untilTold(1)).toEqual([requested('00000001')])
  })

  it('waits longer and longer if Slack is slow to refuse', async () => {
    const waits: number[] = []
    const ASKED_MAX = 100
    let asked = 0
    const clock: Clock = {
      now() {
        // Without delays, it would retry forever.
        if (++asked > ASKED_MAX) throw new Error('it does not wait')
        return asked * 2 * GOOD_AFTER_MS
      },
      sleep: async (ms) => {
        // The timeout of a single try does not count as a delay.
        if (ms !== OPEN_WITHIN_MS) waits.push(ms)
        await new Promise((resolve) => setTimeout(resolve, 1))
      },
    }
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
    const watch = createSocketWatch({ clock, log, logThrottle: createLogThrottle(clock) })
    const apiUrl = 'http://127.0.0.1:9/'
    const receiver = new SocketReceiver({ appToken: 'xapp-1', apiUrl, clock, random: () => 1, watch })
    receiver.start().catch(() => {})
    await until(() => waits.length >= 4)
    await receiver.stop()
    expect(waits.slice(0, 4)).toEqual(waits.slice(0, 4).toSorted((a, b) => a - b))
    expect(waits[3]).toBeGreaterThan(waits[0]!)
  })

  it('waits for a Slack that is away at the start', async () => {
    const away = { kind: 'down', method: 'apps.connections.open', times: 2 } as const
    const { slack, lines, untilTold } = await openStage({ socket: true, fault: away })
    expect(saidOf(lines)).toEqual([expect.stringMatching(/^Slack cannot be reached/), expect.stringContaining('again')])
    await slack.people.runCommand(stopWeb)
    expect(await untilTold(1)).toEqual([requested('00000001')])
  })

  it('has no connection left after a stop', async () => {
    const { slack, door } = await openStage({ socket: true })
    slack.sockets.refresh()
    await door.stop()
    await until(() => slack.sockets.count() === 0)
    expect(await slack.people.runCommand(stopWeb)).toMatchObject({ kind: 'unreachable' })
  })

  it('can be stopped while Slack is away', async () => {
    const { slack, door } = await openStage({ socket: true })
    slack.faults.add({ kind: 'down', method: 'apps.connections.open' })
    slack.sockets.drop()
    await until(() => slack.counters.calls('apps.connections.open') > 1)
    await door.stop()
    expect(slack.sockets.count()).toBe(0)
  })
})
