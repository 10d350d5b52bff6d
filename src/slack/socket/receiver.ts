import { SocketModeReceiver, type App, type Receiver } from '@slack/bolt'
import { fieldOf, textOf } from '../../lib/raw-values.ts'
import { slackLogger, webOptions } from '../api/client.ts'
import { findJson, isRecord } from '../../lib/json.ts'
import { backoffMs } from '../../lib/async.ts'
import type { Clock } from '../../lib/clock.ts'
import { GOOD_AFTER_MS, SocketEnded, type SocketWatch } from './watch.ts'

/** A connection that is not open after this long is given up. */
export const OPEN_WITHIN_MS = 10_000
/** The old connection stays open this long beside the new one, to acknowledge what Slack still sends over it. */
const LINGER_MS = 1_000
/** If a ping is not answered within this time, the connection is dead. */
const PONG_WITHIN_MS = 3_000
const AGAIN = { baseMs: 250, maxMs: 30_000 }

interface SocketOptions {
  appToken: string
  /** null: Slack's own; tests set another */
  apiUrl: string | null
  clock: Clock
  random: () => number
  watch: SocketWatch
}

/**
 * Socket Mode that always reconnects: at once after Slack's disconnect notice or a torn connection, with retries while
 * Slack is away. Bolt's own receiver waits for Slack to close the old connection, gives up if Slack is away at the
 * start, and ends the process if Slack is away later.
 */
export class SocketReceiver implements Receiver {
  readonly #options: SocketOptions
  readonly #stopping = new AbortController()
  #app: App | null = null
  #running: Promise<void> = Promise.resolve()
  #links = new Set<Link>()

  constructor(options: SocketOptions) {
    this.#options = options
  }

  init(app: App): void {
    this.#app = app
  }

  /** Resolves when the first connection is open, or at `stop`. Never rejects. */
  start(): Promise<void> {
    return new Promise((resolve) => {
      this.#running = this.#run(resolve).finally(resolve)
    })
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    for (const link of this.#links) link.end()
    await this.#running
  }

  async #run(onOpen: () => void): Promise<void> {
    const { clock, random, watch } = this.#options
    for (let failures = 0; !this.#stopping.signal.aborted;) {
      let wasGood = false
      try {
        const link = await this.#open()
        watch.opened()
        onOpen()
        wasGood = watch.lost(await this.#stand(link))
      } catch (error) {
        if (this.#stopping.signal.aborted) return
        watch.failed(error)
      }
      // A bad connection counts as a failure: the next attempt waits longer.
      failures = wasGood ? 0 : failures + 1
      if (failures > 1) await clock.sleep(backoffMs(failures - 2, random(), AGAIN), this.#stopping.signal)
    }
  }

  /** @returns why the connection ended */
  async #stand(link: Link): Promise<string | null> {
    const { clock, watch } = this.#options
    const ended = new AbortController()
    const over = AbortSignal.any([this.#stopping.signal, ended.signal])
    void Promise.race([clock.sleep(GOOD_AFTER_MS, over), link.delivered]).then(() => over.aborted || watch.proven())
    const reason = await link.going
    ended.abort()
    return reason
  }

  /** Ends the old connections only when the new one is open, so that Slack can deliver at any time. */
  async #open(): Promise<Link> {
    const before = [...this.#links]
    const link = new Link(this.#options, this.#app!)
    this.#links.add(link)
    try {
      await link.open(this.#stopping.signal)
    } catch (error) {
      this.#end(link)
      throw error
    }
    void this.#endSoon(before)
    return link
  }

  async #endSoon(links: readonly Link[]): Promise<void> {
    await this.#options.clock.sleep(LINGER_MS, this.#stopping.signal)
    for (const link of links) this.#end(link)
  }

  #end(link: Link): void {
    link.end()
    this.#links.delete(link)
  }
}

class Link {
  readonly #receiver: SocketModeReceiver
  readonly #clock: Clock
  /** the last error of the connection itself */
  #trouble: unknown
  #isEnded = false
  /** resolves when Slack announces the end of the connection, with its reason, or when it breaks */
  readonly going: Promise<string | null>
  /** resolves when Slack has sent something over the connection */
  readonly delivered: Promise<void>

  constructor({ appToken, apiUrl, clock }: SocketOptions, app: App) {
    this.#clock = clock
    this.#receiver = new SocketModeReceiver({
      appToken,
      // Its problems also arrive as errors, so its log is not needed.
      logger: slackLogger(() => {}),
      autoReconnectEnabled: false,
      clientPingTimeout: PONG_WITHIN_MS,
      installerOptions: { clientOptions: webOptions(apiUrl, OPEN_WITHIN_MS) },
    })
    this.#receiver.init(app)
    const { client } = this.#receiver
    client.on('error', (error: unknown) => (this.#trouble = error))
    // The client would close the connection at Slack's notice. But it works for a while, and people still click.
    const listeners = client.listeners('ws_message')
    client.removeAllListeners('ws_message')
    const { promise: delivered, resolve: deliver } = Promise.withResolvers<void>()
    this.delivered = delivered
    this.going = new Promise((resolve) => {
      client.on('close', () => resolve(null))
      client.on('ws_message', (message: unknown, isBinary: boolean) => {
        const sent = typeof message === 'string' ? findJson(message) : null
        const type = fieldOf(sent, 'type')
        if (type === 'disconnect') return resolve(reasonOf(sent))
        if (type !== 'hello') deliver()
        for (const listener of listeners) listener.call(client, withEvent(message, sent), isBinary)
      })
    })
  }

  async open(stopping: AbortSignal): Promise<void> {
    const waiting = new AbortController()
    const late = this.#clock.sleep(OPEN_WITHIN_MS, AbortSignal.any([stopping, waiting.signal])).then(() => false)
    const standing = this.#stand()
    // If the timeout comes first, this promise may still reject.
    standing.catch(() => {})
    try {
      const first = await Promise.race([standing, late, this.going])
      if (first === false) throw new DOMException(`no hello within ${OPEN_WITHIN_MS} ms`, 'TimeoutError')
      if (first === null) throw this.#torn()
      if (first !== true) throw new SocketEnded(first)
    } catch (error) {
      // The client rejects without a reason when a connection is refused.
      throw error ?? this.#torn()
    } finally {
      waiting.abort()
    }
  }

  #torn(): Error {
    return new Error('the connection was refused or torn', { cause: this.#trouble })
  }

  /** If `end` comes while the client asks Slack for an address, the client still connects. End it then. */
  async #stand(): Promise<true> {
    await this.#receiver.start()
    if (this.#isEnded) this.end()
    return true
  }

  /** The first stop sends a close frame; the second does not wait for Slack's. */
  end(): void {
    this.#isEnded = true
    const stop = () => void this.#receiver.stop().catch(() => {})
    stop()
    stop()
  }
}

/** Slack's reason in its notice that it ends a connection: `{"type":"disconnect","reason":"warning"}`. */
function reasonOf(notice: unknown): string {
  const reason = textOf(fieldOf(notice, 'reason'))
  return reason !== null && /^[a-z_]{1,40}$/.test(reason) ? reason : 'unnamed'
}

/** The client reads the inner event of each event, also of the one that has none. */
function withEvent(message: unknown, sent: unknown): unknown {
  if (!isRecord(sent) || !isRecord(sent['payload'])) return message
  const payload = withInnerEvent(sent['payload'])
  return payload === sent['payload'] ? message : JSON.stringify({ ...sent, payload })
}

/**
 * An event's payload as Slack documents it for all events. One event, `app_rate_limited`, has no inner event, on which
 * Slack's libraries rely: it gets one with its own type.
 */
export const withInnerEvent = <Body extends Record<string, unknown>>(body: Body): Body =>
  body['type'] === 'app_rate_limited' && !isRecord(body['event']) ? { ...body, event: { type: body['type'] } } : body
