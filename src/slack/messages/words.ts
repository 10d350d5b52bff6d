import { certificateFault } from '../../lib/error-code.ts'
import type { SourceName } from '../../domain/ids.ts'
import type { AccountStatus } from '../../domain/builds/status.ts'
import type { Shown } from '../../domain/cards/view.ts'
import type { Reason } from '../../domain/rules/decide.ts'
import { outside } from './build.ts'
import { WORD_CHARS_MAX } from './limits.ts'

/** How a state is shown. Symbols differ in shape and always come with the word, so that nobody depends on colours. */
interface StatusStyle {
  symbol: string
  label: string
  /** the bar beside a card */
  color: string
  /** the verb in a notification */
  verb: string
  /** a short explanation, if the word is not enough */
  hint?: string
}

const BLUE = '#1d9bd1'
const PURPLE = '#7c5cbf'
const GREEN = '#2eb67d'
const RED = '#e01e5a'
const AMBER = '#ecb22e'
const GREY = '#868686'

const STATUS_STYLES: Record<Shown, StatusStyle> = {
  requested: { symbol: ':hourglass:', label: 'Requested', color: BLUE, verb: 'was requested' },
  queued: { symbol: ':hourglass:', label: 'Queued', color: BLUE, verb: 'is queued' },
  started: { symbol: ':arrow_forward:', label: 'Running', color: BLUE, verb: 'is running' },
  // CI does not say what the build waits for. The build's page, which the card links to, does.
  waiting: {
    symbol: ':hourglass_flowing_sand:',
    label: 'Waiting',
    color: PURPLE,
    verb: 'is waiting',
    hint: 'not started yet, or waiting for an approval',
  },
  passed: { symbol: ':white_check_mark:', label: 'Passed', color: GREEN, verb: 'passed' },
  fixed: { symbol: ':sparkles:', label: 'Fixed', color: GREEN, verb: 'is fixed' },
  flaky: {
    symbol: ':game_die:',
    label: 'Passed (flaky)',
    color: GREEN,
    verb: 'passed (flaky)',
  },
  failed: { symbol: ':x:', label: 'Failed', color: RED, verb: 'failed' },
  infrastructure_failure: {
    symbol: ':warning:',
    label: 'CI machine error',
    color: AMBER,
    verb: 'ended in a CI machine error',
    hint: "nobody's fault",
  },
  stopped: { symbol: ':black_square_for_stop:', label: 'Stopped', color: GREY, verb: 'was stopped' },
  ignored: {
    symbol: ':calendar:',
    label: 'Not built (monthly limit)',
    color: GREY,
    verb: 'was not built (monthly limit)',
  },
  blocked: {
    symbol: ':lock:',
    label: 'Blocked (resource use)',
    color: GREY,
    verb: 'was blocked (resource use)',
  },
  quota_exceeded: {
    symbol: ':lock:',
    label: 'Blocked (compute minutes used up)',
    color: GREY,
    verb: 'was blocked (compute minutes used up)',
  },
  skipped: { symbol: ':fast_forward:', label: 'Skipped', color: GREY, verb: 'was skipped' },
  unknown: { symbol: ':grey_question:', label: 'Unknown', color: GREY, verb: 'has a new status' },
}

export const styleOf = (shown: Shown): StatusStyle => STATUS_STYLES[shown]

/** The account notice's words for why builds did not run. */
export const ACCOUNT_REASONS: Record<AccountStatus, string> = {
  ignored: 'monthly limit',
  blocked: 'resource use',
  quota_exceeded: 'compute minutes used up',
}

/** The look of an account notice: neutral, because no build failed. */
export const NOTICE_STYLE = { symbol: ':information_source:', color: GREY } as const

// The doctor, the log and /readyz share these texts. This file must import nothing heavy, because start-up loads it.

/** Formats what is typed literally, such as a command or a setting's name. */
type Code = (text: string) => string

const plain: Code = (text) => text

export const nobodyFollows = (code: Code = plain): { what: string; remedy: string } => ({
  what: 'No channel has a subscription, so no build is posted.',
  remedy: `Type ${code('/ci subscribe')} in a channel, or set ${code('DEFAULT_CHANNEL')} or ${code('SUBSCRIPTIONS_FILE')}.`,
})

export const appTokenRemedy = (code: Code = plain): string =>
  `Make an app-level token with ${code('connections:write')} under Basic Information in the app's settings in Slack, set it as ${code('SLACK_APP_TOKEN')}, and restart Buildline.`

/**
 * What is wrong with a server's certificate, and the remedy; null: the code is about something else.
 * @param server `GitLab`
 * @param address the setting that has its address; null: it has none
 */
export function certificateWords(
  code: string | undefined,
  { server, address }: { server: string; address: string | null },
  as: Code = plain,
): { what: string; remedy: string } | null {
  const what = `The certificate of ${server} is not accepted (${code}).`
  switch (certificateFault(code)) {
    case null:
      return null
    case 'authority':
      return {
        what,
        remedy: `If it is from your own certificate authority, set ${as('NODE_EXTRA_CA_CERTS')} in the environment, not in ${as('.env')}, to a file with that authority's certificate (PEM), and restart Buildline.`,
      }
    case 'time':
      return { what, remedy: "Renew it there, or set this machine's clock right." }
    case 'name':
      return {
        what,
        remedy: address === null ? 'Renew it there.' : `Set ${as(address)} to a name that the certificate has.`,
      }
  }
}

/** `Slack refuses SLACK_APP_TOKEN (invalid_auth): …` */
const appTokenRefused = (code: string): string =>
  `Slack refuses SLACK_APP_TOKEN (${code}): no command, click or mention arrives. ${appTokenRemedy()}`

/** Slack's codes for Socket Mode connections, and our `cut_again`; null: another code. */
export function socketReason(code: string, as: Code = plain): { what: string; remedy: string } | null {
  switch (code) {
    case 'link_disabled':
      return {
        what: `Socket Mode is turned off for this app (${code}): no command, click or mention arrives.`,
        remedy: "Turn it on under Socket Mode in the app's settings in Slack.",
      }
    case 'too_many_websockets':
      return {
        what: `Ten connections are open for this app, as many as Slack allows (${code}): no command, click or mention arrives here.`,
        remedy: `Stop another copy that uses this ${as('SLACK_APP_TOKEN')}.`,
      }
    case 'cut_again':
      return {
        what: `Connections to Slack keep closing soon after they open (${code}): commands, clicks and mentions may get lost.`,
        remedy: `Look for a proxy or firewall that ends WebSockets, and for another copy that uses this ${as('SLACK_APP_TOKEN')}.`,
      }
    default:
      return null
  }
}

/**
 * Why Slack can deliver nothing over Socket Mode, and the remedy. `refuses`: Slack says no, else it cannot be reached.
 */
export function socketWords({ kind, code }: { kind: 'refuses' | 'away'; code: string }): string {
  const reason = socketReason(code)
  if (reason) return `${reason.what} ${reason.remedy}`
  return kind === 'refuses' ? appTokenRefused(code) : noSocket(code)
}

export const slackUnreached = (code: string): string =>
  `Slack cannot be reached (${code}); messages wait until it can. ${REACH_SLACK}`

export const REACH_SLACK = 'Check that this machine can reach slack.com; if SLACK_API_URL is set, correct it.'

const noSocket = (code: string): string =>
  `There is no Socket Mode connection to Slack (${code}): no command, click or mention arrives until there is one.`

export const SOURCE_NAMES: Record<SourceName, string> = { ci: 'CI', github: 'GitHub', gitlab: 'GitLab' }

/** Puts the source's name in place of `CI` in our own text. Not for outside text, which may contain `CI`. */
export const withSourceName = (source: SourceName, words: string): string =>
  words.replaceAll(/\bCI\b/g, SOURCE_NAMES[source])

/** Why a channel was or was not sent an event. */
export const reasonWords = (reason: string): string =>
  isReason(reason) ? REASONS[reason] : `Reason: ${shown(reason)}.`

const isReason = (reason: string): reason is Reason => Object.hasOwn(REASONS, reason)

const shown = (word: string): string => outside(word, WORD_CHARS_MAX) || '(none)'

const REASONS: Record<Reason, string> = {
  'event-selected': 'A rule selects it.',
  'every-event': 'This channel follows every event.',
  'rules-unread': "The project's rules could not be read, so every event was posted.",
  'account-notice': "It concerns the CI account, not the commit, so it is part of that day's account notice.",
  'updates-card': 'No rule selects it, but the card was there and shows the newest state.',
  'event-not-selected': 'The rules for this branch do not select this event.',
  'branch-not-matched': 'No rule covers this branch.',
  'branch-unknown': 'CI named no branch, but the rules require one.',
  'pattern-invalid': 'The branch pattern of a rule is invalid, and so matches nothing.',
  duplicate: 'CI reported this before: nothing changed.',
  late: 'It arrived after the run had ended, so it changes nothing.',
  history:
    'CI had the build before Buildline first looked at the project, or it ended more than a day before Buildline learned of it.',
}
