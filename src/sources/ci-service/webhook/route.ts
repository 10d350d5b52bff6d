import type { IncomingMessage, ServerResponse } from 'node:http'
import { endUnread } from '../../../server/end-unread.ts'
import { giveBack } from '../../../server/give-back.ts'
import { createBufferedSink } from '../../../lib/buffered-sink.ts'
import type { Log } from '../../../lib/log.ts'
import type { Measures } from '../../../server/rate-limiter.ts'
import type { Observation, Recorded } from '../../../domain/fact.ts'
import { readBody } from './body.ts'
import { readPayload } from './payload.ts'
import { createThrottle } from './throttle.ts'
import { presentedSecret } from './verify.ts'

/** A sender that can retry is asked to, after so many seconds, while the store is away. */
const STORE_RETRY_S = 5

const PATH = /^\/webhooks\/builds(?:\/([^/]*))?\/?$/

export interface WebhookDeps {
  /** Is this one of the secrets that are valid now? */
  isSecret: (presented: string | null) => boolean
  record: (delivery: { seen: Observation; body: string }) => Promise<Recorded>
  log: Log
  now: () => number
  /** at which large bodies are read */
  measures: Measures
  /** how a request was answered: the status, what the body says, and what it took (ms) */
  count: (status: number, answer: string, tookMs: number) => void
}

/** Does this request belong to the webhook door? */
export const isWebhook = (pathname: string): boolean => PATH.test(pathname)

/** Answers one request as the contract's table says. It stores a delivery before it answers 202, and nothing of a refused one. */
export function createWebhookRoute({ isSecret, record, log, now, measures, count }: WebhookDeps) {
  const throttle = createThrottle(now)
  const lines = createBufferedSink<Log>()
  lines.use(log)

  async function answerTo(request: IncomingMessage, url: URL): Promise<Answer> {
    if (request.method !== 'POST') return refuse(405, 'only POST is answered here', { allow: 'POST' })
    if (!isSecret(presentedSecret(present(request, url)))) return stranger(request)
    if (!isJson(request)) return refuse(415, 'send JSON, as application/json, not compressed')
    const body = await readBody(request, measures.bodies)
    if (body.kind === 'too-large') return refuse(413, `a body may have ${body.bytesMax} bytes`, { connection: 'close' })
    if (body.kind === 'aborted') return refuse(400, 'the body broke off', { connection: 'close' })
    const reading = readPayload(body.bytes)
    giveBack(body.bytes)
    if (reading.kind === 'refusal') return refuse(400, reading.reason)
    try {
      return taken(reading.seen, await record({ seen: reading.seen, body: reading.text }))
    } catch (error) {
      log.error({ err: error }, 'a delivery could not be stored; its sender is asked to try again')
      return refuse(503, 'cannot store now; try again', { 'retry-after': String(STORE_RETRY_S) }, 'unavailable')
    }
  }

  function taken({ projectId, buildId, word }: Observation, recorded: Recorded): Answer {
    const { answer, deliveryId, factSeq, revisionKey } = recorded
    const of = { delivery: deliveryId, fact: factSeq, revision: revisionKey }
    lines.tell((to) => to.info({ ...of, project: projectId, build: buildId, status: word, answer }, 'delivery'))
    return { status: 202, says: answer, body: ACCEPTED[answer] }
  }

  function stranger(request: IncomingMessage): Answer {
    const waitS = throttle.wrong(request.socket.remoteAddress ?? '')
    const close = { connection: 'close' }
    if (waitS === null) return refuse(404, 'not found', close)
    return refuse(429, 'too many wrong secrets', { 'retry-after': String(waitS), ...close })
  }

  return async (request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> => {
    const beganAt = performance.now()
    const answer = await answerTo(request, url)
    count(answer.status, answer.says, performance.now() - beganAt)
    response.writeHead(answer.status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(answer.body),
      ...answer.headers,
    })
    if (answer.headers?.['connection'] === 'close') return endUnread(request, response, answer.body, measures.refused)
    if (request.readableLength > 0) await measures.refused.turnOf(request.socket, request.readableLength)
    response.end(answer.body)
  }
}

interface Answer {
  status: number
  says: string
  body: string
  headers?: Record<string, string>
}

const ACCEPTED = {
  recorded: '{"status":"recorded"}',
  duplicate: '{"status":"duplicate"}',
} as const

const refuse = (status: number, reason: string, headers: Record<string, string> = {}, says = 'refused'): Answer => ({
  status,
  says,
  body: JSON.stringify({ status: says, reason }),
  headers,
})

function present({ headers }: IncomingMessage, url: URL) {
  const segment = PATH.exec(url.pathname)?.[1]
  return {
    path: segment ? decodeSegment(segment) : null,
    authorization: headers.authorization,
    search: url.search,
  }
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

// A sender that names no type at all has sent JSON or gets a 400 for it.
function isJson({ headers }: IncomingMessage): boolean {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  return (
    encoding === 'identity' && (type === undefined || type === '' || /^application\/(?:[\w.-]+\+)?json$/.test(type))
  )
}
