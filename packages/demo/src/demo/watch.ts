import type { Clock } from '../../../../src/lib/clock.ts'
import { slackBreakOf } from '../panel/breaks.ts'
import type { Lag, Queue, Standing, Watched } from '../../../sandbox-slack/src/panel-state.ts'
import type { SandboxSlack } from '../../../sandbox-slack/src/sandbox-slack.ts'
import { CHANNELS } from '../../../sandbox-slack/src/workspace.ts'
import type { Service } from '../service/service.ts'
import { messagesIn } from '../stage.ts'
import type { KeptBot } from './keeper.ts'
import { askQueue, waitingIn } from './queue.ts'
import { judge, type StepResult } from './standing.ts'

export interface WatchParts {
  ci: Service
  slack: SandboxSlack
  bot: KeptBot
  clock: Clock
}

const LOOK_MS = 500

/** The bot is done with something when it has had nothing to do for so long. */
export const SETTLE_MS = 3_000

/** The lag is the median of so many. */
const LAGS_MAX = 20

/** Looks at CI, the bot and #builds over and over until `stopped` aborts; the answer tells what was seen last. */
export function watch(parts: WatchParts, stopped: AbortSignal): () => Watched {
  const { ci, slack, bot, clock } = parts
  const lagOf = watchLag(slack, clock, stopped)
  const rulesOf = ci.watchRules(clock)
  let rules = rulesOf()
  const rest = watchRest(clock)
  let queue: Queue = null
  let [standing, lag]: [Standing, Lag] = [judge(evidence(true)).standing, { medianMs: null, oldestMs: null }]
  void look()
  const queueNow = () => (bot.state === 'running' ? queue : null)
  return () => ({
    bot: { state: bot.state, pid: bot.pid ?? null, starts: bot.starts },
    rules: rules.read,
    queue: queueNow(),
    lag,
    standing,
  })

  async function look(): Promise<void> {
    for (; !stopped.aborted; await clock.sleep(LOOK_MS, stopped)) {
      queue = bot.state === 'running' ? await askQueue(bot.port) : null
      const isIdle = queue !== null && waitingIn(queue) === 0 && slackBreakOf(slack) === 'none'
      const judged = judge(evidence(!rest(isIdle, ci.sent())))
      standing = judged.standing
      lag = lagOf(judged.told)
    }
  }

  function evidence(isBusy: boolean) {
    const { builds } = ci.state()
    rules = rulesOf()
    const { uncounted } = rules
    const messages = messagesIn(slack, CHANNELS.builds)
    const { isPolled, namesAttempts } = ci
    const seen = { builds, deliveries: ci.sent(), decisions: ci.decisions(), messages, uncounted }
    return { ...seen, isBusy, isPolled, namesAttempts }
  }
}

/** Whether the bot has been idle, and nothing new has arrived, for as long as things need to settle. */
function watchRest(clock: Clock) {
  let since: number | null = null
  let seen = ''
  return (isIdle: boolean, deliveries: ReturnType<Service['sent']>): boolean => {
    const attempts = deliveries.reduce((sum, one) => sum + one.attempts.length, 0)
    const come = `${deliveries.length} ${attempts}`
    if (!isIdle || come !== seen) since = null
    seen = come
    if (isIdle) since ??= clock.now()
    return since !== null && clock.now() - since >= SETTLE_MS
  }
}

function watchLag(slack: SandboxSlack, clock: Clock, stopped: AbortSignal): (told: readonly StepResult[]) => Lag {
  const writtenAt = new Map<string, number>()
  const done = new Map<string, number>()
  const lags: number[] = []
  const forget = slack.workspace.changes.on((change) => {
    if ('byBot' in change && change.channel.id === CHANNELS.builds) writtenAt.set(change.message.ts, clock.now())
  })
  stopped.addEventListener('abort', forget, { once: true })
  return (told) => {
    for (const { name, takenAt, cardTs } of told) {
      if (cardTs === null || done.get(name) === takenAt) continue
      done.set(name, takenAt)
      lags.push(Math.max(0, (writtenAt.get(cardTs) ?? takenAt) - takenAt))
    }
    lags.splice(0, lags.length - LAGS_MAX)
    const waiting = told.filter(({ cardTs }) => cardTs === null).map(({ takenAt }) => takenAt)
    return { medianMs: median(lags), oldestMs: waiting.length === 0 ? null : clock.now() - Math.min(...waiting) }
  }
}

const median = (values: readonly number[]): number | null =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? null
