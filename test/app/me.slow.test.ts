import { describe, expect, it } from 'vitest'
import { ACCOUNTS, CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { buildOf, rowsOf, sendAll, settled, until, type Build } from '../support/app.ts'
import {
  answersTo,
  buttonsOf,
  openScene,
  openWorld,
  press,
  startBot,
  threadOf,
  type,
  untilAnswered,
  untilCard,
  untilThread,
} from '../support/world.ts'
import { restartADayLater } from './claimants.ts'
import type { Scene, Shown, World, WorldOptions } from '../support/world.ts'

const { builds: BUILDS, shared: SHARED } = CHANNELS
const { ada, grace, lin, gus, sol } = PEOPLE

/** A world without claimed names. */
const open = (options: WorldOptions = {}): Promise<World> => openWorld(options)

/** Lets a build run and fail. @returns its reply */
async function fail(world: World, n: number, build: Build = {}): Promise<string> {
  await sendAll(world.app.url, buildOf(n, { ...build, status: 'initiated' }))
  const card = await untilCard(world, ['Running', `#${n}`])
  await sendAll(world.app.url, buildOf(n, { ...build, status: 'error' }))
  return untilThread(world, card, 'Failed')
}

/** The bot's direct messages to this person. */
const directTo = ({ slack }: Pick<Scene, 'slack'>, user: string): string[] =>
  [...slack.workspace.channels.values()]
    .filter(({ kind, members }) => kind === 'im' && members.has(user))
    .flatMap(({ messages }) => [...messages.values()].map(({ text }) => text))

const claimsIn = ({ folder }: World) => rowsOf(folder, 'select handle, user_id from person order by handle')

describe('a committer name', () => {
  it('is mentioned in failures once it is claimed, and everybody sees whose it is', async () => {
    const world = await open()
    expect(await fail(world, 1)).not.toContain('<@')
    await type(world, ada, '/ci me ada')
    await untilAnswered(world, ada, ['`ada` *is yours*', 'Mentions are *on*'])
    expect(await fail(world, 2)).toContain(`<@${ada}>`)
    expect(await fail(world, 3, { committer: 'Grace' })).not.toContain('<@')
  })

  it('is mentioned on a card that is posted as failed', async () => {
    const world = await open()
    await type(world, ada, '/ci me "Ada Lovelace"')
    await untilAnswered(world, ada, ['`ada lovelace` *is yours*'])
    await sendAll(world.app.url, buildOf(1, { status: 'error', committer: 'Ada Lovelace' }))
    await untilCard(world, ['Failed', `<@${ada}>`])
  })

  it('belongs to one person: others are told whose it is, and it stays so', async () => {
    const world = await open()
    await type(world, ada, '/ci me ada')
    await untilAnswered(world, ada, ['*is yours*'])
    await type(world, lin, '/ci me ADA')
    await untilAnswered(world, lin, [
      '*Taken*',
      `\`ada\` belongs to <@${ada}>`,
      'nothing was changed',
      '/ci me ada for @you',
    ])
    await type(world, lin, '/ci me forget ada')
    await untilAnswered(world, lin, ['*Not yours*', `<@${ada}>`])
    expect(await fail(world, 1)).toContain(`<@${ada}>`)
    expect(directTo(world, ada)).toEqual([])
  })

  it('can be given to another person by an admin, and both are told once', async () => {
    const world = await open()
    await type(world, ada, '/ci me ada')
    await untilAnswered(world, ada, ['*is yours*'])
    await type(world, grace, `/ci me ada for <@${lin}|lin>`)
    await untilAnswered(world, grace, [
      `\`ada\` *is <@${lin}>'s now*`,
      `It was <@${ada}>'s`,
      'notified by direct message',
    ])
    expect(directTo(world, lin)).toEqual([
      expect.stringContaining(`<@${grace}> assigned you the committer name \`ada\`. It was <@${ada}>'s`),
    ])
    expect(directTo(world, ada)).toEqual([
      expect.stringContaining(`<@${grace}> assigned the committer name \`ada\` to <@${lin}>; it is no longer yours`),
    ])
    expect(await fail(world, 1)).toContain(`<@${lin}>`)
    await type(world, grace, `/ci me ada for <@${lin}|lin>`)
    await untilAnswered(world, grace, ["is already <@U0LIN00001>'s*"])
    expect([directTo(world, lin).length, directTo(world, ada).length]).toEqual([1, 1])
  })

  it('can be taken by an admin, and only the previous owner is told', async () => {
    const world = await open()
    await type(world, ada, '/ci me ada')
    await untilAnswered(world, ada, ['*is yours*'])
    await type(world, grace, '/ci me ada for me')
    await untilAnswered(world, grace, ['`ada` *is yours now*', `<@${ada}> was notified by direct message.`])
    expect([directTo(world, grace), directTo(world, ada).length]).toEqual([[], 1])
  })

  it('is given even if the new owner cannot get messages, and the admin is told so', async () => {
    const world = await open()
    world.slack.faults.add({ kind: 'error', method: 'chat.postMessage', error: 'fatal_error', times: 1 })
    await type(world, grace, `/ci me ada for <@${lin}>`)
    await untilAnswered(world, grace, [`*is <@${lin}>'s now*`, `did not deliver the message to <@${lin}>`])
    expect(claimsIn(world)).toEqual([{ handle: 'ada', user_id: lin }])
  })

  it('can be given by admins only', async () => {
    const world = await open()
    await type(world, lin, `/ci me ada for <@${ada}>`)
    await untilAnswered(world, lin, ['Not allowed', 'you cannot assign committer names', 'admins'])
    await type(world, gus, '/ci me ada for me')
    await untilAnswered(world, gus, ['Not allowed'])
    expect([claimsIn(world), directTo(world, ada)]).toEqual([[], []])
  })

  it('can be released by its owner, and then claimed by others', async () => {
    const world = await open()
    await type(world, ada, '/ci me ada')
    await untilAnswered(world, ada, ['*is yours*'])
    await type(world, ada, '/ci me forget Ada')
    await untilAnswered(world, ada, ['`ada` *is free again*'])
    expect(await fail(world, 1)).not.toContain('<@')
    await type(world, lin, '/ci me ada')
    await untilAnswered(world, lin, ['`ada` *is yours*'])
  })
})

describe('a person who wants no mentions', () => {
  it('gets none and keeps the name, until they want mentions again', async () => {
    const world = await open()
    await type(world, ada, '/ci me ada')
    await untilAnswered(world, ada, ['*is yours*'])
    await type(world, ada, '/ci me mentions off')
    await untilAnswered(world, ada, ['Mentions are *off*', '`ada`'])
    expect(await fail(world, 1)).not.toContain('<@')
    await type(world, ada, '/ci me mentions on')
    await untilAnswered(world, ada, ['Mentions are *on*.'])
    expect(await fail(world, 2)).toContain(`<@${ada}>`)
  })
})

describe('no wrong person is mentioned', () => {
  it.each(['dependency[bot]', 'bot', 'noreply@acme.example', '12+ada@users.no-reply.example'])(
    'for %s, which nobody can claim, not even an admin',
    async (name) => {
      const world = await open()
      await type(world, ada, `/ci me ${name}`)
      await untilAnswered(world, ada, ['*Not a name for one person*'])
      await type(world, grace, `/ci me ${name} for <@${ada}>`)
      await untilAnswered(world, grace, ['*Not a name for one person*'])
      expect(claimsIn(world)).toEqual([])
    },
  )

  it('for a deactivated account, once it was checked; after its return, it is mentioned', async () => {
    const world = await open()
    await type(world, lin, '/ci me ada')
    await untilAnswered(world, lin, ['*is yours*'])
    world.slack.acts.deactivate(lin)
    await restartADayLater(world)
    await until('it is looked up', () => inactive(world).length === 1, 20_000)
    expect(await fail(world, 1)).not.toContain('<@')
    await type(world, ada, '/ci me ada')
    await untilAnswered(world, ada, ['*Taken*', `<@${lin}>, who has left the workspace`])
    world.slack.acts.reactivate(lin)
    await restartADayLater(world)
    await until('it is looked up', () => inactive(world).length === 0, 20_000)
    expect(await fail(world, 2)).toContain(`<@${lin}>`)
  })

  it.each([
    ['of another workspace', sol],
    ['that is deactivated', ACCOUNTS.deactivated],
    ['of an app', ACCOUNTS.otherBot],
  ])('by giving a name to an account %s', async (_, account) => {
    const world = await open()
    await type(world, grace, `/ci me ada for <@${account}>`)
    await untilAnswered(world, grace, [`*cannot mean <@${account}>*`, 'nothing was changed'])
    expect([claimsIn(world), directTo(world, account)]).toEqual([[], []])
  })
})

describe('a name can be claimed', () => {
  it('by guests, but not from another workspace', async () => {
    const world = await open()
    await type(world, gus, '/ci me gus')
    await untilAnswered(world, gus, ['`gus` *is yours*'])
    await type(world, sol, '/ci me sol', SHARED)
    await untilAnswered(world, sol, ['Not allowed', 'you cannot claim a committer name'], SHARED)
    expect(claimsIn(world)).toEqual([{ handle: 'gus', user_id: gus }])
  })

  it('by a mention in a thread, whose answer only the requester sees', async () => {
    const world = await open()
    await sendAll(world.app.url, buildOf(1, { status: 'error' }))
    const card = await untilCard(world, ['Failed'])
    await world.slack.people.mentionBot({ user: ada, channel: BUILDS, text: 'me ada', threadTs: card.ts })
    await untilAnswered(world, ada, ['`ada` *is yours*'])
    expect(threadOf(world, card).filter((line) => line.includes('is yours'))).toEqual([])
  })

  it('but never by guessing', async () => {
    const world = await open()
    const asks = [
      'me Ada Lovelace',
      'me forget',
      'me mentions',
      'me mentions maybe',
      'me ada for',
      'me ada for @grace',
      'me on',
    ]
    for (const ask of [...asks, `me <@${ada}>`, 'me ""', 'me ada for me now', 'me for', 'me for <@U0ADA00001>'])
      await type(world, grace, `/ci ${ask}`)
    const told = () => answersTo(world, grace).filter(({ text }) => text.includes('*Next:*'))
    await until('each is answered', () => told().length === asks.length + 5)
    expect(told().find(({ text }) => text.includes('Lovelace'))?.text).toContain('/ci me "Ada Lovelace"')
    expect(told().some(({ text }) => text.includes('/ci me mentions on'))).toBe(true)
    expect(claimsIn(world)).toEqual([])
  })
})

/** The newest reply or card in #builds that asks whose a committer name is. */
const asksWhose = ({ slack }: Pick<Scene, 'slack'>, channel = BUILDS): Shown | undefined => {
  const asking = slack.messages(channel).findLast((message) => buttonsOf(message).includes(ACTION_IDS.claim))
  return asking && { ...asking, ts: String(asking['ts']), text: String(asking['text']) }
}

describe("the button That's me on a failed build with an unclaimed committer", () => {
  it('claims the name for the person who clicks it, whose next failure mentions them, and the button disappears', async () => {
    const world = await open()
    expect(await fail(world, 1)).toContain(' · Ada')
    const asking = asksWhose(world)!
    expect(asking['thread_ts']).not.toBe(asking.ts)
    await press(world, ada, asking, ACTION_IDS.claim)
    await untilAnswered(world, ada, ['`ada` *is yours*', 'Mentions are *on*'])
    expect(await fail(world, 2)).toContain(`<@${ada}>`)
    await until('nobody is asked any more', () => asksWhose(world) === undefined)
    expect(JSON.stringify(world.slack.messages(BUILDS))).not.toContain('is yours')
  })

  it('is on a card that is posted as failed', async () => {
    const world = await open()
    await sendAll(world.app.url, buildOf(1, { status: 'error' }))
    const card = await untilCard(world, ['Failed', 'Ada'], ACTION_IDS.claim)
    await press(world, ada, card, ACTION_IDS.claim)
    await untilAnswered(world, ada, ['`ada` *is yours*'])
    await sendAll(world.app.url, buildOf(2, { status: 'error' }))
    await untilCard(world, ['Still failing', `<@${ada}>`])
    // The card no longer has the newest failure, and is edited.
    await until('nobody is asked any more', () => asksWhose(world) === undefined)
  })

  it('tells later people whose the name is', async () => {
    const world = await open()
    await fail(world, 1)
    await type(world, ada, '/ci me ada')
    await untilAnswered(world, ada, ['*is yours*'])
    await press(world, lin, asksWhose(world)!, ACTION_IDS.claim)
    await untilAnswered(world, lin, ['*Taken*', `\`ada\` belongs to <@${ada}>`, 'nothing was changed'])
    expect(claimsIn(world)).toEqual([{ handle: 'ada', user_id: ada }])
  })

  it('has one answer for each of two people who click it at once, and one of them gets the name', async () => {
    const world = await open()
    await fail(world, 1)
    const asking = asksWhose(world)!
    await Promise.all([ada, lin].map((user) => press(world, user, asking, ACTION_IDS.claim)))
    const told = (user: string, words: string) => answersTo(world, user).filter(({ text }) => text.includes(words))
    await until('both are answered', () => [ada, lin].every((user) => answersTo(world, user).length === 1))
    const [{ user_id: owner }] = claimsIn(world) as [{ user_id: string }]
    expect(told(owner, '*is yours*')).toHaveLength(1)
    expect(told(owner === ada ? lin : ada, '*Taken*')).toHaveLength(1)
    expect(claimsIn(world)).toHaveLength(1)
  })

  it('is answered once if Slack delivers a click twice', async () => {
    const world = await open()
    await fail(world, 1)
    await press(world, ada, asksWhose(world)!, ACTION_IDS.claim)
    await world.slack.people.replay(`click ${ACTION_IDS.claim}`)
    await untilAnswered(world, ada, ['*is yours*'])
    await settled(world.app.url)
    expect(answersTo(world, ada)).toHaveLength(1)
  })

  it('does nothing for people of another workspace', async () => {
    const world = await open({ settings: { DEFAULT_CHANNEL: SHARED } })
    await sendAll(world.app.url, buildOf(1, { status: 'error' }))
    const card = await untilCard(world, ['Failed'], ACTION_IDS.claim, SHARED)
    await press(world, sol, card, ACTION_IDS.claim, SHARED)
    await untilAnswered(world, sol, ['Not allowed', 'you cannot claim a committer name'], SHARED)
    expect(claimsIn(world)).toEqual([])
  })

  it('works for guests', async () => {
    const world = await open()
    await fail(world, 1)
    await press(world, gus, asksWhose(world)!, ACTION_IDS.claim)
    await untilAnswered(world, gus, ['`ada` *is yours*'])
    expect(claimsIn(world)).toEqual([{ handle: 'ada', user_id: gus }])
  })

  it.each(['dependency[bot]', 'noreply@acme.example', null])('is missing for %s', async (committer) => {
    const world = await open()
    await fail(world, 1, { committer })
    expect(asksWhose(world)).toBeUndefined()
  })

  it('is missing if the name is claimed, even by a person who wants no mentions', async () => {
    const world = await open()
    await type(world, ada, '/ci me ada')
    await untilAnswered(world, ada, ['*is yours*'])
    await type(world, ada, '/ci me mentions off')
    await untilAnswered(world, ada, ['Mentions are *off*'])
    await fail(world, 1)
    expect(asksWhose(world)).toBeUndefined()
  })

  it('is missing if the channel mentions nobody', async () => {
    const world = await open({
      settings: { DEFAULT_CHANNEL: undefined },
      subscriptions: [`{ channel: ${BUILDS}, project: acme/web, mention: nobody }`],
    })
    await fail(world, 1)
    expect(asksWhose(world)).toBeUndefined()
  })
})

const inactive = ({ folder }: World) => rowsOf(folder, 'select handle from person where inactive_at is not null')

describe('a bot that is killed before it could answer', () => {
  it('is followed by one that answers what is stored', async () => {
    const scene = await openScene()
    const bot = await startBot(scene)
    scene.slack.faults.add({ kind: 'down', method: 'response_url' })
    scene.slack.faults.add({ kind: 'down', method: 'chat.postEphemeral' })
    await type(scene, ada, '/ci me ada')
    await until('it is kept', () => rowsOf(scene.folder, 'select 1 from person where handle is not null').length === 1)
    bot.kill('SIGKILL')
    await bot.exit
    scene.slack.faults.clear()
    await startBot(scene)
    await untilAnswered(scene, ada, ['`ada` *is already yours*'])
  })
})
