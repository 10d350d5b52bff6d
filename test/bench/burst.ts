import { setTimeout as sleep } from 'node:timers/promises'
import type { Message } from '../../packages/sandbox-slack/src/messages.ts'
import { drawnText } from '../../packages/sandbox-slack/src/transcript.ts'
import { asCount, asRatio, atLeast, atMost, inS, none, note, type Benchmark } from './benchmark.ts'
import { deliver, startBot, untilAgreed } from './bot.ts'
import { deliveryBody, projectName, type SampleBuild } from './delivery.ts'
import type { ServerProcess } from './processes.ts'
import { channelId, openSlack, type Slack, type Write } from './slack.ts'

const CHANNELS = 10
const BUILDS = 300
const FIRST_END_MS = 3_000
const LAST_END_MS = 10_000

const WRITES_MAX = 1.35
const TIME_MAX = 1.05
const AGREED_MAX_MS = 150_000

// Slack's limits, as it states them.
const POST_BURST = 3
const POST_GAP_MS = 1_000
const EDITS_PER_WINDOW = 50
const WINDOW_MS = 60_000

export const burst: Benchmark = {
  name: 'burst',
  about: `${BUILDS} builds in ${CHANNELS} channels start at once and end within ${FIRST_END_MS / 1_000} to ${LAST_END_MS / 1_000} s; one in four fails. Measured: writes to Slack for each build, and the time until Slack shows every end, beside the least time in which Slack's limits allow the same writes: in each channel ${POST_BURST} posts at once and then one a second, ${EDITS_PER_WINDOW} edits a minute in all.`,
  async run(stage) {
    const slack = await openSlack(CHANNELS)
    const bot = await startBot(stage, { name: 'burst', slackUrl: slack.sandbox.apiUrl, subscriptions: subscriptions() })
    const startedAt = performance.now()
    await build(bot)
    await untilAgreed(bot, AGREED_MAX_MS)
    await Promise.all([bot.stop(), slack.sandbox.stop()])
    const { writes } = slack
    const tookMs = writes.at(-1)!.at - startedAt
    const postsTookMs = postsOf(writes).at(-1)!.at - startedAt
    const allowedMs = allowedMsFor(writes)
    return [
      atLeast('burst: cards that say how their build ended', endsTold(slack), BUILDS, asCount),
      atMost('writes a build, burst', writes.length / BUILDS, WRITES_MAX, asRatio),
      none('calls in vain, burst', slack.wasted()),
      note('burst: until all is posted', inS(postsTookMs / 1_000)),
      atMost('burst: posts, ratio', postsTookMs / allowedPostsMsFor(writes), TIME_MAX, asRatio),
      note('burst: until Slack agrees', inS(tookMs / 1_000)),
      note(`burst: what the limits allow for ${amounts(writes)}`, inS(allowedMs / 1_000)),
      atMost('burst: ratio', tookMs / allowedMs, TIME_MAX, asRatio),
    ]
  },
}

const subscriptions = () =>
  Array.from({ length: CHANNELS }, (_, i) => ({
    channel: channelId(i + 1),
    project: projectName(i + 1),
    events: ['started', 'failed', 'recovered'],
  }))

async function build(bot: ServerProcess): Promise<void> {
  const builds = Array.from({ length: BUILDS }, (_, i) => sample(i))
  await Promise.all(builds.map((one) => deliver(bot, deliveryBody(one, 'initiated'))))
  await Promise.all(
    builds.map(async (one, i) => {
      await sleep(endMs(i))
      await deliver(bot, deliveryBody(one, isFailed(i) ? 'error' : 'success'))
    }),
  )
}

const sample = (i: number): SampleBuild => ({ project: 1 + (i % CHANNELS), build: 1_000 + i, branch: `feature-${i}` })

const isFailed = (i: number): boolean => Math.floor(i / CHANNELS) % 4 === 3

// Spread evenly, and in another order than they were begun.
const endMs = (i: number): number => FIRST_END_MS + (((i * 7) % BUILDS) / BUILDS) * (LAST_END_MS - FIRST_END_MS)

/** The least time for these posts: in each channel some at once, then one a second. */
function allowedPostsMsFor(writes: readonly Write[]): number {
  const posts = Map.groupBy(postsOf(writes), ({ channel }) => channel)
  const most = Math.max(...[...posts.values()].map(({ length }) => length))
  return Math.max((most - POST_BURST) * POST_GAP_MS, LAST_END_MS)
}

/** The least time for all these calls: the edits are fifty a minute from the first end on. */
function allowedMsFor(writes: readonly Write[]): number {
  const edits = editsOf(writes).length
  const editsMs = edits === 0 ? 0 : FIRST_END_MS + Math.floor((edits - 1) / EDITS_PER_WINDOW) * WINDOW_MS
  return Math.max(allowedPostsMsFor(writes), editsMs)
}

const postsOf = (writes: readonly Write[]) => writes.filter(({ kind }) => kind === 'posted')
const editsOf = (writes: readonly Write[]) => writes.filter(({ kind }) => kind === 'edited')

const amounts = (writes: readonly Write[]): string =>
  `${postsOf(writes).length} posts and ${editsOf(writes).length} edits`

function endsTold({ sandbox }: Slack): number {
  const channels = subscriptions().map(({ channel }) => sandbox.workspace.channels.get(channel)!)
  const messages = channels.flatMap((channel) => [...channel.messages.values()])
  const isEnd = (message: Message) => /\*(?:Passed|Failed)\*/.test(drawnText(message))
  return messages.filter((message) => message.threadTs === undefined && isEnd(message)).length
}
