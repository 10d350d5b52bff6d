import type { Clock } from './clock.ts'

/** Timers, at most one for each key. */
export interface Timers<Key> {
  /** Calls `next` after `ms`, and cancels the timer that the key had before. */
  after(key: Key, ms: number, next: () => void): void
  cancel(key: Key): void
  /** Cancels all timers. */
  close(): void
}

export function createTimers<Key>(clock: Clock): Timers<Key> {
  const timers = new Map<Key, AbortController>()

  function after(key: Key, ms: number, next: () => void): void {
    cancel(key)
    const timer = new AbortController()
    timers.set(key, timer)
    void wakeUp(key, ms, timer.signal, next)
  }

  async function wakeUp(key: Key, ms: number, signal: AbortSignal, next: () => void): Promise<void> {
    await clock.sleep(ms, signal)
    if (signal.aborted) return
    timers.delete(key)
    next()
  }

  function cancel(key: Key): void {
    timers.get(key)?.abort()
    timers.delete(key)
  }

  function close(): void {
    for (const timer of timers.values()) timer.abort()
    timers.clear()
  }

  return { after, cancel, close }
}
