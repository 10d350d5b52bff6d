import { asRatio, atMost, none, note, type Benchmark, type Stage } from './benchmark.ts'
import { deliver, startBot, untilAgreed } from './bot.ts'
import { deliveryBody, projectName } from './delivery.ts'
import type { ServerProcess } from './processes.ts'
import { channelId, openSlack, type Slack } from './slack.ts'

/** In each channel in turn: three quarters pass, one quarter fails or recovers. */
const ENDS = ['success', 'success', 'success', 'success', 'success', 'success', 'error', 'success']
const CHANNELS = 5
const BUILDS = CHANNELS * ENDS.length

const WRITES_MAX = 2.25
const AGREED_MAX_MS = 60_000

export const live: Benchmark = {
  name: 'live',
  about: `Writes to Slack for each build that is watched live: ${BUILDS} builds in ${CHANNELS} channels, each shown as running before it ends.`,
  async run(stage) {
    const chosen = await watch(stage, 'live', ['started', 'failed', 'recovered'])
    const every = await watch(stage, 'live-every', ['started', 'failed', 'success', 'recovered', 'waiting'])
    return [
      atMost('writes a build, live: started, failed, recovered', chosen.writes / BUILDS, WRITES_MAX, asRatio),
      note('writes a build, live: every event (a reply for each end)', asRatio(every.writes / BUILDS)),
      none('calls in vain, live', [...chosen.wasted, ...every.wasted]),
    ]
  },
}

async function watch(stage: Stage, name: string, events: readonly string[]) {
  const slack = await openSlack(CHANNELS)
  const numbers = Array.from({ length: CHANNELS }, (_, i) => i + 1)
  const bot = await startBot(stage, {
    name,
    slackUrl: slack.sandbox.apiUrl,
    subscriptions: numbers.map((n) => ({ channel: channelId(n), project: projectName(n), events })),
  })
  await Promise.all(numbers.map((n) => buildOneByOne(bot, slack, n)))
  await untilAgreed(bot, AGREED_MAX_MS)
  await Promise.all([bot.stop(), slack.sandbox.stop()])
  return { writes: slack.writes.length, wasted: slack.wasted() }
}

async function buildOneByOne(bot: ServerProcess, slack: Slack, project: number): Promise<void> {
  for (const [i, end] of ENDS.entries()) {
    const build = { project, build: project * 1_000 + i, branch: 'main' }
    const cards = () => slack.writes.filter((write) => isCard(write, channelId(project)))
    const before = cards().length
    await deliver(bot, deliveryBody(build, 'initiated'))
    const card = await slack.until(() => cards()[before]?.message)
    await deliver(bot, deliveryBody(build, end))
    await slack.until(() => (card.editCount > 0 ? card : undefined))
  }
}

const isCard = ({ kind, channel, message }: Slack['writes'][number], wanted: string): boolean =>
  kind === 'posted' && channel === wanted && message.threadTs === undefined
