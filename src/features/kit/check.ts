import { type ChannelId, type Uuid, isChannelId } from '../../domain/ids.ts'
import type { ProjectWithBuilds, ProjectList, Project } from '../../domain/ci-project/project.ts'
import type { Subscription } from '../../domain/rules/subscription.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import { type SlackExaminer, type SlackIdentity, EMAIL_SCOPE, SCOPES } from '../../slack/api/examiner.ts'
import type { BadgeClient } from '../../sources/ci-service/badge.ts'
import type { ClientLegacy } from '../../sources/ci-service/client-legacy.ts'
import type { ClientV2 } from '../../sources/ci-service/client-v2.ts'
import type { GithubClient } from '../../sources/github/client.ts'
import type { GitlabClient } from '../../sources/gitlab/client.ts'
import type { CiError } from '../../sources/http/errors.ts'
import type { Reads, Tx } from '../../store/store.ts'
import { codeSpan, toLine } from '../../lib/escape.ts'
import { outside } from '../../slack/messages/build.ts'
import { PROJECT_CHARS_MAX } from '../../slack/messages/limits.ts'
import { dayTime } from '../../slack/messages/times.ts'
import type { SlackTrouble } from '../../slack/api/errors.ts'

// The doctor's checks, what they get, and what they find. A check belongs to the feature whose things it checks.

/** Something that can be misconfigured. It holds nothing: the command line runs it without the rest of its feature. */
export interface Check {
  /** for the log */
  name: string
  title: string
  /** the service that the check calls, to name if it takes too long */
  calls: string
  /** left out if only GitHub or GitLab is set up */
  isOfCi?: boolean
  /** the part of it that runs at a start, with its findings in the log; true: all of it */
  atStart?: true | Check['run']
  /** nothing works without the service that it calls: if that does not answer, the finding is `wrong` */
  isVital?: boolean
  /** Finds at least one thing, unless there is nothing to check. Throws only if Buildline has a bug. */
  run(examination: Examination): Promise<Finding[]>
}

/** `wrong`: somebody has to fix it. `unsure`: it could not be checked. `off`: not set up, perhaps on purpose. */
export type Verdict = 'fine' | 'wrong' | 'unsure' | 'off'

/** What a check found, as text without secrets. */
export interface Finding {
  verdict: Verdict
  /** a sentence; if `off`, only a setting or a clause, since all of these share one line */
  what: string
  /** how to fix it; null: there is nothing to fix */
  remedy: string | null
  /** a button can add the webhook rule of this project; `remedy`: what to do if the button is shown */
  addWebhook?: { uuid: Uuid; remedy: string }
  /** the channel that cannot be posted in, and Slack's code that says why */
  closed?: { channel: ChannelId; code: string }
}

export const fine = (what: string): Finding => ({ verdict: 'fine', what, remedy: null })
export const wrong = (what: string, remedy: string): Finding => ({ verdict: 'wrong', what, remedy })
export const unsure = (what: string, remedy: string): Finding => ({ verdict: 'unsure', what, remedy })
export const off = (what: string): Finding => ({ verdict: 'off', what, remedy: null })
export const notChecked = (why: string): Finding => ({
  verdict: 'unsure',
  what: `Not checked: ${why}.`,
  remedy: null,
})

export const SLACK_NOT_ASKED = notChecked('the request to Slack failed')
export const STORE_NOT_READ = notChecked('the database could not be read')
export const NO_PROJECT = notChecked('CI lists no project')

/** The most findings of one check that are shown; the others are counted. */
export const FINDINGS_MAX = 10

export function bounded(findings: readonly Finding[]): Finding[] {
  const shown = findings.slice(0, FINDINGS_MAX)
  const more = findings.length - shown.length
  if (more === 0) return shown
  return [...shown, { verdict: shown.at(-1)!.verdict, what: `… and ${more} more like this.`, remedy: null }]
}

/** One examination: its dependencies, how it shows names, and what several checks need, requested once. */
export interface Examination extends DoctorDeps {
  say: Say
  /** aborts it */
  signal: AbortSignal
  identity(): Promise<SlackIdentity>
  /** CI's list, or its error; null: that interface is not set up */
  projects(): Promise<ProjectList<Project> | CiError | null>
  legacyProjects(): Promise<ProjectList<ProjectWithBuilds> | CiError | null>
}

export interface DoctorDeps {
  clock: Clock
  log: Pick<Log, 'warn'>
  config: {
    asksByEmail: boolean
    /** as they are written in the file and the settings */
    subscriptions: readonly Subscription[]
    github: { repositories: readonly string[] }
    gitlab: { projects: readonly string[] }
  }
  slack: SlackExaminer
  subscriptions: () => Promise<readonly Subscription[]>
  /** null: there is no database yet */
  store: {
    read: Pick<Reads, 'lastDoneAt' | 'movedChannels' | 'deliveredAs' | 'branchesOf'> & {
      newestBuild(projectId: string, branch?: string): Promise<{ at: number } | null>
    }
    write(work: (tx: Pick<Tx, 'setLastDoneAt'>) => Promise<void>): Promise<void>
  } | null
  /** the free space on the database's disk; null: the database is on another machine */
  freeBytes: (() => Promise<number>) | null
  v2: Pick<ClientV2, 'listProjects' | 'updateProject' | 'stopBuild'> | null
  legacy: Pick<ClientLegacy, 'listProjects'> | null
  badges: { fetchBadge(...args: Parameters<BadgeClient['fetchBadge']>): Promise<unknown> } | null
  github: Pick<
    GithubClient,
    'runs' | 'hooks' | 'rate' | 'cancel' | 'file' | 'failedJobs' | 'annotations' | 'refusals'
  > | null
  gitlab: Pick<GitlabClient, 'pipelines' | 'hooks' | 'rate' | 'scopes' | 'project'> | null
  webhookSecrets: readonly string[]
  receiving: () => Promise<Receiving>
}

/** What only the running bot knows about Slack's requests. */
export interface Receiving {
  /** requests with only the signature wrong, since the last valid one; 0 if not known */
  wrongSignatures: number
  /** why Slack can deliver nothing over Socket Mode, as a code; null: it can, or that is not known */
  socketTrouble: string | null
}

/** How names, addresses and times are shown. */
export interface Say {
  /** text from outside, as one line */
  outside(text: string): string
  /** text to type exactly as it is: a setting, a scope, an address */
  code(text: string): string
  channel(id: string): string
  /** a channel whose name Slack may not show, so with its id */
  lostChannel(id: string): string
  time(atMs: number): string
}

export const IN_SLACK: Say = {
  outside: (text) => outside(text, PROJECT_CHARS_MAX),
  code: codeSpan,
  channel: (id) => (isChannelId(id) ? `<#${id}>` : outside(id, PROJECT_CHARS_MAX)),
  lostChannel: (id) => `${IN_SLACK.channel(id)} (${codeSpan(id)})`,
  time: (atMs) => dayTime(atMs) ?? 'at an unknown time',
}

/** For a terminal and a log. */
export const IN_PLAIN_TEXT: Say = {
  outside: toLine,
  code: (text) => text,
  channel: (id) => `channel ${id}`,
  lostChannel: (id) => `channel ${id}`,
  time: (atMs) => new Date(atMs).toISOString(),
}

// What a check finds if Slack refuses its call.

export const notAccepted = (what: string, say: Say): Finding =>
  wrong(what, `Install the app in Slack again and set its bot token as ${say.code('SLACK_BOT_TOKEN')}.`)

/** The scopes in the manifest, and the one for PEOPLE_BY_EMAIL if that is set. */
export const scopesNeeded = ({ asksByEmail }: DoctorDeps['config']): readonly string[] =>
  asksByEmail ? [...SCOPES, EMAIL_SCOPE] : SCOPES

export function lacks(missing: readonly string[], say: Say): Finding {
  const listed = missing.map(say.code).join(', ')
  return wrong(
    `The token lacks ${listed}.`,
    // The manifest lacks scopes that only a setting needs, so pasting it again would not help.
    missing.includes(EMAIL_SCOPE)
      ? `Add ${listed} under OAuth & Permissions in the app's settings in Slack, and reinstall the app; ${say.code(EMAIL_SCOPE)} is for ${say.code('PEOPLE_BY_EMAIL')}.`
      : UPDATE_APP,
  )
}

const UPDATE_APP = "Paste manifest.yml into the app's settings in Slack again, and reinstall the app."

/** Slack refuses a call of another check. */
export function refusedBySlack({ code, needed }: SlackTrouble, { config, say }: Examination): Finding {
  if (code !== 'missing_scope') return notAccepted(`Slack refuses (${say.outside(code)}).`, say)
  // Slack names every scope that would suffice, even those that the app does not use.
  const ours = needed?.filter((scope) => scopesNeeded(config).includes(scope)) ?? []
  return ours.length > 0
    ? lacks(ours, say)
    : wrong(`A scope is missing for this check (${say.outside(code)}).`, UPDATE_APP)
}
