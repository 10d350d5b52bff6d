import { expect, test } from 'vitest'
import { systemClock } from '../../packages/lib/clock.ts'
import type { SandboxCi } from '../../packages/sandbox-ci/src/server.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { rowsOf, send, settled, until } from '../support/app.ts'
import {
  enterWorld,
  openReady,
  openScene,
  threadOf,
  type,
  untilAnswered,
  untilCard,
  untilKnown,
  writesTo,
  type Scene,
  type World,
} from '../support/world.ts'

const HOUR = 60 * 60_000

/** CI's deliveries are held back. */
const LOST = { holdDeliveries: true }

const posts = ({ slack }: Pick<Scene, 'slack'>) => slack.messages(CHANNELS.builds).map(({ text }) => String(text))

const hasEnded = (ci: SandboxCi, word: string) =>
  until(`a build has ended: ${word}`, () => ci.deliveries().some(({ status }) => status === word))

/** Delivers what was held back, and waits until it is ingested. */
async function deliverAll({ ci, app }: World): Promise<void> {
  for (const { body } of ci.deliveries()) expect((await send(app.url, body)).status).toBe(202)
  await settled(app.url)
}

/** Waits until every project was looked at once: later builds are news. */
const hasLooked = ({ folder }: World) =>
  until(
    'it has looked',
    () => rowsOf(folder, 'select 1 from project where looked_at is null and legacy_id is not null').length === 0,
  )

test('a new bot knows the builds that CI has, and posts nothing about them', async () => {
  const scene = await openScene({ ci: { switches: LOST } })
  scene.ci.push('acme/web', { outcome: 'error', ms: 0, message: 'Fix login' })
  scene.ci.push('acme/api', { outcome: 'success', ms: 0 })
  await hasEnded(scene.ci, 'error')
  const world = await enterWorld(scene)
  await untilKnown(world, 2)
  await type(world, PEOPLE.ada, '/ci status acme/web')
  await untilAnswered(world, PEOPLE.ada, ['Failed', 'acme/web', '501'])
  await type(world, PEOPLE.ada, '/ci list')
  await untilAnswered(world, PEOPLE.ada, ['acme/web', 'acme/api', '502'])
  expect(posts(world)).toEqual([])
  await type(world, PEOPLE.ada, '/ci restart acme/web@main')
  await untilAnswered(world, PEOPLE.ada, ['Restart requested'])
  expect(writesTo(world.ci, 'restart')).toHaveLength(1)
})

test('a command that names an unknown build or project asks CI at once', async () => {
  const world = await openReady({ ci: { switches: LOST } })
  world.ci.push('acme/web', { branch: 'dev', outcome: 'none' })
  await type(world, PEOPLE.ada, '/ci status acme/web dev')
  await untilAnswered(world, PEOPLE.ada, ['Running', '501'])
  world.ci.push('acme/api', { outcome: 'none' })
  await type(world, PEOPLE.ada, '/ci stop #502')
  await untilAnswered(world, PEOPLE.ada, ['Stop requested', '502'])
})

test('a build that ran and failed while the bot was down is shown once, even if its deliveries arrive later', async () => {
  const world = await openReady({ ci: { switches: LOST } })
  await hasLooked(world)
  await world.app.stop()
  world.ci.push('acme/web', { outcome: 'error', ms: 0, message: 'Fix login' })
  world.ci.push('acme/web', { branch: 'dev', outcome: 'error', ms: 0, message: 'Add search' })
  await until('both have failed', () => world.ci.deliveries().filter(({ status }) => status === 'error').length === 2)
  await world.restartApp()
  await untilCard(world, ['Failed', 'Fix login'])
  await untilCard(world, ['Failed', 'Add search'])
  await deliverAll(world)
  expect(posts(world)).toHaveLength(2)
  expect(posts(world).filter((text) => text.includes('attempt'))).toEqual([])
})

test('a build that ended while the bot was down gets its end on its card', async () => {
  const world = await openReady()
  world.ci.push('acme/web', { outcome: 'none', message: 'Fix login' })
  const card = await untilCard(world, ['Running', 'Fix login'])
  await hasLooked(world)
  await world.app.stop()
  world.ci.setSwitches(LOST)
  world.ci.finish('501', 'error')
  await world.restartApp()
  await untilCard(world, ['Failed', 'Fix login'])
  await until('the thread says so', () => threadOf(world, card).some((line) => line.includes('Failed')))
})

test.each([
  [3 * HOUR, true],
  [25 * HOUR, false],
])('a build that ended %i ms ago is shown: %s', async (agoMs, isTold) => {
  let behindMs = 0
  const clock = { ...systemClock, now: () => systemClock.now() - behindMs }
  const world = await openReady({ ci: { switches: LOST, clock } })
  await hasLooked(world)
  await world.app.stop()
  behindMs = agoMs
  world.ci.push('acme/web', { outcome: 'error', ms: 0, message: 'Fix login' })
  await hasEnded(world.ci, 'error')
  await world.restartApp()
  await untilKnown(world, 1)
  await settled(world.app.url)
  expect(posts(world)).toHaveLength(isTold ? 1 : 0)
  if (isTold) expect(JSON.stringify(await untilCard(world, ['Failed']))).toContain('reported late; ended')
  await deliverAll(world)
  expect(posts(world)).toHaveLength(1)
})
