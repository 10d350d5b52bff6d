import type { Clock } from './clock.ts'

/** Of one request so many bytes are taken as they come: a delivery has far fewer, and so has what people's clicks send. */
export const AT_ONCE_BYTES = 32 * 1024

/** What is sent beyond that is read no faster than this, all that shares a measure together. */
export const LARGE_BYTES_PER_S = 4 * 1024 * 1024

/** A request that is read. When its connection closes after it was answered, only the connection says so. */
interface Source {
  pause(): unknown
  resume(): unknown
  socket: Connection
}

interface Connection {
  once(event: 'close', listener: () => void): unknown
}

/** A measure of what all large bodies of one kind together may have us read. */
export interface Trickle {
  /** For one request: to be told of each piece; the source then rests until its turn has come. */
  open(source: Source): (bytes: number) => void
}

/** One for bodies that may be taken, and one for what is sent on after it was refused: strangers delay only each other. */
export interface Measures {
  bodies: Trickle
  refused: Trickle
}

/**
 * To read costs the thread, and memory until it is collected, whatever becomes of what was read: whoever sends without end
 * would have more of both than those who are waited for. Each in its turn; whoever goes leaves nothing that others wait for.
 * @param running ms since some moment, which nobody sets
 */
export function createTrickle({ clock, running }: { clock: Pick<Clock, 'sleep'>; running: () => number }): Trickle {
  // Those that rest, by their connections, with what they have sent, in the order of their turns.
  const resting = new Map<Connection, { source: Source; bytes: number }>()
  const watched = new WeakSet<Connection>()
  let isTaking = false
  let freeAt = 0

  function rest(source: Source, bytes: number): void {
    const { socket } = source
    if (!watched.has(socket)) socket.once('close', () => resting.delete(socket))
    watched.add(socket)
    source.pause()
    resting.set(socket, { source, bytes: (resting.get(socket)?.bytes ?? 0) + bytes })
    if (!isTaking) void takeTurns()
  }

  async function takeTurns(): Promise<void> {
    isTaking = true
    for (const [socket, { source, bytes }] of resting) {
      resting.delete(socket)
      freeAt = Math.max(freeAt, running()) + (bytes * 1_000) / LARGE_BYTES_PER_S
      await clock.sleep(freeAt - running())
      source.resume()
    }
    isTaking = false
  }

  return {
    open(source) {
      let taken = 0
      return (bytes) => {
        taken += bytes
        if (taken > AT_ONCE_BYTES) rest(source, bytes)
      }
    },
  }
}
