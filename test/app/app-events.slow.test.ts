import { describe, expect, it } from 'vitest'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { rowsOf, until } from '../support/app.ts'
import { openReady, openWorld, type, untilAnswered, untilSocket, type Scene, type World } from '../support/world.ts'

// Events of the app itself, and of channels that go on elsewhere.

const { secret: SECRET } = CHANNELS
const { grace } = PEOPLE

const directTo = ({ slack }: Pick<Scene, 'slack'>, user: string): string[] => {
  const id = `D${user.slice(1)}`
  return slack.workspace.channels.has(id) ? slack.messages(id).map(({ text }) => String(text)) : []
}

describe('an event about the app that is not handled', () => {
  it.each([false, true])('is acknowledged, and the bot goes on (Socket Mode: %s)', async (socketMode) => {
    const world = await openWorld({ socketMode })
    if (socketMode) await untilSocket(world)
    world.slack.acts.uninstall()
    world.slack.acts.restoreToken()
    // The one event without an inner event, on which Slack's libraries rely.
    expect(await world.slack.people.limitEvents()).toMatchObject({ kind: 'answered', status: 200 })
    await type(world, grace, '/ci help')
    await untilAnswered(world, grace, ['/ci'])
  })
})

describe('a channel that Slack archives because it was moved', () => {
  async function openFollowed(): Promise<World> {
    const world = await openReady()
    await type(world, grace, '/ci subscribe acme/web failed', SECRET)
    await untilAnswered(world, grace, ['Subscribed'], SECRET)
    return world
  }

  it('is not told as archived', async () => {
    const world = await openFollowed()
    world.slack.acts.moveAway(SECRET)
    await until('its owner is told', () => directTo(world, grace).length === 1)
    expect(directTo(world, grace)[0]).toMatch(/cannot get builds any more\*: it was moved to another channel\./)
    await type(world, grace, '/ci doctor')
    const { text } = await untilAnswered(world, grace, ['Channels'])
    expect(text).toContain(`<#${SECRET}> was moved to another channel.`)
  })

  it('and that only gets another id is not told at all, whichever Slack says first', async () => {
    for (const isIdFirst of [false, true]) {
      const world = await openFollowed()
      const archived = { type: 'group_archive', channel: SECRET, user: grace, is_moved: 1 }
      if (!isIdFirst) await world.slack.people.sendEvent(archived)
      const id = world.slack.acts.changeId(SECRET)
      await until('the id is known', () => rowsOf(world.folder, 'select id from moved_channel')[0]?.['id'] === id)
      if (isIdFirst) await world.slack.people.sendEvent(archived)
      expect([rowsOf(world.folder, 'select id from channel'), directTo(world, grace)]).toEqual([[], []])
    }
  })
})
