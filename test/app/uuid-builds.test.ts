import { expect, it } from 'vitest'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { buildOf, delivery, send, settled } from '../support/app.ts'
import { openWorld, press, reload, type, untilAnswered, untilCard, writesTo } from '../support/world.ts'
import { headlines, untilSaid } from './channel.ts'

const { builds: BUILDS } = CHANNELS
const { ada, lin } = PEOPLE

const RED = '3f2a1b4c-5d6e-4f70-8192-a3b4c5d6e7f8'
// The UUID of a newer build may sort before an older one.
const GREEN = '00c0ffee-5d6e-4f70-8192-a3b4c5d6e7f8'

it('builds with UUIDs are received, shown, found and looked up like others', async () => {
  const world = await openWorld()
  const { app, slack } = world
  const say = async (build_id: string, n: number, status: string) => {
    const build = { ...buildOf(n, { status }), build_id, build_url: `https://ci.example/acme/web/builds/${build_id}` }
    const { status: code, text } = await send(app.url, delivery(build))
    return `${code} ${(JSON.parse(text) as { status: string }).status}`
  }
  expect(await say(RED.toUpperCase(), 1, 'initiated')).toBe('202 recorded')
  expect(await say(RED, 1, 'error')).toBe('202 recorded')
  expect(await say(RED, 1, 'error')).toBe('202 duplicate')
  await untilSaid(slack, BUILDS, ['Failed acme/web #3f2a1b4c'])
  expect(await say(GREEN, 2, 'success')).toBe('202 recorded')
  expect(await say(RED, 1, 'error')).toBe('202 duplicate')
  await untilSaid(slack, BUILDS, ['Failed acme/web #3f2a1b4c', 'Fixed acme/web #00c0ffee'])
  await settled(app.url)
  expect(headlines(slack, BUILDS)).toHaveLength(2)
  // Visible texts and links never contain the whole id.
  expect(JSON.stringify(slack.messages(BUILDS).map(({ text }) => text)).replaceAll(/<[^|>]*\|/g, '<')).not.toContain(
    RED,
  )
  const found = [RED, '#3f2a1b4c', 'acme/web#3f2a1b4c', `https://ci.example/acme/web/builds/${RED}`]
  for (const text of found) {
    reload(world)
    await type(world, ada, `/ci status ${text}`)
    await untilAnswered(world, ada, ['*Failed*', '#3f2a1b4c'])
  }
  reload(world)
  await type(world, lin, `/ci restart ${GREEN}`)
  await untilAnswered(world, lin, ['Restart is not possible', 'CI restarts builds by number'])
  expect(writesTo(world.ci, 'restart')).toEqual([])
})

it('the Stop button of such a build stops it in CI by its uuid', async () => {
  const world = await openWorld({ ci: { switches: { buildIdForm: 'uuid' } } })
  const pushed = world.ci.push('acme/ios', { outcome: 'none' })
  const uuid = pushed.kind === 'build' ? pushed.build.uuid : ''
  const card = await untilCard(world, ['Running', `#${uuid.slice(0, 8)}`], ACTION_IDS.stop)
  await press(world, lin, card, ACTION_IDS.stop)
  await untilCard(world, ['Stopped', `#${uuid.slice(0, 8)}`])
  expect(writesTo(world.ci, 'stop')).toMatchObject([
    { statusCode: 202, path: expect.stringContaining(`/builds/${uuid}/stop`) as string },
  ])
})

it('an id that is neither an integer nor a UUID is refused', async () => {
  const { app } = await openWorld()
  for (const build_id of [RED.slice(1), `${RED}0`, `{${RED}}`, '3f2a1b4c', '']) {
    const { status, text } = await send(app.url, delivery({ build_id }))
    expect([status, text]).toEqual([
      400,
      '{"status":"refused","reason":"build.build_id is neither an integer id nor a UUID"}',
    ])
  }
})
