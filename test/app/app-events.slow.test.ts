import { describe, expect, it } from 'vitest'
import { PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { openWorld, type, untilAnswered, untilSocket } from '../support/world.ts'

const { grace } = PEOPLE

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
