import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A way to a server over which a test has power. */
export interface Gate {
  port: number
  /** What is sent on connections that stand, and on new ones, arrives nowhere; nobody is told. */
  swallow(): void
  /** What is sent waits at the gate until it is opened again. */
  hold(): void
  /** Connections that stand end at once, and new ones are refused. */
  refuse(): void
  /** From now on new connections go through, and so does what was held; what was swallowed is lost for good. */
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
    // Whoever is swallowed stays so: a network that has forgotten a connection does not remember it.
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
