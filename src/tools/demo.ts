import { join, relative } from 'node:path'
import { systemClock as clock } from '../lib/clock.ts'
import { listenFault } from '../lib/listen-fault.ts'
import { createSandboxCi, type SandboxCi } from '../sandbox/ci/server.ts'
import { ACTS, ASKER, FOLLOWER, FOLLOWING } from '../sandbox/scenario.ts'
import { createSandboxSlack, type SandboxSlack } from '../sandbox/slack/sandbox-slack.ts'
import { CHANNELS, PEOPLE } from '../sandbox/slack/workspace.ts'
import { messagesIn } from '../sandbox/stage.ts'
import { agrees, both, compare, type Agreement } from './demo/agreement.ts'
import { startBot } from './demo/bot.ts'
import { compareDeeds } from './demo/deeds.ts'
import { compareFollowers, FOLLOWERS } from './demo/followers.ts'
import { keepBot, type KeptBot } from './demo/keeper.ts'
import { prepare, REDELIVERY, WEBHOOK_SECRET } from './demo/settings.ts'
import { transcriptOf } from './demo/transcript.ts'
import { introduction, introductionOnce, YOUR_TURN } from './demo/words.ts'
import { openPort, readFlags, readPort } from './program.ts'

// npm run demo: the sandbox CI, a sandbox Slack with a page, and the bot between them. `-- --once` plays it headless,
// prints what each channel shows, compares that with what CI did and what people asked for, and exits 0 or 1.

const PORT_DEFAULT = 4100

const values = readFlags({
  once: { type: 'boolean', default: false },
  port: { type: 'string' },
  folder: { type: 'string' },
})

/** How long Slack may take to agree after the last act: the burst goes out at one message a second. */
const AGREE_MAX_MS = 90_000
const LOOK_AGAIN_MS = 250

/** How long one looks before the next thing happens; where nobody does, only as long as things need to settle. */
const LOOK_MS = values.once ? 500 : 2_500

async function demo(): Promise<number> {
  const [ci, slack] = [createSandboxCi({ switches: REDELIVERY }), createSandboxSlack()]
  await ci.start()
  const port = await openPage(slack)
  const folder = values.folder ?? folderOf(port)
  const logFile = join(folder, 'bot.log')
  const settings = prepare(folder, ci, slack)
  const start = (botPort: number) => startBot({ ...settings, PORT: String(botPort) }, logFile)
  const bot = await keepBot({ start, clock, tell: (line) => console.log(`  ! ${line}`) })
  ci.setWebhookUrl(`http://127.0.0.1:${bot.port}/webhooks/builds/${WEBHOOK_SECRET}`)
  slack.connectBot(`http://127.0.0.1:${bot.port}/slack/events`)
  try {
    introduce(ci, slack, bot, relative('', logFile))
    const code = await untilOver(ci, slack, bot)
    const exit = await bot.stop()
    if (exit !== 0) console.log(`The bot ended with ${exit}; its log is ${logFile}`)
    return code || (exit === 0 ? 0 : 1)
  } finally {
    // A bot is never left behind, whatever went wrong.
    await bot.stop()
    await Promise.all([ci.stop(), slack.stop()])
  }
}

/** Opens the page's port. One that nobody asked for gives way to another when it is taken. */
async function openPage(slack: SandboxSlack): Promise<number> {
  if (values.once) await slack.start(0)
  else if (values.port !== undefined) await openPort(readPort(values.port), (port) => slack.start(port))
  else await slack.start(PORT_DEFAULT).catch(async (error: unknown) => elsewhere(slack, error))
  return Number(new URL(slack.url).port)
}

async function elsewhere(slack: SandboxSlack, error: unknown): Promise<void> {
  const fault = listenFault(error, PORT_DEFAULT)
  if (fault === null) throw error
  console.log(`It takes another port for the page: ${fault}, perhaps another demo.`)
  await slack.start(0)
}

/** Two demos at once must not write over each other's database. */
const folderOf = (port: number): string =>
  join(import.meta.dirname, '..', '..', 'data', port === PORT_DEFAULT ? 'demo' : `demo-${values.once ? 'once' : port}`)

/** Played to its end with `--once`; else until somebody ends it. An interrupted comparison has not agreed. */
function untilOver(ci: SandboxCi, slack: SandboxSlack, bot: KeptBot): Promise<number> {
  const interrupted = untilInterrupted().then(() => (values.once ? 1 : 0))
  const lost = bot.givenUp.then((why) => {
    console.log(`${why} It is not started again.`)
    return 1
  })
  const played = play(ci, slack)
  return Promise.race([interrupted, lost, values.once ? played : played.then(() => interrupted)])
}

function introduce(ci: SandboxCi, slack: SandboxSlack, bot: KeptBot, logFile: string): void {
  if (values.once) console.log(introductionOnce(bot))
  else console.log(introduction({ slackUrl: slack.url, ciUrl: ci.url, logFile }, bot))
}

async function play(ci: SandboxCi, slack: SandboxSlack): Promise<number> {
  for (const [index, act] of ACTS.entries()) {
    console.log(`  ${index + 1}. ${act.title}`)
    await act.play({ ci, slack, clock, lookMs: LOOK_MS })
  }
  await ci.settle()
  const agreement = await untilAgreed(ci, slack)
  const shown = [CHANNELS.builds, ...FOLLOWERS.map(({ channel }) => channel)]
  if (values.once) for (const id of shown) console.log(`\n${transcriptOf(slack, id)}`)
  const { lost, doubled, wrong } = agreement
  for (const sentence of [...lost, ...doubled, ...wrong]) console.log(`  ! ${sentence}`)
  console.log(`\nlost ${lost.length} · doubled ${doubled.length} · wrong ${wrong.length}`)
  if (!values.once) yourTurn(slack)
  return agrees(agreement) ? 0 : 1
}

/** Whoever looks at the page may not look at the terminal: it stands in both. */
function yourTurn({ acts }: SandboxSlack): void {
  console.log(`\n${YOUR_TURN}\n\nCtrl-C ends it.`)
  acts.say({ user: PEOPLE.grace, channel: CHANNELS.builds, text: YOUR_TURN })
}

async function untilAgreed(ci: SandboxCi, slack: SandboxSlack): Promise<Agreement> {
  const until = clock.now() + AGREE_MAX_MS
  for (;;) {
    const agreement = look(ci, slack)
    if (agrees(agreement) || clock.now() > until) return agreement
    await clock.sleep(LOOK_AGAIN_MS)
  }
}

function look(ci: SandboxCi, slack: SandboxSlack): Agreement {
  const messages = messagesIn(slack, CHANNELS.builds)
  const { builds, projects } = ci.state()
  const told = compare(builds, messages)
  // Whoever sits at the page does as they like: their deeds are not held against the scenario.
  if (!values.once) return told
  const answersTo = (user: string, channel: string) =>
    slack.ephemerals(channel, user).map(({ message }) => message.text)
  const names = projects.map(({ name }) => name)
  const asked = answersTo(ASKER, CHANNELS.builds)
  const deeds = compareDeeds({ calls: ci.calls(), builds, projects: names, messages, answers: asked })
  const answers = answersTo(FOLLOWER, FOLLOWING.channel)
  return both(both(told, deeds), compareFollowers({ builds, answers, messagesIn: (id) => messagesIn(slack, id) }))
}

const untilInterrupted = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve())
  })

process.exit(await demo())
