import { describe, expect, it } from 'vitest'
import type { FaultWanted } from '../../packages/sandbox-ci/src/faults.ts'
import { PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { BUILDS, headlines } from '../app/channel.ts'
import { delivery, send, until } from '../support/app.ts'
import { openWorld, reload, type, untilAnswered, untilKnown, type World } from '../support/world.ts'
import { IS_LONG, redBuild } from './team-at-door.ts'

const { grace } = PEOPLE

/** An alert does not wait for CI: it is posted long before a call to CI would time out. */
const ALERT_MAX_MS = 5_000

/** Kinds of faults, and how answers name them. */
const KINDS: readonly [name: string, fault: FaultWanted, words: string][] = [
  ['is down', { kind: 'down', where: 'all' }, 'CI could not be reached'],
  ['never answers', { kind: 'hang', where: 'all' }, 'Still working on'],
  ['says 401', { kind: 'status', where: 'all', statusCode: 401 }, 'credentials'],
  ['says 502', { kind: 'status', where: 'all', statusCode: 502 }, 'CI had an internal error'],
]

/** The projects and their rules were read; acme/web is followed for failures only. */
async function openKnowing(): Promise<World> {
  const world = await openWorld()
  world.ci.setRules('acme/web', [
    { notifier: 'slack', branch: null, branch_match: null, build_statuses: ['failed'], options: { key: 'k' } },
  ])
  await untilKnown(world, 0)
  await world.restartApp()
  return world
}

/** Waits until `/ci project acme/web` says, or no longer says, that CI is away. */
const untilShown = (world: World, isShown: (answer: string) => boolean) =>
  until(
    'the project is shown as it should be',
    async () => {
      reload(world)
      await type(world, grace, '/ci project acme/web')
      return isShown((await untilAnswered(world, grace, [], BUILDS)).text)
    },
    60_000,
  )

describe.each(IS_LONG ? KINDS : KINDS.filter(([, { kind }]) => kind !== 'hang'))('a CI that %s', (_, fault, words) => {
  it('delays no alert, leaves its rules in force, and is named by commands until it is back', async () => {
    const world = await openKnowing()
    world.ci.addFault(fault)
    const beganAt = performance.now()
    const { status } = await send(world.app.url, delivery(redBuild(1)))
    await until('it is told', () => headlines(world.slack, BUILDS).length === 1, ALERT_MAX_MS)
    expect([status, performance.now() - beganAt < ALERT_MAX_MS]).toEqual([202, true])
    expect((await fetch(`${world.app.url}/readyz`)).status).toBe(200)
    await untilShown(world, (answer) => answer.includes(words))
    world.ci.clearFaults()
    await untilShown(world, (answer) => answer.includes('Repository:'))
    expect(headlines(world.slack, BUILDS)).toEqual(['Failed acme/web #1'])
  }, 90_000)
})
