import { counted } from '../../slack/messages/build.ts'
import { durationWords } from '../../slack/messages/times.ts'
import { appTokenRemedy, certificateWords, REACH_SLACK, socketReason } from '../../slack/messages/words.ts'
import {
  fine,
  notChecked,
  SLACK_NOT_ASKED,
  wrong,
  type Check,
  type DoctorDeps,
  type Examination,
  type Finding,
  type Say,
  lacks,
  notAccepted,
  scopesNeeded,
} from '../kit/check.ts'

export const token: Check = {
  name: 'slack-token',
  title: 'Slack token',
  calls: 'Slack',
  isVital: true,
  async run({ identity, say }) {
    const who = await identity()
    if (who.kind === 'known') return [fine('Slack accepts it.')]
    if (who.kind === 'away') return [away(who.code, say)]
    return [notAccepted(`Slack does not accept the token (${say.outside(who.code)}).`, say)]
  },
}

/** Nothing works without Slack, so any failure is `wrong`, except a rate limit. */
function away(code: string, say: Say): Finding {
  const certified = certificateWords(code, { server: 'Slack', address: null }, say.code)
  if (certified) return { verdict: 'wrong', ...certified }
  return {
    verdict: ['ratelimited', 'rate_limited'].includes(code) ? 'unsure' : 'wrong',
    what: `The request to Slack failed (${say.outside(code)}).`,
    remedy: REACH_SLACK,
  }
}

export const scopes: Check = {
  atStart: true,
  name: 'slack-scopes',
  title: 'Slack scopes',
  calls: 'Slack',
  async run({ identity, config, say }) {
    const who = await identity()
    if (who.kind !== 'known') return [SLACK_NOT_ASKED]
    const granted = who.scopes
    if (granted === null) return [NOT_SAID]
    const missing = scopesNeeded(config).filter((scope) => !granted.includes(scope))
    return [missing.length > 0 ? lacks(missing, say) : fine('All scopes of the manifest are granted.')]
  },
}

const NOT_SAID = notChecked('Slack did not say')

/**
 * In Socket Mode, checks whether the bot has a connection, or Slack would open one. Over HTTP: whether signatures were
 * wrong.
 */
export const requests: Check = {
  name: 'socket-mode',
  title: 'Requests from Slack',
  calls: 'Slack',
  async run(examination) {
    const { socket } = examination.slack
    return [socket ? await ofSocket(socket, examination) : await overHttp(examination)]
  },
}

async function overHttp({ receiving, say }: Examination): Promise<Finding> {
  const { wrongSignatures: count } = await receiving()
  return count === 0
    ? fine('Slack sends requests over HTTP, because SLACK_APP_TOKEN is not set.')
    : wrong(
        `${counted(count, 'request')} had a wrong signature, and none since had a valid one.`,
        `Set ${say.code('SLACK_SIGNING_SECRET')} to the Signing Secret under Basic Information in the app's settings in Slack, and restart Buildline.`,
      )
}

async function ofSocket(
  open: NonNullable<DoctorDeps['slack']['socket']>,
  { receiving, say }: Examination,
): Promise<Finding> {
  const opening = await open()
  if (opening.kind === 'away') return SLACK_NOT_ASKED
  if (opening.kind === 'refuses')
    return wrong(
      opening.code === 'missing_scope'
        ? `The app token lacks ${say.code('connections:write')}, so Slack sends nothing.`
        : `Slack does not accept the app token (${say.outside(opening.code)}) and sends nothing.`,
      appTokenRemedy(say.code),
    )
  // Slack offers a connection. Has the bot one that lasts?
  const { socketTrouble: code } = await receiving()
  if (code === null) return fine('They arrive over Socket Mode.')
  const reason = socketReason(code, say.code)
  if (reason) return { verdict: 'wrong', ...reason }
  return wrong(
    `The bot has no connection to Slack (${say.outside(code)}): no command, click or mention arrives.`,
    'Check that this machine can open WebSockets to Slack.',
  )
}

/** Requests signed over five minutes ago are refused as replays, as Slack advises. This warns well before that. */
export const CLOCK_OFF_MS_MAX = 30_000

/** Compares our clock with the `Date` of Slack's response, to the second. */
export const clockOfSlack: Check = {
  name: 'clock',
  title: 'Clock',
  calls: 'Slack',
  async run({ identity }) {
    const who = await identity()
    if (who.kind !== 'known') return [SLACK_NOT_ASKED]
    const { aheadMs } = who
    if (aheadMs === null) return [NOT_SAID]
    if (Math.abs(aheadMs) <= CLOCK_OFF_MS_MAX) return [fine("It agrees with Slack's clock.")]
    const by = `${durationWords(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'}`
    return [
      wrong(
        `This machine's clock is ${by} Slack's; at 5 min, Buildline has to refuse what Slack sends.`,
        'Synchronize the clock (NTP).',
      ),
    ]
  },
}
