import type { Clock } from '../../lib/clock.ts'
import type { Log, LogThrottle } from '../../lib/log.ts'
import { troubleOf, type SlackTrouble } from '../api/errors.ts'
import { slackUnreached, socketWords } from '../messages/words.ts'

/** Short gaps between connections are normal. It is a problem when no connection has been good for this long. */
export const SOCKET_AWAY_MS_MAX = 60_000

/** A connection that ends sooner, and over which nothing came, counts as one that could not be opened. */
export const GOOD_AFTER_MS = 60_000

/** After this many in a row, the cause will not go away without a person. */
export const CUTS_MAX = 3

/** Key in the log throttle for an unreachable Slack, shared by all parts that notice it. */
export const SLACK_AWAY = 'slack-away'

/** Slack has ended a connection and said why, such as `link_disabled`. */
export class SocketEnded extends Error {
  readonly code: string

  constructor(reason: string) {
    super('Slack ended the connection before it was open')
    this.code = reason
  }
}

export type SocketWatch = ReturnType<typeof createSocketWatch>

/** Whether Slack can deliver over Socket Mode. The receiver reports it; `/readyz`, the doctor and the metrics read it. */
export function createSocketWatch({
  clock,
  log,
  logThrottle,
}: {
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'debug' | 'info' | 'warn'>
  logThrottle: LogThrottle
}) {
  let changedAt = clock.now()
  /** the end of the last good connection */
  let goodAt = changedAt
  let isOpen = false
  let isGood = false
  let isLogged = false
  /** connections that were opened and did not become good, since the last good one */
  let cuts = 0
  let last: SlackTrouble | null = null
  const warned = new Set<string>()

  const isCutAgain = (): boolean => cuts >= CUTS_MAX

  function sayOpen(): void {
    if (isLogged) log.info({ part: 'slack' }, 'a Socket Mode connection to Slack is open again')
    isLogged = false
  }

  function warn(trouble: SlackTrouble, words: string): void {
    const key = trouble.kind === 'refuses' ? `socket ${trouble.code}` : SLACK_AWAY
    if (!logThrottle.isDue(key)) return
    warned.add(key)
    isLogged = true
    log.warn({ part: 'slack', code: trouble.code }, words)
  }

  return {
    opened(): void {
      changedAt = clock.now()
      isOpen = true
      if (isCutAgain()) return
      last = null
      sayOpen()
    },
    /** The connection was open for GOOD_AFTER_MS, or has delivered something. */
    proven(): void {
      if (!isOpen || isGood) return
      isGood = true
      cuts = 0
      last = null
      for (const key of warned) logThrottle.over(key)
      warned.clear()
      sayOpen()
    },
    /** @param reason Slack's own, if it gave one @returns whether the connection was good */
    lost(reason: string | null): boolean {
      const wasGood = isGood
      changedAt = clock.now()
      if (wasGood) goodAt = changedAt
      else cuts += 1
      isOpen = isGood = false
      last = namedTrouble(reason) ?? (isCutAgain() ? { kind: 'refuses', code: CUT_AGAIN } : null)
      if (last) warn(last, socketWords(last))
      return wasGood
    },
    /** A connection could not be opened. The reason is logged, at first and then with growing delays. */
    failed(error: unknown): void {
      const reason = error instanceof SocketEnded ? error.code : null
      const trouble = (last = namedTrouble(reason) ?? (reason ? { kind: 'away', code: reason } : troubleOf(error)))
      const { kind, code } = trouble
      log.debug({ err: error, part: 'slack', code }, 'a Socket Mode connection could not be opened; trying again')
      warn(trouble, kind === 'refuses' ? socketWords(trouble) : slackUnreached(code))
    },
    stands: () => isOpen,
    /**
     * Why Slack cannot deliver, or only briefly. Set at once if Slack says no, else after SOCKET_AWAY_MS_MAX without a
     * connection, or without a good one if they are cut again and again.
     */
    trouble(): SlackTrouble | null {
      if (isGood || (isOpen && !isCutAgain())) return null
      if (last?.kind === 'refuses' && last.code !== CUT_AGAIN) return last
      const since = isCutAgain() ? goodAt : changedAt
      return clock.now() - since > SOCKET_AWAY_MS_MAX ? (last ?? { kind: 'away', code: 'not_open' }) : null
    },
  }
}

const namedTrouble = (reason: string | null): SlackTrouble | null =>
  reason !== null && STANDING_REASONS.has(reason) ? { kind: 'refuses', code: reason } : null

/** Slack's reasons that last until a person changes something. It sends the others before it replaces a connection. */
const STANDING_REASONS: ReadonlySet<string> = new Set(['link_disabled', 'too_many_websockets'])

/** Our code for connections that end again and again, soon after they have opened. */
const CUT_AGAIN = 'cut_again'
