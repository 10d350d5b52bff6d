import { describe, expect, it } from 'vitest'
import type { BuildSummary } from '../../src/catalog/outcomes.ts'
import { answerAction } from '../../src/features/builds/action-messages.ts'
import { answerOld } from '../../src/features/fault-messages.ts'
import { answerNotAllowed } from '../../src/features/not-allowed.ts'
import { answerNotFound } from '../../src/features/not-found.ts'
import { answerFound } from '../../src/features/builds/status-messages.ts'
import type { SandboxSlack } from '../../packages/sandbox-slack/src/sandbox-slack.ts'
import { ada, build, BUILDS, openStage, postCard, REF, RESTART_REQUESTED, sol, STOP_REQUESTED } from './stage.ts'
import { githubProjectId } from '../../src/domain/ids.ts'

const stopAsked = { command: 'stop', branch: null, reference: '00000001' } as const
const by = { user: ada, team: 'T0SANDBOX1', channel: BUILDS, via: 'shortcut', interactionKey: expect.any(String) }

describe('"Restart this build"', () => {
  it("restarts the message's build, and answers the requester", async () => {
    const { slack, asked, untilTold } = await openStage()
    const ts = await postCard(slack)
    await slack.people.useShortcut({ user: ada, channel: BUILDS, ts, callbackId: 'restart_build' })
    expect(await asked(1)).toEqual([['restart', { kind: 'message', channel: BUILDS, ts }, by]])
    const { text } = answerAction(RESTART_REQUESTED, { ...stopAsked, command: 'restart' })
    expect(await untilTold(1)).toEqual([text])
  })

  it('on a reply means the build of its thread, and is answered there', async () => {
    const { slack, asked, untilTold } = await openStage()
    const root = await postCard(slack)
    const ts = slack.acts.say({ user: ada, channel: BUILDS, text: 'again?', threadTs: root })
    await slack.people.useShortcut({ user: ada, channel: BUILDS, ts, callbackId: 'restart_build' })
    expect(await asked(1)).toEqual([['restart', { kind: 'message', channel: BUILDS, ts: root }, by]])
    await untilTold(1)
    expect(slack.ephemerals(BUILDS, ada)[0]!.message.threadTs).toBe(root)
  })
})

describe('"Stop this build"', () => {
  it('first shows the build with a Stop button, which asks for confirmation and then stops it', async () => {
    const { slack, asked, untilTold } = await openStage()
    const card = await postCard(slack)
    await slack.people.useShortcut({ user: ada, channel: BUILDS, ts: card, callbackId: 'stop_build' })
    expect(await asked(1)).toEqual([['findBuild', { kind: 'message', channel: BUILDS, ts: card }]])
    expect(await untilTold(1)).toEqual([answerFound(build()).text])
    const { ts } = slack.ephemerals(BUILDS, ada)[0]!.message
    const press = { user: ada, channel: BUILDS, ts, actionId: 'build_stop' }
    expect(await slack.people.click({ ...press, confirmed: false })).toMatchObject({ because: 'not_confirmed' })
    await slack.people.click(press)
    expect((await asked(2)).at(-1)).toEqual(['stop', { kind: 'run', ref: REF }, { ...by, via: 'button' }])
    expect(await untilTold(2)).toContain(answerAction(STOP_REQUESTED, { ...stopAsked, reference: '00000002' }).text)
  })

  it.each<[string, Partial<BuildSummary>, (found: BuildSummary) => string]>([
    [
      'has ended',
      { shown: 'failed', offers: ['restart'] },
      (found) => answerAction({ kind: 'not-now', action: 'stop', build: found }, stopAsked).text,
    ],
    [
      'cannot be stopped',
      { offers: [], missing: { action: 'stop', why: 'no-build-uuid' } },
      (found) =>
        answerAction({ kind: 'impossible', action: 'stop', why: 'no-build-uuid', build: found }, stopAsked).text,
    ],
    [
      'is queued and cannot be stopped',
      { shown: 'queued', offers: [], missing: { action: 'stop', why: 'no-github' } },
      (found) => answerAction({ kind: 'impossible', action: 'stop', why: 'no-github', build: found }, stopAsked).text,
    ],
    [
      'of GitHub is queued and already being stopped',
      { shown: 'queued', offers: [], ref: { ...REF, projectId: githubProjectId('41', '7') } },
      (found) => answerFound(found).text,
    ],
    ['is already being stopped', { offers: [] }, (found) => answerFound(found).text],
    [
      'is already being stopped, and cannot be restarted',
      { offers: [], missing: { action: 'restart', why: 'pro-project' } },
      (found) => answerFound(found).text,
    ],
  ])('says so if the build %s', async (_, change, words) => {
    const found = build(change)
    const { slack, untilTold } = await openStage({
      operations: { findBuild: async () => ({ kind: 'found', build: found }) },
    })
    const ts = await postCard(slack)
    await slack.people.useShortcut({ user: ada, channel: BUILDS, ts, callbackId: 'stop_build' })
    expect(await untilTold(1)).toEqual([words(found)])
  })

  it('says so if the message is no build', async () => {
    const { slack, untilTold } = await openStage({ operations: { findBuild: async () => ({ kind: 'no-card' }) } })
    const ts = slack.acts.say({ user: ada, channel: BUILDS, text: 'lunch?' })
    await slack.people.useShortcut({ user: ada, channel: BUILDS, ts, callbackId: 'stop_build' })
    expect(await untilTold(1)).toEqual([answerNotFound({ kind: 'no-card' }, stopAsked).text])
  })

  it('shows nothing to an outsider', async () => {
    const permit = { kind: 'no', why: 'outsider', who: [] } as const
    const { slack, asked, untilTold } = await openStage({ operations: { mayRead: async () => permit } })
    const ts = await postCard(slack)
    await slack.people.useShortcut({ user: sol, channel: BUILDS, ts, callbackId: 'stop_build' })
    const refused = answerNotAllowed(permit, { action: null, reference: '00000001' })
    expect(await untilTold(1, sol)).toEqual([refused.text])
    expect(await asked(1)).toEqual([])
  })
})

describe('a shortcut', () => {
  it.each([
    ['restart_build', 'restart'],
    ['stop_build', 'stop'],
  ] as const)('without a message says that it is no build, and does nothing: %s', async (callbackId, command) => {
    const { slack, calls, untilTold } = await openStage()
    await sendShortcut(slack, {
      type: 'message_action',
      callback_id: callbackId,
      user: { id: ada },
      channel: { id: BUILDS },
    })
    expect(await untilTold(1)).toEqual([answerNotFound({ kind: 'no-card' }, { ...stopAsked, command }).text])
    expect(calls).toEqual([])
  })

  it('without a person cannot be answered, which is one log line', async () => {
    const { slack, door, lines } = await openStage()
    await sendShortcut(slack, { type: 'shortcut', callback_id: 'find_build', user: {} })
    await door.stop()
    expect(lines).toMatchObject([{ level: 'info', fields: { what: 'find', isShown: false } }])
  })

  it('of an older version is answered, and does nothing', async () => {
    const { slack, calls, untilTold } = await openStage()
    const ts = await postCard(slack)
    await slack.people.useShortcut({ user: ada, channel: BUILDS, ts, callbackId: 'retry_build' })
    expect(await untilTold(1)).toEqual([answerOld().text])
    expect(calls).toEqual([])
  })

  it('of an older version without a channel is answered in a direct message', async () => {
    const { slack } = await openStage()
    await slack.people.useGlobalShortcut({ user: ada, callbackId: 'retry_build' })
    const direct = `D${ada.slice(1)}`
    await expect.poll(() => slack.workspace.channels.has(direct) && slack.messages(direct).length).toBe(1)
    expect(slack.messages(direct)).toMatchObject([{ text: answerOld().text }])
  })
})

const sendShortcut = (slack: SandboxSlack, payload: object) =>
  slack.sender.send({
    what: 'a shortcut',
    contentType: 'application/x-www-form-urlencoded',
    body: new URLSearchParams({ payload: JSON.stringify(payload) }).toString(),
  })
