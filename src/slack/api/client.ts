import { LogLevel, WebClient, type Logger } from '@slack/web-api'
import { exchange } from './exchange.ts'

/** Where the client's warnings go; a pino logger is one. */
export interface WarningLog {
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
