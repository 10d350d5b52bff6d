import { assertNever } from '../../lib/assert.ts'
import { counted } from '../../slack/messages/build.ts'
import { durationWords } from '../../slack/messages/times.ts'
import { EMAIL_SCOPE } from '../../slack/api/examiner.ts'
import {
  appTokenRemedy,
  certificateWords,
  nobodyFollows,
  socketReason,
  SOURCE_NAMES,
} from '../../slack/messages/words.ts'
import { ciWords } from './check-ci.ts'
import { hookWords, hostWords, rateWords } from './hosts.ts'
import type { NameWithoutSource } from '../../catalog/named-sources.ts'
import type { SourceName } from '../../domain/ids.ts'
import {
  FINDINGS_MAX,
  type CheckName,
  type Finding,
  type CheckResult,
  type Unchecked,
  type FindingWords,
  type Say,
  type Verdict,
} from './findings.ts'

// What the doctor found and how to fix it, in words: for Slack and for the command line.

/** A check in words. */
interface CheckWords {
  title: string
  /** if nothing is wrong. @param count what was checked */
  fine: (count: number) => string
  /** if it is not set up */
  off?: string
  /** the system that it calls, if that is not CI */
  calls?: string
}

export const CHECK_WORDS: Record<CheckName, CheckWords> = {
  'slack-token': { title: 'Slack token', calls: 'Slack', fine: () => 'Slack accepts it.' },
  'slack-scopes': { title: 'Slack scopes', calls: 'Slack', fine: () => 'All scopes of the manifest are granted.' },
  'socket-mode': { title: 'Requests from Slack', calls: 'Slack', fine: () => 'They arrive over Socket Mode.' },
  clock: { title: 'Clock', calls: 'Slack', fine: () => "It agrees with Slack's clock." },
  channels: { title: 'Channels', calls: 'Slack', fine: (count) => `${counted(count, 'channel')} can get builds.` },
  names: { title: 'Names without a source', calls: 'the database', fine: () => 'It is clear whose projects they are.' },
  'ci-v2': {
    title: 'CI, v2 interface',
    fine: (count) => `${counted(count, 'project')} can be read.`,
    off: 'Not set up (CI_BASE_URL): rules cannot be read, and builds cannot be stopped.',
  },
  'ci-v2-scopes': {
    title: 'CI, rights to write',
    fine: () => 'Projects can be changed and builds can be stopped.',
    off: 'Not set up (CI_BASE_URL).',
  },
  'ci-legacy': {
    title: 'CI, legacy interface',
    fine: (count) => `${counted(count, 'Basic project')} can be read.`,
    off: 'Not set up (CI_LEGACY_BASE_URL): builds cannot be restarted.',
  },
  site: {
    title: 'CI, site',
    fine: () => 'Badges can be read.',
    off: 'Not set up (CI_SITE_URL): there are no badges.',
  },
  github: {
    title: 'GitHub',
    calls: 'GitHub',
    fine: (count) => `The runs of ${counted(count, 'repository', 'repositories')} can be read.`,
    off: 'Not set up (GITHUB_REPOSITORIES).',
  },
  gitlab: {
    title: 'GitLab',
    calls: 'GitLab',
    fine: (count) => `The pipelines of ${counted(count, 'project')} can be read.`,
    off: 'Not set up (GITLAB_PROJECTS).',
  },
  'webhook-rules': {
    title: 'Webhook rules',
    fine: (count) => `${counted(count, 'project')} send${count === 1 ? 's' : ''} every event.`,
  },
  'silent-projects': {
    title: 'Silent projects',
    fine: (count) => `None of the ${counted(count, 'project')} with a webhook rule is silent.`,
  },
  store: { title: 'Database', calls: 'the database', fine: () => 'Writing works, and the disk has room.' },
}

export function findingWords({ check, what }: Pick<Finding, 'check' | 'what'>, say: Say): FindingWords {
  switch (what.kind) {
    case 'fine':
      return { what: CHECK_WORDS[check].fine(what.count ?? 0), remedy: null }
    case 'not-configured':
      return { what: CHECK_WORDS[check].off ?? 'Not set up.', remedy: null }
    case 'over-http':
      return { what: `Slack sends requests over HTTP, because SLACK_APP_TOKEN is not set.`, remedy: null }
    case 'signatures-wrong':
      return {
        what: `${counted(what.count, 'request')} had a wrong signature, and none since had a right one.`,
        remedy: `Set ${say.code('SLACK_SIGNING_SECRET')} to the Signing Secret under Basic Information in the app's settings in Slack, and restart Buildline.`,
      }
    case 'socket-trouble':
      return (
        socketReason(what.code, say.code) ?? {
          what: `The bot has no connection to Slack (${say.outside(what.code)}): no command, click or mention arrives.`,
          remedy: 'Check that this machine can open WebSockets to Slack.',
        }
      )
    case 'events-limited':
      return {
        what: `Since ${say.time(what.at)} Slack leaves out events, because it had more than 30,000 in an hour to send, or few were answered.`,
        remedy: `Subscribe the app only to the events in manifest.yml, and look in the log for requests that failed.`,
      }
    case 'slack-refuses':
      return slackRefuses(check, what, say)
    case 'slack-away':
      return (
        certificateWords(what.code, { server: 'Slack', address: null }, say.code) ?? {
          what: `Slack could not be asked (${say.outside(what.code)}).`,
          remedy: 'Check that this machine can reach slack.com.',
        }
      )
    case 'scopes-missing':
      return {
        what: `The token lacks ${what.scopes.map(say.code).join(', ')}.`,
        remedy: what.scopes.includes(EMAIL_SCOPE) ? addScopes(what.scopes, say) : UPDATE_APP,
      }
    case 'nobody-follows':
      return nobodyFollows(say.code)
    case 'channel-closed':
      return channelClosed(what, say)
    case 'matches-nothing':
      return matchesNothing(what, say)
    case 'channel-moved':
      return {
        what: `${say.code(what.setting)} names ${say.channel(what.channel)} by an id that it no longer has (${say.code(what.former)}).`,
        remedy: `Write ${say.code(what.channel)} there. Until then, Buildline still posts in it.`,
      }
    case 'names-meant':
      return { what: namesMeant(what.names, say), remedy: null }
    case 'name-of-several':
      return nameOfSeveral(what, say)
    case 'host-refuses':
      return hostWords(what, say)
    case 'host-hook':
      return hookWords(what, say)
    case 'host-rate':
      return rateWords(what, say)
    case 'ci-refuses':
      return ciWords(check, what, say)
    case 'projects-unread':
      return {
        what: `${counted(what.count, 'project')} in CI's list could not be read.`,
        remedy: 'The log names them.',
      }
    case 'clock-off':
      return {
        what: `This machine's clock is ${durationWords(Math.abs(what.ms))} ${what.ms > 0 ? 'ahead of' : 'behind'} Slack's; at 5 min, Buildline has to refuse what Slack sends.`,
        remedy: 'Synchronize the clock (NTP).',
      }
    case 'more':
      return { what: `… and ${what.count} more like this.`, remedy: null }
    case 'not-checked':
      return { what: `Not checked: ${UNCHECKED[what.why](check, say)}.`, remedy: null }
    case 'no-webhook-rule':
      return {
        what: `${projectOf(what, say)} has no webhook rule for Buildline, so its builds are not seen.`,
        remedy: `Add one in CI with every event, all branches and the address ${say.code('https://<host>/webhooks/builds/<WEBHOOK_SECRET>')}.`,
      }
    case 'webhook-secret':
      return {
        what: `${projectOf(what, say)} has a webhook rule with a wrong secret, so its deliveries are refused.`,
        remedy: `In CI, replace the secret at the end of the rule's address with the value of ${say.code('WEBHOOK_SECRET')}.`,
      }
    case 'webhook-filtered':
      return filtered(what, say)
    case 'silent-project':
      return silent(what, say)
    case 'no-database':
      return {
        what: 'There is no database yet.',
        remedy: `Start Buildline once, or set ${say.code('DATABASE_URL')} to the database it uses.`,
      }
    case 'store-fails':
      return (
        certificateWords(what.code, { server: 'the database', address: 'DATABASE_URL' }, say.code) ?? {
          what: `Writing failed (${say.outside(what.code)}), so deliveries are answered with 503.`,
          remedy: `Check ${say.code('DATABASE_URL')}, and whether something else locks the database.`,
        }
      )
    case 'store-slow':
      return {
        what: `A write took ${durationWords(what.ms)}, and every delivery waits that long.`,
        remedy: 'Find out what else uses that disk or database server.',
      }
    case 'disk-full':
      return {
        what: `The disk has ${Math.floor(what.freeBytes / BYTES_PER_MB)} MB left.`,
        remedy: 'Free some space, or move the database.',
      }
    default:
      return assertNever(what)
  }
}

const BYTES_PER_MB = 1024 * 1024

// The manifest lacks scopes that only a setting needs, so pasting it again would not help.
const addScopes = (scopes: readonly string[], say: Say): string =>
  `Add ${scopes.map(say.code).join(', ')} under OAuth & Permissions in the app's settings in Slack, and reinstall the app; ${say.code(EMAIL_SCOPE)} is for ${say.code('PEOPLE_BY_EMAIL')}.`

const UPDATE_APP = "Paste manifest.yml into the app's settings in Slack again, and reinstall the app."

const UNCHECKED: Record<Unchecked, (check: CheckName, say: Say) => string> = {
  late: (check) => `${CHECK_WORDS[check].calls ?? 'CI'} did not answer in 5 s`,
  'slack-away': () => 'Slack could not be asked',
  'ci-away': () => "CI's projects could not be read",
  'no-v2': (_, { code }) => `only CI's v2 interface shows the rules, and it is not set up (${code('CI_BASE_URL')})`,
  'no-project': () => 'CI lists no project',
  'store-fails': () => 'the database could not be read',
  'not-said': (check) => `${CHECK_WORDS[check].calls ?? 'CI'} did not say`,
  'too-many': () => 'there are too many channels to check at once',
  fault: () => 'Buildline had an error; the log has the details',
}

function slackRefuses(
  check: CheckName,
  { code, said }: Extract<CheckResult, { kind: 'slack-refuses' }>,
  say: Say,
): FindingWords {
  if (check === 'socket-mode') return socketRefused(code, say)
  if (code === 'missing_scope')
    return {
      what: `A scope is missing for this check (${say.outside(code)}).`,
      remedy: UPDATE_APP,
    }
  const what = check === 'slack-token' ? 'Slack does not accept the token' : 'Slack refuses'
  const why = said ? `: ${SAID_OF_APP[said.event]} ${say.time(said.at)}` : ''
  return {
    what: `${what} (${say.outside(code)})${why}.`,
    remedy: `Install the app in Slack again and set its bot token as ${say.code('SLACK_BOT_TOKEN')}.`,
  }
}

const SAID_OF_APP = {
  app_uninstalled: 'the app was uninstalled',
  tokens_revoked: 'its tokens were revoked',
} as const

const socketRefused = (code: string, say: Say): FindingWords => ({
  what:
    code === 'missing_scope'
      ? `The app token lacks ${say.code('connections:write')}, so Slack sends nothing.`
      : `Slack does not accept the app token (${say.outside(code)}) and sends nothing.`,
  remedy: appTokenRemedy(say.code),
})

function channelClosed({ channel, code }: Extract<CheckResult, { kind: 'channel-closed' }>, say: Say): FindingWords {
  const where = say.channel(channel)
  if (code === 'is_archived')
    return { what: `${where} is archived.`, remedy: 'Unarchive it, or remove its subscriptions.' }
  if (code === 'is_moved')
    return {
      what: `${where} was moved, and goes on elsewhere.`,
      remedy: `Type ${say.code('/ci subscribe')} in the channel where it goes on, and remove its subscriptions.`,
    }
  if (code.startsWith('restricted_action'))
    return {
      what: `Only some people may post in ${where} (${say.outside(code)}).`,
      remedy: "Let Buildline post there, in the channel's settings in Slack, or remove its subscriptions.",
    }
  if (code === 'not_in_channel')
    return { what: `Buildline is not in ${where}.`, remedy: `Type ${say.code('/invite @Buildline')} there.` }
  if (code === 'channel_not_found')
    return {
      what: `${where} (${say.code(channel)}) is gone, or private and Buildline is not in it.`,
      remedy: `Type ${say.code('/invite @Buildline')} there, or remove its subscriptions.`,
    }
  return {
    what: `Slack refuses messages to ${where} (${say.outside(code)}).`,
    remedy: 'Ask a workspace admin to let Buildline post there.',
  }
}

function matchesNothing(
  { channel, project, branches, isOfFile }: Extract<CheckResult, { kind: 'matches-nothing' }>,
  say: Say,
): FindingWords {
  const named = branches.slice(0, FINDINGS_MAX).map(say.outside).join(', ')
  return {
    what: `${say.channel(channel)} follows ${say.outside(project)} on ${named}, and no build of the last 30 days matched.`,
    remedy: isOfFile
      ? 'Correct the branch in the subscriptions file.'
      : `Type ${say.code('/ci rules')} there, and correct the branch.`,
  }
}

function namesMeant(names: readonly NameWithoutSource[], say: Say): string {
  const shown = names.slice(0, FINDINGS_MAX).map(({ name, known: [source], now }) => {
    if (now !== null)
      return `${say.outside(name)} is called ${say.outside(now)} now, and is still followed: correct the name`
    return `${say.outside(name)} is ${source === undefined ? 'not known yet' : `a project of ${SOURCE_NAMES[source]}`}`
  })
  const more = names.length - shown.length
  return `${shown.join(', ')}${more > 0 ? `, and ${more} more` : ''}.`
}

function nameOfSeveral({ name, known, meant }: NameWithoutSource, say: Say): FindingWords {
  const ofAll = (sources: readonly SourceName[]) => sources.map((source) => SOURCE_NAMES[source]).join(' and ')
  return {
    what: `${say.outside(name)} is a project of ${ofAll(known)}. Its subscription means ${ofAll(known.filter((one) => meant.includes(one)))}.`,
    remedy: `Name the source of its entry in ${say.code('SUBSCRIPTIONS_FILE')}, such as ${say.code('source: github')}; a subscription made in Slack gets it when somebody subscribes again.`,
  }
}

/** `2 things are wrong, and 1 needs a look.` Checks that gave no result are counted, so that they are not taken as fine. */
export function endWords(findings: readonly Finding[], strong = (words: string): string => words): string {
  const count = (verdict: Verdict) => findings.filter((one) => one.verdict === verdict).length
  const [wrong, unsure] = [count('wrong'), count('unsure')]
  const found = wrong === 0 ? 'Nothing is wrong' : `${counted(wrong, 'thing')} ${wrong === 1 ? 'is' : 'are'} wrong`
  const open = unsure === 0 ? '' : `, and ${unsure} ${unsure === 1 ? 'needs' : 'need'} a look`
  return `${strong(found)}${open}.`
}

const projectOf = ({ project }: { project: string }, say: Say): string => say.outside(project) || '(no name)'

function filtered(found: Extract<CheckResult, { kind: 'webhook-filtered' }>, say: Say): FindingWords {
  const { events, branch } = found
  const [left, whole] =
    branch === null
      ? [events.map((event) => say.outside(event)).join(', '), 'Select every event in that rule']
      : [`branches other than ${say.outside(branch)}`, 'Make that rule cover all branches']
  return {
    what: `The webhook rule of ${projectOf(found, say)} leaves out ${left}.`,
    remedy: `${whole} in CI. Channels choose in Slack what they get.`,
  }
}

function silent(found: Extract<CheckResult, { kind: 'silent-project' }>, say: Say): FindingWords {
  const { lastAt, builtAt } = found
  const lastReport = lastAt === null ? 'no build was ever reported' : `the last report was ${say.time(lastAt)}`
  const built = builtAt === null ? '' : `, and CI has a build of ${say.time(builtAt)}`
  return {
    what: `${projectOf(found, say)} has a webhook rule, but ${lastReport}${built}.`,
    remedy: `Check that CI can reach Buildline at the rule's address, then start a build.`,
  }
}
