import { type CiErrorKind, CiError } from '../../sources/http/errors.ts'
import type { ChannelId, SourceName, Uuid } from '../../domain/ids.ts'
import type { Permit } from '../../domain/permission.ts'
import type { BadgeClient } from '../../sources/ci-service/badge.ts'
import type { ClientLegacy } from '../../sources/ci-service/client-legacy.ts'
import type { Hook } from '../../sources/endpoint.ts'
import type { Rate } from '../../sources/http/exchange.ts'
import type { ClientV2 } from '../../sources/ci-service/client-v2.ts'
import type { Subscription } from '../../domain/subscription.ts'
import type { NameWithoutSource } from '../../catalog/named-sources.ts'
import type { Clock } from '../../lib/clock.ts'
import { errorCode } from '../../lib/error-code.ts'
import { toLine } from '../../lib/escape.ts'
import type { Log } from '../../lib/log.ts'
import type { SlackExaminer, SlackIdentity } from '../../slack/api/examiner.ts'
import type { Store } from '../../store/store.ts'
import type { LegacyProject, ProjectList, Project } from '../../domain/project.ts'

// The names of the checks, what they can find, and how names are shown in the sentences about it (`words.ts`).

/** What can be misconfigured, in the order of the answer. */
export const CHECKS = [
  'slack-token',
  'slack-scopes',
  'socket-mode',
  'clock',
  'channels',
  'names',
  'ci-v2',
  'ci-v2-scopes',
  'ci-legacy',
  'site',
  'github',
  'gitlab',
  'webhook-rules',
  'silent-projects',
  'store',
] as const

export type CheckName = (typeof CHECKS)[number]

/** `wrong`: somebody has to fix it. `unsure`: it could not be checked. `off`: not set up, perhaps on purpose. */
export type Verdict = 'fine' | 'wrong' | 'unsure' | 'off'

/** What one check found; a check has one finding or several. */
export interface Finding {
  verdict: Verdict
  check: CheckName
  what: CheckResult
}

/** Contains no secret. Text from outside is only in `project`, `name`, `branch`, `branches`, `events`, `reason`, `hook` and `code`. */
export type CheckResult =
  /** `count`: how many channels, projects or scopes were checked; null if a number says nothing */
  | { kind: 'fine'; count: number | null }
  | { kind: 'not-configured' }
  /** without an app token, Slack sends its requests over HTTP */
  | { kind: 'over-http' }
  /** requests with nothing wrong but their signature, since the last one that was right */
  | { kind: 'signatures-wrong'; count: number }
  /** Slack offers a connection, but the bot has none that lasts */
  | { kind: 'socket-trouble'; code: string }
  /** `said`: what Slack said of the app before, and when (ms) */
  | { kind: 'slack-refuses'; code: string; said?: { event: 'app_uninstalled' | 'tokens_revoked'; at: number } }
  /** Slack has limited the events that it sends (ms) */
  | { kind: 'events-limited'; at: number }
  | { kind: 'slack-away'; code: string }
  | { kind: 'scopes-missing'; scopes: readonly string[] }
  | { kind: 'nobody-follows' }
  | { kind: 'channel-closed'; channel: ChannelId; code: string }
  /** no build was on one of these branches for long, while the project had builds */
  | { kind: 'matches-nothing'; channel: ChannelId; project: string; branches: readonly string[]; isOfFile: boolean }
  /** a setting names the channel by an id that it had before */
  | { kind: 'channel-moved'; setting: 'DEFAULT_CHANNEL' | 'SUBSCRIPTIONS_FILE'; former: ChannelId; channel: ChannelId }
  /** what subscriptions mean that name no source, and only one source has a project of each name, or none yet */
  | { kind: 'names-meant'; names: readonly NameWithoutSource[] }
  /** several sources have a project of this name, and its subscription names none */
  | ({ kind: 'name-of-several' } & NameWithoutSource)
  /** `scope`: the right that the request needed; null: not known */
  | { kind: 'ci-refuses'; code: CiErrorKind; scope: string | null; certificate?: string }
  /** `reason`: the host's own message; `certificate`: why its certificate is not accepted, as a code of TLS */
  | {
      kind: 'host-refuses'
      host: HostName
      name: string
      code: CiErrorKind
      reason: string | null
      certificate?: string
    }
  /** the webhooks of these projects are all in this state; `hidden`: the token cannot see them */
  | {
      kind: 'host-hook'
      host: HostName
      names: readonly string[]
      hook: Exclude<Hook, { state: 'fine' }> | { state: 'hidden' }
    }
  | { kind: 'host-rate'; host: HostName; rate: Rate }
  /** some projects in CI's list could not be read */
  | { kind: 'projects-unread'; count: number }
  | ({ kind: 'no-webhook-rule'; project: string } & Addable)
  /** it has a rule to Buildline's path, but with a secret that is not ours */
  | ({ kind: 'webhook-secret'; project: string } & Addable)
  /** its rules leave out these events; if `branch` is set, only for the other branches */
  | { kind: 'webhook-filtered'; project: string; events: readonly string[]; branch: string | null }
  /** CI's newest build (`builtAt`, ms) is newer than the last delivery (`lastAt`), or nothing was ever delivered */
  | { kind: 'silent-project'; project: string; lastAt: number | null; builtAt: number | null }
  /** by how much our clock is ahead of Slack's */
  | { kind: 'clock-off'; ms: number }
  | { kind: 'no-database' }
  | { kind: 'store-fails'; code: string }
  | { kind: 'store-slow'; ms: number }
  | { kind: 'disk-full'; freeBytes: number }
  | { kind: 'not-checked'; why: Unchecked }
  /** further findings like the one before */
  | { kind: 'more'; count: number }

/** A project that lacks Buildline's webhook rule. `host`: of other projects' rules; null: no project has one. */
interface Addable {
  uuid: Uuid
  host: string | null
}

/** What Slack says of the app itself. */
export const APP_EVENTS = ['app_uninstalled', 'tokens_revoked', 'app_rate_limited'] as const
export type AppEvent = (typeof APP_EVENTS)[number]

/** The store records under this name when Slack last said it. */
export const saidName = (event: AppEvent): string => `slack ${event}`

/** Why something could not be checked. */
export type Unchecked =
  /** no answer in time */
  'late' | 'slack-away' | 'ci-away' | 'no-v2' | 'no-project' | 'store-fails' | 'not-said' | 'too-many' | 'fault'

/** How names, addresses and times are shown: in Slack's markup or as plain text. */
export interface Say {
  /** text from outside, as one line */
  outside(text: string): string
  /** text to type exactly as it is: a setting, a scope, an address */
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
  /** how to fix it; null: there is nothing to fix */
  remedy: string | null
}

export interface Examined {
  kind: 'findings'
  /** in the order of CHECKS; each check of something in use has at least one */
  findings: readonly Finding[]
  tookMs: number
}

export type DoctorOutcome =
  | Examined
  | { kind: 'forbidden'; permit: Extract<Permit, { kind: 'no' }> }
  | { kind: 'unknown-person'; code: string }

/** The sources that have no list of projects: the settings name the projects. */
export type HostName = Exclude<SourceName, 'ci'>

export interface Host {
  projects: readonly string[]
  /** Reads the builds of a project, as polling does; throws a CiError. */
  listBuilds(project: string): Promise<unknown>
  /** The state of the project's webhook; throws a CiError. */
  hook(project: string): Promise<Hook>
  /** How many calls are left, after the one that this takes; null: the host does not say. Throws a CiError. */
  rate(project: string): Promise<Rate | null>
}

export interface DoctorDeps {
  clock: Clock
  log: Pick<Log, 'warn'>
  slack: SlackExaminer
  /** the scopes in the manifest, and the one for PEOPLE_BY_EMAIL if that is set */
  scopesNeeded: readonly string[]
  subscriptions: () => Promise<readonly Subscription[]>
  /** those of the file and the settings, as they are written there */
  fixed: readonly Subscription[]
  namesWithoutSource: () => Promise<readonly NameWithoutSource[]>
  /** null: there is no database yet */
  store: Pick<Store, 'read' | 'write'> | null
  /** false: GitHub or GitLab is set up, and the CI service is not */
  usesCi: boolean
  v2: Pick<ClientV2, 'listProjects' | 'updateProject' | 'stopBuild'> | null
  legacy: Pick<ClientLegacy, 'listProjects'> | null
  badges: Pick<BadgeClient, 'fetchBadge'> | null
  hosts: Record<HostName, Host | null>
  /** requests with nothing wrong but their signature, since the last one that was right; 0 if not known */
  wrongSignatures: () => Promise<number>
  /** why Slack can deliver nothing over Socket Mode, as a code; null: it can, or that is not known */
  socketTrouble: () => Promise<string | null>
  /** whether the secret in this webhook address is one of ours */
  isOurs: (webhook: URL) => boolean
  /** the free space on the database's disk; null: the database is on another machine */
  freeBytes: (() => Promise<number>) | null
}

/** CI's response to one request: the value, or its error; `none`: that interface is not set up. */
export type InterfaceReading<Value> =
  | { kind: 'read'; value: Value }
  | { kind: 'trouble'; error: CiError }
  | { kind: 'none' }

/** One examination: its dependencies, the signal that aborts it, and what several checks need, requested once. */
export interface Examination extends DoctorDeps {
  signal: AbortSignal
  identity(): Promise<SlackIdentity>
  projects(): Promise<InterfaceReading<ProjectList<Project>>>
  legacyProjects(): Promise<InterfaceReading<ProjectList<LegacyProject>>>
}

export function beginExamination(deps: DoctorDeps, signal: AbortSignal): Examination {
  const { slack, v2, legacy } = deps
  return {
    ...deps,
    signal,
    identity: once(() => slack.identity()),
    projects: once(() => readingOf(v2 && (() => v2.listProjects({}, signal)))),
    legacyProjects: once(() => readingOf(legacy && (() => legacy.listProjects(signal)))),
  }
}

function once<Value>(ask: () => Promise<Value>): () => Promise<Value> {
  let promise: Promise<Value> | null = null
  return () => (promise ??= ask())
}

/** The code of TLS that says why a certificate is not accepted, if that is the error. */
export const certificateIn = ({ kind, cause }: CiError): { certificate?: string } => {
  const code = kind === 'certificate' ? errorCode(cause) : null
  return code === null ? {} : { certificate: code }
}

async function readingOf<Value>(ask: (() => Promise<Value>) | null): Promise<InterfaceReading<Value>> {
  if (!ask) return { kind: 'none' }
  try {
    return { kind: 'read', value: await ask() }
  } catch (error) {
    if (error instanceof CiError) return { kind: 'trouble', error }
    throw error
  }
}

/** The most findings of one check that are shown; the others are counted. */
export const FINDINGS_MAX = 10

/** The projects as CI lists them now, with their rules; or why they cannot be checked. */
export async function listedProjects({
  projects,
}: Examination): Promise<
  { kind: 'projects'; projects: readonly Project[] } | Extract<CheckResult, { kind: 'not-checked' }>
> {
  const reading = await projects()
  if (reading.kind === 'none') return { kind: 'not-checked', why: 'no-v2' }
  if (reading.kind === 'trouble') return { kind: 'not-checked', why: 'ci-away' }
  if (reading.value.projects.length === 0) return { kind: 'not-checked', why: 'no-project' }
  return { kind: 'projects', projects: reading.value.projects }
}

export const bounded = (results: readonly CheckResult[]): CheckResult[] =>
  results.length > FINDINGS_MAX
    ? [...results.slice(0, FINDINGS_MAX), { kind: 'more', count: results.length - FINDINGS_MAX }]
    : [...results]
