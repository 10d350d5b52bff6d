import { connect } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Wire {
  write(bytes: string | Uint8Array): void
  /** everything received so far */
  received(): string
  isOpen(): boolean
  /** Resolves when the other side has closed, in any way. */
  readonly closed: Promise<void>
  /** Cuts the connection, like a sender that died. */
  cut(): void
}

/** A raw connection to the app, for requests that no HTTP client would send. */
export function openWire(url: string): Wire {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let received = ''
  let open = true
  socket.setEncoding('latin1').on('data', (text: string) => (received += text))
  // A reset also closes the connection.
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      open = false
      resolve()
    })
  })
  onTestFinished(() => void socket.destroy())
  return {
    write: (bytes) => void socket.write(bytes),
    received: () => received,
    isOpen: () => open,
    closed,
    cut: () => void socket.resetAndDestroy(),
  }
}

/** The head of a POST, with the blank line at its end. */
export const head = (path: string, headers: Record<string, string | number>): string =>
  [
    `POST ${path} HTTP/1.1`,
    'host: buildline',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    '',
  ].join('\r\n')

/** The status codes received, in order. */
export const statuses = (wire: Wire): number[] =>
  [...wire.received().matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))
