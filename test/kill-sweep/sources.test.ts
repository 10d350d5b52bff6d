import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { createSandboxSlack, type SandboxSlack } from '../../packages/sandbox-slack/src/sandbox-slack.ts'
import { CHANNELS, PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { ACTION_IDS } from '../../src/slack/messages/ids.ts'
import { createRandom } from '../simulation/random.ts'
import { rowsOf, settingsWith, settled, testFolder, until } from '../support/app.ts'
import { startProcess } from '../support/process.ts'
import { SOURCES, type PlayedSource } from '../support/sources.ts'
import { FAST_TIME, fastClock, toText, type FastTime } from './fast-clock.ts'

// GitHub and GitLab never repeat a delivery that was not accepted. Polling finds what a dead process missed.

/** `KILLS=40 npx vitest run test/kill-sweep/sources.test.ts` is a large run. */
const KILLS = Number(process.env['KILLS'] ?? 6)
const TIMES = 10
const LIVES_MS_MAX = 2_500
const PUSHES = 3
const CAUGHT_UP_MS = 60_000

const PRELOAD = new URL('fast-time.ts', import.meta.url).pathname

test.each(['github', 'gitlab'] as const)(
  '%s: a bot that is killed again and again ends up with one card for each build, with the right status',
  async (name) => {
    const time = { since: Date.now(), times: TIMES }
    const source = await SOURCES[name](fastClock(time))
    const random = createRandom(7)
    const bot = await openBot(source, time)
    const builds = new Map<string, 'failed' | 'passed' | null>()
    const push = () => builds.set(source.push(), null)
    const endOne = () => {
      const open = [...builds].find(([, how]) => how === null)?.[0]
      if (open === undefined) return
      const how = random.chance(0.5) ? 'failed' : 'passed'
      builds.set(open, how)
      source.end(open, how)
    }
    await bot.start()
    await until('it has looked', () => bot.hasLooked(), CAUGHT_UP_MS)
    for (let kill = 1; kill <= KILLS; kill++) {
      for (let n = 0; n < PUSHES; n++) push()
      endOne()
      await sleep(random.between(0, LIVES_MS_MAX))
      endOne()
      // Sometimes in the middle of its start.
      await bot.kill()
      endOne()
      const isUp = bot.start()
      if (random.chance(0.7)) await isUp
      endOne()
    }
    await bot.start()
    while ([...builds.values()].includes(null)) endOne()
    const wrongs = () => [...builds].flatMap(([number, how]) => wrongWith(bot.slack, number, how!) ?? [])
    await until('all is told', () => wrongs().length === 0, CAUGHT_UP_MS).catch(() => {})
    await settled(bot.url())
    expect(wrongs()).toEqual([])
    expect(source.asked()).toEqual([])
    await restartOnce(bot, source, [...builds].find(([, how]) => how === 'failed')![0])
  },
  10 * CAUGHT_UP_MS,
)

interface Bot {
  slack: SandboxSlack
  url(): string
  /** Resolves when its endpoints are open and the source delivers to them. */
  start(): Promise<void>
  kill(): Promise<void>
  hasLooked(): boolean
}

async function openBot(source: PlayedSource, time: FastTime): Promise<Bot> {
  const slack = createSandboxSlack({ clock: fastClock(time), rates: 'off' })
  await slack.start()
  onTestFinished(() => slack.stop())
  const folder = testFolder()
  const settings = settingsWith(folder, {
    NODE_OPTIONS: `--import ${PRELOAD}`,
    [FAST_TIME]: toText(time),
    SLACK_API_URL: slack.apiUrl,
    WEBHOOK_SECRET: undefined,
    DEFAULT_CHANNEL: CHANNELS.builds,
    LOG_LEVEL: 'info',
    ...source.settings,
  })
  let running: ReturnType<typeof startProcess> | null = null
  let url = ''
  async function kill(): Promise<void> {
    running?.kill('SIGKILL')
    await running?.exit
    running = null
    source.deliverTo(null)
  }
  return {
    slack,
    url: () => url,
    kill,
    async start() {
      await kill()
      const process = startProcess(folder, settings)
      running = process
      // It may be killed before that.
      const opened = await Promise.race([process.url(), process.exit])
      if (typeof opened !== 'string' || running !== process) return
      url = opened
      slack.connectBot(`${url}/slack/events`)
      source.deliverTo(url)
    },
    hasLooked: () => rowsOf(folder, `select 1 from job where name = '${source.name} acme/web'`).length > 0,
  }
}

/** What is wrong with a build's cards; undefined: nothing. A failed build needs a card; a passed one may have none. */
function wrongWith(slack: SandboxSlack, number: string, how: 'failed' | 'passed'): string | undefined {
  const cards = slack
    .messages(CHANNELS.builds)
    .filter(({ ts, thread_ts: thread }) => thread === undefined || thread === ts)
    .map(({ text }) => String(text))
    .filter((text) => new RegExp(`#${number}\\b`).test(text))
  if (cards.length > 1) return `#${number} has ${cards.length} cards`
  if (how === 'failed' && cards.length === 0) return `#${number} has no card`
  const says = how === 'failed' ? /[Ff]ail/ : /[Pp]assed|[Ff]ixed/
  return cards.every((card) => says.test(card)) ? undefined : `#${number} ${how}, and its card says ${cards[0]}`
}

/** Somebody clicks Restart, and the process dies before the source has ended the attempt. */
async function restartOnce({ slack, kill, start }: Bot, source: PlayedSource, number: string): Promise<void> {
  const card = slack.messages(CHANNELS.builds).find(({ text }) => new RegExp(`#${number}\\b`).test(String(text)))!
  await slack.people.click({
    user: PEOPLE.ada,
    channel: CHANNELS.builds,
    ts: String(card['ts']),
    actionId: ACTION_IDS.restart,
  })
  await until('it was asked for', () => source.asked().length > 0)
  await kill()
  await start()
  const text = () => String(slack.messages(CHANNELS.builds).find(({ ts }) => ts === card['ts'])!['text'])
  await until('the card says how the second attempt ended', () => /attempt 2/.test(text()), CAUGHT_UP_MS)
  expect(source.asked()).toEqual(['restart'])
}
