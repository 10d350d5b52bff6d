import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** A process that does not answer within this time is skipped. */
const PATIENCE_MS = 1_500

/** Forwards each request to the next process in turn, or to the one after it if that does not answer. */
export async function startBalancer(targets: () => readonly string[]): Promise<{ url: string }> {
  let turn = 0

  async function passOn(request: IncomingMessage): Promise<{ status: number; text: string }> {
    const body = await wholeOf(request)
    for (let tries = targets().length; tries > 0; tries--) {
      const target = targets()[turn++ % targets().length]!
      const answer = await tryAt(`${target}${request.url ?? '/'}`, request, body)
      if (answer && answer.status < 500) return answer
    }
    return { status: 503, text: '' }
  }

  const server = createServer((request, response) => {
    void passOn(request).then(
      ({ status, text }) => response.writeHead(status, { 'content-type': 'application/json' }).end(text),
      () => response.destroy(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const HOP = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive'])

async function tryAt(url: string, { method, headers }: IncomingMessage, body: Buffer) {
  const kept = Object.entries(headers).filter(([name, value]) => !HOP.has(name) && typeof value === 'string')
  try {
    const answer = await fetch(url, {
      method: method ?? 'POST',
      headers: kept as [string, string][],
      body: new Uint8Array(body),
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    return { status: answer.status, text: await answer.text() }
  } catch {
    return null
  }
}

async function wholeOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
}
