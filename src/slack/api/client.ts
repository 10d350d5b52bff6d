import { LogLevel, WebClient, type Logger, type FetchFunction } from '@slack/web-api'
import { fieldOf } from '../../domain/raw-values.ts'
import { BrokenAnswer, textOf } from './errors.ts'
import type { Search } from '../notifier.ts'

/** Where the client's warnings go; a pino logger is one. */
interface WarningLog {
  warn(message: string): void
}

export interface ClientOptions {
  token: string
  /** other than Slack's own, for tests */
  apiUrl?: string
  logger?: WarningLog
  timeoutMs?: number
  /** told of each answer's headers */
  heard?: (headers: Pick<Headers, 'get'>) => void
}

const TIMEOUT_MS = 10_000

/**
 * A Web API client that asks once. The defaults of the client re-send a post after a dropped connection, go on for half
 * an hour, never time out, and let one 429 hold up everything else.
 */
export const createClient = ({ token, apiUrl, logger, timeoutMs = TIMEOUT_MS, heard }: ClientOptions): WebClient =>
  new WebClient(token, {
    ...(apiUrl === undefined ? {} : { slackApiUrl: apiUrl }),
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    timeout: timeoutMs,
    fetch: heard ? exchangeHeard(heard) : exchange,
    allowAbsoluteUrls: false,
    logger: quiet(token, logger),
  })

const exchangeHeard =
  (heard: NonNullable<ClientOptions['heard']>): typeof exchange =>
  async (url, init) => {
    const answer = await exchange(url, init)
    heard(answer.headers)
    return answer
  }

/** The client's own log: its debug lines hold whole messages and never leave; its warnings do, without a token. */
function quiet(token: string, logger: WarningLog | undefined): Logger {
  const warn = (...parts: unknown[]) => logger?.warn(scrubbed(parts.map(String).join(' '), token))
  const nothing = () => {}
  return {
    debug: nothing,
    info: nothing,
    warn,
    error: warn,
    setLevel: nothing,
    getLevel: () => LogLevel.WARN,
    setName: nothing,
  }
}

const LOG_CHARS_MAX = 300
const TOKENS = /xox[a-z]-[\w-]+|xapp-[\w-]+/gi

const scrubbed = (line: string, token: string): string =>
  `slack: ${line.replaceAll(token, '[secret]').replace(TOKENS, '[secret]').slice(0, LOG_CHARS_MAX)}`

/**
 * One HTTP exchange for the Web API's client: the answer is whole before the client sees it, or an error is thrown
 * inside the one place where the client catches them. Without it a torn body escapes unclassified, a body that is no
 * JSON passes for an error code, and a 429 that names no time is no rate limit.
 */
export const exchange: FetchFunction = async (url, init) => {
  const response = await fetch(url, init)
  const body = await response.text()
  if (response.status === 200 && !saysYesOrNo(body)) throw new BrokenAnswer('the answer is no JSON object with `ok`')
  return {
    ok: response.ok,
    status: response.status,
    statusText: response.statusText,
    url: response.url,
    headers: response.status === 429 ? withRetryAfter(response.headers) : response.headers,
    text: async () => body,
    json: async (): Promise<unknown> => JSON.parse(body),
    arrayBuffer: async () => new TextEncoder().encode(body).buffer,
  }
}

function saysYesOrNo(body: string): boolean {
  try {
    return typeof fieldOf(JSON.parse(body), 'ok') === 'boolean'
  } catch {
    return false
  }
}

/** A time of 0 stands for one that was not named: `classify` knows what to wait then. */
function withRetryAfter(headers: Headers): Headers {
  const seconds = Number.parseInt(headers.get('retry-after') ?? '', 10)
  const completed = new Headers(headers)
  if (!(seconds > 0)) completed.set('retry-after', '0')
  return completed
}

/** Who we are in this workspace: what tells our own messages from everybody else's. */
export interface Identity {
  userId: string | null
  botId: string | null
}

/** `ask` asks Slack; `known` asks only until it has been answered once. Both throw what the client throws. */
export function identityOf(client: WebClient): { ask(): Promise<Identity>; known(): Promise<Identity> } {
  let answered: Identity | null = null
  const ask = async () => {
    const answer = await client.apiCall('auth.test')
    answered = { userId: textOf(fieldOf(answer, 'user_id')), botId: textOf(fieldOf(answer, 'bot_id')) }
    return answered
  }
  return { ask, known: async () => answered ?? ask() }
}

/** Slack's clock stamps the messages, ours the claims; and ours may be set while a claim is open. */
interface TheirClock {
  /** An answer came, which says in `date` when it was given. */
  heard(headers: Pick<Headers, 'get'>): void
  /** The time to search: as we had it, and as Slack had it. */
  widened(search: Search): Search
}

/** @param now our own clock (ms) */
export function createTheirClock(now: () => number): TheirClock {
  let aheadMs = 0
  return {
    heard(headers) {
      const theirs = Date.parse(headers.get('date') ?? '')
      if (Number.isFinite(theirs)) aheadMs = theirs - now()
    },
    widened({ untilMs, sinceMs, ...search }) {
      const until = untilMs === undefined ? {} : { untilMs: untilMs + Math.max(0, aheadMs) }
      return { ...search, ...until, sinceMs: sinceMs + Math.min(0, aheadMs) }
    },
  }
}
