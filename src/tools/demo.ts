import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { systemClock as clock } from '../lib/clock.ts'
import { createSandboxCi, type SandboxCi } from '../sandbox/ci/server.ts'
import { ACTS } from '../sandbox/scenario.ts'
import { createSandboxSlack, type SandboxSlack } from '../sandbox/slack/sandbox-slack.ts'
import { CHANNELS, PEOPLE } from '../sandbox/slack/workspace.ts'
import { openSqlite } from '../store/sqlite.ts'
import { agrees, compare } from './demo/agreement.ts'
import { startBot, type Bot } from './demo/bot.ts'

// npm run demo: the sandbox CI, a sandbox Slack with a page, and the bot between them. `-- --once` plays it headless,
// prints what each channel shows, compares that with what CI did, and exits 0 or 1.

const { values } = parseArgs({
  options: { once: { type: 'boolean', default: false }, port: { type: 'string', default: '4100' } },
})

const FOLDER = join(import.meta.dirname, '..', '..', 'data', 'demo')
const LOG = join(FOLDER, 'bot.log')
const WEBHOOK_SECRET = 'demo-webhook-secret'

/** How long Slack may take to agree after the last act: the burst goes out at one message a second. */
const AGREE_MAX_MS = 60_000
const LOOK_AGAIN_MS = 250

// #builds sees everything; #web hears only when main of acme/web breaks or mends.
const SUBSCRIPTIONS = `subscriptions:
  - { channel: ${CHANNELS.builds}, project: all }
  - { channel: ${CHANNELS.web}, project: acme/web, branch: main, events: [failed, recovered] }
`

async function demo(): Promise<number> {
  const [ci, slack] = [createSandboxCi(), createSandboxSlack()]
  await ci.start()
  await slack.start(values.once ? 0 : Number(values.port)).catch(() => slack.start(0))
  const bot = await startBot(await prepare(ci, slack), LOG)
  ci.setWebhookUrl(`http://127.0.0.1:${bot.port}/webhooks/builds/${WEBHOOK_SECRET}`)
  introduce(ci, slack, bot)
  const interrupted = untilInterrupted()
  const played = play(ci, slack)
  const code = values.once ? await played : await Promise.race([interrupted, played.then(() => interrupted)])
  const exit = await bot.stop()
  await Promise.all([ci.stop(), slack.stop()])
  if (exit !== 0) console.log(`The bot ended with ${exit}; its log is ${LOG}`)
  return code || (exit === 0 ? 0 : 1)
}

/** A fresh database in which Ada has claimed her committer's name, and the bot's environment. */
async function prepare(ci: SandboxCi, slack: SandboxSlack): Promise<Record<string, string>> {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  const [database, subscriptions] = [join(FOLDER, 'buildline.db'), join(FOLDER, 'subscriptions.yaml')]
  writeFileSync(subscriptions, SUBSCRIPTIONS)
  const store = openSqlite(database)
  await store.migrate()
  await store.write((tx) => tx.claimHandle('Ada', PEOPLE.ada, clock.now()))
  await store.close()
  const { baseUrl, legacyBaseUrl, siteUrl, organizationUuid, authorization, apiKey } = ci.address()
  return {
    SLACK_API_URL: slack.apiUrl,
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_SIGNING_SECRET: slack.signingSecret,
    CI_BASE_URL: baseUrl,
    CI_LEGACY_BASE_URL: legacyBaseUrl,
    CI_SITE_URL: siteUrl,
    CI_ORGANIZATION_UUID: organizationUuid,
    CI_AUTHORIZATION: authorization,
    CI_API_KEY: apiKey,
    WEBHOOK_SECRET,
    DATABASE_URL: `sqlite:${database}`,
    DEFAULT_CHANNEL: CHANNELS.builds,
    SUBSCRIPTIONS_FILE: subscriptions,
  }
}

function introduce(ci: SandboxCi, slack: SandboxSlack, bot: Bot): void {
  if (values.once) return
  console.log(`
Buildline is running between a sandbox CI service and a sandbox Slack, all on this machine.

  Open          ${slack.url}/        the workspace: look at #builds, and open the threads
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
    await act.play({ ci, clock })
  }
  await ci.settle()
  const agreement = await untilAgreed(ci, slack)
  if (values.once)
    for (const [name, id] of [
      ['#builds', CHANNELS.builds],
      ['#web', CHANNELS.web],
    ] as const)
      console.log(`\n${name}\n${slack.transcript(id)}`)
  const { lost, doubled, wrong } = agreement
  for (const sentence of [...lost, ...doubled, ...wrong]) console.log(`  ! ${sentence}`)
  console.log(`\nlost ${lost.length} · doubled ${doubled.length} · wrong ${wrong.length}`)
  if (!values.once) console.log('Played. Go on by hand, or press Ctrl-C.')
  return agrees(agreement) ? 0 : 1
}

async function untilAgreed(ci: SandboxCi, slack: SandboxSlack) {
  const until = clock.now() + AGREE_MAX_MS
  for (;;) {
    const channel = slack.workspace.channels.get(CHANNELS.builds)!
    const agreement = compare(ci.state().builds, [...channel.messages.values()])
    if (agrees(agreement) || clock.now() > until) return agreement
    await clock.sleep(LOOK_AGAIN_MS)
  }
}

const untilInterrupted = (): Promise<number> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(0))
  })

process.exit(await demo())
