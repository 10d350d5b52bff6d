import type { CiErrorKind } from '../../sources/ci-service/errors.ts'
import { assertNever } from '../../lib/assert.ts'
import { toLine } from '../../lib/escape.ts'
import { durationWords } from '../../slack/messages/times.ts'
import { appTokenRemedy, nobodyFollows } from '../../slack/messages/words.ts'
import type { CheckName, Finding, Found, Unchecked } from './findings.ts'

// What the doctor found, and how to mend it: one table of words, for Slack and for the command line.

/** How a place shows what is no word of ours. */
export interface Say {
  /** outside text, as one line */
  outside(text: string): string
  /** what is typed as it is: a setting, a scope, an address */
  code(text: string): string
  channel(id: string): string
  time(atMs: number): string
}

/** For a terminal and a log. */
export const IN_PLAIN_TEXT: Say = {
  outside: toLine,
  code: (text) => text,
  channel: (id) => `channel ${id}`,
  time: (atMs) => new Date(atMs).toISOString(),
}

export interface FindingWords {
  what: string
  /** how to mend it; null where there is nothing to mend */
  remedy: string | null
}

export const CHECK_TITLES: Record<CheckName, string> = {
  'slack-token': 'Slack token',
  'slack-scopes': 'Slack scopes',
  'socket-mode': 'Socket Mode',
  clock: 'Clock',
  channels: 'Channels',
  'ci-v2': 'CI, v2 interface',
  'ci-v2-scopes': 'CI, rights to write',
  'ci-legacy': 'CI, legacy interface',
  site: 'CI, site',
  'webhook-rules': 'Webhook rules',
  'silent-projects': 'Silent projects',
  store: 'Database',
}

export function findingWords({ check, what }: Pick<Finding, 'check' | 'what'>, say: Say): FindingWords {
  switch (what.kind) {
    case 'fine':
      return { what: FINE[check](what.count), remedy: null }
    case 'not-configured':
      return { what: OFF[check] ?? 'It is not set up.', remedy: null }
    case 'over-http':
      return { what: `Not set up (SLACK_APP_TOKEN): Slack reaches Buildline over HTTP.`, remedy: null }
    case 'slack-refuses':
      return slackRefuses(check, what.code, say)
    case 'slack-away':
      return {
        what: `Slack could not be asked (${say.outside(what.code)}).`,
        remedy: 'Look whether this machine reaches slack.com.',
      }
    case 'scopes-missing':
      return {
        what: `The token lacks ${what.scopes.map(say.code).join(', ')}.`,
        remedy: `Put manifest.yml into the app's settings in Slack once more, and install the app again.`,
      }
    case 'nobody-follows':
      return nobodyFollows(say.code)
    case 'channel-closed':
      return channelClosed(what, say)
    case 'ci-refuses':
      return ciRefuses(check, what, say)
    case 'projects-unread':
      return {
        what: `${counted(what.count, 'project')} that CI lists could not be read.`,
        remedy: 'Look them up in the log, and tell who looks after Buildline.',
      }
    case 'clock-off':
      return {
        what: `This machine's clock is ${durationWords(Math.abs(what.ms))} ${what.ms > 0 ? 'ahead of' : 'behind'} Slack's; from 5 min on, everything Slack sends is refused.`,
        remedy: 'Set the clock by a time server (NTP).',
      }
    case 'more':
      return { what: `… and ${what.count} more like this.`, remedy: null }
    case 'not-checked':
      return { what: `Not checked: ${UNCHECKED[what.why](check, say)}.`, remedy: null }
    case 'no-webhook-rule':
    case 'webhook-secret':
    case 'webhook-filtered':
    case 'silent-project':
      return projectWords(what, say)
    case 'no-database':
    case 'store-fails':
    case 'store-slow':
    case 'disk-full':
      return storeWords(what, say)
    default:
      return assertNever(what)
  }
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

const FINE: Record<CheckName, (count: number | null) => string> = {
  'slack-token': () => 'Slack takes it.',
  'slack-scopes': () => 'All that the manifest asks for are granted.',
  'socket-mode': () => 'Slack takes the app token.',
  clock: () => "It agrees with Slack's.",
  channels: (count) => `${counted(count ?? 0, 'channel')} can be told.`,
  'ci-v2': (count) => `${counted(count ?? 0, 'project')} can be read.`,
  'ci-v2-scopes': () => 'Projects can be changed, and builds stopped.',
  'ci-legacy': (count) => `${counted(count ?? 0, 'Basic project')} can be read.`,
  site: () => 'It draws badges.',
  'webhook-rules': (count) => `${counted(count ?? 0, 'project')} tell${count === 1 ? 's' : ''} Buildline everything.`,
  'silent-projects': (count) => `None of ${counted(count ?? 0, 'project')} with a webhook rule.`,
  store: () => 'It can be written, and there is room.',
}

const OFF: Partial<Record<CheckName, string>> = {
  'ci-v2': 'Not set up (CI_BASE_URL): no rules are read, and no build can be stopped.',
  'ci-v2-scopes': 'Not set up (CI_BASE_URL).',
  'ci-legacy': 'Not set up (CI_LEGACY_BASE_URL): no build can be restarted.',
  site: 'Not set up (CI_SITE_URL): there are no badges.',
}

const UNCHECKED: Record<Unchecked, (check: CheckName, say: Say) => string> = {
  late: (check) => `${WHO[check]} did not answer in 5 s`,
  'slack-away': () => 'Slack could not be asked',
  'ci-away': () => "CI's projects could not be read",
  'no-v2': (_, { code }) => `only CI's v2 interface shows the rules, and it is not set up (${code('CI_BASE_URL')})`,
  'no-project': () => 'CI lists no project',
  'store-fails': () => 'the database could not be read',
  'not-said': (check) => `${WHO[check]} did not say`,
  'too-many': () => 'there are more channels than can be looked at at once',
  fault: () => 'Buildline has a fault there; the log has the details',
}

const WHO: Record<CheckName, string> = {
  'slack-token': 'Slack',
  'slack-scopes': 'Slack',
  'socket-mode': 'Slack',
  clock: 'Slack',
  channels: 'Slack',
  'ci-v2': 'CI',
  'ci-v2-scopes': 'CI',
  'ci-legacy': 'CI',
  site: 'CI',
  'webhook-rules': 'CI',
  'silent-projects': 'CI',
  store: 'the database',
}

function slackRefuses(check: CheckName, code: string, say: Say): FindingWords {
  if (check === 'socket-mode') return socketRefused(code, say)
  if (code === 'missing_scope')
    return {
      what: `Slack does not let Buildline look (${say.outside(code)}).`,
      remedy: "Put manifest.yml into the app's settings in Slack once more, and install the app again.",
    }
  const what = check === 'slack-token' ? 'Slack does not take the token' : 'Slack refuses'
  return {
    what: `${what} (${say.outside(code)}).`,
    remedy: `Install the app in Slack again, and set its bot token as ${say.code('SLACK_BOT_TOKEN')}.`,
  }
}

const socketRefused = (code: string, say: Say): FindingWords => ({
  what:
    code === 'missing_scope'
      ? `The app token lacks ${say.code('connections:write')}, so Slack delivers nothing.`
      : `Slack does not take the app token (${say.outside(code)}), and delivers nothing.`,
  remedy: appTokenRemedy(say.code),
})

function channelClosed({ channel, code }: Extract<Found, { kind: 'channel-closed' }>, say: Say): FindingWords {
  const where = say.channel(channel)
  if (code === 'is_archived')
    return { what: `${where} is archived.`, remedy: 'Unarchive it, or unsubscribe it from what it follows.' }
  if (code === 'not_in_channel')
    return { what: `Buildline is not in ${where}.`, remedy: `Type ${say.code('/invite @Buildline')} there.` }
  if (code === 'channel_not_found')
    return {
      what: `${where} (${say.code(channel)}) is gone, or private and without Buildline.`,
      remedy: `Type ${say.code('/invite @Buildline')} there, or take it out of the subscriptions.`,
    }
  return {
    what: `${where} takes nothing (${say.outside(code)}).`,
    remedy: "Ask one of the workspace's admins to open it.",
  }
}

function ciRefuses(check: CheckName, { code, scope }: Extract<Found, { kind: 'ci-refuses' }>, say: Say): FindingWords {
  const asked = scope === null ? '' : ` when it was asked for ${say.code(scope)}`
  return { what: `${CI_SAYS[code]}${asked}.`, remedy: ciRemedy(check, code, scope, say) }
}

const CI_SAYS: Record<CiErrorKind, string> = {
  'bad-request': 'CI did not understand the question',
  unauthorized: 'CI refuses the credentials',
  forbidden: 'CI says that the credentials lack the right',
  'not-found': 'CI knows nothing at that address',
  'rate-limited': 'CI has had too many requests just now',
  server: 'CI has a fault of its own',
  timeout: 'CI did not answer in time',
  unreachable: 'CI could not be reached',
  shape: 'CI answers in a form that is not its interface',
  'too-large': 'CI answers with more than Buildline reads',
}

function ciRemedy(check: CheckName, code: CiErrorKind, scope: string | null, say: Say): string {
  const { address, credentials } = SETTINGS[check] ?? V2
  const renewed = credentials.map(say.code).join(' or ')
  if (code === 'unauthorized') return `Renew ${renewed}, and start Buildline again.`
  if (code === 'forbidden')
    return scope === null
      ? `Give the owner of ${renewed} access in CI.`
      : `Give the credentials the scope ${say.code(scope)} in CI.`
  if (code === 'not-found' && check === 'ci-v2')
    return `Look whether ${say.code(address)} and ${say.code('CI_ORGANIZATION_UUID')} are right.`
  if (code === 'rate-limited' || code === 'server' || code === 'timeout') return 'Ask again in a few minutes.'
  return `Look whether ${say.code(address)} is right, and whether this machine reaches it.`
}

const V2 = { address: 'CI_BASE_URL', credentials: ['CI_AUTHORIZATION', 'CI_CLIENT_SECRET'] }
const SETTINGS: Partial<Record<CheckName, typeof V2>> = {
  'ci-v2': V2,
  'ci-v2-scopes': V2,
  'ci-legacy': { address: 'CI_LEGACY_BASE_URL', credentials: ['CI_API_KEY'] },
  site: { address: 'CI_SITE_URL', credentials: ['CI_SITE_URL'] },
}

type OfProject = Extract<Found, { project: string }>

const HOOK = '/webhooks/builds/<WEBHOOK_SECRET>'

function projectWords(found: OfProject, say: Say): FindingWords {
  const project = say.outside(found.project) || '(no name)'
  switch (found.kind) {
    case 'no-webhook-rule':
      return {
        what: `${project} has no webhook rule to Buildline, which hears nothing of it.`,
        remedy: `Give it one in CI, with every event, all branches, and the address ${say.code(`https://<host>${HOOK}`)}.`,
      }
    case 'webhook-secret':
      return {
        what: `${project} has a webhook rule with a secret that is not Buildline's: its deliveries are refused.`,
        remedy: `Put a value of ${say.code('WEBHOOK_SECRET')} at the end of the rule's address in CI.`,
      }
    case 'webhook-filtered':
      return filtered(project, found, say)
    case 'silent-project':
      return silent(project, found, say)
    default:
      return assertNever(found)
  }
}

function filtered(
  project: string,
  { events, branch }: Extract<Found, { kind: 'webhook-filtered' }>,
  say: Say,
): FindingWords {
  const only = branch === null ? '' : `branches other than ${say.outside(branch)}`
  const left = events.map((event) => say.outside(event)).join(', ')
  return {
    what: `${project}: its webhook rule leaves out ${only === '' ? left : only}.`,
    remedy:
      only === ''
        ? 'Select every event in that rule in CI: what channels are told is chosen in Slack.'
        : 'Let that rule be for all branches in CI: what channels are told is chosen in Slack.',
  }
}

function silent(
  project: string,
  { lastAt, builtAt }: Extract<Found, { kind: 'silent-project' }>,
  say: Say,
): FindingWords {
  const heard = lastAt === null ? 'nothing was ever heard of it' : `it was last heard of ${say.time(lastAt)}`
  const built = builtAt === null ? '' : `, and CI has a build of ${say.time(builtAt)}`
  return {
    what: `${project} has a webhook rule, but ${heard}${built}.`,
    remedy: `Look whether CI reaches Buildline at the rule's address; a new build tells.`,
  }
}

function storeWords(
  found: Extract<Found, { kind: 'no-database' | 'store-fails' | 'store-slow' | 'disk-full' }>,
  say: Say,
): FindingWords {
  switch (found.kind) {
    case 'no-database':
      return {
        what: 'There is no database yet.',
        remedy: `Start Buildline once, or set ${say.code('DATABASE_URL')} to the one that it uses.`,
      }
    case 'store-fails':
      return {
        what: `It could not be written (${say.outside(found.code)}): deliveries are answered with 503.`,
        remedy: `Look whether ${say.code('DATABASE_URL')} is right, and whether something holds the database.`,
      }
    case 'store-slow':
      return {
        what: `A write took ${durationWords(found.ms)}: every delivery waits so long.`,
        remedy: 'Look at what else uses that disk or database server.',
      }
    case 'disk-full':
      return {
        what: `Its disk has ${Math.floor(found.freeBytes / BYTES_PER_MB)} MB left.`,
        remedy: 'Make room on it, or move the database.',
      }
    default:
      return assertNever(found)
  }
}

const BYTES_PER_MB = 1024 * 1024
