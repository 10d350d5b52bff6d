import { channels } from '../features/doctor/check-channels.ts'
import { examine } from '../features/doctor/examine.ts'
import type { DoctorDeps } from '../features/doctor/findings.ts'
import { IN_PLAIN_TEXT } from '../features/doctor/say.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log, LogThrottle } from '../lib/log.ts'
import { slackWords } from './readiness.ts'
import { slackUnreached } from '../slack/messages/words.ts'
import { SLACK_AWAY } from '../slack/socket/watch.ts'
import type { Store } from '../store/store.ts'

/** Retry interval while Slack is unreachable. The log repeats that with growing delays. */
const ASK_AGAIN_MS = 60_000

interface StartCheckDeps {
  doctor: DoctorDeps
  store: Pick<Store, 'write'>
  clock: Clock
  log: Pick<Log, 'info' | 'warn'>
  logThrottle: LogThrottle
  stopping: AbortSignal
}

/**
 * Asks Slack once whether it accepts the bot, and whether the bot can post in every channel with a subscription: the
 * person who just started it reads the log, and the first delivery may be hours away. Throws only on bugs.
 */
export async function checkAtStart(deps: StartCheckDeps): Promise<void> {
  const { doctor, clock, log, logThrottle, stopping } = deps
  for (let wasAway = false; !stopping.aborted; wasAway = true) {
    const who = await doctor.slack.identity()
    if (stopping.aborted) return
    if (who.kind !== 'away') {
      if (wasAway) log.info({ part: 'slack' }, 'Slack answers')
      // If Slack refuses the token, every other check fails for the same reason.
      if (who.kind === 'known') return checkChannels(deps)
      return log.warn({ part: 'slack', code: who.code }, slackWords(who.code).join(' '))
    }
    if (logThrottle.isDue(SLACK_AWAY)) log.warn({ part: 'slack', code: who.code }, slackUnreached(who.code))
    await clock.sleep(ASK_AGAIN_MS, stopping)
  }
}

/**
 * Marks closed channels before the first build, so that their subscriptions do not count. A post is still tried: it may
 * show that the channel is open.
 */
async function checkChannels({ doctor, store, clock, log, stopping }: StartCheckDeps): Promise<void> {
  const { findings } = await examine(doctor, IN_PLAIN_TEXT, [channels])
  if (stopping.aborted) return
  for (const { verdict, what, remedy } of findings)
    if (verdict === 'wrong') log.warn({ part: 'slack' }, remedy === null ? what : `${what} ${remedy}`)
  const now = clock.now()
  for (const { closed } of findings)
    if (closed) await store.write((tx) => tx.closeChannel({ ...closed, at: now, retryAt: now }))
}
