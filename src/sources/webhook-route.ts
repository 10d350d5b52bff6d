import { setNewest } from '../lib/bounded.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Log } from '../lib/log.ts'
import { neighbourhood, type BodyQueues } from '../http/body-queue.ts'
import { sendText } from '../http/answer.ts'
import { readBody, giveBack } from '../http/body.ts'
import type { Target } from '../http/http-server.ts'
import type { Recorded } from '../domain/builds/build-event.ts'
import type { Endpoint, ReadDelivery, ReadReport, WebhookKind } from './endpoint.ts'
import type { Clock } from '../lib/clock.ts'
import type { Store } from '../store/store.ts'

/** `Retry-After` while the database is unavailable, or there are too many bodies, in seconds. */
const RETRY_S = 5

/** A delivery or report that is stored. */
export interface Stored {
  answer: Recorded['answer']
  /** fields of the log line, besides the answer */
  fields: Record<string, unknown>
  /** the build event that was recorded, or was known before */
  eventSeq?: number
}

export interface WebhookDeps {
  record: (read: ReadDelivery | ReadReport) => Promise<Stored>
  /** called when the answer to this build event's delivery has been sent */
  acknowledged: (eventSeq: number) => void
  log: Log
  /** shared by all webhooks */
  throttle: Throttle
  bodies: BodyQueues
  /** called for each request with the answer's status, the status in its body, and the time that it took */
  count: (what: WebhookKind, answered: { status: number; answer: string; ms: number }) => void
}

/** Answers one webhook request. It stores a delivery before it answers 202, and nothing of a refused one. */
export function createWebhookRoute(
  endpoint: Endpoint,
  { record, acknowledged, log, throttle, bodies, count }: WebhookDeps,
) {
  const { what } = endpoint

  async function answerTo(request: IncomingMessage, target: Target): Promise<Answer> {
    if (request.method !== 'POST') return refuse(405, 'only POST is supported', { allow: 'POST' })
    const sender = endpoint.senderOf(request, target)
    if (sender === 'stranger') return refuseStranger(request)
    if (!isJson(request)) return refuse(415, 'send uncompressed JSON, as application/json')
    const queue = bodies[sender]
    const body = await readBody(request, { bytesMax: endpoint.bodyBytesMax, queue })
    if (body.kind === 'too-large') return refuse(413, `the body is larger than ${endpoint.bodyBytesMax} bytes`)
    if (body.kind === 'no-room') return sender === 'proven' ? unavailable(TOO_MUCH) : tooMany(TOO_MUCH, RETRY_S)
    if (body.kind === 'aborted') return refuse(400, 'the body was incomplete')
    const reading = endpoint.read(body.bytes, request.headers)
    giveBack(body.bytes)
    if (reading.kind === 'unauthorized') return refuseStranger(request)
    queue.prove(request.socket.remoteAddress ?? '')
    if (reading.kind === 'unwanted') return { status: 202, result: 'ignored', body: '{"status":"ignored"}' }
    if (reading.kind === 'refusal') return refuse(400, reading.reason)
    try {
      return accepted(await record(reading))
    } catch (error) {
      log.error({ err: error }, `a ${what} could not be stored; its sender is asked to try again`)
      return unavailable('cannot store now; try again')
    }
  }

  function accepted({ answer, fields, eventSeq }: Stored): Answer {
    log.info({ ...fields, answer }, what)
    return { status: 202, result: answer, body: `{"status":"${answer}"}`, ...(eventSeq !== undefined && { eventSeq }) }
  }

  function refuseStranger(request: IncomingMessage): Answer {
    const waitS = throttle.wrong(request.socket.remoteAddress ?? '')
    const close = { connection: 'close' }
    if (waitS === null)
      return refuse(endpoint.unauthorizedStatus, UNAUTHORIZED_REASON[endpoint.unauthorizedStatus], close)
    return tooMany('too many wrong secrets or signatures', waitS, close)
  }

  return async (request: IncomingMessage, response: ServerResponse, target: Target): Promise<void> => {
    const beganAt = performance.now()
    const { status, result, body, eventSeq, headers } = await answerTo(request, target)
    count(what, { status, answer: result, ms: performance.now() - beganAt })
    if (eventSeq !== undefined) response.once('finish', () => acknowledged(eventSeq))
    sendText(response, status, body, headers)
  }
}

const UNAUTHORIZED_REASON = { 401: 'the secret or signature is missing or wrong', 404: 'not found' } as const

interface Answer {
  status: number
  result: string
  body: string
  /** the build event that was recorded, or was known before */
  eventSeq?: number
  headers?: Record<string, string>
}

const refuse = (status: number, reason: string, headers: Record<string, string> = {}, result = 'refused'): Answer => ({
  status,
  result,
  body: JSON.stringify({ status: result, reason }),
  headers,
})

const TOO_MUCH = 'too busy; try again'

/** For a delivery that is lost unless its sender repeats it. */
const unavailable = (reason: string): Answer => refuse(503, reason, { 'retry-after': String(RETRY_S) }, 'unavailable')

/** For a sender that may be a stranger. */
const tooMany = (reason: string, waitS: number, headers: Record<string, string> = {}): Answer =>
  refuse(429, reason, { 'retry-after': String(waitS), ...headers })

// A body without a content type is read as JSON; if it is not JSON, the answer is 400.
function isJson({ headers }: IncomingMessage): boolean {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  return (
    encoding === 'identity' && (type === undefined || type === '' || /^application\/(?:[\w.-]+\+)?json$/.test(type))
  )
}

/** How many wrong secrets one address may send in a window. After that the answer is 429. */
export const WRONG_MAX = 20
export const WRONG_WINDOW_MS = 60_000

/** How many addresses are remembered, so that strangers cannot fill memory; the one idle for longest is forgotten. */
export const ADDRESSES_MAX = 10_000

type Throttle = ReturnType<typeof createThrottle>

/** Counts wrong secrets by address. Valid ones are never limited: all deliveries may come from one address. */
export function createThrottle(now: () => number) {
  const windows = new Map<string, { since: number; wrong: number }>()

  return {
    /** Counts one wrong secret. @returns seconds to wait when there were too many, else null */
    wrong(address: string): number | null {
      const key = neighbourhood(address)
      const known = windows.get(key)
      const window = known && now() - known.since < WRONG_WINDOW_MS ? known : { since: now(), wrong: 0 }
      window.wrong++
      setNewest(windows, key, window, ADDRESSES_MAX)
      return window.wrong > WRONG_MAX ? Math.ceil((window.since + WRONG_WINDOW_MS - now()) / 1_000) : null
    },
    size: () => windows.size,
  }
}

/** Acknowledgements are collected for this long, so that a burst of deliveries costs one write. */
const COLLECT_MS = 25

/**
 * Stores which deliveries were answered. If the process dies first, a delivery stays unacknowledged, which is the safe
 * side: its sender may not have received the answer, and may repeat it.
 */
export function createAcknowledged({ store, clock }: { store: Pick<Store, 'write'>; clock: Clock }) {
  const stopping = new AbortController()
  let pending: number[] = []
  let storing: Promise<void> | null = null

  async function storeAll(): Promise<void> {
    while (pending.length > 0) {
      await clock.sleep(COLLECT_MS, stopping.signal)
      const batch = pending
      pending = []
      // If the database is away, these deliveries stay unacknowledged.
      await store.write((tx) => tx.acknowledge(batch), { canBeRedone: true }).catch(() => {})
    }
    storing = null
  }

  return {
    /** Call it when the delivery of this build event was answered. */
    add(eventSeq: number): void {
      pending.push(eventSeq)
      storing ??= storeAll()
    },
    /** Resolves when everything noted is stored. */
    async end(): Promise<void> {
      stopping.abort()
      await storing
    },
  }
}
