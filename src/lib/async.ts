import type { Clock } from './clock.ts'

/** Runs `work` at most once at a time: callers that come while it runs share its result. */
export function singleFlight<Value>(work: () => Promise<Value>): () => Promise<Value> {
  let underWay: Promise<Value> | null = null
  return () => (underWay ??= work().finally(() => (underWay = null)))
}

/**
 * As `Promise.all`, but if one fails, it throws only when all have ended. For statements of one transaction: none may go on
 * when it is over.
 */
export async function together<All extends readonly (Promise<unknown> | object | null)[] | []>(
  all: All,
): Promise<{ -readonly [Each in keyof All]: Awaited<All[Each]> }> {
  try {
    // oxlint-disable-next-line typescript/await-thenable -- SQLite answers without a promise
    return await Promise.all(all)
  } catch (error) {
    for (const one of all) await Promise.resolve(one).catch(() => {})
    throw error
  }
}

/** Resolves or rejects as `work` does, or rejects after `ms`. A timeout does not stop the work. */
export async function withTimeout<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T> {
  const over = new AbortController()
  const late = clock.sleep(ms, over.signal).then(() => {
    throw timeoutError(ms)
  })
  // With a reason of our own, `abort` does not create a DOMException each time.
  return Promise.race([work, late]).finally(() => over.abort('over'))
}

/** The error of a caller that timed out after `ms`. */
const timeoutError = (ms: number): Error => new Error(`no answer within ${ms} ms`)

/** Reads the body of an answer. Throws `tooLong()` beyond `bytesMax`; that closes the connection. */
export async function bytesOf(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  bytesMax: number,
  tooLong: () => Error,
): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.byteLength
    if (bytes > bytesMax) throw tooLong()
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

/**
 * Exponential backoff with jitter: a random time between half and all of `baseMs · 2^tries`, which is at most `maxMs`.
 * `tries` counts from 0; `random` is uniform in [0, 1).
 */
export function backoffMs(tries: number, random: number, { baseMs = 500, maxMs = 60_000 } = {}): number {
  const ceilingMs = Math.min(maxMs, baseMs * 2 ** Math.min(tries, 30))
  return Math.round(ceilingMs / 2 + (ceilingMs / 2) * random)
}

/** Calls that are buffered while there is no listener; further ones are dropped. */
export const BUFFERED_MAX = 100_000

/**
 * Buffers calls until there is a listener, then passes them on in order. Afterwards it passes on all calls of a turn of
 * the event loop together, after that turn: calling the listener one by one, between other work, costs several times as
 * much.
 */
export function createBufferedSink<Listener>() {
  let listener: Listener | null = null
  let buffered: ((to: Listener) => void)[] = []

  function flush(): void {
    const calls = buffered
    buffered = []
    for (const call of calls) call(listener!)
  }

  return {
    push(call: (to: Listener) => void): void {
      if (listener === null && buffered.length >= BUFFERED_MAX) return
      if (buffered.push(call) === 1 && listener !== null) setImmediate(flush)
    },
    /** Sets the listener, and passes on what was buffered. */
    use(to: Listener): void {
      listener = to
      flush()
    },
  }
}

/**
 * `withTimeout` for very many pieces of work with the same limit: a timer and a signal for each would cost as much as
 * the work itself.
 * @param clock its `now` must not jump
 */
export function createTimeLimit(clock: Clock, ms: number) {
  // In the order in which they time out.
  const waiting = new Set<{ until: number; giveUp: (reason: Error) => void }>()
  let isWatched = false
  let idle = new AbortController()

  /** Sleeps until the oldest work times out, then until the next one, and ends when none is left. */
  async function watch(): Promise<void> {
    isWatched = true
    for (const one of waiting) {
      await clock.sleep(one.until - clock.now(), idle.signal)
      if (waiting.delete(one)) one.giveUp(timeoutError(ms))
    }
    isWatched = false
  }

  return {
    inTime<T>(work: Promise<T>): Promise<T> {
      return new Promise<T>((resolve, reject) => {
        const one = { until: clock.now() + ms, giveUp: reject }
        const ended = () => {
          if (!waiting.delete(one) || waiting.size > 0) return
          idle.abort('over')
          idle = new AbortController()
        }
        waiting.add(one)
        if (!isWatched) void watch()
        work.then(resolve, reject)
        work.then(ended, ended)
      })
    },
    /** How many pieces of work are waited for now. */
    waiting: () => waiting.size,
  }
}
