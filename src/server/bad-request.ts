import { STATUS_CODES, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { giveBack } from './give-back.ts'
import { AT_ONCE_BYTES, type RateLimiter } from './rate-limiter.ts'

/** What Node's own reading of a request ends with, and what that is in HTTP; everything else is no HTTP: 400. */
const STATUSES: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

/**
 * Answers what is no request, or half of one, as Node would, and ends its connection. But in its turn: the connection of a
 * head that is too large costs more than a delivery, and who is answered at once sends the next at once.
 * @param underWay the answers on a connection that have not ended
 */
export function answerNoRequests(
  server: Server,
  refused: RateLimiter,
  underWay: (socket: Socket) => readonly ServerResponse[],
): void {
  const ending = new WeakSet<Socket>()

  async function endInTurn(socket: Socket, fault: Fault): Promise<void> {
    const cost = costOf(fault)
    if (fault.rawPacket) giveBack(fault.rawPacket)
    await refused.turnOf(socket, cost)
    const before = underWay(socket)
    // What was asked before on the same connection is answered before it; what it broke may have been answered already.
    await Promise.all(before.filter(({ req }) => req.complete).map(ended))
    const isSpoken = before.some(({ req, headersSent }) => headersSent && !req.complete)
    if (socket.writable && !isSpoken) socket.write(answerOf(STATUSES[fault.code ?? ''] ?? 400))
    socket.destroy(fault)
  }

  server.on('clientError', (fault: Fault, socket: Socket) => {
    // Of what is still coming each piece would be a fault of its own.
    if (ending.has(socket)) return
    ending.add(socket)
    socket.pause()
    void endInTurn(socket, fault)
  })
}

const ended = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => void response.once('close', resolve))

interface Fault extends Error {
  code?: string
  /** what was read when it was found */
  rawPacket?: Buffer
}

/** More than what anybody may send at once, so that each waits. */
const costOf = ({ rawPacket }: Fault): number => (rawPacket ? AT_ONCE_BYTES + rawPacket.length : 0)

const answerOf = (status: number): string =>
  `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`
