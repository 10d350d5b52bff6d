import { describe, expect, it } from 'vitest'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { rowsOf, until, type RunningApp } from '../support/app.ts'
import { openReady, openWorld, type, untilAnswered, untilSocket, type Scene, type World } from '../support/world.ts'
import { buildlineDoctor } from './doctor-stage.ts'

// What Slack says of the app itself, and of channels that go on elsewhere.

const { secret: SECRET } = CHANNELS
const { grace } = PEOPLE

const logged = ({ lines }: RunningApp, words: RegExp): boolean => lines.some((line) => words.test(line))

const directTo = ({ slack }: Pick<Scene, 'slack'>, user: string): string[] => {
  const id = `D${user.slice(1)}`
  return slack.workspace.channels.has(id) ? slack.messages(id).map(({ text }) => String(text)) : []
}

describe('the app', () => {
  it('that is uninstalled says so in the log, and the doctor says when', async () => {
    const world = await openWorld()
    world.slack.acts.uninstall()
    await until('both are logged', () =>
      [/The app was uninstalled from Slack: nothing is sent/, /Slack has revoked the bot's token/].every((words) =>
        logged(world.app, words),
      ),
    )
    const { out } = await buildlineDoctor(world)
    expect(out).toMatch(/Slack does not accept the token \(token_revoked\): the app was uninstalled 2\d{3}-/)
    world.slack.acts.restoreToken()
    expect((await buildlineDoctor(world)).out).not.toContain('was uninstalled')
  })

  it('says nothing of the tokens of people', async () => {
    const world = await openWorld()
    await world.slack.people.sendEvent({ type: 'tokens_revoked', tokens: { oauth: [grace], bot: [] } })
    expect(logged(world.app, /revoked the bot's token/)).toBe(false)
  })

  it.each([false, true])('whose events are limited says so (Socket Mode: %s)', async (socketMode) => {
    const world = await openWorld({ socketMode })
    if (socketMode) await untilSocket(world)
    expect(await world.slack.people.limitEvents()).toMatchObject({ kind: 'answered', status: 200 })
    await until('it is logged', () => logged(world.app, /Slack drops events, because there were more than 30,000/))
    await type(world, grace, '/ci doctor')
    const { text } = await untilAnswered(world, grace, ['Requests from Slack'])
    expect(text).toMatch(/Requests from Slack\*: Slack has dropped events since/)
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
