import { examine } from '../features/doctor/examine.ts'
import { type Check, type DoctorDeps, IN_PLAIN_TEXT } from '../features/kit/check.ts'
import type { ChannelId } from '../domain/ids.ts'
import type { Clock } from '../lib/clock.ts'
import { toLine } from '../lib/escape.ts'
import type { Log, LogThrottle } from '../lib/log.ts'
import { slackWords } from './readiness.ts'
import type { SlackIdentity } from '../slack/api/examiner.ts'
import { counted } from '../slack/messages/build.ts'
import { slackUnreached } from '../slack/messages/words.ts'
import { SLACK_AWAY } from '../slack/socket/watch.ts'
import type { Store } from '../store/store.ts'

/** Retry interval while Slack is unreachable. The log repeats that with growing delays. */
const ASK_AGAIN_MS = 60_000

interface StartCheckDeps {
  doctor: DoctorDeps
  checks: readonly Check[]
  store: Pick<Store, 'write'>
  clock: Clock
  log: Pick<Log, 'info' | 'warn'>
  logThrottle: LogThrottle
  stopping: AbortSignal
  /** Resolves once Socket Mode and the first reading of the projects are done; false if one failed, which has been logged. */
  restStarted: () => Promise<boolean>
}

/**
 * Checks at the start that Slack accepts the bot, that the bot can post in every channel with a subscription, and that
 * GitHub and GitLab show it the configured projects. Whoever has just started the bot reads the log, and the first
 * delivery may be hours away. Throws only on bugs.
 */
export async function checkAtStart(deps: StartCheckDeps): Promise<void> {
  const { doctor, clock, log, logThrottle, stopping } = deps
  for (let wasAway = false; !stopping.aborted; wasAway = true) {
    const who = await doctor.slack.identity()
    if (stopping.aborted) return
    if (who.kind !== 'away') {
      if (wasAway) log.info({ part: 'slack' }, 'Slack answers')
      // If Slack refuses the token, every other check fails for the same reason.
      if (who.kind === 'known') return checkRest(deps, who)
      return log.warn({ part: 'slack', code: who.code }, slackWords(who.code).join(' '))
    }
    if (logThrottle.isDue(SLACK_AWAY)) log.warn({ part: 'slack', code: who.code }, slackUnreached(who.code))
    await clock.sleep(ASK_AGAIN_MS, stopping)
  }
}

/**
 * Logs in the doctor's words what is wrong, or that all is well. Marks closed channels before the first build, so that
 * their subscriptions do not count. A post is still tried: it may show that the channel is open.
 */
async function checkRest(
  { doctor, checks, store, clock, log, stopping, restStarted }: StartCheckDeps,
  who: Known,
): Promise<void> {
  const names: string[] = []
  const slack = {
    ...doctor.slack,
    identity: async () => who,
    async channel(id: ChannelId) {
      const can = await doctor.slack.channel(id)
      if (can.kind === 'open') names.push(can.name ? `#${toLine(can.name)}` : id)
      return can
    },
  }
  // What does not answer is not ready.
  const ofStart = checks.flatMap(({ atStart, ...check }) =>
    atStart ? { ...check, isVital: true, ...(atStart !== true && { run: atStart }) } : [],
  )
  const { findings } = await examine({ ...doctor, slack }, IN_PLAIN_TEXT, ofStart)
  if (stopping.aborted) return
  const wrong = findings.filter(({ verdict }) => verdict === 'wrong')
  for (const { name, what, remedy } of wrong) log.warn({ check: name }, remedy === null ? what : `${what} ${remedy}`)
  const now = clock.now()
  for (const { closed } of findings)
    if (closed) await store.write((tx) => tx.closeChannel({ ...closed, at: now, retryAt: now }))
  if (wrong.length === 0 && (await restStarted()) && !stopping.aborted) log.info({}, readyWords(doctor, who, names))
}

type Known = Extract<SlackIdentity, { kind: 'known' }>

const NAMES_SHOWN = 5

/** `ready. Slack: @buildline in Acme, posts to #builds and #web; CI: v2, legacy; GitHub: 3 repositories` */
function readyWords(
  { config, v2, legacy, github, gitlab }: DoctorDeps,
  who: Known,
  channels: readonly string[],
): string {
  const more = channels.length - NAMES_SHOWN
  const named = [...channels.slice(0, NAMES_SHOWN), ...(more > 0 ? [`${more} more`] : [])]
  const ci = [v2 && 'v2', legacy && 'legacy'].filter((one) => one !== null)
  const parts = [
    `Slack: @${toLine(who.bot ?? 'the bot')} in ${toLine(who.team ?? 'its workspace')}, posts to ${new Intl.ListFormat('en').format(named)}`,
    ci.length > 0 ? `CI: ${ci.join(', ')}` : '',
    github ? `GitHub: ${counted(config.github.repositories.length, 'repository', 'repositories')}` : '',
    gitlab ? `GitLab: ${counted(config.gitlab.projects.length, 'project')}` : '',
  ]
  return `ready. ${parts.filter((part) => part !== '').join('; ')}`
}
