import type { ServerResponse } from 'node:http'
import { type OldestWaiting, storeFaultOf, type StoreFault } from '../store/health.ts'
import { sendJson } from '../http/answer.ts'
import type { Clock } from '../lib/clock.ts'
import { withTimeout, singleFlight } from '../lib/async.ts'
import { socketWords } from '../slack/messages/words.ts'
import type { SocketWatch } from '../slack/socket/watch.ts'
import type { Notifier } from '../slack/notifier.ts'
import { failureOfCode } from '../slack/api/errors.ts'
import type { Work } from '../alerts/reconciler.ts'
import type { Store } from '../store/store.ts'

/** The least time between two pings of Slack, however often `/readyz` is requested. */
const SLACK_PING_EVERY_MS = 10_000

/** `/readyz` answers within this time; a part that has not answered by then is named. */
const ANSWER_MAX_MS = 2_000

/** A step that has been due for longer is late. */
export const LATE_MS = 5 * 60_000

export interface ReadinessDeps {
  /** `ping` resolves if the database stores a write */
  store: Pick<Store, 'ping'>
  notifier: Pick<Notifier, 'ping'>
  clock: Clock
  /** why nothing is being sent to Slack; null: it is reachable */
  outage: () => string | null
  /** what keeps failing in this process */
  failing: () => readonly Work[]
  /** null: Slack reaches us over HTTP */
  socket: Pick<SocketWatch, 'trouble'> | null
  /** requests with only the signature wrong, since the last valid one */
  wrongSignatures: () => number
  oldestWaiting: () => Promise<OldestWaiting>
}

/**
 * Answers `/readyz`: ready if the database stores what is written, ingesting and sending do not fail again and again,
 * and Slack can be reached (in Socket Mode, over an open connection). Otherwise it says what is wrong, as a code and in
 * words. It also names late work, which does not cause a 503.
 */
export function createReadiness({
  store,
  notifier,
  clock,
  outage,
  failing,
  socket,
  wrongSignatures,
  oldestWaiting,
}: ReadinessDeps) {
  let lastPing: { at: number; answer: Promise<string> } | null = null

  async function slackState(): Promise<string> {
    const known = outage()
    if (known !== null) return known
    if (!lastPing || clock.now() - lastPing.at > SLACK_PING_EVERY_MS)
      lastPing = {
        at: clock.now(),
        answer: notifier.ping().then((answer) => (answer.kind === 'sent' ? OK : answer.code)),
      }
    return withTimeout(clock, ANSWER_MAX_MS, lastPing.answer).catch(() => 'timeout')
  }

  const storeState = (): Promise<StoreFault | typeof OK> =>
    withTimeout(clock, ANSWER_MAX_MS, store.ping()).then(() => OK, storeFaultOf)

  async function lateness(): Promise<string[]> {
    const oldest = await withTimeout(clock, ANSWER_MAX_MS, oldestWaiting()).catch(() => ({}))
    return Object.entries<number | null>(oldest).flatMap(([queue, since]) => lateWords(queue, since, clock.now()))
  }

  // Concurrent requests share one check, since anyone may send them.
  const check = singleFlight(async () => {
    const [storeSays, slackSays] = await Promise.all([storeState(), slackState()])
    return { storeSays, slackSays, late: storeSays === OK ? await lateness() : [] }
  })

  return async (response: ServerResponse): Promise<void> => {
    const { storeSays, slackSays, late } = await check()
    const trouble = socket?.trouble() ?? null
    // Without the database, everything fails.
    const failed = storeSays === OK ? failing() : []
    const wrong = [
      ...(storeSays === OK ? [] : [STORE_WORDS[storeSays]]),
      ...failed.map((work) => FAILING_WORDS[work]),
      ...slackWords(slackSays),
      ...(trouble ? [socketWords(trouble)] : []),
    ]
    sendJson(response, wrong.length === 0 ? 200 : 503, {
      status: wrong.length === 0 ? 'ready' : 'not ready',
      store: storeSays,
      slack: slackSays,
      ...Object.fromEntries(failed.map((work) => [work, 'failing'])),
      ...(socket ? { socket: trouble?.code ?? OK } : {}),
      ...(wrong.length === 0 ? {} : { wrong }),
      ...(late.length === 0 ? {} : { late }),
      // Not a reason for 503, since anyone can send such requests.
      ...(wrongSignatures() === 0 ? {} : { signatures: { wrong: wrongSignatures(), hint: SIGNATURES_HINT } }),
    })
  }
}

const OK = 'ok' as const

const STORE_WORDS: Readonly<Record<StoreFault, string>> = {
  unreachable:
    'The database does not answer: deliveries are refused with 503 until it does. Look at DATABASE_URL, its server and its disk.',
  certificate:
    'The certificate of the database server is not accepted: deliveries are refused with 503 until it is. If it is from your own certificate authority, set NODE_EXTRA_CA_CERTS; the doctor says more.',
  disk: 'The disk of the database is full or fails: deliveries are refused with 503 until there is room. What waits is sent then.',
  replaced:
    'The database file was removed, replaced or overwritten while in use: deliveries are refused with 503. Put the file back, or restart Buildline with the new one.',
}

const FAILING_WORDS: Readonly<Record<Work, string>> = {
  ingest: 'Ingesting keeps failing, and is retried less and less often. The log says why (`could not be ingested`).',
  send: 'Planning a message keeps failing, and is retried less and less often. The log says why (`failed in Buildline`).',
}

/** Explains Slack's error code; nothing for `ok`. */
export function slackWords(code: string): string[] {
  if (code === OK) return []
  return failureOfCode(code) === 'workspace-closed'
    ? [
        `Slack refuses the bot (${code}): fix SLACK_BOT_TOKEN or the app, and restart Buildline. What waits is sent then.`,
      ]
    : [`Slack does not answer properly (${code}): nothing is sent until it does. What waits is sent then.`]
}

const SIGNATURES_HINT =
  'Requests to /slack/events had a wrong signature, and none since had a valid one. If Slack sent them, SLACK_SIGNING_SECRET is wrong.'

const LATE: Readonly<Record<string, string>> = {
  ingest: 'The oldest event that is not ingested arrived',
  post: 'The oldest message that is not posted was due',
  edit: 'The oldest edit that is not made was due',
  look: 'The oldest look-up that is not made was due',
}

const MINUTE_MS = 60_000

const lateWords = (queue: string, since: number | null, now: number): string[] =>
  since === null || now - since <= LATE_MS
    ? []
    : [`${LATE[queue] ?? `The oldest of ${queue} was due`} ${Math.floor((now - since) / MINUTE_MS)} minutes ago.`]
