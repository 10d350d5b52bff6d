import type { Clock } from '../../lib/clock.ts'
import type { Log, LogThrottle } from '../../lib/log.ts'
import { troubleOf, type SlackTrouble } from '../api/errors.ts'
import { appTokenRefused, noSocket, slackUnreached } from '../messages/words.ts'

/** Short gaps between connections are normal. It is a problem when no connection has been open for this long. */
export const SOCKET_AWAY_MS_MAX = 60_000

/** A connection that ended sooner counts as one that could not be opened. */
export const STEADY_AFTER_MS = 5_000

/** Key in the log throttle for an unreachable Slack, shared by all parts that notice it. */
export const SLACK_AWAY = 'slack-away'
const TOKEN_REFUSED = 'app-token-refused'

export type SocketWatch = ReturnType<typeof createSocketWatch>

/** Whether a Socket Mode connection is open. The receiver reports it; `/readyz` and the metrics read it. */
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
  let isOpen = false
  let isLogged = false
  let last: SlackTrouble | null = null
  return {
    opened(): void {
      changedAt = clock.now()
      isOpen = true
      last = null
      if (isLogged) log.info({ part: 'slack' }, 'a Socket Mode connection to Slack is open again')
      isLogged = false
    },
    lost(): void {
      // A connection that breaks at once, again and again, is not logged each time.
      if (clock.now() - changedAt >= STEADY_AFTER_MS)
        for (const what of [SLACK_AWAY, TOKEN_REFUSED]) logThrottle.over(what)
      changedAt = clock.now()
      isOpen = false
    },
    /** A connection could not be opened. The reason is logged, at first and then with growing delays. */
    failed(error: unknown): void {
      const trouble = (last = troubleOf(error))
      const { kind, code } = trouble
      log.debug({ err: error, part: 'slack', code }, 'a Socket Mode connection could not be opened; trying again')
      if (!logThrottle.isDue(kind === 'refuses' ? TOKEN_REFUSED : SLACK_AWAY)) return
      isLogged = true
      log.warn({ part: 'slack', code }, kind === 'refuses' ? appTokenRefused(code) : slackUnreached(code))
    },
    stands: () => isOpen,
    /** Why Slack can deliver nothing. Set at once if Slack refuses the token, else after SOCKET_AWAY_MS_MAX. */
    trouble(): SlackTrouble | null {
      if (isOpen) return null
      if (last?.kind === 'refuses') return last
      return clock.now() - changedAt > SOCKET_AWAY_MS_MAX ? (last ?? { kind: 'away', code: 'not_open' }) : null
    },
  }
}

export const socketWords = ({ kind, code }: SlackTrouble): string =>
  kind === 'refuses' ? appTokenRefused(code) : noSocket(code)
