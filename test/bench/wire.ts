import { connect, type Socket } from 'node:net'

/** One keep-alive connection that posts one request after the other; as little work as HTTP allows. */
export interface Wire {
  /** Resolves with the status; rejects when the connection ends without an answer. */
  post(body: string): Promise<number>
  close(): void
}

export async function openWire(port: number, path: string): Promise<Wire> {
  const socket = await open(port)
  let answer = ''
  let waiting: { resolve: (status: number) => void; reject: (error: Error) => void } | null = null
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    answer += chunk
    if (!isWhole(answer)) return
    const status = Number(answer.slice(9, 12))
    answer = ''
    settle()?.resolve(status)
  })
  socket.on('error', () => {})
  socket.on('close', () => settle()?.reject(closed()))

  function settle() {
    const settled = waiting
    waiting = null
    return settled
  }

  return {
    post: (body) =>
      new Promise((resolve, reject) => {
        if (socket.destroyed) return reject(closed())
        waiting = { resolve, reject }
        socket.write(requestOf(path, body))
      }),
    close: () => socket.destroy(),
  }
}

const closed = () => new Error('the connection was closed')

const open = (port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      resolve(socket)
    })
  })

const requestOf = (path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

const LENGTH = /\r\ncontent-length: (\d+)/i

function isWhole(answer: string): boolean {
  const headEnd = answer.indexOf('\r\n\r\n')
  if (headEnd < 0) return false
  const length = LENGTH.exec(answer.slice(0, headEnd))?.[1]
  return length === undefined ? answer.endsWith('\r\n0\r\n\r\n') : answer.length >= headEnd + 4 + Number(length)
}
