import { once } from 'node:events'
import type { Server } from 'node:http'
import { invariant } from './assert.ts'

/** Listens, and resolves to the server's address, such as `http://127.0.0.1:4010`. Port 0 picks any free port. */
export async function openServer(server: Server, port: number, host: string): Promise<string> {
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address()
  invariant(typeof address === 'object' && address !== null, 'the server listens on a port')
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`
}

/** Closes the server and its open connections. */
export async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}
