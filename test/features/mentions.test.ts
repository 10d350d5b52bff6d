import { describe, expect, it } from 'vitest'
import { answerOverview } from '../../src/features/builds/status-messages.ts'
import { REQUESTS_KEPT_MS } from '../../src/features/pending-interactions.ts'
import { describedFeatures } from '../../src/features/features.ts'
import { answerHelp } from '../../src/features/help/messages.ts'
import { answerUnknown } from '../../src/features/slips.ts'
import { ACCOUNTS } from '../../packages/sandbox-slack/src/workspace.ts'
import { ada, build, BUILDS, grace, lin, openStage, postCard, sol, type Called } from './stage.ts'

const { commands: COMMANDS } = describedFeatures()

const asMention = {
  user: ada,
  team: 'T0SANDBOX1',
  channel: BUILDS,
  via: 'mention',
  interactionKey: expect.stringMatching(/^Ev/),
}

describe('a mention in a thread', () => {
  it.each<[string, (ts: string) => Called[]]>([
    ['stop', (ts) => [['stop', { kind: 'message', channel: BUILDS, ts }, asMention]]],
    ['restart', (ts) => [['restart', { kind: 'message', channel: BUILDS, ts }, asMention]]],
    ['status', (ts) => [['status', { target: { kind: 'message', channel: BUILDS, ts } }]]],
    ['why', (ts) => [['why', { kind: 'message', channel: BUILDS, ts }, asMention]]],
    ['stop acme/api@main', () => [['stop', { kind: 'project', project: 'acme/api', branch: 'main' }, asMention]]],
    ['list', () => [['listProjects', { text: null, type: null, page: 1 }]]],
    ['', (ts) => [['status', { target: { kind: 'message', channel: BUILDS, ts } }]]],
    ['stpo', () => []],
    ['restart ""', () => []],
    ['stop acme/web@', () => []],
  ])("means that thread's build unless it names another: @buildline %s", async (text, calls) => {
    const { slack, asked, untilTold, told } = await openStage()
    const ts = await postCard(slack)
    await slack.people.mentionBot({ user: ada, channel: BUILDS, text, threadTs: ts })
    expect(await asked(1)).toEqual(calls(ts))
    expect(await untilTold(1)).toHaveLength(1)
    expect(slack.ephemerals(BUILDS, ada)[0]!.message.threadTs).toBe(ts)
    expect(told(grace)).toEqual([])
  })
})

describe('a mention elsewhere', () => {
  it.each<[string, Called[]]>([
    ['stop acme/web', [['stop', { kind: 'project', project: 'acme/web', branch: null }, asMention]]],
    ['stop', [['running', BUILDS]]],
    ['status', [['status', { project: null, branch: null, channel: BUILDS }]]],
    ['badge acme/web', [['badge', { project: 'acme/web', branch: null }]]],
  ])('is the command that it names: @buildline %s', async (text, calls) => {
    const { slack, asked, untilTold } = await openStage()
    await slack.people.mentionBot({ user: ada, channel: BUILDS, text })
    expect(await asked(1)).toEqual(calls)
    expect(await untilTold(1)).toHaveLength(1)
    expect(slack.ephemerals(BUILDS, ada)[0]!.message.threadTs).toBeUndefined()
  })

  it.each([
    [
      '',
      answerOverview({
        newest: { builds: [build()], more: 0, red: 0 },
        running: { kind: 'running', where: 'channel', builds: [build()], more: 0 },
      }),
    ],
    ['stpo', answerUnknown({ typed: 'stpo', nearest: 'stop' }, '@Buildline')],
    ['help', answerHelp(COMMANDS, '@Buildline')],
  ])('answers with help: @buildline %s', async (text, answer) => {
    const { slack, untilTold } = await openStage()
    await slack.people.mentionBot({ user: ada, channel: BUILDS, text })
    expect(await untilTold(1)).toEqual([answer.text])
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
    await slack.people.sendEvent(event(`<@${lin}> please <@U0BUILDBOT> status acme/web`))
    expect(await untilTold(2)).toHaveLength(2)
    const calls = await asked(2)
    expect(calls).toContainEqual(['status', { project: 'acme/web', branch: null, channel: BUILDS }])
    expect(calls.map(([name]) => name)).not.toContain('stop')
  })

  it.each([':', ',', ''])('may be followed by punctuation: @buildline%s', async (mark) => {
    const { slack, asked } = await openStage()
    await slack.people.sendEvent(event(`<@U0BUILDBOT>${mark} status acme/web`))
    expect(await asked(1)).toEqual([['status', { project: 'acme/web', branch: null, channel: BUILDS }]])
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
    await slack.people.mentionBot({ user: ada, channel: BUILDS, text: 'status' })
    expect(await untilTold(1)).toHaveLength(1)
    expect(slack.ephemerals(BUILDS, ada)[0]!.message.blocks ?? []).toEqual([])
  })

  it('that cannot be answered is logged with its reference', async () => {
    const { slack, asked, lines } = await openStage()
    slack.faults.add({ kind: 'error', method: 'chat.postEphemeral', error: 'user_not_in_channel' })
    await slack.people.mentionBot({ user: ada, channel: BUILDS, text: 'status' })
    await asked(1)
    expect(lines.filter(({ level }) => level === 'warn')).toMatchObject([
      { fields: { reference: '00000001', what: 'status' }, text: 'an answer could not be shown' },
    ])
    expect(lines.at(-1)).toMatchObject({ fields: { reference: '00000001', isShown: false } })
  })
})
