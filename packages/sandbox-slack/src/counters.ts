import type { Changes } from './changes.ts'

export interface Counters {
  /** Counts a call. `outcome`: `ok`, Slack's error code, or `fault:` and the kind of a fault. */
  record(method: string, outcome: string): void
  /** The number of calls of a method, with this outcome or with any. */
  calls(method: string, outcome?: string): number
  /** The number of 429s, from rate limits and from faults. */
  ratelimited(): number
  /** How often the bot wrote this message: the post, each edit and the deletion. */
  writes(channel: string, ts: string): number
  snapshot(): CounterSnapshot
}

export interface CounterSnapshot {
  calls: Record<string, Record<string, number>>
  ratelimited: number
  /** by `<channel>:<ts>` */
  writes: Record<string, number>
}

export function createCounters(changes: Changes): Counters {
  const calls = new Map<string, Map<string, number>>()
  const writes = new Map<string, number>()
  let ratelimited = 0
  changes.on((change) => {
    if ('byBot' in change && change.byBot) increment(writes, `${change.channel.id}:${change.message.ts}`)
  })
  return {
    record: (method, outcome) => {
      const outcomes = calls.get(method) ?? new Map<string, number>()
      calls.set(method, outcomes)
      increment(outcomes, outcome)
      if (outcome === 'ratelimited') ratelimited += 1
    },
    calls: (method, outcome) => countOf(calls.get(method), outcome),
    ratelimited: () => ratelimited,
    writes: (channel, ts) => writes.get(`${channel}:${ts}`) ?? 0,
    snapshot: () => ({
      calls: Object.fromEntries([...calls].map(([method, outcomes]) => [method, Object.fromEntries(outcomes)])),
      ratelimited,
      writes: Object.fromEntries(writes),
    }),
  }
}

function countOf(outcomes: Map<string, number> | undefined, outcome: string | undefined): number {
  if (!outcomes) return 0
  if (outcome !== undefined) return outcomes.get(outcome) ?? 0
  return [...outcomes.values()].reduce((sum, count) => sum + count, 0)
}

const increment = (counts: Map<string, number>, key: string): void => void counts.set(key, (counts.get(key) ?? 0) + 1)
