import type { Clock } from '../../lib/clock.ts'
import type { Log, LogThrottle } from '../../lib/log.ts'
import { classify } from '../api/errors.ts'
import { appTokenRefused, noSocket, slackUnreached } from '../messages/words.ts'

/** A moment of reconnecting is no trouble: it becomes one when no connection has stood for this long. */
export const SOCKET_AWAY_MS_MAX = 60_000

/** One that ended sooner did not stand. */
export const STEADY_AFTER_MS = 5_000

/** `refuses`: a person has to change the token. `away`: no connection stands, for now. */
export interface SocketTrouble {
  kind: 'refuses' | 'away'
  code: string
}

/** Whether a Socket Mode connection stands: told by the receiver, asked by `/readyz` and the metrics. */
export interface SocketWatch {
  opened(): void
  lost(): void
  /** One could not be opened. What is wrong is logged in words, at first and then ever more seldom. */
  failed(error: unknown): void
  stands(): boolean
  /** Why Slack can deliver nothing: at once where it refuses the token, else after SOCKET_AWAY_MS_MAX. */
  trouble(): SocketTrouble | null
}

/** The name under which an unreachable Slack is logged seldom, no matter which part meets it. */
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
      if (isSaid) log.info({ part: 'slack' }, 'a Socket Mode connection to Slack stands again')
      isSaid = false
    },
    lost() {
      // One that is torn at once, again and again, is not said each time.
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

/** What stands between us and Slack (`http_400`) says nothing of the token. */
function troubleOf(error: unknown): SocketTrouble {
  const { kind, code } = classify(error)
  const isRefusal = kind === 'workspace-closed' || (kind === 'refused' && !code.startsWith('http_'))
  return { kind: isRefusal ? 'refuses' : 'away', code }
}
