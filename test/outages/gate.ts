import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A connection to a server that a test controls. */
export interface Gate {
  port: number
  /** Drops everything that is sent, on existing and new connections, without an error. */
  swallow(): void
  /** Holds back everything that is sent until the gate opens. */
  hold(): void
  /** Closes existing connections and refuses new ones. */
  refuse(): void
  /** Lets new connections and held data through; dropped data stays lost. */
  open(): void
}

type Way = 'open' | 'swallowed' | 'held'

export async function openGate(to: { host: string; port: number }): Promise<Gate> {
  const pairs = new Set<{ near: Socket; far: Socket }>()
  let way: Way = 'open'
  const server = createServer((near) => {
    const far = connect(to)
    const pair = { near, far }
    pairs.add(pair)
    // A connection whose data was dropped stays dead, as in a network that lost its state.
    let isLost = way === 'swallowed'
    const pass = (from: Socket, into: Socket) =>
      from.on('data', (bytes) => {
        isLost ||= way === 'swallowed'
        if (!isLost) into.write(bytes)
      })
    pass(near, far)
    pass(far, near)
    if (way === 'held') holdBack(pair)
    for (const socket of [near, far]) {
      socket.on('error', () => {})
      socket.on('close', () => {
        pairs.delete(pair)
        near.destroy()
        far.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    cut(pairs)
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return {
    port,
    swallow: () => void (way = 'swallowed'),
    hold() {
      way = 'held'
      for (const pair of pairs) holdBack(pair)
    },
    refuse() {
      server.close()
      cut(pairs)
    },
    open() {
      way = 'open'
      if (!server.listening) server.listen(port, '127.0.0.1')
      for (const { near, far } of pairs) [near, far].forEach((socket) => socket.resume())
    },
  }
}

function holdBack({ near, far }: { near: Socket; far: Socket }): void {
  near.pause()
  far.pause()
}

const cut = (pairs: ReadonlySet<{ near: Socket; far: Socket }>): void => {
  for (const { near, far } of pairs) [near, far].forEach((socket) => socket.destroy())
}
