import { describe, expect, it } from 'vitest'
import { DRAIN_MS } from '../../../src/runtime/slack-app.ts'
import { answerFault } from '../../../src/features/kit/fault-messages.ts'
import { turnedClock } from '../../../packages/sandbox-slack/test/stage.ts'
import { ada, BUILDS, countedKeys, openStage, pending, STOP_REQUESTED, until, type Stage } from './stage.ts'
import type { ActionOutcome } from '../../../src/features/builds/action.ts'

const stopWeb = { user: ada, channel: BUILDS, command: '/ci', text: 'stop acme/web' }
const JSON_TYPE = 'application/json' as const
const FORM = 'application/x-www-form-urlencoded' as const

const sendPayload = ({ slack }: Stage, payload: object) =>
  slack.sender.send({
    what: 'anything',
    contentType: FORM,
    body: new URLSearchParams({ payload: JSON.stringify(payload) }).toString(),
  })

describe('the Slack endpoint', () => {
  it('refuses a request with a wrong signature, with 401', async () => {
    const { slack, calls, lines } = await openStage()
    const body = new URLSearchParams({ command: '/ci', text: 'stop acme/web', user_id: ada }).toString()
    const forged = { what: 'forged', contentType: FORM, body, signingSecret: 'another-secret' } as const
    expect(await slack.sender.send(forged)).toMatchObject({ status: 401 })
    expect(calls).toEqual([])
    expect(JSON.stringify(lines)).not.toContain(slack.signingSecret)
  })

  it.each([
    ['six minutes old', -6 * 60, 401],
    ['four minutes old', -4 * 60, 200],
  ])('answers a request that is %s', async (_, secondsS, status) => {
    const { slack } = await openStage()
    const body = new URLSearchParams({ command: '/ci', text: 'help', user_id: ada }).toString()
    const timestampS = Math.floor(Date.now() / 1_000) + secondsS
    expect(await slack.sender.send({ what: 'old', contentType: FORM, body, timestampS })).toMatchObject({ status })
  })

  it.each<[string, typeof FORM | typeof JSON_TYPE, string]>([
    ['null in a form', FORM, 'payload=null'],
    ['null as JSON', JSON_TYPE, 'null'],
    ['a number', JSON_TYPE, '7'],
    ['a string in a form', FORM, 'payload=%22stop%22'],
  ])('answers %s with 400, and keeps working', async (_, contentType, body) => {
    const { slack, calls, asked } = await openStage()
    expect(await slack.sender.send({ what: 'no object', contentType, body })).toMatchObject({ status: 400 })
    expect(calls).toEqual([])
    await slack.people.runCommand(stopWeb)
    expect(await asked(1)).toHaveLength(1)
  })

  it.each([
    `stop acme/web ${'x'.repeat(3_000)}`,
    `stop acme/web main ${'x'.repeat(3_000)}`,
    `stop acme/web ${'x '.repeat(60)}`,
  ])('does nothing for a target that was too long to be read whole', async (text) => {
    const { slack, calls, untilTold } = await openStage()
    await slack.people.runCommand({ ...stopWeb, text })
    await untilTold(1)
    expect(calls).toEqual([])
  })

  it('does nothing for a replayed request', async () => {
    const { slack, asked } = await openStage()
    await slack.people.runCommand(stopWeb)
    await slack.people.replay('command /ci')
    await slack.people.runCommand(stopWeb)
    const keys = (await asked(2)).map(([, , by]) => by.interactionKey)
    expect(new Set(keys).size).toBe(2)
  })

  it("answers Slack's URL verification", async () => {
    const { slack } = await openStage()
    expect(await slack.people.verifyUrl('c-1')).toMatchObject({ status: 200, body: expect.stringContaining('c-1') })
  })

  it.each([
    ['an interaction of an unknown type', { type: 'block_levitation', user: { id: ada } }],
    ['an interaction without a type', { user: { id: ada } }],
    ['an empty object', {}],
  ])('acknowledges unknown requests at once, with a log line: %s', async (_, payload) => {
    const stage = await openStage()
    expect(await sendPayload(stage, payload)).toMatchObject({ kind: 'answered', status: 200 })
    expect(stage.lines.filter(({ level }) => level === 'warn').map(({ text }) => text)).toContain(
      'Slack sent something that Buildline does not handle',
    )
    expect(stage.calls).toEqual([])
  })

  it.each([
    ['a click without actions', { type: 'block_actions', actions: [] }],
    ['a click without a person', { type: 'block_actions', actions: [{ action_id: 'build_stop', value: 'x' }] }],
    ['a form without a view', { type: 'view_submission', user: { id: ada } }],
    ['a menu without a name', { type: 'block_suggestion', user: { id: ada } }],
    ['a choice without a view', { type: 'block_actions', actions: [{ action_id: 'choose_1' }] }],
    ['fields of wrong types', { type: 'block_actions', user: 7, team: [], channel: 'x', actions: [7, null, 'a'] }],
  ])('acknowledges requests without their fields, and does nothing: %s', async (_, payload) => {
    const stage = await openStage()
    expect(await sendPayload(stage, payload)).toMatchObject({ kind: 'answered', status: 200 })
    await stage.door.stop()
    expect(stage.calls).toEqual([])
  })

  it.each([
    ['a command without a person', FORM, new URLSearchParams({ command: '/ci', text: 'help' }).toString()],
    ['an event without an event', JSON_TYPE, JSON.stringify({ type: 'event_callback' })],
    [
      'an event of an unknown type',
      JSON_TYPE,
      JSON.stringify({ type: 'event_callback', event: { type: 'moon_rise' } }),
    ],
    ['an empty mention', JSON_TYPE, JSON.stringify({ type: 'event_callback', event: { type: 'app_mention' } })],
  ] as const)('answers 200 to %s', async (_, contentType, body) => {
    const { slack } = await openStage()
    expect(await slack.sender.send({ what: 'bare', contentType, body })).toMatchObject({
      kind: 'answered',
      status: 200,
    })
  })

  it("calls nothing in Slack before it acknowledges, and works while Slack's Web API is away", async () => {
    const { slack, asked } = await openStage()
    slack.faults.add({ kind: 'down', method: 'auth.test' })
    expect(await slack.people.runCommand(stopWeb)).toMatchObject({ status: 200 })
    expect(await asked(1)).toHaveLength(1)
    expect(slack.counters.calls('auth.test')).toBe(0)
  })

  it('answers with a reference after a bug in what it calls', async () => {
    // Not a promise, against the types.
    const { slack, untilTold } = await openStage({ permits: (() => undefined) as never })
    await slack.people.mentionBot({ user: ada, channel: BUILDS, text: 'help' })
    expect(await untilTold(1)).toEqual([answerFault('00000001').text])
  })

  it('answers even after a bug in the endpoint itself', async () => {
    const keys = countedKeys()
    let tries = 0
    const newKey = () => {
      if ((tries += 1) === 1) throw new Error('no more keys')
      return keys()
    }
    const { slack, lines, untilTold } = await openStage({ newKey })
    expect(await slack.people.runCommand(stopWeb)).toMatchObject({ status: 200 })
    expect(await untilTold(1)).toEqual([answerFault('00000001').text])
    expect(lines).toMatchObject([{ level: 'error', fields: { reference: '00000001' } }])
  })
})

describe('stopping the endpoint', () => {
  it('waits for requests in flight and their answers', async () => {
    const { promise, settle } = pending<ActionOutcome>()
    const { slack, door, calls, told } = await openStage({ stop: () => promise })
    await slack.people.runCommand(stopWeb)
    await until(() => calls.length === 1)
    let isStopped = false
    const stopping = door.stop().then(() => (isStopped = true))
    await new Promise((resolve) => setImmediate(resolve))
    expect(isStopped).toBe(false)
    settle(STOP_REQUESTED)
    await stopping
    expect(told()).toHaveLength(1)
  })

  it(`takes ${DRAIN_MS} ms at most`, async () => {
    const clock = turnedClock()
    const { slack, door, calls } = await openStage({ clock, stop: () => new Promise(() => {}) })
    await slack.people.runCommand(stopWeb)
    await until(() => calls.length === 1)
    let isStopped = false
    const stopping = door.stop().then(() => (isStopped = true))
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(DRAIN_MS - 1)
    await new Promise((resolve) => setImmediate(resolve))
    expect(isStopped).toBe(false)
    clock.advance(1)
    expect(await stopping).toBe(true)
  })
})
