import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { ActionOutcome } from '../../src/catalog/outcomes.ts'
import { answerAction } from '../../src/features/builds/action-messages.ts'
import { DOUBLE_CLICK_MS } from '../../src/features/pending-interactions.ts'
import { turnedClock } from '../../packages/sandbox-slack/test/stage.ts'
import { answerOld } from '../../src/features/fault-messages.ts'
import type { Operations } from '../../src/features/operations.ts'
import { answerNotAllowed } from '../../src/features/not-allowed.ts'
import { choiceValue, pageValue } from '../../src/features/values.ts'
import { ACTION_IDS, CHOICE_ACTION_IDS, PAGE_ACTION_IDS } from '../../src/slack/messages/ids.ts'
import {
  ada,
  build,
  BUILDS,
  button,
  isAnswered,
  lin,
  openStage,
  postCard,
  PROJECT,
  REF,
  REF_TEXT,
  sol,
  STOP_REQUESTED,
  type Called,
  type Stage,
} from './stage.ts'

const by = {
  user: ada,
  team: 'T0SANDBOX1',
  channel: BUILDS,
  via: 'button',
  interactionKey: expect.stringMatching(/\.sandbox$/),
}

describe('a click in Home', () => {
  it('has one answer for a double click, and another one after Home was drawn again', async () => {
    const { slack, asked } = await openStage()
    const click = (hash: string) => clickIn(slack, { id: 'V0HOME0001', type: 'home', hash })
    await Promise.all([click('1'), click('1')])
    await asked(1)
    await click('2')
    expect(await asked(2)).toHaveLength(2)
    expect(slack.messages(`D${ada.slice(1)}`)).toHaveLength(2)
  })

  it('is answered in a direct message, and Home stays as it is', async () => {
    const { slack, asked } = await openStage()
    await clickIn(slack, { id: 'V0HOME0001', type: 'home' })
    expect(await asked(1)).toMatchObject([['stop', { kind: 'run', ref: REF }, { user: ada, via: 'modal' }]])
    const { text } = answerAction(STOP_REQUESTED, { command: 'stop', branch: null, reference: '00000001' })
    expect(slack.messages(`D${ada.slice(1)}`)).toMatchObject([{ text }])
    expect(slack.counters.calls('views.update')).toBe(0)
  })
})

const clickIn = (slack: Stage['slack'], view: object) =>
  slack.sender.send({
    what: 'a click in a view',
    contentType: 'application/x-www-form-urlencoded',
    body: new URLSearchParams({
      payload: JSON.stringify({
        type: 'block_actions',
        user: { id: ada },
        trigger_id: `${randomUUID()}.sandbox`,
        view,
        actions: [{ type: 'button', action_id: ACTION_IDS.stop, value: REF_TEXT }],
      }),
    }).toString(),
  })

describe('a click on a card', () => {
  it.each<[string, Called]>([
    ['build_stop', ['stop', { kind: 'run', ref: REF }, by]],
    ['build_restart', ['restart', { kind: 'run', ref: REF }, by]],
  ])('calls the operation of its button, and answers the person: %s', async (actionId, call) => {
    const { slack, asked, untilTold, told } = await openStage()
    const ts = await postCard(slack)
    const acknowledgement = await slack.people.click({ user: ada, channel: BUILDS, ts, actionId })
    expect(acknowledgement).toMatchObject({ status: 200, body: '' })
    expect(await asked(1)).toMatchObject([call])
    expect(await untilTold(1)).toHaveLength(1)
    expect(told(lin)).toEqual([])
  })

  it.each<[string, Awaited<ReturnType<Operations['findBuild']>>]>([
    ['is no longer stored', { kind: 'unknown-build', text: '#512' }],
    ['has no committer', { kind: 'found', build: build({ committer: null }) }],
  ])("That's me claims nothing if the build %s", async (_, found) => {
    const { slack, untilTold } = await openStage({ operations: { findBuild: async () => found } })
    const ts = await postCard(slack, [button('build_claim', REF_TEXT)])
    await slack.people.click({ user: ada, channel: BUILDS, ts, actionId: 'build_claim' })
    expect(await untilTold(1)).toEqual([expect.stringContaining('*No committer*')])
  })

  it('has one answer for a double click; later clicks, other buttons and other people have their own', async () => {
    const clock = turnedClock()
    const { slack, asked, untilTold, told } = await openStage({ clock })
    const ts = await postCard(slack)
    const click = (user: string = ada, actionId = 'build_restart') =>
      slack.people.click({ user, channel: BUILDS, ts, actionId })
    expect(await Promise.all([click(), click()])).toMatchObject([{ status: 200 }, { status: 200 }])
    await untilTold(1)
    clock.advance(DOUBLE_CLICK_MS - 1)
    expect(await click()).toMatchObject({ status: 200 })
    await click(lin)
    await click(ada, 'build_stop')
    expect(await asked(3)).toHaveLength(3)
    expect([told(), told(lin)]).toMatchObject([{ length: 2 }, { length: 1 }])
    clock.advance(2)
    await click()
    expect(await untilTold(3)).toHaveLength(3)
  })

  it('does not change the card itself, since the thread tells everybody', async () => {
    const { slack, untilTold } = await openStage()
    const ts = await postCard(slack)
    const before = slack.messages(BUILDS)
    await slack.people.click({ user: ada, channel: BUILDS, ts, actionId: 'build_stop' })
    const { text } = answerAction(STOP_REQUESTED, { command: 'stop', branch: null, reference: '00000001' })
    expect(await untilTold(1)).toEqual([text])
    expect(slack.messages(BUILDS)).toEqual(before)
  })

  it('on a link is acknowledged, and has no answer', async () => {
    const { slack, door, calls, lines, told } = await openStage()
    const ts = await postCard(slack, [
      {
        type: 'button',
        action_id: ACTION_IDS.open,
        text: { type: 'plain_text', text: 'Open' },
        url: 'https://ci.example',
      },
    ])
    expect(await slack.people.click({ user: ada, channel: BUILDS, ts, actionId: ACTION_IDS.open })).toMatchObject({
      status: 200,
    })
    // Any answer would have been sent when the endpoint has stopped.
    await door.stop()
    expect([calls, lines, told()]).toEqual([[], [], []])
  })

  it.each([
    ['an action of an older version', 'retry_build', REF_TEXT],
    ['a value that names no attempt', 'build_stop', 'everything'],
    ['a value that names no build', 'build_claim', 'ada'],
    ['a value of the longest size that Slack sends', 'build_restart', '9'.repeat(2_000)],
    ['a choice for a command without choices', 'choose_1', '{"command":"help","project":"acme/web","branch":null}'],
    ['a choice of an unknown command', 'choose_1', '{"command":"erase","project":"acme/web","branch":null}'],
    ['a page that does not exist', 'list_next', '{"page":-1}'],
  ])('always has an answer, and does nothing: %s', async (_, actionId, value) => {
    const { slack, calls, untilTold } = await openStage()
    const ts = await postCard(slack, [button(actionId, value)])
    await slack.people.click({ user: ada, channel: BUILDS, ts, actionId })
    expect(await untilTold(1)).toEqual([answerOld().text])
    expect(calls).toEqual([])
  })

  it('is handled once if Slack sends it again, and again if the person makes it again', async () => {
    const clock = turnedClock()
    const { slack, asked } = await openStage({ clock })
    const ts = await postCard(slack)
    await slack.people.click({ user: ada, channel: BUILDS, ts, actionId: 'build_stop' })
    clock.advance(DOUBLE_CLICK_MS + 1)
    await slack.people.replay('click build_stop')
    await slack.people.click({ user: ada, channel: BUILDS, ts, actionId: 'build_stop' })
    const keys = (await asked(2)).map(([, , requester]) => (requester as { interactionKey: string }).interactionKey)
    expect(new Set(keys).size).toBe(2)
  })

  it('has the workspace of the person', async () => {
    const { slack, asked } = await openStage()
    const ts = await postCard(slack)
    await slack.people.click({ user: sol, channel: BUILDS, ts, actionId: 'build_stop' })
    expect(await asked(1)).toMatchObject([['stop', {}, { user: sol, team: 'T0OUTSIDE1' }]])
  })
})

const several: ActionOutcome = {
  kind: 'several-projects',
  text: 'acme',
  projects: [PROJECT, { ...PROJECT, projectId: '42', name: 'acme/api' }],
  more: 0,
}

describe('a chosen project or build', () => {
  it('repeats the command with the choice, and the answer replaces the question', async () => {
    const outcomes = [several, STOP_REQUESTED]
    const { slack, asked, untilTold, told } = await openStage({
      operations: { stop: async () => outcomes.shift() ?? STOP_REQUESTED },
    })
    await slack.people.runCommand({ user: ada, channel: BUILDS, command: '/ci', text: 'stop acme@main' })
    await untilTold(1)
    const question = slack.ephemerals(BUILDS, ada)[0]!.message.ts
    await slack.people.click({ user: ada, channel: BUILDS, ts: question, actionId: 'choose_2' })
    expect(await asked(2)).toMatchObject([
      ['stop', { kind: 'project', project: 'acme', branch: 'main' }, { via: 'command' }],
      ['stop', { kind: 'project', project: '42', branch: 'main' }, { via: 'button' }],
    ])
    const { text } = answerAction(STOP_REQUESTED, { command: 'stop', branch: null, reference: '00000002' })
    expect(told()).toEqual([text])
  })

  it.each<[command: 'status' | 'restart' | 'badge' | 'why', call: unknown]>([
    ['status', ['status', { project: '42', branch: 'main', channel: BUILDS }]],
    ['restart', ['restart', { kind: 'project', project: '42', branch: 'main' }, by]],
    ['badge', ['badge', { project: '42', branch: 'main' }]],
    ['why', ['why', { kind: 'project', project: '42', branch: 'main' }, by]],
  ])('repeats %s', async (command, call) => {
    const { slack, asked } = await openStage()
    const value = choiceValue({ kind: 'project', command, project: '42', branch: 'main' })!
    const ts = await postCard(slack, [button('choose_5', value)])
    await slack.people.click({ user: ada, channel: BUILDS, ts, actionId: 'choose_5' })
    expect(await asked(1)).toEqual([call])
  })

  it('can be one of several builds', async () => {
    const { slack, asked } = await openStage()
    const ts = await postCard(slack, [button('choose_1', choiceValue({ kind: 'run', command: 'why', ref: REF })!)])
    await slack.people.click({ user: ada, channel: BUILDS, ts, actionId: 'choose_1' })
    expect(await asked(1)).toEqual([['why', { kind: 'run', ref: REF }, by]])
  })

  it('leaves a message that everybody sees as it is', async () => {
    const { slack, untilTold } = await openStage()
    const ts = await postCard(slack, [button('choose_1', choiceValue({ kind: 'run', command: 'why', ref: REF })!)])
    const before = slack.messages(BUILDS)
    await slack.people.click({ user: ada, channel: BUILDS, ts, actionId: 'choose_1' })
    await untilTold(1)
    expect(slack.messages(BUILDS)).toEqual(before)
  })
})

describe('a list of projects', () => {
  it('is paged in place', async () => {
    const { slack, asked, untilTold, told } = await openStage()
    await slack.people.runCommand({ user: ada, channel: BUILDS, command: '/ci', text: 'list acme pro' })
    await untilTold(1)
    const { ts } = slack.ephemerals(BUILDS, ada)[0]!.message
    await slack.people.click({ user: ada, channel: BUILDS, ts, actionId: 'list_next' })
    await asked(2)
    await slack.people.click({ user: ada, channel: BUILDS, ts, actionId: 'list_prev' })
    expect(await asked(3)).toMatchObject([
      ['listProjects', { text: 'acme', type: 'pro', page: 1 }],
      ['listProjects', { text: 'acme', type: 'pro', page: 2 }],
      ['listProjects', { text: 'acme', type: 'pro', page: 1 }],
    ])
    expect(told()).toHaveLength(1)
  })

  it('shows no page to an outsider', async () => {
    const permit = { kind: 'no', why: 'outsider', who: [] } as const
    const { slack, asked, untilTold } = await openStage({ operations: { mayRead: async () => permit } })
    const ts = await postCard(slack, [button('list_next', pageValue({ text: null, type: null, page: 2 })!)])
    await slack.people.click({ user: sol, channel: BUILDS, ts, actionId: 'list_next' })
    const refused = answerNotAllowed(permit, { action: null, reference: '00000001' })
    expect(await untilTold(1, sol)).toEqual([refused.text])
    expect(await asked(1)).toEqual([])
  })
})

describe('an action id that messages use', () => {
  it.each([...Object.values(ACTION_IDS), ...CHOICE_ACTION_IDS, ...Object.values(PAGE_ACTION_IDS)])(
    'has a handler: %s',
    (id) => expect(isAnswered(id)).toBe(true),
  )

  it('has no handler if it is unknown', () => expect(isAnswered('retry_build')).toBe(false))
})

describe('an answer that only the requester sees', () => {
  it('keeps its other buttons when one of them is clicked', async () => {
    const { slack, asked, untilTold } = await openStage({
      operations: {
        running: async () => ({
          kind: 'running',
          where: 'channel',
          builds: [build(), build({ ref: { ...REF, attempt: 2 } })],
          more: 0,
        }),
      },
    })
    await slack.people.runCommand({ user: ada, channel: BUILDS, command: '/ci', text: 'stop' })
    const [list] = await untilTold(1)
    const { ts } = slack.ephemerals(BUILDS, ada)[0]!.message
    await slack.people.click({ user: ada, channel: BUILDS, ts, actionId: 'build_stop' })
    expect((await asked(2)).at(-1)).toMatchObject(['stop', { kind: 'run', ref: REF }, by])
    expect(await untilTold(2)).toContain(list)
  })
})
