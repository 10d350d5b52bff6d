import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { systemClock as clock } from '../lib/clock.ts'
import { createSandboxCi, type SandboxCi } from '../sandbox/ci/server.ts'
import { ACTS, ASKER } from '../sandbox/scenario.ts'
import { createSandboxSlack, type SandboxSlack } from '../sandbox/slack/sandbox-slack.ts'
import { CHANNELS } from '../sandbox/slack/workspace.ts'
import { agrees, both, compare, type Agreement } from './demo/agreement.ts'
import { startBot, type Bot } from './demo/bot.ts'
import { compareDeeds } from './demo/deeds.ts'
import { prepare, WEBHOOK_SECRET } from './demo/settings.ts'
import { transcriptOf } from './demo/transcript.ts'

// npm run demo: the sandbox CI, a sandbox Slack with a page, and the bot between them. `-- --once` plays it headless,
// prints what each channel shows, compares that with what CI did and what people asked for, and exits 0 or 1.

const { values } = parseArgs({
  options: { once: { type: 'boolean', default: false }, port: { type: 'string', default: '4100' } },
})

const FOLDER = join(import.meta.dirname, '..', '..', 'data', 'demo')
const LOG = join(FOLDER, 'bot.log')

/** How long Slack may take to agree after the last act: the burst goes out at one message a second. */
const AGREE_MAX_MS = 60_000
const LOOK_AGAIN_MS = 250

/** How long one looks before the next thing happens; where nobody does, only as long as things need to settle. */
const LOOK_MS = values.once ? 500 : 2_500

async function demo(): Promise<number> {
  const [ci, slack] = [createSandboxCi(), createSandboxSlack()]
  await ci.start()
  await slack.start(values.once ? 0 : Number(values.port)).catch(() => slack.start(0))
  const bot = await startBot(await prepare(FOLDER, ci, slack, clock.now()), LOG)
  ci.setWebhookUrl(`http://127.0.0.1:${bot.port}/webhooks/builds/${WEBHOOK_SECRET}`)
  slack.connectBot(`http://127.0.0.1:${bot.port}/slack/events`)
  try {
    introduce(ci, slack, bot)
    const code = await untilOver(ci, slack)
    const exit = await bot.stop()
    if (exit !== 0) console.log(`The bot ended with ${exit}; its log is ${LOG}`)
    return code || (exit === 0 ? 0 : 1)
  } finally {
    // A bot is never left behind, whatever went wrong.
    await bot.stop()
    await Promise.all([ci.stop(), slack.stop()])
  }
}

/** Played to its end with `--once`; else until somebody ends it. An interrupted comparison has not agreed. */
function untilOver(ci: SandboxCi, slack: SandboxSlack): Promise<number> {
  const interrupted = untilInterrupted().then(() => (values.once ? 1 : 0))
  const played = play(ci, slack)
  return Promise.race([interrupted, values.once ? played : played.then(() => interrupted)])
}

function introduce(ci: SandboxCi, slack: SandboxSlack, bot: Bot): void {
  if (values.once) return
  console.log(`
Buildline is running between a sandbox CI service and a sandbox Slack, all on this machine.

  Open          ${slack.url}/        the workspace: look at #builds, open the threads, press what you like
  The CI        ${ci.url}/sandbox/state      (how to drive it: docs/sandbox-ci.md)
  The bot       http://127.0.0.1:${bot.port}/readyz and /metrics; its log is data/demo/bot.log
  A push        curl -X POST ${ci.url}/sandbox/projects/acme%2Fweb/push -H 'content-type: application/json' \\
                  -d '{"branch":"main","message":"My change","committer":"Ada","outcome":"error"}'

Ctrl-C ends it. Now playing:
`)
}

async function play(ci: SandboxCi, slack: SandboxSlack): Promise<number> {
  for (const [index, act] of ACTS.entries()) {
    console.log(`  ${index + 1}. ${act.title}`)
    await act.play({ ci, slack, clock, lookMs: LOOK_MS })
  }
  await ci.settle()
  const agreement = await untilAgreed(ci, slack)
  if (values.once) for (const id of [CHANNELS.builds, CHANNELS.web]) console.log(`\n${transcriptOf(slack, id)}`)
  const { lost, doubled, wrong } = agreement
  for (const sentence of [...lost, ...doubled, ...wrong]) console.log(`  ! ${sentence}`)
  console.log(`\nlost ${lost.length} · doubled ${doubled.length} · wrong ${wrong.length}`)
  if (!values.once) console.log(YOUR_TURN)
  return agrees(agreement) ? 0 : 1
}

const YOUR_TURN = `
Your turn: press Restart on the red card of acme/api in #builds, the one on main, and watch it turn green.
Then type /ci help in the field below, or mention @Buildline status in a build's thread. Ctrl-C ends it.`

async function untilAgreed(ci: SandboxCi, slack: SandboxSlack): Promise<Agreement> {
  const until = clock.now() + AGREE_MAX_MS
  for (;;) {
    const agreement = look(ci, slack)
    if (agrees(agreement) || clock.now() > until) return agreement
    await clock.sleep(LOOK_AGAIN_MS)
  }
}

function look(ci: SandboxCi, slack: SandboxSlack): Agreement {
  const messages = [...slack.workspace.channels.get(CHANNELS.builds)!.messages.values()]
  const { builds, projects } = ci.state()
  const told = compare(builds, messages)
  // Whoever sits at the page does as they like: their deeds are not held against the scenario.
  if (!values.once) return told
  const answers = slack.ephemerals(CHANNELS.builds, ASKER).map(({ message }) => message.text)
  const names = projects.map(({ name }) => name)
  return both(told, compareDeeds({ calls: ci.calls(), builds, projects: names, messages, answers }))
}

const untilInterrupted = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })

process.exit(await demo())
