import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Connections that are open at once. */
export const CONNECTIONS_MAX = 1_000

/** Requests of one connection that wait for their answers at once: more are sent only by who does not want them. */
export const WAITING_MAX = 16

/**
 * Bounds what connections can hold. Beyond CONNECTIONS_MAX the one that has asked nothing for longest is closed, not the
 * newcomer kept out: so nobody who only keeps connections open can keep others out. A connection on which more than
 * WAITING_MAX requests wait is closed.
 */
export function boundConnections(server: Server): Connections {
  // In the order of their last request; each with the answers that have not ended yet.
  const open = new Map<Socket, Set<ServerResponse>>()

  server.on('connection', (socket: Socket) => {
    if (open.size >= CONNECTIONS_MAX) idlest(open).destroy()
    open.set(socket, new Set())
    socket.once('close', () => open.delete(socket))
  })

  return {
    isAnswered(response) {
      const { socket } = response.req
      const waiting = open.get(socket)
      // What came in one piece with the request that was too much is still read.
      if (!waiting || socket.destroyed) return false
      waiting.add(response)
      response.once('close', () => waiting.delete(response))
      open.delete(socket)
      open.set(socket, waiting)
      if (waiting.size > WAITING_MAX) socket.destroy()
      return !socket.destroyed
    },
    underWay: (socket) => [...(open.get(socket) ?? [])],
  }
}

export interface Connections {
  /** Whether a request is still to be answered, to be asked for each before anything else. */
  isAnswered(response: ServerResponse): boolean
  /** The answers on a connection that have not ended. */
  underWay(socket: Socket): readonly ServerResponse[]
}

/** Rather none of those that wait for us: what has come whole is being answered. */
function idlest(open: ReadonlyMap<Socket, ReadonlySet<ServerResponse>>): Socket {
  let oldest: Socket | null = null
  for (const [socket, waiting] of open) {
    if (socket.destroyed) continue
    if (![...waiting].some(({ req }) => req.complete)) return socket
    oldest ??= socket
  }
  return oldest ?? open.keys().next().value!
}
