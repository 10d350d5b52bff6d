import type { ChannelId } from '../../src/domain/ids.ts'
import type { Shown, View } from '../../src/domain/cards/view.ts'
import type { Clock } from '../../src/lib/clock.ts'
import type { Copy, Edit, Failure, Notifier, Post, Sent } from '../../src/slack/notifier.ts'
import { createRates } from '../../packages/sandbox-slack/src/rates.ts'
import type { Random } from '../simulation/random.ts'
import { messageTs } from '../support/build-events.ts'

/** How many calls of each kind were made. */
export interface SlackCalls {
  post: number
  edit: number
  find: number
  remove: number
  ping: number
}

/** A Slack in memory that keeps Slack's limits and remembers when it showed how each build ended, and nothing else. */
export interface DaySlack extends Notifier {
  calls: SlackCalls
  /** calls that were answered 429 */
  limited(): number
  underWay(): number
  /** when (ms) the card of a build first said how it ended */
  cardEnds: ReadonlyMap<string, number>
  /** when a new message did, which is what people notice: a reply, or a card that was born so */
  newsEnds: ReadonlyMap<string, number>
}

/** A call is on its way for so long, and its answer too (ms, both ends included). */
const THERE_MS = [10, 90] as const
const BACK_MS = [10, 110] as const

const METHODS = {
  post: 'chat.postMessage',
  edit: 'chat.update',
  find: 'conversations.history',
  remove: 'chat.delete',
  ping: 'auth.test',
} as const

const NOT_ENDED: ReadonlySet<Shown> = new Set<Shown>(['started', 'waiting', 'unknown'])

export function createDaySlack(clock: Clock, random: Random): DaySlack {
  const rates = createRates(clock)
  const calls: SlackCalls = { post: 0, edit: 0, find: 0, remove: 0, ping: 0 }
  const cardEnds = new Map<string, number>()
  const newsEnds = new Map<string, number>()
  const byKey = new Map<string, Copy>()
  let limited = 0
  let underWay = 0
  let posted = 0

  async function call<Outcome>(
    name: keyof SlackCalls,
    channel: ChannelId | undefined,
    effect: () => Outcome,
  ): Promise<Outcome | Failure> {
    calls[name]++
    underWay++
    await clock.sleep(random.between(...THERE_MS))
    const waitMs = rates.admit({ token: 'bot', method: METHODS[name], channel })
    if (waitMs !== null) limited++
    const outcome = waitMs === null ? effect() : tooMany(waitMs)
    await clock.sleep(random.between(...BACK_MS))
    underWay--
    return outcome
  }

  function appear({ key, postedAttempt, view }: Post): Sent {
    show(view, { isNew: true })
    const sent: Sent = { kind: 'sent', ts: messageTs(`${++posted}.000000`) }
    byKey.set(key, { ts: sent.ts, postedAttempt })
    return sent
  }

  function change({ ts, view }: Edit): Sent {
    show(view, { isNew: false })
    return { kind: 'sent', ts }
  }

  function show(view: View, { isNew }: { isNew: boolean }): void {
    if ((view.kind !== 'card' && view.kind !== 'reply') || NOT_ENDED.has(view.shown)) return
    const { buildId } = view.build
    if (isNew && !newsEnds.has(buildId)) newsEnds.set(buildId, clock.now())
    if (view.kind === 'card' && !cardEnds.has(buildId)) cardEnds.set(buildId, clock.now())
  }

  return {
    calls,
    cardEnds,
    newsEnds,
    limited: () => limited,
    underWay: () => underWay,
    post: (post) => call('post', post.channel, () => appear(post)),
    edit: (edit) => call('edit', edit.channel, () => change(edit)),
    find: ({ channel, key }) =>
      call('find', channel, () => {
        const copy = byKey.get(key)
        return { kind: 'found', copies: copy ? [copy] : [] }
      }),
    remove: ({ channel, ts }) => call('remove', channel, () => ({ kind: 'sent', ts })),
    ping: () => call('ping', undefined, () => ({ kind: 'sent' })),
  }
}

const tooMany = (waitMs: number): Failure => ({
  kind: 'rate-limited',
  code: 'ratelimited',
  retryAfterMs: Math.ceil(waitMs / 1_000) * 1_000,
})
