import type { Clock } from '../../lib/clock.ts'
import type { Acknowledgement } from './acknowledgement.ts'
import { signedHeaders } from './sign.ts'
import { deliverFrame } from './sockets/deliver.ts'
import { toFrame } from './sockets/envelope.ts'
import type { Envelope } from './sockets/envelope.ts'
import type { SocketDoor } from './sockets/sockets.ts'

export type { Acknowledgement } from './acknowledgement.ts'

/** How long Slack waits for an acknowledgement. */
export const ACK_TIMEOUT_MS = 3_000

export interface Outgoing {
  /** the request's name in acknowledgements: `command /ci`, `event app_mention`… */
  what: string
  contentType: 'application/json' | 'application/x-www-form-urlencoded'
  body: string
  headers?: Record<string, string>
  /** the same request for a socket; missing: it is sent only over HTTP */
  envelope?: Envelope
  /** a wrong secret, to test that the bot refuses it */
  signingSecret?: string
  /** a wrong time, to test that the bot refuses a stale request */
  timestampS?: number
}

export interface Sender {
  connectBot(url: string): void
  /** Whether there is a bot to send to. */
  isConnected(): boolean
  /** Sends a request to the bot, signed over HTTP or over a socket. Throws only if no bot is connected. */
  send(request: Outgoing): Promise<Acknowledgement>
  /** Sends the last request of this name again: the same body, time and signature, or the same envelope. */
  replay(what: string): Promise<Acknowledgement>
  /** Sends it again as Slack does when it got no answer in time: the same body, signed now, to the bot's address now. */
  resend(what: string): Promise<Acknowledgement>
  /** those of all requests so far, in the order in which they ended */
  readonly acknowledgements: readonly Acknowledgement[]
}

export interface SenderOptions {
  clock: Clock
  signingSecret: string
  sockets: SocketDoor
  botUrl?: string | undefined
  /** how requests reach the bot; by default over sockets if the bot has ever opened one and `botUrl` is not set */
  mode?: 'http' | 'socket' | undefined
  ackTimeoutMs?: number | undefined
}

type Dispatch = () => Promise<Acknowledgement>

export function createSender(options: SenderOptions): Sender {
  const { sockets, mode } = options
  const acknowledgements: Acknowledgement[] = []
  const sent = new Map<string, { request: Outgoing; dispatch: Dispatch }>()
  let { botUrl } = options
  const isBySocket = (): boolean => mode === 'socket' || (!mode && botUrl === undefined && sockets.wasUsed())
  const dispatchOf = (request: Outgoing): Dispatch => {
    if (request.envelope && isBySocket()) return bySocket(options, request.what, request.envelope)
    if (botUrl === undefined) throw new Error('no bot is connected: give botUrl, call connectBot, or open a socket')
    return byHttp(options, botUrl, request)
  }
  const run = async (dispatch: Dispatch): Promise<Acknowledgement> => {
    const acknowledgement = await dispatch()
    acknowledgements.push(acknowledgement)
    return acknowledgement
  }
  const lastOf = (what: string) => {
    const last = sent.get(what)
    if (!last) throw new Error(`nothing was sent as ${what}`)
    return last
  }
  return {
    connectBot: (url) => void (botUrl = url),
    isConnected: () => botUrl !== undefined || isBySocket(),
    acknowledgements,
    send: async (request) => {
      const dispatch = dispatchOf(request)
      sent.set(request.what, { request, dispatch })
      return run(dispatch)
    },
    replay: async (what) => run(lastOf(what).dispatch),
    resend: async (what) => run(dispatchOf(lastOf(what).request)),
  }
}

function bySocket(options: SenderOptions, what: string, envelope: Envelope): Dispatch {
  const { clock, sockets, ackTimeoutMs = ACK_TIMEOUT_MS } = options
  const frame = toFrame(envelope)
  return () => deliverFrame({ clock, sockets, ackTimeoutMs }, what, frame)
}

/** Signs the request once, so that a replay has the same time and signature. */
function byHttp(options: SenderOptions, botUrl: string, request: Outgoing): Dispatch {
  const headers = headersOf(options, request)
  return () => deliver(options, botUrl, { ...request, headers })
}

async function deliver(options: SenderOptions, botUrl: string, request: Signed): Promise<Acknowledgement> {
  const { clock, ackTimeoutMs = ACK_TIMEOUT_MS } = options
  const { what, headers, body } = request
  const startedMs = clock.now()
  const elapsed = () => ({ what, elapsedMs: clock.now() - startedMs })
  try {
    const signal = AbortSignal.timeout(ackTimeoutMs)
    const response = await fetch(botUrl, { method: 'POST', headers, body, signal })
    return { kind: 'answered', ...elapsed(), status: response.status, body: await response.text() }
  } catch (cause) {
    const isLate = cause instanceof DOMException && cause.name === 'TimeoutError'
    return isLate ? { kind: 'late', ...elapsed() } : { kind: 'unreachable', ...elapsed(), cause }
  }
}

type Signed = Pick<Outgoing, 'what' | 'body'> & { headers: Record<string, string> }

function headersOf({ clock, signingSecret }: SenderOptions, request: Outgoing): Record<string, string> {
  const timestampS = request.timestampS ?? Math.floor(clock.now() / 1_000)
  return {
    'content-type': request.contentType,
    'user-agent': 'Slackbot 1.0 (+https://api.slack.com/robots)',
    ...signedHeaders(request.signingSecret ?? signingSecret, timestampS, request.body),
    ...request.headers,
  }
}
