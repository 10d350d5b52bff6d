import type { Clock } from '../lib/clock.ts'

/** This many bytes of a request are read without a limit. Deliveries and clicks are far smaller. */
export const AT_ONCE_BYTES = 32 * 1024

/** The bytes beyond that are read no faster than this, for all requests of one limiter together. */
export const LARGE_BYTES_PER_S = 4 * 1024 * 1024

/** A connection stops waiting when it closes. */
interface Connection {
  once(event: 'close', listener: () => void): unknown
}

/** A request that is being read. If it closes after it was answered, only its connection emits `close`. */
interface Incoming {
  pause(): unknown
  resume(): unknown
  socket: Connection
}

/** Limits how fast all large bodies of one kind are read, together. */
export interface RateLimiter {
  /** For one request: pass each piece's size to the result. It pauses the request until its turn, then runs `wentOn`. */
  open(incoming: Incoming, wentOn?: () => void): (bytes: number) => void
  /** Waits for the turn of these bytes, or until the connection closes. Few bytes do not wait. */
  turnOf(connection: Connection, bytes: number): Promise<void>
}

/** One for bodies that may be accepted, one for what comes after a refusal: strangers delay only each other. */
export interface RateLimiters {
  bodies: RateLimiter
  refused: RateLimiter
}

/**
 * Reading costs CPU time, and memory until it is collected, even if the bytes are dropped. Without a limit, an endless
 * sender would get more of both than honest senders. A connection has one place in the queue, however often it waits.
 * If it closes before its turn, it delays no others.
 * @param running a monotonic clock (ms)
 */
export function createRateLimiter({
  clock,
  running,
}: {
  clock: Pick<Clock, 'sleep'>
  running: () => number
}): RateLimiter {
  // In the order of their turns.
  const waiting = new Map<Connection, { bytes: number; waiters: ((hasCome: boolean) => void)[] }>()
  const watched = new WeakSet<Connection>()
  let isTaking = false
  let freeAt = 0

  async function takeTurns(): Promise<void> {
    isTaking = true
    for (const [connection, { bytes, waiters }] of waiting) {
      waiting.delete(connection)
      freeAt = Math.max(freeAt, running()) + (bytes * 1_000) / LARGE_BYTES_PER_S
      await clock.sleep(freeAt - running())
      for (const wake of waiters) wake(true)
    }
    isTaking = false
  }

  function leave(connection: Connection): void {
    const { waiters = [] } = waiting.get(connection) ?? {}
    waiting.delete(connection)
    for (const wake of waiters) wake(false)
  }

  /** Resolves to true when the time for these bytes has passed, to false if the connection closes before. */
  function turn(connection: Connection, bytes: number): Promise<boolean> {
    if (!watched.has(connection)) connection.once('close', () => leave(connection))
    watched.add(connection)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const place = waiting.get(connection) ?? { bytes: 0, waiters: [] }
    place.bytes += bytes
    place.waiters.push(resolve)
    waiting.set(connection, place)
    if (!isTaking) void takeTurns()
    return promise
  }

  return {
    open(incoming, wentOn) {
      let taken = 0
      const rest = async (bytes: number) => {
        incoming.pause()
        if (!(await turn(incoming.socket, bytes))) return
        incoming.resume()
        wentOn?.()
      }
      return (bytes) => {
        taken += bytes
        if (taken > AT_ONCE_BYTES) void rest(bytes)
      }
    },
    async turnOf(connection, bytes) {
      if (bytes > AT_ONCE_BYTES) await turn(connection, bytes)
    },
  }
}
