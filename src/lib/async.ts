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
    throw new Error(`no answer within ${ms} ms`)
  })
  // With a reason of our own, `abort` does not create a DOMException each time.
  return Promise.race([work, late]).finally(() => over.abort('over'))
}

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
