import { describe, expect, it } from 'vitest'
import { answerAction } from '../../../src/features/builds/action-messages.ts'
import { answerFault, answerSlow } from '../../../src/features/kit/fault-messages.ts'
import { type Clock, systemClock } from '../../../src/lib/clock.ts'
import { answerOf, line } from '../../../src/slack/messages/answer.ts'
import { ANSWER_TRIES_MAX, RESPONSE_USES_MAX, isSlackAddress } from '../../../src/slack/reply-targets.ts'
import type { SandboxSlack } from '../../../packages/sandbox-slack/src/sandbox-slack.ts'
import { startHttpStub } from '../../support/http-stub.ts'
import { describedFeatures } from '../../../src/features/features.ts'
import { commandNamed } from '../../../src/features/kit/feature.ts'
import { ada, BUILDS, openStage, pending, postCard, STOP_REQUESTED, until } from './stage.ts'
import type { ActionOutcome } from '../../../src/features/builds/action.ts'

const stopWeb = { user: ada, channel: BUILDS, command: '/ci', text: 'stop acme/web' }
const requested = (reference = '00000001') =>
  answerAction(STOP_REQUESTED, { command: 'stop', branch: null, reference }).text

describe('an answer', () => {
  it('that takes 5 s is announced within 3 s, and sent when it is there', async () => {
    const { promise, settle } = pending<ActionOutcome>()
    const { slack, untilTold } = await openStage({ stop: () => promise })
    const requestedAt = Date.now()
    const acknowledgement = await slack.people.runCommand(stopWeb)
    expect(acknowledgement).toMatchObject({ status: 200 })
    expect(await untilTold(1)).toEqual([answerSlow('stop').text])
    expect(Date.now() - requestedAt).toBeLessThan(3_000)
    settle(STOP_REQUESTED)
    expect(await untilTold(2)).toEqual([answerSlow('stop').text, requested()])
  })

  it('that is there at once is sent alone', async () => {
    const { slack, asked, told } = await openStage()
    await slack.people.runCommand(stopWeb)
    await asked(1)
    expect(told()).toEqual([requested()])
  })

  it('is an error message if the feature rejects, with the reference of the log', async () => {
    const { slack, asked, told, lines } = await openStage({
      stop: async () => {
        throw new Error('the disk is full')
      },
    })
    await slack.people.runCommand(stopWeb)
    await asked(1)
    expect(told()).toEqual([answerFault('00000001').text])
    expect(told()[0]).toContain('00000001')
    expect(told()[0]).not.toContain('disk')
    expect(lines.filter(({ level }) => level === 'error')).toMatchObject([
      { fields: { reference: '00000001', what: 'stop', user: ada, err: { message: 'the disk is full' } } },
    ])
  })

  it('is an error message if the feature throws at once', async () => {
    const { slack, asked, told } = await openStage({
      stop: () => {
        throw new Error('at once')
      },
    })
    await slack.people.runCommand(stopWeb)
    await asked(1)
    expect(told()).toEqual([answerFault('00000001').text])
  })
})

describe('a response_url', () => {
  it('that fails temporarily is retried', async () => {
    const { slack, untilTold } = await openStage()
    slack.faults.add({ kind: 'ratelimited', method: 'response_url', times: ANSWER_TRIES_MAX - 1 })
    await slack.people.runCommand(stopWeb)
    expect(await untilTold(1)).toEqual([requested()])
    expect(slack.counters.calls('response_url')).toBe(ANSWER_TRIES_MAX)
    expect(slack.counters.calls('chat.postEphemeral')).toBe(0)
  })

  it.each(['accept-then-drop', 'accept-then-5xx'] as const)(
    'that accepts the answer and then fails (%s) shows it at most twice',
    async (kind) => {
      const { slack, asked, told } = await openStage()
      slack.faults.add({ kind })
      await slack.people.runCommand(stopWeb)
      await asked(1)
      expect(told()).toEqual([requested(), requested()])
      expect(slack.counters.calls('response_url')).toBe(1)
    },
  )

  it.each(['5xx', 'down'] as const)(
    'that drops answers (%s) is retried once if there is no other way',
    async (kind) => {
      const { slack, untilTold } = await openStage()
      slack.acts.kickBot(BUILDS)
      slack.faults.add({ kind, method: 'response_url', times: 1 })
      await slack.people.runCommand(stopWeb)
      expect(await untilTold(1)).toEqual([requested()])
      expect(slack.counters.calls('response_url')).toBe(2)
    },
  )

  it('that stays away is given up, and the answer is sent as an ephemeral message in the channel', async () => {
    const { slack, untilTold } = await openStage()
    slack.faults.add({ kind: 'ratelimited', method: 'response_url' })
    await slack.people.runCommand(stopWeb)
    expect(await untilTold(1)).toEqual([requested()])
    expect(slack.counters.calls('response_url')).toBe(ANSWER_TRIES_MAX)
    expect(slack.counters.calls('chat.postEphemeral')).toBe(1)
  })

  it('that is dead is not retried, and the other way is used at once', async () => {
    const { slack, untilTold } = await openStage()
    const card = await postCard(slack)
    slack.faults.add({ kind: 'error', method: 'response_url', error: 'used_url' })
    await slack.people.click({ user: ada, channel: BUILDS, ts: card, actionId: 'build_stop' })
    expect(await untilTold(1)).toEqual([requested()])
    expect(slack.counters.calls('response_url')).toBe(1)
  })

  it('that is dead, with a closed channel, leads to a log line with the reference and no address', async () => {
    const { slack, asked, told, lines } = await openStage()
    slack.faults.add({ kind: 'down', method: 'response_url' })
    slack.acts.kickBot(BUILDS)
    await slack.people.runCommand(stopWeb)
    await asked(1)
    expect(told()).toEqual([])
    expect(lines.filter(({ level }) => level === 'warn')).toMatchObject([
      { fields: { reference: '00000001', what: 'stop' }, text: 'an answer could not be shown' },
    ])
    expect(JSON.stringify(lines, messagesToo)).not.toContain('/response/')
  })

  it('gets text only if Slack refuses the blocks', async () => {
    const { slack, untilTold } = await openStage()
    slack.faults.add({ kind: 'error', method: 'response_url', error: 'invalid_blocks', times: 1 })
    await slack.people.runCommand(stopWeb)
    expect(await untilTold(1)).toEqual([requested()])
    expect(slack.ephemerals(BUILDS, ada)[0]!.message.blocks ?? []).toEqual([])
  })

  it('of another host is never called, and the answer takes the other way', async () => {
    await using stranger = await startHttpStub(() => ({ status: 200 }))
    const { slack, untilTold } = await openStage()
    await sendCommand(slack, { response_url: `${stranger.url}/commands/T1/1/x` })
    expect(await untilTold(1)).toEqual([requested()])
    expect(slack.counters.calls('chat.postEphemeral')).toBe(1)
    expect(stranger.requests).toEqual([])
  })

  it('that is missing is skipped, and one on the host of the Web API is used', async () => {
    const { slack, untilTold } = await openStage()
    await sendCommand(slack, { response_url: 'nowhere' })
    await untilTold(1)
    expect(slack.counters.calls('response_url')).toBe(0)
    await sendCommand(slack, { response_url: `${slack.url}/response/unheard-of` })
    await untilTold(2)
    expect(slack.counters.calls('response_url')).toBe(1)
  })

  it.each([
    ['https://hooks.slack.com/commands/T1/1/x', true],
    ['HTTPS://HOOKS.SLACK.COM/actions/T1/1/x', true],
    ['https://hooks.slack-gov.com/commands/T1/1/x', true],
    ['https://slack.com/api/commands', true],
    ['http://hooks.slack.com/commands/T1/1/x', false],
    ['https://hooks.slack.com:8443/commands', false],
    ['https://hooks.slack.com.ci.example/commands', false],
    ['https://hooks.slack.com@ci.example/commands', false],
    ['https://ci.example/?https://hooks.slack.com', false],
    ['https://x.hooks.slack.com/commands', false],
    ['file:///etc/hosts', false],
    ['hooks.slack.com/commands', false],
    ['', false],
  ])('%s belongs to Slack: %s', (url, isSlacks) => {
    expect(isSlackAddress(url, 'https://slack.com/api/')).toBe(isSlacks)
  })

  it(`is used at most ${RESPONSE_USES_MAX} times: once for "slow", the rest for the answer`, async () => {
    const { promise, settle } = pending<ActionOutcome>()
    const quick: Clock = { now: systemClock.now, sleep: (ms, signal) => systemClock.sleep(ms / 10, signal) }
    const { slack, untilTold } = await openStage({ clock: quick, stop: () => promise })
    await slack.people.runCommand(stopWeb)
    await untilTold(1)
    slack.faults.add({ kind: 'ratelimited', method: 'response_url', times: ANSWER_TRIES_MAX - 1 })
    slack.faults.add({ kind: 'error', method: 'response_url', error: 'invalid_blocks', times: 1 })
    settle(STOP_REQUESTED)
    expect(await untilTold(2)).toContain(requested())
    expect(slack.counters.calls('response_url')).toBe(RESPONSE_USES_MAX)
  })
})

const sendCommand = (slack: SandboxSlack, more: Record<string, string>) =>
  slack.sender.send({
    what: 'a command',
    contentType: 'application/x-www-form-urlencoded',
    body: new URLSearchParams({
      command: '/ci',
      text: 'stop acme/web',
      user_id: ada,
      channel_id: BUILDS,
      ...more,
    }).toString(),
  })

const picture = { png: new Uint8Array([137, 80, 78, 71]), name: 'chart.png', alt: 'a chart' }
const drawn = { ...stopWeb, text: 'help' }

describe('the picture of an answer', () => {
  const answer = answerOf([line('Here it is.')], picture)
  const row = commandNamed(describedFeatures(), 'help')!
  const withPicture = { features: [{ commands: [{ ...row, handle: async () => ({ outcome: 'drawn', answer }) }] }] }

  it('follows the text into the channel', async () => {
    const { slack, untilTold } = await openStage(withPicture)
    await slack.people.runCommand(drawn)
    expect(await untilTold(1)).toHaveLength(1)
    await until(() => slack.messages(BUILDS).length === 1)
    expect(slack.messages(BUILDS)).toMatchObject([{ files: [{ size: 4 }] }])
  })

  it.each(['files.getUploadURLExternal', 'upload_url', 'files.completeUploadExternal'])(
    'is a log line and a second answer if Slack refuses it at %s',
    async (method) => {
      const { slack, lines, untilTold } = await openStage(withPicture)
      slack.faults.add({ kind: '5xx', method })
      await slack.people.runCommand(drawn)
      await until(() => lines.some(({ text }) => text === 'a picture could not be shown'))
      expect((await untilTold(2)).at(-1)).toContain('*The picture was not posted*')
      expect(slack.messages(BUILDS)).toEqual([])
    },
  )

  it('is not completed at Slack if its upload failed', async () => {
    const { slack, lines } = await openStage(withPicture)
    slack.faults.add({ kind: '5xx', method: 'upload_url' })
    await slack.people.runCommand(drawn)
    await until(() => lines.some(({ text }) => text === 'a picture could not be shown'))
    expect(slack.counters.calls('files.completeUploadExternal')).toBe(0)
  })

  it('is not sent if the bot is not in the channel', async () => {
    const { slack, lines, told } = await openStage(withPicture)
    slack.acts.kickBot(BUILDS)
    await slack.people.runCommand(drawn)
    await until(() => lines.some(({ text }) => text === 'a picture could not be shown'))
    expect(told().length).toBeLessThanOrEqual(2)
    expect(slack.messages(BUILDS)).toEqual([])
  })
})

const messagesToo = (_: string, value: unknown): unknown =>
  value instanceof Error ? `${value.message} ${value.stack ?? ''} ${String(value.cause)}` : value
