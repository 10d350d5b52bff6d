import { describe, expect, it } from 'vitest'
import { REQUESTS_KEPT_MS } from '../../../src/features/kit/pending-interactions.ts'
import { describedFeatures } from '../../../src/features/features.ts'
import { answerHelp } from '../../../src/features/help/slack.ts'
import { answerUnknown } from '../../../src/features/kit/slips.ts'
import { ACCOUNTS } from '../../../packages/sandbox-slack/src/workspace.ts'
import { openPeopleStage } from './people-stage.ts'
import { ada, BUILDS, grace, lin, openStage, sol, type Stage } from './stage.ts'

/** Ada mentions Buildline in #builds. @returns the answer */
async function mention({ slack, told, untilTold }: Stage, text: string, threadTs?: string): Promise<string> {
  const before = told().length
  await slack.people.mentionBot({ user: ada, channel: BUILDS, text, ...(threadTs !== undefined && { threadTs }) })
  return (await untilTold(before + 1)).at(-1)!
}

describe('a mention in a thread', () => {
  it("means that thread's build unless it names another, and is answered there", async () => {
    const stage = await openPeopleStage()
    const ts = await stage.showCard(await stage.behind.running())
    await stage.behind.running({}, 'acme/api')
    const lines = {
      '': /^(?=.*Running)(?=.*#501)/,
      status: /^(?=.*Running)(?=.*#501)/,
      list: /3 projects/,
      stpo: /`stpo`/,
      'restart ""': /Which project/,
      'stop acme/web@': /Which branch/,
      restart: /#501.*still running/s,
    }
    for (const [text, answer] of Object.entries(lines)) expect(await mention(stage, text, ts), text).toMatch(answer)
    expect(stage.behind.writes()).toEqual([])
    expect(await mention(stage, 'stop', ts)).toContain('Stop requested')
    expect(await mention(stage, 'stop acme/api', ts)).toMatch(/Stop requested.*acme\/api/)
    expect(await stage.behind.requests()).toMatchObject([
      { buildId: '501', requestedBy: ada },
      { buildId: '502', requestedBy: ada },
    ])
    const threads = stage.slack.ephemerals(BUILDS, ada).map(({ message }) => message.threadTs)
    expect(new Set(threads)).toEqual(new Set([ts]))
    expect(stage.told(grace)).toEqual([])
  })
})

describe('a mention elsewhere', () => {
  it('is the command that it names', async () => {
    const stage = await openPeopleStage()
    await stage.behind.running()
    const lines = {
      '': /0 red, 1 running/,
      stop: /1 build runs/,
      status: /#501/,
      'stop acme/web': /Stop requested/,
    }
    for (const [text, answer] of Object.entries(lines)) expect(await mention(stage, text), text).toMatch(answer)
    expect(stage.slack.ephemerals(BUILDS, ada)[0]!.message.threadTs).toBeUndefined()
  })

  it('is answered with help as it is typed in a mention', async () => {
    const stage = await openPeopleStage()
    expect(await mention(stage, 'stpo')).toBe(answerUnknown({ typed: 'stpo', nearest: 'stop' }, '@Buildline').text)
    expect(await mention(stage, 'help')).toBe(answerHelp(describedFeatures().commands, '@Buildline').text)
  })

  it("passes on the requester's own workspace", async () => {
    const { slack, asked } = await openStage()
    await slack.people.mentionBot({ user: sol, channel: 'C0SHARED01', text: 'stop #1' })
    expect(await asked(1)).toMatchObject([['stop', {}, { user: sol, team: 'T0OUTSIDE1' }]])
  })
})

/** The event of a new message. */
function event(text: string, more: object = {}) {
  const ts = tsOf(1_700_000_000_000 + (events += 1))
  return { type: 'app_mention', user: ada, text, ts, team: 'T0SANDBOX1', channel: BUILDS, event_ts: ts, ...more }
}
let events = 0

const tsOf = (ms: number): string => (ms / 1_000).toFixed(6)

describe('an edit of a message', () => {
  it('does not run its command again, nor another one', async () => {
    const { slack, asked, untilTold } = await openStage()
    await slack.people.mentionBot({ user: ada, channel: BUILDS, text: 'stop #1' })
    const [{ ts }] = slack.messages(BUILDS) as [{ ts: string }]
    await slack.people.editMention({ channel: BUILDS, ts, text: 'stop #1 please' })
    await slack.people.editMention({ channel: BUILDS, ts, text: 'stop #2' })
    await slack.people.mentionBot({ user: ada, channel: BUILDS, text: 'stop #3' })
    expect(await asked(2)).toMatchObject([
      ['stop', { number: '1' }, {}],
      ['stop', { number: '3' }, {}],
    ])
    expect(await untilTold(2)).toHaveLength(2)
  })

  it('that adds the mention runs its command', async () => {
    const { slack, asked } = await openStage()
    const ts = slack.acts.say({ user: ada, channel: BUILDS, text: 'stop #1' })
    await slack.people.editMention({ channel: BUILDS, ts, text: 'stop #1' })
    expect(await asked(1)).toMatchObject([['stop', { number: '1' }, { user: ada }]])
  })

  it('runs nothing once the keys of messages of that age are forgotten', async () => {
    const { slack, asked } = await openStage()
    const edited = { edited: { user: ada, ts: tsOf(Date.now()) } }
    const aged = (ms: number) => ({ ts: tsOf(Date.now() - ms), ...edited })
    await slack.people.sendEvent(event('<@U0BUILDBOT> stop #1', aged(REQUESTS_KEPT_MS + 1)))
    await slack.people.sendEvent(event('<@U0BUILDBOT> stop #2', aged(REQUESTS_KEPT_MS - 60_000)))
    expect(await asked(1)).toMatchObject([['stop', { number: '2' }, {}]])
  })
})

describe('a mention', () => {
  it('reads only the text after it', async () => {
    const { slack, asked, untilTold } = await openStage()
    await slack.people.sendEvent(event('stop <@U0BUILDBOT>'))
    await slack.people.sendEvent(event(`<@${lin}> please stop <@U0BUILDBOT> restart #1`))
    expect(await untilTold(2)).toHaveLength(2)
    expect(await asked(2)).toMatchObject([['restart', { number: '1' }, {}]])
  })

  it.each([':', ',', ''])('may be followed by punctuation: @buildline%s', async (mark) => {
    const { slack, asked } = await openStage()
    await slack.people.sendEvent(event(`<@U0BUILDBOT>${mark} stop #1`))
    expect(await asked(1)).toMatchObject([['stop', { number: '1' }, {}]])
  })

  it('is answered once, however often it is delivered', async () => {
    const { slack, asked, untilTold } = await openStage()
    const first = event('<@U0BUILDBOT> stop #1')
    await slack.people.sendEvent(first, { eventId: 'Ev0001' })
    await slack.people.sendEvent(first, { eventId: 'Ev0001', retryNum: 1 })
    await slack.people.sendEvent(event('<@U0BUILDBOT> stop #2'), { eventId: 'Ev0002', retryNum: 1 })
    expect(await asked(2)).toMatchObject([
      ['stop', { number: '1' }, { interactionKey: 'Ev0001' }],
      ['stop', { number: '2' }, { interactionKey: 'Ev0002' }],
    ])
    expect(await untilTold(2)).toHaveLength(2)
  })

  it('has the workspace of its author, not the one that received the event', async () => {
    const { slack, asked } = await openStage()
    await slack.people.sendEvent(event('<@U0BUILDBOT> stop #1', { user: sol, user_team: 'T0OUTSIDE1' }))
    expect(await asked(1)).toMatchObject([['stop', {}, { user: sol, team: 'T0OUTSIDE1' }]])
  })

  it('by another bot is ignored', async () => {
    const { slack, asked } = await openStage()
    await slack.people.sendEvent(event('<@U0BUILDBOT> stop #1', { user: ACCOUNTS.otherBot, bot_id: 'B0OTHER001' }))
    await slack.people.sendEvent(event('<@U0BUILDBOT> stop #2'))
    expect(await asked(1)).toMatchObject([['stop', { number: '2' }, { user: ada }]])
  })

  it('is answered with text only if Slack refuses the blocks', async () => {
    const { slack, untilTold } = await openStage()
    slack.faults.add({ kind: 'error', method: 'chat.postEphemeral', error: 'invalid_blocks', times: 1 })
    await slack.people.mentionBot({ user: ada, channel: BUILDS, text: 'help' })
    expect(await untilTold(1)).toHaveLength(1)
    expect(slack.ephemerals(BUILDS, ada)[0]!.message.blocks ?? []).toEqual([])
  })

  it('that cannot be answered is logged with its reference', async () => {
    const { slack, asked, lines } = await openStage()
    slack.faults.add({ kind: 'error', method: 'chat.postEphemeral', error: 'user_not_in_channel' })
    await slack.people.mentionBot({ user: ada, channel: BUILDS, text: 'help' })
    await asked(1)
    expect(lines.filter(({ level }) => level === 'warn')).toMatchObject([
      { fields: { reference: '00000001', what: 'help' }, text: 'an answer could not be shown' },
    ])
    expect(lines.at(-1)).toMatchObject({ fields: { reference: '00000001', isShown: false } })
  })
})
