import type { Clock } from '../lib/clock.ts'

/** What waits goes with its connection. */
export interface Connection {
  once(event: 'close', listener: () => void): unknown
}

/** Those that wait, each in its turn, at a measure that all of them share. */
export interface InTurn {
  /** Resolves when the time that so much takes has passed: true; or, where the connection is closed before its turn: false. */
  turn(connection: Connection, amount: number): Promise<boolean>
}

/**
 * One turn for each connection, however often it waits; whoever goes before its turn leaves nothing that others wait for.
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
    for (const [connection, { amount, told }] of waiting) {
      waiting.delete(connection)
      freeAt = Math.max(freeAt, running()) + (amount * 1_000) / perSecond
      await clock.sleep(freeAt - running())
      for (const tell of told) tell(true)
    }
    isTaking = false
  }

  function leave(connection: Connection): void {
    const { told = [] } = waiting.get(connection) ?? {}
    waiting.delete(connection)
    for (const tell of told) tell(false)
  }

  return {
    turn(connection, amount) {
      if (!watched.has(connection)) connection.once('close', () => leave(connection))
      watched.add(connection)
      const { promise, resolve } = Promise.withResolvers<boolean>()
      const before = waiting.get(connection) ?? { amount: 0, told: [] }
      waiting.set(connection, { amount: before.amount + amount, told: [...before.told, resolve] })
      if (!isTaking) void takeTurns()
      return promise
    },
  }
}

interface Waiting {
  amount: number
  told: readonly ((hasCome: boolean) => void)[]
}

export interface Measured {
  clock: Pick<Clock, 'sleep'>
  running: () => number
  perSecond: number
}
