import { describe, expect, it } from 'vitest'
import { ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { openWorld, press, pushRed, untilAnswered, untilCard, untilThread } from '../support/world.ts'
import { writesTo, type Shown, type World } from '../support/world.ts'

const { builds: BUILDS } = CHANNELS
const { ada, grace, lin } = PEOPLE

/** A build that runs until the test ends it, and its card. */
async function openRunning(): Promise<{ world: World; card: Shown }> {
  const world = await openWorld()
  world.ci.push('acme/web', { outcome: 'none' })
  return { world, card: await untilCard(world, ['Running'], ACTION_IDS.stop) }
}

async function openRed(): Promise<{ world: World; card: Shown }> {
  const world = await openWorld()
  await pushRed(world)
  return { world, card: await untilCard(world, ['Failed'], ACTION_IDS.restart) }
}

const mention = ({ slack }: World, { ts }: Shown, text: string) =>
  slack.people.mentionBot({ user: ada, channel: BUILDS, text, threadTs: ts })

const useShortcut = ({ slack }: World, { ts }: Pick<Shown, 'ts'>, callbackId: string) =>
  slack.people.useShortcut({ user: grace, channel: BUILDS, ts, callbackId })

describe("a mention in a build's thread", () => {
  it('stops the build', async () => {
    const { world, card } = await openRunning()
    await mention(world, card, 'stop')
    await untilAnswered(world, ada, ['Stop requested', '#501'])
    await untilCard(world, ['Stopped'])
    await untilThread(world, card, `Stop requested by <@${ada}>`, 'Stopped')
    expect(writesTo(world.ci, 'stop')).toHaveLength(1)
  })

  it('restarts the build', async () => {
    const { world, card } = await openRed()
    await mention(world, card, 'restart')
    await untilThread(world, card, `Restart requested by <@${ada}>`, 'attempt 2')
    expect(writesTo(world.ci, 'restart')).toHaveLength(1)
  })

  it('answers status in the thread', async () => {
    const { world, card } = await openRed()
    await mention(world, card, 'status')
    await untilAnswered(world, ada, ['Failed', 'acme/web', '#501'])
    const threads = world.slack.ephemerals(BUILDS, ada).map(({ message }) => message.threadTs)
    expect(threads).toEqual([card.ts])
  })

  it('in another thread does nothing, and says so', async () => {
    const { world } = await openRunning()
    const said = await world.slack.people.mentionBot({ user: lin, channel: BUILDS, text: 'hello' })
    expect(said).toMatchObject({ status: 200 })
    const root = world.slack.messages(BUILDS).findLast(({ user }) => user === lin)
    await world.slack.people.mentionBot({ user: lin, channel: BUILDS, text: 'stop', threadTs: String(root?.['ts']) })
    await untilAnswered(world, lin, ['No build here'])
    expect(writesTo(world.ci, 'stop')).toEqual([])
  })
})

describe('a shortcut on a message', () => {
  it('"Restart this build" restarts the build of a card', async () => {
    const { world, card } = await openRed()
    await useShortcut(world, card, 'restart_build')
    await untilAnswered(world, grace, ['Restart requested'])
    await untilThread(world, card, `Restart requested by <@${grace}>`)
    expect(writesTo(world.ci, 'restart')).toHaveLength(1)
  })

  it('"Stop this build" shows the build with a Stop button, which stops it', async () => {
    const { world, card } = await openRunning()
    await useShortcut(world, card, 'stop_build')
    const offered = await untilAnswered(world, grace, ['Running', '#501'])
    expect(writesTo(world.ci, 'stop')).toEqual([])
    await press(world, grace, offered, ACTION_IDS.stop)
    await untilThread(world, card, `Stop requested by <@${grace}>`, 'Stopped')
    expect(writesTo(world.ci, 'stop')).toHaveLength(1)
  })

  it('on a reply means the build of its thread', async () => {
    const { world, card } = await openRed()
    await press(world, lin, card, ACTION_IDS.restart)
    await untilThread(world, card, 'attempt 2')
    const reply = world.slack.messages(BUILDS).find(({ ts, thread_ts }) => thread_ts === card.ts && ts !== card.ts)
    await untilCard(world, ['flaky'], ACTION_IDS.restart)
    await useShortcut(world, { ts: String(reply?.['ts']) }, 'restart_build')
    await untilAnswered(world, grace, ['Restart requested', '#501'])
    await untilThread(world, card, `Restart requested by <@${grace}>`)
    expect(writesTo(world.ci, 'restart')).toHaveLength(2)
  })

  it('on a message that is no card says so', async () => {
    const { world } = await openRed()
    await world.slack.people.mentionBot({ user: lin, channel: BUILDS, text: 'hello' })
    const other = world.slack.messages(BUILDS).findLast(({ user }) => user === lin)
    await useShortcut(world, { ts: String(other?.['ts']) }, 'restart_build')
    await untilAnswered(world, grace, ['No build here'])
    expect(writesTo(world.ci, 'restart')).toEqual([])
  })
})
