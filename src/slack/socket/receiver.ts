import { LogLevel, SocketModeReceiver, type App, type Logger, type Receiver } from '@slack/bolt'
import { fieldOf } from '../../domain/raw-values.ts'
import { exchange } from '../api/client.ts'
import { backoffMs } from '../../lib/async.ts'
import type { Clock } from '../../lib/clock.ts'
import { STEADY_AFTER_MS, type SocketWatch } from './watch.ts'

/** A connection that does not stand after this long is given up. */
export const OPEN_WITHIN_MS = 10_000
/** The old connection works this long beside the new one: what Slack sends over it meanwhile is still acknowledged. */
export const LINGER_MS = 1_000
/** A ping that is not answered for this long means that the connection is dead. */
const PONG_WITHIN_MS = 3_000
const AGAIN = { baseMs: 250, maxMs: 30_000 }

export interface SocketOptions {
  appToken: string
  /** other than Slack's own, for tests */
  apiUrl: string | null
  clock: Clock
  random: () => number
  watch: SocketWatch
}

/**
 * Socket Mode that goes on whatever happens: a notice or a torn connection is followed by a new one at once, a Slack
 * that is away is tried again. Bolt's own waits for Slack to close the old one, gives up on a Slack that is away at the
 * start, and ends the process when it is away later.
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

  /** Resolves when the first connection stands, or at `stop`. Never rejects. */
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
      let stoodFrom: number | null = null
      try {
        const link = await this.#open()
        stoodFrom = clock.now()
        watch.opened()
        onOpen()
        await link.going
        watch.lost()
      } catch (error) {
        if (this.#stopping.signal.aborted) return
        watch.failed(error)
      }
      // One that ended sooner did not stand: the next waits longer.
      failures = stoodFrom !== null && clock.now() - stoodFrom >= STEADY_AFTER_MS ? 0 : failures + 1
      if (failures > 1) await clock.sleep(backoffMs(failures - 2, random(), AGAIN), this.#stopping.signal)
    }
  }

  /** The old connections end when the new one stands, and not before: people never meet a closed door. */
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

/** One connection. */
class Link {
  readonly #receiver: SocketModeReceiver
  readonly #clock: Clock
  /** what the connection itself last complained of */
  #trouble: unknown
  #isEnded = false
  /** resolves when Slack takes the connection away, or it is torn */
  readonly going: Promise<void>

  constructor({ appToken, apiUrl, clock }: SocketOptions, app: App) {
    this.#clock = clock
    this.#receiver = new SocketModeReceiver({
      appToken,
      logger: SILENT,
      autoReconnectEnabled: false,
      clientPingTimeout: PONG_WITHIN_MS,
      installerOptions: { clientOptions: clientOptions(apiUrl) },
    })
    this.#receiver.init(app)
    const { client } = this.#receiver
    client.on('error', (error: unknown) => (this.#trouble = error))
    // The client closes the connection at Slack's notice; but it works for a while, and people press on.
    const heard = client.listeners('ws_message')
    client.removeAllListeners('ws_message')
    this.going = new Promise((resolve) => {
      client.on('close', () => resolve())
      client.on('ws_message', (message: unknown, isBinary: boolean) => {
        if (isNotice(message)) return resolve()
        for (const listener of heard) listener.call(client, message, isBinary)
      })
    })
  }

  async open(stopping: AbortSignal): Promise<void> {
    const waiting = new AbortController()
    const late = this.#clock.sleep(OPEN_WITHIN_MS, AbortSignal.any([stopping, waiting.signal])).then(() => false)
    const standing = this.#stand()
    // Whichever loses the race may still reject.
    standing.catch(() => {})
    try {
      if (!(await Promise.race([standing, late])))
        throw new DOMException(`no hello within ${OPEN_WITHIN_MS} ms`, 'TimeoutError')
    } catch (error) {
      // A connection that is refused ends without a reason.
      throw error ?? new Error('the connection was refused or torn', { cause: this.#trouble })
    } finally {
      waiting.abort()
    }
  }

  /** A stop while Slack is asked for an address does not reach the connection that is opened with it. */
  async #stand(): Promise<true> {
    await this.#receiver.start()
    if (this.#isEnded) this.end()
    return true
  }

  /** The first stop says goodbye; the second does not wait for Slack to say it too. */
  end(): void {
    this.#isEnded = true
    for (const _ of ['goodbye', 'gone']) void this.#receiver.stop().catch(() => {})
  }
}

// What it has to say comes back as an error.
const SILENT: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  setLevel: () => {},
  getLevel: () => LogLevel.ERROR,
  setName: () => {},
}

const clientOptions = (apiUrl: string | null) => ({
  ...(apiUrl === null ? {} : { slackApiUrl: apiUrl }),
  retryConfig: { retries: 0 },
  rejectRateLimitedCalls: true,
  timeout: OPEN_WITHIN_MS,
  fetch: exchange,
})

/** `{"type":"disconnect"}`: Slack takes this connection away soon. */
function isNotice(message: unknown): boolean {
  if (typeof message !== 'string' || !message.includes('"disconnect"')) return false
  try {
    return fieldOf(JSON.parse(message), 'type') === 'disconnect'
  } catch {
    return false
  }
}
