import type { Clock } from '../../lib/clock.ts'

export interface MemoryLimits {
  clock: Clock
  /** an answer holds so long */
  knownForMs: number
  /** keys remembered; beyond it the oldest is asked for again */
  max: number
}

/** Asks once for each key while an answer is under way or fresh; a failed answer is not remembered. */
export function createMemory<Key, Value>(
  { clock, knownForMs, max }: MemoryLimits,
  ask: (key: Key) => Promise<Value>,
): (key: Key) => Promise<Value> {
  const known = new Map<Key, { at: number; value: Promise<Value> }>()
  return (key) => {
    const fresh = known.get(key)
    if (fresh && clock.now() - fresh.at < knownForMs) return fresh.value
    const value = ask(key)
    const entry = { at: clock.now(), value }
    known.delete(key)
    known.set(key, entry)
    if (known.size > max) known.delete(known.keys().next().value!)
    value.catch(() => {
      if (known.get(key) === entry) known.delete(key)
    })
    return value
  }
}
