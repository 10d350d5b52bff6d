import type { IncomingMessage, ServerResponse, IncomingHttpHeaders } from 'node:http'
import { parse } from 'node:querystring'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { utf8Of } from '../../lib/escape.ts'
import { findJson, isRecord } from '../../lib/json.ts'
import type { Log } from '../../lib/log.ts'
import { sendJson, sendText } from '../../http/answer.ts'
import { announcedBytes, readBody, giveBack } from '../../http/body.ts'
import type { BodyQueue } from '../../http/body-queue.ts'

/** Larger requests are refused. Slack's largest form is smaller, even with every letter escaped. */
export const SLACK_BODY_BYTES_MAX = 4 * 1024 * 1024

/** Slack checks our certificate with an unsigned request, which is far smaller than this. */
export const SSL_CHECK_BYTES_MAX = 1_024

/** How many keys of a form are read, here and by Bolt. Slack sends about twenty. */
const FORM_KEYS_MAX = 1_000

/** Refused requests are counted and logged at most once in this time, so that strangers cannot fill the log. */
export const REFUSED_LOGGED_EVERY_MS = 60_000

interface GateDeps {
  signingSecret: string
  log: Pick<Log, 'warn'>
  now: () => number
  /** where bodies wait whose signature is not checked yet */
  queue: BodyQueue
  signatures: Pick<ReturnType<typeof createSignatureCount>, 'count'>
}

/**
 * True: Slack signed it, its body is in `rawBody`, and Bolt may handle it. False: it was already answered. Never
 * throws.
 */
export type Gate = (request: IncomingMessage & { rawBody?: Buffer }, response: ServerResponse) => Promise<boolean>

/**
 * Accepts requests that Slack has signed and Bolt can read. One whose signature cannot be right is refused before its
 * body is read, so that a stranger costs no parsing and little memory. A body that is not an object is refused too:
 * Bolt reads its fields outside of any `catch`, which would end the process.
 */
export function createGate({ signingSecret, log, now, queue, signatures }: GateDeps): Gate {
  const logRefused = createRefusedLog(log, now)

  function unsigned(isSignatureWrong = false): Refusal {
    logRefused(isSignatureWrong)
    return { status: 401, reason: 'not signed by Slack, or too long ago' }
  }

  async function check(request: IncomingMessage): Promise<Buffer | Refusal | typeof DONE> {
    if (announcedBytes(request) > SLACK_BODY_BYTES_MAX) return TOO_LARGE
    if ((request.headers['content-encoding'] ?? 'identity') !== 'identity') return COMPRESSED
    const signature = signatureIn(request.headers, now())
    return signature ? checkSigned(request, signature) : checkUnsigned(request)
  }

  async function checkSigned(request: IncomingMessage, signature: Signature) {
    const body = await readBody(request, { queue, bytesMax: SLACK_BODY_BYTES_MAX })
    if (body.kind !== 'whole') return NOT_WHOLE[body.kind]
    if (!isSignedBy(signingSecret, signature, body.bytes)) {
      giveBack(body.bytes)
      signatures.count(false)
      return unsigned(true)
    }
    queue.prove(request.socket.remoteAddress ?? '')
    if (!isReadable(request.headers['content-type'] ?? '', body.bytes)) return UNREADABLE
    signatures.count(true)
    return body.bytes
  }

  async function checkUnsigned(request: IncomingMessage) {
    if (!isForm(request.headers['content-type'] ?? '') || announcedBytes(request) > SSL_CHECK_BYTES_MAX)
      return unsigned()
    const body = await readBody(request, { queue, bytesMax: SSL_CHECK_BYTES_MAX })
    const isCheck = body.kind === 'whole' && fieldsOf(body.bytes.toString())['ssl_check'] === '1'
    return isCheck ? DONE : unsigned()
  }

  return async (request, response) => {
    const found = await check(request)
    if (Buffer.isBuffer(found)) {
      request.rawBody = found
      return true
    }
    refuse(response, found)
    return false
  }
}

/** Answered with 200 without Bolt. */
const DONE = { status: 200 } as const

interface Refusal {
  status: 400 | 401 | 413 | 415 | 503
  reason: string
}

const TOO_LARGE: Refusal = { status: 413, reason: `the body is larger than ${SLACK_BODY_BYTES_MAX} bytes` }
const COMPRESSED: Refusal = { status: 415, reason: 'send it uncompressed' }
const UNREADABLE: Refusal = { status: 400, reason: 'not a single object in UTF-8' }
const NOT_WHOLE: Readonly<Record<'too-large' | 'no-room' | 'aborted', Refusal>> = {
  'too-large': TOO_LARGE,
  'no-room': { status: 503, reason: 'too busy; try again' },
  aborted: { status: 400, reason: 'the body was incomplete' },
}

function createRefusedLog(log: GateDeps['log'], now: () => number): (isSignatureWrong: boolean) => void {
  let [loggedAt, requests, wrong] = [Number.NEGATIVE_INFINITY, 0, 0]
  return (isSignatureWrong) => {
    requests += 1
    if (isSignatureWrong) wrong += 1
    if (now() - loggedAt < REFUSED_LOGGED_EVERY_MS) return
    const hint = wrong > 0 ? `; of ${wrong} only the signature is wrong: check SLACK_SIGNING_SECRET` : ''
    log.warn({ part: 'slack', requests }, `refused requests without a valid, recent signature from Slack${hint}`)
    loggedAt = now()
    requests = wrong = 0
  }
}

/** Counts requests that are well-formed and recent, and whose signature alone is wrong. */
export function createSignatureCount() {
  let wrong = 0
  return {
    count: (isRight: boolean): void => void (wrong = isRight ? 0 : wrong + 1),
    /** How many since the last request whose signature was right. */
    wrong: () => wrong,
  }
}

/** A form has one `payload`, or none, as commands do. Two are refused, because it is unclear which one counts. */
function isReadable(type: string, bytes: Buffer): boolean {
  const text = utf8Of(bytes)
  if (text === null) return false
  if (!isForm(type)) return isRecord(findJson(text))
  const { payload } = fieldsOf(text)
  return payload === undefined || (typeof payload === 'string' && isRecord(findJson(payload)))
}

// Parsed as Bolt does. URLSearchParams would take a minute for a form of a million keys.
const fieldsOf = (text: string) => parse(text, '&', '=', { maxKeys: FORM_KEYS_MAX })

const isForm = (type: string): boolean => /^application\/x-www-form-urlencoded *(?:;|$)/i.test(type)

function refuse(response: ServerResponse, found: Refusal | typeof DONE): void {
  if (found.status === 200) return sendText(response, 200, '')
  const { status, reason } = found
  sendJson(response, status, { status: 'refused', reason }, status === 503 ? { 'retry-after': RETRY_S } : {})
}

const RETRY_S = '5'

/** Slack's own rule: a request that was signed longer ago than this, or that far in the future, is refused. */
export const SIGNED_WITHIN_S = 5 * 60

/** The headers of a request's signature. */
interface Signature {
  timestamp: string
  hex: string
}

/** The signature headers, or null if they are missing, malformed, or too far from the current time. */
export function signatureIn(headers: IncomingHttpHeaders, nowMs: number): Signature | null {
  const timestamp = headers['x-slack-request-timestamp']
  const signature = headers['x-slack-signature']
  if (typeof timestamp !== 'string' || typeof signature !== 'string') return null
  const hex = /^v0=([0-9a-f]{64})$/.exec(signature)?.[1]
  if (hex === undefined || !/^\d{1,12}$/.test(timestamp)) return null
  return Math.abs(nowMs / MS_PER_S - Number(timestamp)) <= SIGNED_WITHIN_S ? { timestamp, hex } : null
}

/** Whether this is the signature of exactly these bytes. Compares in constant time. */
export function isSignedBy(signingSecret: string, { timestamp, hex }: Signature, bytes: Buffer): boolean {
  const ours = createHmac('sha256', signingSecret).update(`v0:${timestamp}:`).update(bytes).digest()
  return timingSafeEqual(ours, Buffer.from(hex, 'hex'))
}

const MS_PER_S = 1_000
