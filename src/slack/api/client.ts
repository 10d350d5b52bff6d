import { LogLevel, WebClient, type Logger, type FetchFunction } from '@slack/web-api'
import { fieldOf, textOf } from '../../lib/raw-values.ts'
import { bytesOf } from '../../lib/async.ts'
import { findJson } from '../../lib/json.ts'
import { BrokenAnswer } from './errors.ts'
import type { Search } from '../notifier.ts'

/** Slack shows the message unchanged: it does not link names and addresses, and shows no previews. */
export const AS_WRITTEN = { parse: 'none', link_names: false, unfurl_links: false, unfurl_media: false } as const

export interface ClientOptions {
  token: string
  /** Slack's own if it is null or left out; tests set another */
  apiUrl?: string | null | undefined
  /** takes the client's warnings; a pino logger fits */
  logger?: { warn(message: string): void }
  timeoutMs?: number
  /** called with the headers of each response */
  onResponse?: (headers: Pick<Headers, 'get'>) => void
}

const TIMEOUT_MS = 10_000

/**
 * A Web API client that makes one attempt per call. By default the client repeats a post after a dropped connection,
 * retries for half an hour, never times out, and lets one 429 hold up all other calls.
 */
export const createClient = ({ token, apiUrl, logger, timeoutMs = TIMEOUT_MS, onResponse }: ClientOptions): WebClient =>
  new WebClient(token, {
    ...webOptions(apiUrl, timeoutMs),
    ...(onResponse && { fetch: observedExchange(onResponse) }),
    allowAbsoluteUrls: false,
    logger: slackLogger((line) => logger?.warn(scrubbed(line, token))),
  })

/** One attempt for each call: turns off the client's own retries. */
export const webOptions = (apiUrl: string | null | undefined, timeoutMs: number) => ({
  ...(apiUrl && { slackApiUrl: apiUrl }),
  retryConfig: { retries: 0 },
  rejectRateLimitedCalls: true,
  timeout: timeoutMs,
  fetch: slackFetch,
})

const observedExchange =
  (heard: NonNullable<ClientOptions['onResponse']>): typeof slackFetch =>
  async (url, init) => {
    const answer = await slackFetch(url, init)
    heard(answer.headers)
    return answer
  }

/** The log of Slack's libraries. Debug lines hold whole requests and messages, and are dropped. */
export function slackLogger(warn: (line: string) => void, error = warn): Logger {
  const nothing = () => {}
  const joined =
    (tell: (line: string) => void) =>
    (...parts: unknown[]) =>
      tell(parts.map(String).join(' '))
  return {
    debug: nothing,
    info: nothing,
    warn: joined(warn),
    error: joined(error),
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
 * One HTTP exchange for the Web API client. It reads the whole body before the client sees the response, and throws
 * where the client catches errors. Without it a torn body escapes unclassified, a body that is not JSON passes for an
 * error code, and a 429 that names no time is not seen as a rate limit.
 */
export const slackFetch: FetchFunction = async (url, init) => {
  const response = await fetch(url, init)
  const body = await bodyOf(response)
  if (response.status === 200 && typeof fieldOf(findJson(body), 'ok') !== 'boolean')
    throw new BrokenAnswer('the answer is not a JSON object with `ok`')
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

/** A page of a channel's history, with 200 messages, stays far below this. */
export const SLACK_ANSWER_BYTES_MAX = 16 * 1024 * 1024

/** Reads the whole body of an answer. Throws a BrokenAnswer if it is too long, and closes the connection. */
export async function bodyOf({ body }: Response): Promise<string> {
  const tooLong = () => new BrokenAnswer(`the answer has more than ${SLACK_ANSWER_BYTES_MAX} bytes`)
  return (await bytesOf(body ?? [], SLACK_ANSWER_BYTES_MAX, tooLong)).toString()
}

/** 0: Slack named no time, so `classify` uses its default. */
function withRetryAfter(headers: Headers): Headers {
  const seconds = Number.parseInt(headers.get('retry-after') ?? '', 10)
  const completed = new Headers(headers)
  if (!(seconds > 0)) completed.set('retry-after', '0')
  return completed
}

/** The bot's ids in this workspace, by which it recognizes its own messages. */
export interface Identity {
  userId: string | null
  botId: string | null
}

/** `read` asks Slack; `known` asks only until Slack has answered once. Both throw what the client throws. */
export function identityOf(client: WebClient): { read(): Promise<Identity>; known(): Promise<Identity> } {
  let answered: Identity | null = null
  const read = async () => {
    const answer = await client.apiCall('auth.test')
    answered = { userId: textOf(fieldOf(answer, 'user_id')), botId: textOf(fieldOf(answer, 'bot_id')) }
    return answered
  }
  return { read, known: async () => answered ?? read() }
}

/**
 * Follows Slack's clock, which stamps messages; ours stamps claims, and may be set while a claim is open.
 * @param now our own clock (ms)
 */
export function createSlackClock(now: () => number) {
  let aheadMs = 0
  return {
    /** Reads Slack's time from the `date` of a response. */
    observe(headers: Pick<Headers, 'get'>): void {
      const theirs = Date.parse(headers.get('date') ?? '')
      if (Number.isFinite(theirs)) aheadMs = theirs - now()
    },
    /** The search with its time range widened, so that it fits both our clock and Slack's. */
    widened({ untilMs, sinceMs, ...search }: Search): Search {
      const until = untilMs === undefined ? {} : { untilMs: untilMs + Math.max(0, aheadMs) }
      return { ...search, ...until, sinceMs: sinceMs + Math.min(0, aheadMs) }
    },
  }
}
