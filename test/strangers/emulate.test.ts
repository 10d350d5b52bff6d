import { createServer } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { createSandboxCi, type SandboxCi } from '../../packages/sandbox-ci/src/server.ts'
import { botSettings } from '../../packages/sandbox-ci/src/settings.ts'
import { portOf } from '../../packages/sandbox-slack/test/bot.ts'
import { settled, settingsWith, testFolder, until, WEBHOOK_SECRET } from '../support/app.ts'
import { startProcess, type Process } from '../support/process.ts'
import { writesTo } from '../support/world.ts'
import { buttonsOf, openEmulatedSlack, type EmulatedSlack, type Message } from './emulate.ts'

const MINUTES_MS = 5 * 60_000
const PROJECT = 'acme/web'

interface World {
  slack: EmulatedSlack
  ci: SandboxCi
  /** the address of the bot, also after a kill */
  url: string
  /** Kills the bot at once, and starts it again on the same database. */
  killAndStart(): Promise<void>
}

/** The bot as a process of its own, between our CI and somebody else's Slack. */
async function openWorld(): Promise<World> {
  const slack = await openEmulatedSlack()
  const ci = createSandboxCi({ switches: { buildMs: 300, deliveryRetriesMax: 20, deliveryRetryMs: 200 } })
  await ci.start()
  onTestFinished(() => ci.stop())
  const folder = testFolder()
  const port = await freePort()
  const settings = settingsWith(folder, { PORT: String(port), ...botSettings(ci), ...slack.settings })
  const url = `http://127.0.0.1:${port}`
  let bot: Process = startProcess(folder, settings)
  await bot.url()
  ci.setWebhookUrl(`${url}/webhooks/builds/${WEBHOOK_SECRET}`)
  const killAndStart = async (): Promise<void> => {
    bot.kill('SIGKILL')
    await bot.exit
    bot = startProcess(folder, settings)
    await bot.url()
  }
  return { slack, ci, url, killAndStart }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const port = portOf(server.address())
  await new Promise((resolve) => server.close(resolve))
  return port
}

const push = ({ ci }: World, wanted: Parameters<SandboxCi['push']>[1]): string => {
  const outcome = ci.push(PROJECT, wanted)
  if (outcome.kind !== 'build') throw new Error(`not built: ${outcome.kind}`)
  return outcome.build.id
}

/** The cards of a build; each build here has its own commit, and so one card. */
const cardsOf = (roots: readonly Message[], build: string): Message[] =>
  roots.filter(({ text }) => text.startsWith(`${PROJECT} #${build} `))

/** Waits until the build's card says this and has the button, and returns it. */
const untilCard = ({ slack }: World, build: string, words: RegExp, button?: string): Promise<Message> =>
  until(
    `#${build} says ${String(words)}`,
    async () => {
      const [card] = cardsOf(await slack.roots(), build)
      const isThere = card && words.test(card.text)
      return isThere && (button === undefined || buttonsOf(card).some((one) => one['action_id'] === button)) && card
    },
    MINUTES_MS,
  )

/** Every build has one card, which says how it ended, and no reply is there twice. */
async function expectAllOnce(world: World, builds: ReadonlyMap<string, RegExp>): Promise<void> {
  for (const [build, words] of builds) await untilCard(world, build, words)
  await settled(world.url, MINUTES_MS)
  const roots = await world.slack.roots()
  expect([...builds.keys()].map((build) => [build, cardsOf(roots, build).length])).toEqual(
    [...builds.keys()].map((build) => [build, 1]),
  )
  expect(roots).toHaveLength(builds.size)
  for (const { ts } of roots) {
    const replies = (await world.slack.replies(ts)).map(({ text }) => text)
    expect(replies).toEqual([...new Set(replies)])
  }
}

const ENDS = { success: /passed|fixed/, error: /fail/ } as const

describe("between our CI and somebody else's Slack, over signed HTTP", () => {
  test(
    'a day of builds is told, and Restart and Stop call CI once for each click',
    { timeout: MINUTES_MS },
    async () => {
      const world = await openWorld()
      const builds = new Map<string, RegExp>()
      for (let hour = 0; hour < 24; hour += 1) {
        const outcome = hour % 5 === 3 ? 'error' : 'success'
        builds.set(
          push(world, { outcome, message: `Change of hour ${hour}`, branch: hour % 4 === 0 ? 'next' : 'main' }),
          ENDS[outcome],
        )
      }
      await expectAllOnce(world, builds)

      const red = push(world, { outcome: 'error', message: 'Break it' })
      const card = await untilCard(world, red, /fail/, ACTION_IDS.restart)
      expect(await world.slack.click(world.url, card, ACTION_IDS.restart)).toBe(200)
      await untilCard(world, red, /attempt 2/)
      expect(writesTo(world.ci, 'restart')).toHaveLength(1)

      const running = push(world, { outcome: 'none', message: 'Take long' })
      const going = await untilCard(world, running, /running/, ACTION_IDS.stop)
      expect(await world.slack.click(world.url, going, ACTION_IDS.stop)).toBe(200)
      await untilCard(world, running, /stopped/)
      expect(writesTo(world.ci, 'stop')).toHaveLength(1)
      builds.set(red, /attempt 2/).set(running, /stopped/)
      await expectAllOnce(world, builds)
    },
  )

  test(
    'of a burst of 50 nothing is lost or doubled, though the bot is killed three times',
    { timeout: MINUTES_MS },
    async () => {
      const world = await openWorld()
      const builds = new Map<string, RegExp>()
      for (let n = 0; n < 50; n += 1) {
        const outcome = n % 7 === 0 ? 'error' : 'success'
        builds.set(push(world, { outcome, message: `Burst ${n}`, branch: `b-${n % 9}` }), ENDS[outcome])
      }
      for (const posted of [3, 8, 14]) {
        await until('some are posted', async () => (await world.slack.roots()).length >= posted, MINUTES_MS)
        await world.killAndStart()
      }
      await expectAllOnce(world, builds)
      const [build] = [...builds].find(([, words]) => words === ENDS.error)!
      await world.slack.click(world.url, await untilCard(world, build, /fail/, ACTION_IDS.restart), ACTION_IDS.restart)
      await untilCard(world, build, /attempt 2/)
      expect(writesTo(world.ci, 'restart')).toHaveLength(1)
    },
  )

  // When it gets one of these, the tests above should use it.
  test.each(['users.conversations', 'usergroups.users.list', 'apps.connections.open'])(
    'the bot does without %s, which this Slack lacks',
    async (method) => {
      const slack = await openEmulatedSlack()
      expect(await slack.call(method)).not.toHaveProperty('ok', true)
    },
  )

  test('an update keeps its attachments, in which the buttons are', async () => {
    const slack = await openEmulatedSlack()
    const { channel } = slack
    const { ts } = await slack.call('chat.postMessage', { channel, text: 'card', attachments: [{ text: 'one' }] })
    await slack.call('chat.update', { channel, ts, text: 'card', attachments: [{ text: 'two' }] })
    expect(await slack.roots()).toMatchObject([{ attachments: [{ text: 'two' }] }])
  })
})
