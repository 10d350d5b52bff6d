import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { NotAttempted } from '../../../src/store/not-attempted.ts'
import { INTERRUPT_MS, DRAIN_MS } from '../../../src/runtime/slack-app.ts'
import { answerSlow } from '../../../src/features/kit/fault-messages.ts'
import { answerUndone } from '../../../src/features/kit/interrupted.ts'
import type { Acknowledgement } from '../../../packages/sandbox-slack/src/acknowledgement.ts'
import { turnedClock } from '../../../packages/sandbox-slack/test/stage.ts'
import { ada, BUILDS, lin, openStage, pending, postCard, STOP_REQUESTED, until, type Stage } from './stage.ts'
import type { ActionOutcome } from '../../../src/features/builds/action.ts'

const stopWeb = { user: ada, channel: BUILDS, command: '/ci', text: 'stop acme/web' }

const owed = async ({ store }: Stage) =>
  (await store.read.unansweredInteractions(10)).map(({ what, user, channel, state }) => ({
    what,
    user,
    channel,
    state,
  }))

const mentioned = (text: string) => ({ type: 'app_mention', user: ada, channel: BUILDS, ts: '1.000001', text })

/** Everything that people can send, and its name in the message about an interruption. */
const ASKS: readonly [string, string, (stage: Stage, ts: string) => Promise<Acknowledgement>][] = [
  ['a command', '/ci stop acme/web', ({ slack }) => slack.people.runCommand(stopWeb)],
  [
    'a button',
    'Stop of #512',
    ({ slack }, ts) => slack.people.click({ user: ada, channel: BUILDS, ts, actionId: 'build_stop' }),
  ],
  [
    'a shortcut',
    'Restart this build',
    ({ slack }, ts) => slack.people.useShortcut({ user: ada, channel: BUILDS, ts, callbackId: 'restart_build' }),
  ],
  [
    'a mention',
    '@buildline stop acme/web',
    ({ slack }) => slack.people.sendEvent(mentioned('<@U0BUILDBOT> stop acme/web'), { eventId: 'Ev1' }),
  ],
]

/** Stop and Restart that end only when the test says so. */
function slowly() {
  const { promise, settle } = pending<ActionOutcome>()
  return { acts: { stop: () => promise, restart: () => promise }, settle: () => settle(STOP_REQUESTED) }
}

describe.each(ASKS)('%s', (_, what, send) => {
  it('is on disk when Slack gets the acknowledgement, and removed when its answer is shown', async () => {
    const { acts, settle } = slowly()
    const stage = await openStage(acts)
    expect(await send(stage, await postCard(stage.slack))).toMatchObject({ status: 200 })
    expect(await owed(stage)).toEqual([{ what, user: ada, channel: BUILDS, state: 'owed' }])
    settle()
    await stage.asked(1)
    expect(await owed(stage)).toEqual([])
    expect(stage.told()).toHaveLength(1)
  })

  it('is not begun if it cannot be stored, and the requester is told once, however often it is sent', async () => {
    const stage = await openStage()
    const ts = await postCard(stage.slack)
    await stage.store.close()
    const sent = await send(stage, ts)
    expect(sent).toMatchObject({ status: 200 })
    expect(await stage.untilTold(1)).toEqual([answerUndone('00000001').text])
    expect(await stage.slack.people.resend(sent.what)).toMatchObject({ status: 200, body: '' })
    expect(stage.told()).toHaveLength(1)
    expect(stage.calls).toEqual([])
    expect(stage.lines).toMatchObject([{ level: 'error', fields: { reference: '00000001' } }])
  })

  it(`without an answer ${DRAIN_MS} ms after the stop is reported as interrupted, and gets no later answer`, async () => {
    const clock = turnedClock()
    const { acts, settle } = slowly()
    const stage = await openStage({ clock, ...acts })
    await send(stage, await postCard(stage.slack))
    await until(() => stage.calls.length === 1)
    const stopping = stage.door.stop()
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(DRAIN_MS)
    await stopping
    // Before that, the requester was told that the answer takes longer.
    expect(stage.told().sort()).toEqual([
      expect.any(String),
      expect.stringMatching(/Interrupted.*before it could answer/),
    ])
    expect(stage.told().sort()[1]).toContain(what)
    expect(await owed(stage)).toEqual([])
    settle()
    await until(() =>
      stage.lines.some(
        ({ text }) => text === 'an answer came after the person was told that the request was interrupted',
      ),
    )
    expect(stage.told()).toHaveLength(2)
  })
})

describe('a stored request', () => {
  it('that is answered while the endpoint closes gets only its answer', async () => {
    const { acts, settle } = slowly()
    const stage = await openStage(acts)
    await stage.slack.people.runCommand(stopWeb)
    await until(() => stage.calls.length === 1)
    const stopping = stage.door.stop()
    settle()
    await stopping
    expect(stage.told()).toEqual([expect.stringContaining('Stop requested')])
    expect(await owed(stage)).toEqual([])
  })

  it(`holds up the stop by at most ${INTERRUPT_MS} ms if its requester cannot be told, and still needs an answer`, async () => {
    const clock = turnedClock()
    const stage = await openStage({ clock, ...slowly().acts })
    await stage.slack.people.runCommand(stopWeb)
    await until(() => stage.calls.length === 1)
    stage.slack.faults.add({ kind: 'slow', ms: 60_000 })
    const stopping = stage.door.stop()
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(DRAIN_MS)
    await until(() => stage.slack.faults.list()[0]!.hits >= 2)
    clock.advance(INTERRUPT_MS)
    await stopping
    expect(await owed(stage)).toMatchObject([{ state: 'given-up' }])
  })

  it('whose answer cannot be shown is answered in a direct message as soon as possible', async () => {
    const stage = await openStage()
    stage.slack.faults.add({ kind: 'down', method: 'response_url' })
    stage.slack.acts.kickBot(BUILDS)
    await stage.slack.people.runCommand(stopWeb)
    await stage.asked(1)
    expect(await owed(stage)).toMatchObject([{ state: 'owed' }])
    await stage.pendingInteractions.answerAbandoned()
    expect(await owed(stage)).toEqual([])
    const direct = [...stage.slack.workspace.channels.keys()].find((id) => id.startsWith('D'))
    expect(stage.slack.transcript(direct!)).toContain('/ci stop acme/web')
  })

  it.each([
    ['while our database was locked', 'database is locked'],
    ['before CI was asked', 'somebody else did it'],
  ])('that failed %s was certainly not done, and is not called unclear', async (_, why) => {
    const stage = await openStage({ stop: () => Promise.reject(new NotAttempted(why)) })
    await stage.slack.people.runCommand(stopWeb)
    await stage.asked(1)
    expect(stage.told()).toEqual([answerUndone('00000001').text])
    expect(stage.told()[0]).toContain('nothing was done')
    expect(stage.told()[0]).not.toContain('not known')
    expect(await owed(stage)).toEqual([])
  })

  it('that was not stored in time is answered within 3 s, although the database is locked', async () => {
    const stage = await openStage()
    const other = new DatabaseSync(stage.path)
    onTestFinished(() => other.close())
    other.exec('begin immediate')
    const sinceMs = Date.now()
    expect(await stage.slack.people.runCommand(stopWeb)).toMatchObject({ status: 200 })
    expect(Date.now() - sinceMs).toBeLessThan(3_000)
    expect(await stage.untilTold(1)).toEqual([answerUndone('00000001').text])
    expect(stage.calls).toEqual([])
  })

  it('that takes a second to store is still announced as slow within 3 s', async () => {
    const { acts, settle } = slowly()
    const stage = await openStage(acts)
    const other = new DatabaseSync(stage.path)
    onTestFinished(() => other.close())
    other.exec('begin immediate')
    const sinceMs = Date.now()
    setTimeout(() => other.exec('rollback'), 1_000)
    await stage.slack.people.runCommand(stopWeb)
    expect(Date.now() - sinceMs).toBeGreaterThan(900)
    expect(await stage.untilTold(1)).toEqual([answerSlow('stop').text])
    expect(Date.now() - sinceMs).toBeLessThan(3_000)
    settle()
  })

  it('with a NUL character is stored without it, since PostgreSQL refuses it', async () => {
    const stage = await openStage()
    const form = {
      command: '/ci',
      text: 'stop acme\0/web',
      user_id: ada,
      channel_id: BUILDS,
      trigger_id: 'trigger\0-1',
    }
    const body = new URLSearchParams(form).toString()
    await stage.slack.sender.send({ what: 'NUL', contentType: 'application/x-www-form-urlencoded', body })
    expect(await stage.asked(1)).toMatchObject([
      ['stop', { kind: 'project', project: 'acme/web' }, { interactionKey: 'trigger-1' }],
    ])
  })
})

describe('a request that needs no answer later', () => {
  it.each<[string, (stage: Stage, ts: string) => Promise<unknown>]>([
    [
      'a click on a link',
      ({ slack }, ts) => slack.people.click({ user: lin, channel: BUILDS, ts, actionId: 'build_open' }),
    ],
    [
      'a mention by another bot',
      ({ slack }) =>
        slack.people.sendEvent({ ...mentioned('<@U0BUILDBOT> stop'), bot_id: 'B0OTHER001' }, { eventId: 'Ev2' }),
    ],
    [
      'an edit of an old mention',
      ({ slack }) =>
        slack.people.sendEvent({
          ...mentioned('<@U0BUILDBOT> stop'),
          user: lin,
          edited: { user: lin, ts: '2.000001' },
        }),
    ],
  ])('is not stored: %s', async (_, send) => {
    const stage = await openStage()
    const open = {
      type: 'button',
      action_id: 'build_open',
      text: { type: 'plain_text', text: 'Open' },
      url: 'https://ci.example/1',
    }
    const ts = await postCard(stage.slack, [open])
    // Any write to the closed database would fail.
    await stage.store.close()
    expect(await send(stage, ts)).toMatchObject({ status: 200 })
    expect(stage.lines.filter(({ level }) => level === 'error')).toEqual([])
    expect(stage.told(lin)).toEqual([])
  })
})
