import type { Clock } from '../../lib/clock.ts'
import type { Log, LogThrottle } from '../../lib/log.ts'
import { classify } from '../api/errors.ts'
import { appTokenRefused, noSocket, slackUnreached } from '../messages/words.ts'

/** Short gaps between connections are normal. It is a problem when no connection has been open for this long. */
export const SOCKET_AWAY_MS_MAX = 60_000

/** A connection that ended sooner counts as one that could not be opened. */
export const STEADY_AFTER_MS = 5_000

/** `refuses`: somebody has to change the token. `away`: there is no connection for now. */
export interface SocketTrouble {
  kind: 'refuses' | 'away'
  code: string
}

/** Whether a Socket Mode connection is open. The receiver reports it; `/readyz` and the metrics read it. */
export interface SocketWatch {
  opened(): void
  lost(): void
  /** A connection could not be opened. The reason is logged, at first and then with growing delays. */
  failed(error: unknown): void
  stands(): boolean
  /** Why Slack can deliver nothing. Set at once if Slack refuses the token, else after SOCKET_AWAY_MS_MAX. */
  trouble(): SocketTrouble | null
}

/** Key in the log throttle for an unreachable Slack, shared by all parts that notice it. */
export const SLACK_AWAY = 'slack-away'
const TOKEN_REFUSED = 'app-token-refused'

export interface SocketWatchDeps {
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'debug' | 'info' | 'warn'>
  logThrottle: LogThrottle
}

export function createSocketWatch({ clock, log, logThrottle }: SocketWatchDeps): SocketWatch {
  let changedAt = clock.now()
  let stands = false
  let isSaid = false
  let last: SocketTrouble | null = null
  return {
    opened() {
      changedAt = clock.now()
      stands = true
      last = null
      if (isSaid) log.info({ part: 'slack' }, 'a Socket Mode connection to Slack is open again')
      isSaid = false
    },
    lost() {
      // A connection that breaks at once, again and again, is not logged each time.
      if (clock.now() - changedAt >= STEADY_AFTER_MS)
        for (const what of [SLACK_AWAY, TOKEN_REFUSED]) logThrottle.over(what)
      changedAt = clock.now()
      stands = false
    },
    failed(error) {
      const trouble = (last = troubleOf(error))
      const { kind, code } = trouble
      log.debug({ err: error, part: 'slack', code }, 'a Socket Mode connection could not be opened; trying again')
      if (!logThrottle.isDue(kind === 'refuses' ? TOKEN_REFUSED : SLACK_AWAY)) return
      isSaid = true
      log.warn({ part: 'slack', code }, kind === 'refuses' ? appTokenRefused(code) : slackUnreached(code))
    },
    stands: () => stands,
    trouble() {
      if (stands) return null
      if (last?.kind === 'refuses') return last
      return clock.now() - changedAt > SOCKET_AWAY_MS_MAX ? (last ?? { kind: 'away', code: 'not_open' }) : null
    },
  }
}

export const socketWords = ({ kind, code }: SocketTrouble): string =>
  kind === 'refuses' ? appTokenRefused(code) : noSocket(code)

/** An HTTP status (`http_400`) may come from a proxy between us and Slack, and says nothing about the token. */
function troubleOf(error: unknown): SocketTrouble {
  const { kind, code } = classify(error)
  const isRefusal = kind === 'workspace-closed' || (kind === 'refused' && !code.startsWith('http_'))
  return { kind: isRefusal ? 'refuses' : 'away', code }
}
