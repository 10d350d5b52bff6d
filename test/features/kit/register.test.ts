import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { attemptRefText } from '../../../src/domain/cards/request.ts'
import { answerAction } from '../../../src/features/builds/action-messages.ts'
import { DOUBLE_CLICK_MS } from '../../../src/features/kit/pending-interactions.ts'
import { turnedClock } from '../../../packages/sandbox-slack/test/stage.ts'
import { answerOld } from '../../../src/features/kit/fault-messages.ts'
import { choiceValue } from '../../../src/features/kit/values.ts'
import { ACTION_IDS, CHOICE_ACTION_IDS, PAGE_ACTION_IDS } from '../../../src/slack/messages/ids.ts'
import { SOON_MS } from '../../../src/features/kit/register.ts'
import type { Permit } from '../../../src/slack/api/permission.ts'
import { openPeopleStage, press } from './people-stage.ts'
import {
  ada,
  BUILDS,
  button,
  isAnswered,
  lin,
  openStage,
  pending,
  postCard,
  REF,
  REF_TEXT,
  sol,
  STOP_REQUESTED,
  type Stage,
  until,
} from './stage.ts'

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
  it.each(['stop', 'restart'])('is acknowledged at once, and answered to the person only: %s', async (action) => {
    const { slack, asked, untilTold, told } = await openStage()
    const ts = await postCard(slack)
    const before = slack.messages(BUILDS)
    const acknowledgement = await slack.people.click({ user: ada, channel: BUILDS, ts, actionId: `build_${action}` })
    expect(acknowledgement).toMatchObject({ status: 200, body: '' })
    const by = { user: ada, team: 'T0SANDBOX1', channel: BUILDS, via: 'button' }
    expect(await asked(1)).toMatchObject([[action, { kind: 'run', ref: REF }, by]])
    expect(await untilTold(1)).toHaveLength(1)
    // The card stays as it is, since the thread tells everybody.
    expect([told(lin), slack.messages(BUILDS)]).toEqual([[], before])
  })

  it("That's me claims nothing if the build has no committer or is no longer stored", async () => {
    const { slack, untilTold, behind, store } = await openPeopleStage()
    const { ref } = await behind.running({ committer: '' })
    for (const [at, value] of [attemptRefText(ref), REF_TEXT].entries()) {
      const ts = await postCard(slack, [button('build_claim', value)])
      await slack.people.click({ user: ada, channel: BUILDS, ts, actionId: 'build_claim' })
      expect((await untilTold(at + 1)).at(-1)).toContain('*No committer*')
    }
    expect(await store.read.handlesOf(ada)).toEqual([])
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

  const ODD = [
    ['an action of an older version', 'retry_build', REF_TEXT],
    ['a value that names no attempt', 'build_stop', 'everything'],
    ['a value that names no build', 'build_claim', 'ada'],
    ['a value of the longest size that Slack sends', 'build_restart', '9'.repeat(2_000)],
    ['a choice for a command without choices', 'choose_1', '{"command":"help","project":"acme/web","branch":null}'],
    ['a choice of an unknown command', 'choose_1', '{"command":"erase","project":"acme/web","branch":null}'],
    ['a page that does not exist', 'list_next', '{"page":-1}'],
  ] as const

  it('always has an answer, and does nothing if it is none of ours', async () => {
    const { slack, behind, told, untilTold } = await openPeopleStage()
    for (const [what, actionId, value] of ODD) {
      const ts = await postCard(slack, [button(actionId, value)])
      const before = told().length
      await slack.people.click({ user: ada, channel: BUILDS, ts, actionId })
      expect((await untilTold(before + 1)).at(-1), what).toEqual(answerOld().text)
    }
    expect(behind.writes()).toEqual([])
  })

  it('is handled once if Slack sends it again, and again if the person makes it again', async () => {
    const clock = turnedClock()
    const { slack, asked } = await openStage({ clock })
    const ts = await postCard(slack)
    await slack.people.click({ user: ada, channel: BUILDS, ts, actionId: 'build_stop' })
    clock.advance(DOUBLE_CLICK_MS + 1)
    await slack.people.replay('click build_stop')
    await slack.people.click({ user: ada, channel: BUILDS, ts, actionId: 'build_stop' })
    const keys = (await asked(2)).map(([, , by]) => by.interactionKey)
    expect(new Set(keys).size).toBe(2)
  })

  it('has the workspace of the person', async () => {
    const { slack, asked } = await openStage()
    const ts = await postCard(slack)
    await slack.people.click({ user: sol, channel: BUILDS, ts, actionId: 'build_stop' })
    expect(await asked(1)).toMatchObject([['stop', {}, { user: sol, team: 'T0OUTSIDE1' }]])
  })
})

describe('a chosen project or build', () => {
  it('repeats the command with the choice, and the answer replaces the question', async () => {
    const { slack, behind, type, told } = await openPeopleStage()
    await behind.running({}, 'acme/api')
    await behind.running({}, 'acme/web')
    expect(await type('stop acme@main')).toContain('3 projects')
    await press(slack, 'choose_1')
    await until(() => told()[0]!.includes('Stop requested'))
    expect(told()).toHaveLength(1)
    expect(await behind.requests()).toMatchObject([{ action: 'stop', buildId: '501' }])
  })

  it('of a message that everybody sees leaves it as it is', async () => {
    const { slack, behind, untilTold } = await openPeopleStage()
    const { ref } = await behind.ended('error')
    const answers = { status: /#501/, restart: /Restart requested/ }
    for (const [at, [command, answer]] of Object.entries(answers).entries()) {
      const value = choiceValue({ kind: 'project', command, project: ref.projectId, branch: 'main' })!
      const ts = await postCard(slack, [button('choose_5', value)])
      const before = slack.messages(BUILDS).at(-1)
      await slack.people.click({ user: ada, channel: BUILDS, ts, actionId: 'choose_5' })
      expect((await untilTold(at + 1)).at(-1), command).toMatch(answer)
      expect(slack.messages(BUILDS)).toContainEqual(before)
    }
  })

  it('can be one of several builds', async () => {
    const { slack, behind, untilTold } = await openPeopleStage()
    const { ref } = await behind.ended('error')
    const ts = await postCard(slack, [button('choose_1', choiceValue({ kind: 'run', command: 'status', ref })!)])
    await slack.people.click({ user: ada, channel: BUILDS, ts, actionId: 'choose_1' })
    expect(await untilTold(1)).toEqual([expect.stringContaining('#501')])
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
    const { slack, behind, type, untilTold } = await openPeopleStage()
    await behind.running({ branch: 'main' })
    await behind.running({ branch: 'topic' })
    const list = await type('stop')
    await press(slack, 'build_stop')
    expect(await untilTold(2)).toEqual([list, expect.stringContaining('Stop requested')])
    expect(behind.writes()).toEqual(['stop 202'])
  })
})

describe('the menu of a form', () => {
  const SEARCH = { user: ada, actionId: 'subscribe_project', value: 'acme' }
  const YES: Permit = { kind: 'yes' }

  async function open(answer: () => Promise<Permit>, options = {}) {
    let isOpen = false
    const stage = await openPeopleStage({ permits: async () => (isOpen ? answer() : YES) }, options)
    await stage.slack.people.runCommand({ user: ada, channel: BUILDS, command: '/ci', text: 'subscribe' })
    await stage.untilForm('subscribe_project')
    await stage.asked(1)
    isOpen = true
    return stage
  }

  it('has the projects that contain the text, for people who may see them', async () => {
    const { slack } = await open(async () => YES)
    expect((await slack.people.suggest({ ...SEARCH, value: 'we' })).options).toMatchObject([
      { text: { text: 'acme/web' } },
    ])
    const outsider = await open(async () => ({ kind: 'no', why: 'outsider', who: [] }))
    expect((await outsider.slack.people.suggest(SEARCH)).options).toEqual([])
  })

  it('is empty if its options cannot be read, and the log says why', async () => {
    const { slack, lines } = await open(() => Promise.reject(new Error('Slack is away')))
    expect(await slack.people.suggest(SEARCH)).toMatchObject({ acknowledgement: { status: 200 }, options: [] })
    expect(lines.at(-1)).toMatchObject({ level: 'warn', text: 'a menu has no options' })
  })

  it(`is empty after ${SOON_MS} ms, before Slack gives up`, async () => {
    const clock = turnedClock()
    const { promise: asked, settle } = pending<void>()
    const { slack } = await open(
      () => {
        settle()
        return new Promise(() => {})
      },
      { clock },
    )
    const suggesting = slack.people.suggest(SEARCH)
    await asked
    clock.advance(SOON_MS)
    expect(await suggesting).toMatchObject({ acknowledgement: { kind: 'answered' }, options: [] })
  })

  it('of an older version is empty', async () => {
    const { slack } = await open(async () => YES)
    const payload = { type: 'block_suggestion', user: { id: ada }, action_id: 'find_project', value: 'web' }
    const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString()
    const contentType = 'application/x-www-form-urlencoded'
    expect(await slack.sender.send({ what: 'a menu', contentType, body })).toMatchObject({ body: '{"options":[]}' })
  })
})

describe('a choice in a form of an older version', () => {
  it('is answered in that form, and does nothing', async () => {
    const { slack, asked, calls } = await openStage()
    const option = { text: { type: 'plain_text', text: 'acme/web' }, value: '11' }
    const payload = {
      type: 'block_actions',
      user: { id: ada },
      view: { id: 'V1', type: 'modal', callback_id: 'find_build', title: { type: 'plain_text', text: 'Find a build' } },
      actions: [{ type: 'external_select', action_id: 'find_project', selected_option: option }],
    }
    const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString()
    await slack.sender.send({ what: 'a choice', contentType: 'application/x-www-form-urlencoded', body })
    await asked(1)
    expect(slack.counters.calls('views.update')).toBe(1)
    // The sandbox has no such view, as if it had been closed.
    expect(slack.messages(`D${ada.slice(1)}`)).toMatchObject([{ text: answerOld().text }])
    expect(calls).toEqual([])
  })
})
