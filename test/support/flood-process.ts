import { connect } from 'node:net'
import type { Flood } from './flood.ts'

// Strangers, a process of their own: takes one order as its argument, and says `open` when all have sent something.

const { port, from, connections, head, bodyBytes, sentBytes } = JSON.parse(process.argv[2]!) as Flood
const bytes = Buffer.concat([Buffer.from(`${head}content-length: ${bodyBytes}\r\n\r\n`), Buffer.alloc(sentBytes, 'x')])
let open = 0
for (let n = 0; n < connections; n++) begin(() => ++open === connections && process.stdout.write('open'))

/** Sends the request again and again, on a new connection each time. */
function begin(sent: () => void): void {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from })
  socket.once('connect', sent)
  socket.on('data', () => {})
  // A reset is one way to close a connection.
  socket.on('error', () => {})
  socket.once('close', () => setImmediate(begin, () => {}))
  socket.write(bytes)
}
