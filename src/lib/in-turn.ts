import type { Clock } from './clock.ts'

/** What waits goes with its connection. */
export interface Connection {
  once(event: 'close', listener: () => void): unknown
}

/** Those that wait, each in its turn, at a measure that all of them share. */
export interface InTurn {
  /** Calls `go` when the time that so much takes has passed, or `gone` when the connection is closed before. */
  wait(connection: Connection, amount: number, go: () => void, gone?: () => void): void
}

/**
 * One turn for each connection, however often it waits; whoever goes leaves nothing that others wait for.
 * @param perSecond of the same unit as the amounts
 * @param running ms since some moment, which nobody sets
 */
export function createInTurn({ clock, running, perSecond }: Measured): InTurn {
  // In the order of their turns.
  const waiting = new Map<Connection, Waiting>()
  const watched = new WeakSet<Connection>()
  let isTaking = false
  let freeAt = 0

  async function takeTurns(): Promise<void> {
    isTaking = true
    for (const [connection, { amount, waits }] of waiting) {
      waiting.delete(connection)
      freeAt = Math.max(freeAt, running()) + (amount * 1_000) / perSecond
      await clock.sleep(freeAt - running())
      for (const { go } of waits) go()
    }
    isTaking = false
  }

  function leave(connection: Connection): void {
    const { waits = [] } = waiting.get(connection) ?? {}
    waiting.delete(connection)
    for (const { gone } of waits) gone?.()
  }

  return {
    wait(connection, amount, go, gone) {
      if (!watched.has(connection)) connection.once('close', () => leave(connection))
      watched.add(connection)
      const before = waiting.get(connection) ?? { amount: 0, waits: [] }
      waiting.set(connection, { amount: before.amount + amount, waits: [...before.waits, { go, gone }] })
      if (!isTaking) void takeTurns()
    },
  }
}

interface Waiting {
  amount: number
  waits: readonly { go: () => void; gone: (() => void) | undefined }[]
}

export interface Measured {
  clock: Pick<Clock, 'sleep'>
  running: () => number
  perSecond: number
}
