import { describe, expect, it } from 'vitest'
import { answerOld } from '../../../src/features/kit/fault-messages.ts'
import type { SandboxSlack } from '../../../packages/sandbox-slack/src/sandbox-slack.ts'
import type { Built } from '../operations-stage.ts'
import { openPeopleStage, press, type PeopleStage } from '../kit/people-stage.ts'
import { ada, BUILDS, openStage, postCard, sol } from '../kit/stage.ts'

describe('"Restart this build"', () => {
  it.each(['the card', 'a reply'])("on %s restarts the thread's build, and is answered there", async (where) => {
    const { slack, behind, showCard, untilTold } = await openPeopleStage()
    const card = await showCard(await behind.ended('error'))
    const reply = slack.acts.say({ user: ada, channel: BUILDS, text: 'again?', threadTs: card })
    const ts = where === 'a reply' ? reply : card
    await slack.people.useShortcut({ user: ada, channel: BUILDS, ts, callbackId: 'restart_build' })
    expect(await untilTold(1)).toEqual([expect.stringContaining('Restart requested')])
    expect(slack.ephemerals(BUILDS, ada)[0]!.message.threadTs).toBe(where === 'a reply' ? card : undefined)
    expect(behind.writes()).toEqual(['restart.json 200'])
    expect(await behind.requests()).toMatchObject([{ requestedBy: ada }])
  })
})

describe('"Stop this build"', () => {
  async function use({ slack, showCard }: PeopleStage, built: Pick<Built, 'ref'>, user: string = ada): Promise<void> {
    await slack.people.useShortcut({ user, channel: BUILDS, ts: await showCard(built), callbackId: 'stop_build' })
  }

  it('first shows the build with a Stop button, which asks for confirmation and then stops it', async () => {
    const stage = await openPeopleStage()
    await use(stage, await stage.behind.running())
    expect(await stage.untilTold(1)).toEqual([expect.stringMatching(/Running.*#501/)])
    const { ts } = stage.slack.ephemerals(BUILDS, ada)[0]!.message
    const cancelled = { user: ada, channel: BUILDS, ts, actionId: 'build_stop', confirmed: false }
    expect(await stage.slack.people.click(cancelled)).toMatchObject({ because: 'not_confirmed' })
    expect(stage.behind.writes()).toEqual([])
    await press(stage.slack, 'build_stop')
    expect((await stage.untilTold(2)).at(-1)).toContain('Stop requested')
    expect(stage.behind.writes()).toEqual(['stop 202'])
  })

  it('says so if the build has ended', async () => {
    const stage = await openPeopleStage()
    await use(stage, await stage.behind.ended('error'))
    expect(await stage.untilTold(1)).toEqual([expect.stringContaining('*nothing to stop*')])
  })

  it('says why if the build cannot be stopped', async () => {
    const stage = await openPeopleStage()
    await use(stage, await stage.behind.running({}, 'acme/ios'))
    expect(await stage.untilTold(1)).toEqual([expect.stringMatching(/Stop is not possible.*uuid/s)])
  })

  it('shows a build that is already being stopped without a button', async () => {
    const stage = await openPeopleStage()
    const built = await stage.behind.running()
    await stage.type('stop acme/web')
    await use(stage, built)
    const shown = (await stage.untilTold(2)).at(-1)
    expect(shown).toMatch(/Running.*#501/)
    expect(shown).not.toContain('not stopped')
    expect(JSON.stringify(stage.slack.ephemerals(BUILDS, ada).at(-1))).not.toContain('build_stop')
  })

  it('shows nothing to an outsider', async () => {
    const stage = await openPeopleStage({ permits: async () => ({ kind: 'no', why: 'outsider', who: [] }) })
    await use(stage, await stage.behind.running(), sol)
    expect(await stage.untilTold(1, sol)).toEqual([expect.stringContaining('you cannot see builds')])
  })
})

describe('a shortcut', () => {
  it.each(['restart_build', 'stop_build'])(
    'on a message that is no build says so, and does nothing: %s',
    async (callbackId) => {
      const { slack, behind, untilTold } = await openPeopleStage()
      await behind.running()
      const ts = slack.acts.say({ user: ada, channel: BUILDS, text: 'lunch?' })
      await slack.people.useShortcut({ user: ada, channel: BUILDS, ts, callbackId })
      await untilTold(1)
      const bare = { type: 'message_action', callback_id: callbackId, user: { id: ada }, channel: { id: BUILDS } }
      await sendShortcut(slack, bare)
      for (const text of await untilTold(2)) expect(text).toContain('*No build here*')
      expect(behind.writes()).toEqual([])
    },
  )

  it('without a person cannot be answered, which is one log line', async () => {
    const { slack, door, lines } = await openPeopleStage()
    await sendShortcut(slack, { type: 'message_action', callback_id: 'stop_build', user: {} })
    await door.stop()
    expect(lines).toMatchObject([{ level: 'info', fields: { what: 'stop', isShown: false } }])
  })

  it('of an older version is answered, and does nothing', async () => {
    const { slack, calls, untilTold } = await openStage()
    const ts = await postCard(slack)
    await slack.people.useShortcut({ user: ada, channel: BUILDS, ts, callbackId: 'retry_build' })
    expect(await untilTold(1)).toEqual([answerOld().text])
    expect(calls).toEqual([])
  })

  it('of an older version without a channel is answered in a direct message', async () => {
    const { slack, asked } = await openStage()
    await slack.people.useGlobalShortcut({ user: ada, callbackId: 'find_build' })
    await asked(1)
    expect(slack.messages(`D${ada.slice(1)}`)).toMatchObject([{ text: answerOld().text }])
  })
})

const sendShortcut = (slack: SandboxSlack, payload: object) =>
  slack.sender.send({
    what: 'a shortcut',
    contentType: 'application/x-www-form-urlencoded',
    body: new URLSearchParams({ payload: JSON.stringify(payload) }).toString(),
  })

describe('/ci restart alone', () => {
  it('lists what can be restarted, and nothing else', async () => {
    const { behind, type } = await openPeopleStage()
    expect(await type('restart')).toContain('*Nothing can be restarted*')
    await behind.ended('error')
    await behind.ended('error', {}, 'acme/ios')
    await behind.running({}, 'acme/api')
    const answer = await type('restart')
    expect(answer).toMatch(/\*What can be restarted\*.*acme\/web/s)
    expect(answer).not.toMatch(/acme\/(?:ios|api)/)
  })
})

describe('/ci status alone', () => {
  it("names no build that the account's limits kept from running", async () => {
    const { behind, type } = await openPeopleStage()
    await behind.ended('error')
    await behind.ended('ignored', { branch: 'autumn' })
    const answer = await type('status')
    expect(answer).toMatch(/\*1 branch is red\*.*`main`/s)
    expect(answer).not.toMatch(/autumn|more/)
  })
})

describe('a number that no build has', () => {
  it('is answered with what to type instead', async () => {
    const { behind, type } = await openPeopleStage()
    await behind.ended('error')
    for (const text of ['status 999', 'status #999'])
      expect(await type(text)).toMatch(/\*No build #999 is known\*.*Name its project: `\/ci status project@branch`/s)
    expect(await type('status acme/web #999')).toContain('*No build matches* `acme/web #999`')
  })
})
