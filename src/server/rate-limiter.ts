import type { Clock } from '../lib/clock.ts'

/** This many bytes of a request are taken as they come: a delivery has far fewer, and so have people's clicks. */
export const AT_ONCE_BYTES = 32 * 1024

/** What is sent beyond that is read no faster than this, all that shares a measure together. */
export const LARGE_BYTES_PER_S = 4 * 1024 * 1024

/** A request that is read. When its connection closes after it was answered, only the connection says so. */
interface Source {
  pause(): unknown
  resume(): unknown
  socket: Connection
}

/** A measure of what all large bodies of one kind together may have us read. */
export interface RateLimiter {
  /** For one request: to be told of each piece; the source then rests until its turn has come. Each end of a rest is told. */
  open(source: Source, wentOn?: () => void): (bytes: number) => void
  /** Resolves when the turn of these bytes has come, or the connection has closed; at once where they are few. */
  turnOf(connection: Connection, bytes: number): Promise<void>
}

/** One for bodies that may be taken, and one for what is sent on after it was refused: strangers delay only each other. */
export interface Measures {
  bodies: RateLimiter
  refused: RateLimiter
}

/**
 * Reading takes the thread's time, and memory until it is collected, even if the bytes are not used: a sender that
 * never ends would have more of both than the senders that are waited for.
 */
export function createRateLimiter(measured: Omit<Measured, 'perSecond'>): RateLimiter {
  const inTurn = createInTurn({ ...measured, perSecond: LARGE_BYTES_PER_S })

  return {
    open(source, wentOn) {
      let taken = 0
      const rest = async (bytes: number) => {
        source.pause()
        if (!(await inTurn.turn(source.socket, bytes))) return
        source.resume()
        wentOn?.()
      }
      return (bytes) => {
        taken += bytes
        if (taken > AT_ONCE_BYTES) void rest(bytes)
      }
    },
    async turnOf(connection, bytes) {
      if (bytes > AT_ONCE_BYTES) await inTurn.turn(connection, bytes)
    },
  }
}

/** What waits goes with its connection. */
interface Connection {
  once(event: 'close', listener: () => void): unknown
}

/** Those that wait, each in its turn, at a measure that all of them share. */
interface InTurn {
  /** Resolves when the time that so much takes has passed: true; or, where the connection is closed before its turn: false. */
  turn(connection: Connection, amount: number): Promise<boolean>
}

/**
 * One turn for each connection, however often it waits; one that closes before its turn keeps no others waiting.
 * @param perSecond of the same unit as the amounts
 * @param running ms since some moment, which nobody sets
 */
function createInTurn({ clock, running, perSecond }: Measured): InTurn {
  // In the order of their turns.
  const waiting = new Map<Connection, Waiting>()
  const watched = new WeakSet<Connection>()
  let isTaking = false
  let freeAt = 0

  async function takeTurns(): Promise<void> {
    isTaking = true
    for (const [connection, { amount, waiters }] of waiting) {
      waiting.delete(connection)
      freeAt = Math.max(freeAt, running()) + (amount * 1_000) / perSecond
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

  return {
    turn(connection, amount) {
      if (!watched.has(connection)) connection.once('close', () => leave(connection))
      watched.add(connection)
      const { promise, resolve } = Promise.withResolvers<boolean>()
      const before = waiting.get(connection) ?? { amount: 0, waiters: [] }
      waiting.set(connection, { amount: before.amount + amount, waiters: [...before.waiters, resolve] })
      if (!isTaking) void takeTurns()
      return promise
    },
  }
}

interface Waiting {
  amount: number
  waiters: readonly ((hasCome: boolean) => void)[]
}

interface Measured {
  clock: Pick<Clock, 'sleep'>
  running: () => number
  perSecond: number
}
