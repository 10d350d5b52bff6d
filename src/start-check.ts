import type { Clock } from './lib/clock.ts'
import type { Log, LogThrottle } from './lib/log.ts'
import { findingWords } from './features/doctor/words.ts'
import { slackUnreached } from './slack/messages/words.ts'
import { SLACK_AWAY } from './slack/socket/watch.ts'
import { IN_PLAIN_TEXT, type Finding, type DoctorDeps } from './features/doctor/findings.ts'
import { examine } from './features/doctor/examine.ts'
import { slackWords } from './readiness.ts'
import type { Store } from './store/store.ts'

/** A Slack that is away is asked again after this time. The log says less and less often that it is still away. */
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
export async function checkAtStart({
  doctor,
  store,
  clock,
  log,
  logThrottle,
  stopping,
}: StartCheckDeps): Promise<void> {
  for (let wasAway = false; !stopping.aborted; wasAway = true) {
    const { findings } = await examine(doctor, ['slack-token', 'channels'])
    if (stopping.aborted) return
    const code = awayCode(findings)
    if (code === null) {
      if (wasAway) log.info({ part: 'slack' }, 'Slack answers')
      logFindings(findings, log)
      return closeChannels(findings, store, clock.now())
    }
    if (logThrottle.isDue(SLACK_AWAY)) log.warn({ part: 'slack', code }, slackUnreached(code))
    await clock.sleep(ASK_AGAIN_MS, stopping)
  }
}

/** Their subscriptions do not count from the first build on. A post is tried all the same: it may show the opposite. */
async function closeChannels(findings: readonly Finding[], store: Pick<Store, 'write'>, now: number): Promise<void> {
  for (const { what } of findings)
    if (what.kind === 'channel-closed')
      await store.write((tx) => tx.closeChannel({ channel: what.channel, code: what.code, at: now, retryAt: now }))
}

function awayCode(findings: readonly Finding[]): string | null {
  const token = findings.find(({ check }) => check === 'slack-token')?.what
  if (token?.kind === 'slack-away') return token.code
  return token?.kind === 'not-checked' ? 'timeout' : null
}

function logFindings(findings: readonly Finding[], log: Pick<Log, 'warn'>): void {
  const refused = findings.find(({ check, what }) => check === 'slack-token' && what.kind === 'slack-refuses')?.what
  // If Slack refuses the token, every other check fails for the same reason.
  if (refused?.kind === 'slack-refuses')
    return log.warn({ part: 'slack', code: refused.code }, slackWords(refused.code).join(' '))
  for (const finding of findings) {
    if (finding.verdict !== 'wrong') continue
    const { what, remedy } = findingWords(finding, IN_PLAIN_TEXT)
    log.warn({ part: 'slack' }, remedy === null ? what : `${what} ${remedy}`)
  }
}
