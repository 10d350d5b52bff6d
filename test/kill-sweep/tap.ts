import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '../../src/lib/clock.ts'

/**
 * What a tap sees of one request, in this order. `arrived`: all of it is here, nothing is passed on · `sent`: all of it
 * is on its way to the one who answers · `done`: answered, and the answer is here · `answered`: passed back.
 */
export type Moment = 'arrived' | 'sent' | 'done' | 'answered'

/** `drop`: it ends here, and the connection with it · `late`: the caller is cut off, and it is passed on so much later. */
export type Verdict = 'pass' | 'drop' | { lateMs: number }

export interface Passage {
  method: string
  path: string
  body: string
}

export type Watch = (moment: Moment, passage: Passage) => Verdict

/** A listener between a caller and the one who answers, which sees every request at each moment of its way. */
export interface Tap {
  url: string
  close(): Promise<void>
}

export interface TapOptions {
  clock: Clock
  /** where the one who answers listens, `http://127.0.0.1:<port>`, as soon as they do */
  target: () => Promise<string>
  watch: Watch
  /** Of a request that was sent and got no answer: whether somebody else will send it again; its caller gets a 202. */
  isTakenOver?: (passage: Passage) => Promise<boolean>
}

export async function openTap(options: TapOptions): Promise<Tap> {
  const agent = new Agent({ keepAlive: false })
  const server = createServer((incoming, response) => {
    // Whoever is cut off is cut off: the caller's own patience is what is tried here.
    pass(options, agent, incoming, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      agent.destroy()
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

async function pass(options: TapOptions, agent: Agent, incoming: IncomingMessage, response: ServerResponse) {
  const { watch, clock, target } = options
  const body = await read(incoming)
  const passage = { method: incoming.method ?? '', path: incoming.url ?? '', body: body.toString() }
  const verdict = watch('arrived', passage)
  if (verdict !== 'pass') response.destroy()
  if (verdict === 'drop') return
  if (verdict !== 'pass') await clock.sleep(verdict.lateMs)
  const unanswered = async () => {
    if (await options.isTakenOver?.(passage)) response.writeHead(202).end()
    else response.destroy()
  }
  let isSent = false
  const sent = () => {
    isSent = true
    watch('sent', passage)
  }
  const forwarded = forward(await target(), agent, incoming, { body, sent })
  const answer = await forwarded.catch(() => null)
  if (!answer) return isSent ? unanswered() : void response.destroy()
  if (watch('done', passage) === 'drop') return unanswered()
  response.writeHead(answer.status, answer.headers).end(answer.body, () => watch('answered', passage))
}

interface Answer {
  status: number
  headers: IncomingMessage['headers']
  body: Buffer
}

function forward(
  to: string,
  agent: Agent,
  { method, url, headers }: IncomingMessage,
  { body, sent }: { body: Buffer; sent: () => void },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const passedOn = request(`${to}${url}`, { method, agent, headers }, (answered) => {
      read(answered).then(
        (answer) => resolve({ status: answered.statusCode ?? 0, headers: withoutLength(answered), body: answer }),
        reject,
      )
    })
    passedOn.once('error', reject).once('finish', sent).end(body)
  })
}

/** How it is sent is this connection's own matter. */
function withoutLength({ headers }: IncomingMessage): IncomingMessage['headers'] {
  const { 'transfer-encoding': _, connection: __, 'keep-alive': ___, ...others } = headers
  return others
}

async function read(from: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of from) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
