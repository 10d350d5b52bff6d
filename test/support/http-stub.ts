import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'

export interface StubRequest {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingHttpHeaders
  body: string
}

/** How the stub answers: with these values, or with a function that writes the response itself. */
export type StubAnswer =
  | { status?: number; reason?: string; headers?: Record<string, string>; json?: unknown; text?: string }
  | ((response: ServerResponse) => void)

export interface HttpStub extends AsyncDisposable {
  url: string
  /** every request so far, as received */
  requests: StubRequest[]
}

/** A real HTTP server on 127.0.0.1 that answers as `play` says; `at` is the request's number, from 0. */
export async function startHttpStub(
  play: (request: StubRequest, at: number) => StubAnswer | Promise<StubAnswer>,
): Promise<HttpStub> {
  const requests: StubRequest[] = []
  const server = createServer((incoming, response) => {
    void answerOne(incoming, response)
  })
  async function answerOne(incoming: IncomingMessage, response: ServerResponse) {
    const request = await readRequest(incoming)
    requests.push(request)
    send(response, await play(request, requests.length - 1))
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${portOf(server.address())}`, requests, [Symbol.asyncDispose]: stop }

  async function stop() {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

function portOf(address: ReturnType<ReturnType<typeof createServer>['address']>): number {
  if (address === null || typeof address === 'string') throw new Error('the stub has no port')
  return address.port
}

async function readRequest(incoming: IncomingMessage): Promise<StubRequest> {
  const url = new URL(incoming.url ?? '/', 'http://stub')
  let body = ''
  for await (const piece of incoming) body += String(piece)
  const { method = '', headers } = incoming
  return { method, path: url.pathname, query: url.searchParams, headers, body }
}

function send(response: ServerResponse, answer: StubAnswer): void {
  if (typeof answer === 'function') return answer(response)
  const { status = 200, reason, headers = {}, json, text = json === undefined ? '' : JSON.stringify(json) } = answer
  response.statusCode = status
  if (reason !== undefined) response.statusMessage = reason
  response.setHeader('content-type', json === undefined ? 'text/plain' : 'application/json')
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.end(text)
}
