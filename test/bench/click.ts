import { setTimeout as sleep } from 'node:timers/promises'
import { createSandboxCi } from '../../packages/sandbox-ci/src/server.ts'
import { botSettings } from '../../packages/sandbox-ci/src/settings.ts'
import { PEOPLE } from '../../packages/sandbox-slack/src/workspace.ts'
import { below, exactly, inMs, note, type Benchmark } from './benchmark.ts'
import { DELIVERY_PATH, startBot, untilAgreed } from './bot.ts'
import { channelId, openSlack, type Slack } from './slack.ts'
import { median, percentile } from './statistics.ts'

const CHANNELS = 10
const CLICKS = 100
const NUMBERS = Array.from({ length: CHANNELS }, (_, i) => i + 1)

/** A click every so often: other people's clicks, and what comes of them, are under way meanwhile. */
const GAP_MS = 100

const VISIBLE_MAX_MS = 300
const AGREED_MAX_MS = 60_000
const UNANSWERED_MS = 5_000

export const click: Benchmark = {
  name: 'click',
  about: `Time from a press of Restart until the person sees a change, in the sandbox Slack with the sandbox CI service: ${CLICKS} clicks, one every ${GAP_MS} ms.`,
  async run(stage) {
    const slack = await openSlack(CHANNELS)
    const ci = createSandboxCi()
    await ci.start()
    const bot = await startBot(stage, {
      name: 'click',
      slackUrl: slack.sandbox.apiUrl,
      settings: botSettings(ci),
      subscriptions: NUMBERS.map((n) => ({ channel: channelId(n), project: 'all', branch: `team-${n}/*` })),
    })
    const url = `http://127.0.0.1:${bot.port}`
    ci.setWebhookUrl(`${url}${DELIVERY_PATH}`)
    slack.sandbox.connectBot(`${url}/slack/events`)
    for (let i = 0; i < CLICKS; i++) {
      const branch = `team-${NUMBERS[i % CHANNELS]}/topic-${i}`
      ci.push('acme/web', { branch, message: 'Try it', committer: 'Lin', outcome: 'error', ms: 10 })
    }
    // Until CI has delivered, nothing waits at the bot either.
    const deadline = performance.now() + AGREED_MAX_MS
    while (cardsOf(slack).length < CLICKS && performance.now() < deadline) await sleep(GAP_MS)
    await untilAgreed(bot, AGREED_MAX_MS)
    const waits = await pressAll(slack)
    const restarts = ci.calls().filter(({ path }) => path.endsWith('/restart.json')).length
    await Promise.all([bot.stop(), slack.sandbox.stop(), ci.stop()])
    return [
      note('click to visible change: median', inMs(median(waits))),
      below('click to visible change: p99', percentile(waits, 0.99), VISIBLE_MAX_MS, inMs),
      exactly('restarts asked of CI', restarts, CLICKS),
    ]
  },
}

const cardsOf = ({ writes }: Slack) =>
  writes.filter(({ kind, message }) => kind === 'posted' && message.threadTs === undefined)

/** Every card is pressed once. */
async function pressAll(slack: Slack): Promise<number[]> {
  const waits: Promise<number>[] = []
  for (const { channel, message } of cardsOf(slack).slice(0, CLICKS)) {
    waits.push(press(slack, channel, message.ts))
    await sleep(GAP_MS)
  }
  return Promise.all(waits)
}

async function press(slack: Slack, channel: string, ts: string): Promise<number> {
  const [ephemerals, writes] = [slack.sandbox.ephemerals(channel).length, slack.writes.length]
  const pressedAt = performance.now()
  const answered = slack.sandbox.people.click({ user: PEOPLE.lin, channel, ts, actionId: 'build_restart' })
  const isChanged = () =>
    slack.sandbox.ephemerals(channel).length > ephemerals ||
    slack.writes.slice(writes).some((write) => write.channel === channel && write.message.ts === ts)
  while (!isChanged() && performance.now() - pressedAt < UNANSWERED_MS) await sleep(1)
  const seenAt = performance.now()
  await answered
  return seenAt - pressedAt
}
