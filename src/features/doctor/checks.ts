import {
  type CheckName,
  type Finding,
  type CheckResult,
  type Verdict,
  type Examination,
  type AppEvent,
  bounded,
  listedProjects,
  saidName,
} from './findings.ts'
import { checkLegacy, checkSite, checkV2, checkV2Scopes, checkWebhookRules, hasOurRule } from './check-ci.ts'
import { checkBranches } from './check-branches.ts'
import { checkHost, isNearlyUsedUp } from './hosts.ts'
import type { NameWithoutSource } from '../../catalog/named-sources.ts'
import type { ChannelId } from '../../domain/ids.ts'
import type { LegacyProject, Project } from '../../domain/project.ts'
import type { DeliveredProject } from '../../store/records.ts'
import { errorCode } from '../../lib/error-code.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Returns at least one finding, unless there is nothing to check. Throws only if Buildline has a bug. */
type Check = (examination: Examination) => Promise<CheckResult[]>

/** Everything that can be misconfigured, with the function that checks it. */
export const CHECK_OF: Record<CheckName, Check> = {
  'slack-token': checkToken,
  'slack-scopes': checkScopes,
  'socket-mode': checkRequests,
  clock: checkClock,
  channels: checkChannels,
  names: checkNames,
  'ci-v2': checkV2,
  'ci-v2-scopes': checkV2Scopes,
  'ci-legacy': checkLegacy,
  site: checkSite,
  github: checkHost('github'),
  gitlab: checkHost('gitlab'),
  'webhook-rules': checkWebhookRules,
  'silent-projects': checkSilent,
  store: checkStore,
}

/**
 * What a finding means. A temporary failure of CI is no misconfiguration, and a project that never sent anything may
 * never have built. Slack or the database not answering is `wrong`, whatever the reason: nothing works without them.
 */
export function verdictOf({ check, what: result }: Pick<Finding, 'check' | 'what'>): Verdict {
  if (result.kind === 'slack-away') return BUSY.has(result.code) ? 'unsure' : 'wrong'
  if (result.kind === 'not-checked') return result.why === 'late' && VITAL.has(check) ? 'wrong' : 'unsure'
  if (result.kind === 'ci-refuses' || result.kind === 'host-refuses')
    return PASSING.has(result.code) ? 'unsure' : 'wrong'
  if (result.kind === 'silent-project') return result.lastAt === null && result.builtAt === null ? 'unsure' : 'wrong'
  if (result.kind === 'host-rate') return isNearlyUsedUp(result.rate) ? 'unsure' : 'fine'
  // Polling works without a webhook.
  if (result.kind === 'host-hook') return ['none', 'hidden'].includes(result.hook.state) ? 'off' : 'wrong'
  return VERDICTS[result.kind] ?? 'wrong'
}

/** Kinds that are not listed here are `wrong`. */
const VERDICTS: Partial<Record<CheckResult['kind'], Verdict>> = {
  fine: 'fine',
  'names-meant': 'fine',
  'over-http': 'fine',
  'not-configured': 'off',
  'projects-unread': 'unsure',
  'matches-nothing': 'unsure',
}

const PASSING: ReadonlySet<string> = new Set(['timeout', 'server', 'rate-limited'])

/** Slack is up, but limits our rate. */
const BUSY: ReadonlySet<string> = new Set(['ratelimited', 'rate_limited'])

/** If one of these checks does not end in time, that itself is `wrong`. */
const VITAL: ReadonlySet<CheckName> = new Set(['slack-token', 'store'])

/** Slack allows about fifty such calls a minute. Further channels are not checked. */
export const CHANNELS_MAX = 40
const AT_ONCE = 4

/** Is there any subscription, can Buildline post in each of their channels, and do their branches match builds? */
async function checkChannels(examination: Examination): Promise<CheckResult[]> {
  const subscriptions = await examination.subscriptions().catch(() => null)
  if (subscriptions === null) return [STORE_FAILS]
  const channels = [...new Set(subscriptions.map(({ channel }) => channel))]
  if (channels.length === 0) return [{ kind: 'nobody-follows' }]
  const checked = await checkAll(examination, channels.slice(0, CHANNELS_MAX))
  const results = [
    ...checked.filter((one) => one !== null),
    ...(await checkBranches(examination).catch(() => [STORE_FAILS])),
    ...(await outdatedChannels(examination)),
  ]
  const rest: CheckResult[] = channels.length > CHANNELS_MAX ? [{ kind: 'not-checked', why: 'too-many' }] : []
  return results.length > 0 ? [...results, ...rest] : [{ kind: 'fine', count: checked.length }, ...rest]
}

const STORE_FAILS: CheckResult = { kind: 'not-checked', why: 'store-fails' }

/** Settings that still name a channel by an id that it had before. They work, as long as this database is used. */
async function outdatedChannels({ fixed, store }: Examination): Promise<CheckResult[]> {
  const moved = await store?.read.movedChannels().catch(() => null)
  return [...new Map(fixed.map((one) => [`${one.source} ${one.channel}`, one])).values()].flatMap((one) => {
    const channel = moved?.get(one.channel)
    if (channel === undefined) return []
    const setting = one.source === 'default-channel' ? 'DEFAULT_CHANNEL' : 'SUBSCRIPTIONS_FILE'
    return [{ kind: 'channel-moved', setting, former: one.channel, channel }]
  })
}

async function checkAll(examination: Examination, channels: readonly ChannelId[]): Promise<(CheckResult | null)[]> {
  const found: (CheckResult | null)[] = []
  for (let at = 0; at < channels.length; at += AT_ONCE) {
    const some = await Promise.all(
      channels.slice(at, at + AT_ONCE).map((channel) => checkChannel(examination, channel)),
    )
    found.push(...some)
    // Such an error concerns every channel: the token, a scope, or Slack itself.
    const general = some.find((one) => one !== null && one.kind !== 'channel-closed')
    if (general) return [general]
  }
  return found
}

/** Null if nothing is wrong with the channel. */
async function checkChannel({ slack }: Examination, channel: ChannelId): Promise<CheckResult | null> {
  const result = await slack.channel(channel)
  switch (result.kind) {
    case 'open':
      return null
    case 'closed':
      return { kind: 'channel-closed', channel, code: result.code }
    case 'refuses':
      return { kind: 'slack-refuses', code: result.code }
    case 'away':
      return { kind: 'not-checked', why: 'slack-away' }
  }
}

/** Is it clear whose project each subscription means? Nothing to check if all name their source, or have ids. */
async function checkNames({ namesWithoutSource }: Examination): Promise<CheckResult[]> {
  const names = await namesWithoutSource().catch(() => null)
  if (names === null) return [{ kind: 'not-checked', why: 'store-fails' }]
  const [several, clear] = [names.filter(isOfSeveral), names.filter((one) => !isOfSeveral(one))]
  return [
    ...bounded(several.map((one) => ({ kind: 'name-of-several', ...one }) as const)),
    ...(clear.length > 0 ? [{ kind: 'names-meant', names: clear } as const] : []),
  ]
}

const isOfSeveral = ({ known }: NameWithoutSource): boolean => known.length > 1

/** CI's newest build may be this much newer than the last delivery. If it is newer still, the project is silent. */
export const SILENT_MS_MAX = 60 * 60_000

/** A delivery may be in flight for this long. */
export const UNDER_WAY_MS_MAX = 2 * 60_000

/** Is there a project with a webhook rule whose builds are not delivered? */
async function checkSilent(examination: Examination): Promise<CheckResult[]> {
  const reading = await listedProjects(examination)
  if (reading.kind === 'not-checked') return [reading]
  const { store } = examination
  if (!store) return [{ kind: 'not-checked', why: 'store-fails' }]
  const ofLegacy = await examination.legacyProjects()
  const legacy = new Map((ofLegacy.kind === 'read' ? ofLegacy.value.projects : []).map((one) => [one.uuid, one]))
  const withRule = reading.projects.filter(hasOurRule)
  const now = examination.clock.now()
  const found: Silent[] = []
  for (let at = 0; at < withRule.length; at += PROJECTS_AT_ONCE) {
    const some = withRule
      .slice(at, at + PROJECTS_AT_ONCE)
      .map((project) => ({ project, old: legacy.get(project.uuid) ?? null }))
    const delivered = await store.read.deliveredAs(some.flatMap(keysOf), DELIVERED_MAX).catch(() => null)
    if (!delivered) return [{ kind: 'not-checked', why: 'store-fails' }]
    found.push(...some.flatMap((one) => silenceOf(one, delivered, now) ?? []))
    await nextTurn()
  }
  // Certain findings come first, since only the first ones are shown.
  const sorted = [...found.filter(isCertain), ...found.filter((one) => !isCertain(one))]
  return sorted.length > 0 ? bounded(sorted) : [{ kind: 'fine', count: withRule.length }]
}

/** Projects of CI's list that are looked up at once. */
const PROJECTS_AT_ONCE = 200
/** Delivered projects that are read for them: a few may have one name. */
const DELIVERED_MAX = 1_000

interface Listed {
  project: Project
  /** as the legacy interface lists it */
  old: LegacyProject | null
}

const keysOf = ({ project: { uuid, name }, old }: Listed): string[] => [uuid, old ? old.id : name.toLowerCase()]

function silenceOf({ project, old }: Listed, delivered: readonly DeliveredProject[], now: number): Silent | null {
  const lastAt = latest(delivered.filter((one) => one.at > 0 && isSame(one, project, old)).map(({ at }) => at))
  const builtAt = old && newestBuildAt(old, now - UNDER_WAY_MS_MAX)
  // Without the legacy interface CI does not say whether there is a build at all.
  if (builtAt === null) return old !== null || lastAt !== null ? null : silent(project, lastAt, builtAt)
  return lastAt === null || builtAt - lastAt > SILENT_MS_MAX ? silent(project, lastAt, builtAt) : null
}

const isCertain = ({ lastAt, builtAt }: Silent): boolean => lastAt !== null || builtAt !== null

type Silent = Extract<CheckResult, { kind: 'silent-project' }>

const silent = ({ name }: Project, lastAt: number | null, builtAt: number | null): Silent => ({
  kind: 'silent-project',
  project: name,
  lastAt,
  builtAt,
})

function isSame(delivered: DeliveredProject, { uuid, name }: Project, old: LegacyProject | null): boolean {
  if (delivered.projectUuid !== null) return delivered.projectUuid === uuid
  if (old) return delivered.projectId === old.id
  return [delivered.fullName, delivered.name].some((one) => one?.toLowerCase() === name.toLowerCase())
}

/** When the newest build before `before` (ms) began or ended; null: there is none. */
function newestBuildAt({ builds }: LegacyProject, before: number): number | null {
  const times = builds.flatMap(({ startedAt, finishedAt }) => [startedAt, finishedAt]).filter((at) => at !== null)
  return latest(times.filter((at) => at <= before))
}

const latest = (times: readonly number[]): number | null => (times.length > 0 ? Math.max(...times) : null)

/** Does Slack accept the token? */
async function checkToken({ identity, store }: Examination): Promise<CheckResult[]> {
  const who = await identity()
  if (who.kind === 'known') return [{ kind: 'fine', count: null }]
  if (who.kind === 'away') return [{ kind: 'slack-away', code: who.code }]
  const said = await saidOfToken(store)
  return [{ kind: 'slack-refuses', code: who.code, ...(said && { said }) }]
}

/** If an app is uninstalled, Slack says both, in any order. */
async function saidOfToken(store: Examination['store']) {
  const [uninstalledAt, revokedAt] = [await saidAt(store, 'app_uninstalled'), await saidAt(store, 'tokens_revoked')]
  if (uninstalledAt !== null && uninstalledAt > (revokedAt ?? 0) - SAID_TOGETHER_MS)
    return { event: 'app_uninstalled', at: uninstalledAt } as const
  return revokedAt === null ? null : ({ event: 'tokens_revoked', at: revokedAt } as const)
}

const SAID_TOGETHER_MS = 60_000

/** When Slack last said this of the app (ms); null: never, or that is not known. */
const saidAt = (store: Examination['store'], event: AppEvent): Promise<number | null> =>
  store ? store.read.lastDoneAt(saidName(event)).catch(() => null) : Promise.resolve(null)

/** Is the app installed with all scopes that it needs? */
async function checkScopes({ identity, scopesNeeded }: Examination): Promise<CheckResult[]> {
  const who = await identity()
  if (who.kind !== 'known') return [{ kind: 'not-checked', why: 'slack-away' }]
  const { scopes } = who
  if (scopes === null) return [{ kind: 'not-checked', why: 'not-said' }]
  const missing = scopesNeeded.filter((scope) => !scopes.includes(scope))
  return missing.length > 0
    ? [{ kind: 'scopes-missing', scopes: missing }]
    : [{ kind: 'fine', count: scopesNeeded.length }]
}

/** Does Slack send everything? In Socket Mode: has the bot a connection, and would Slack open one? Over HTTP: were signatures wrong? */
async function checkRequests(examination: Examination): Promise<CheckResult[]> {
  const at = await saidAt(examination.store, 'app_rate_limited')
  const isLimited = at !== null && examination.clock.now() - at < EVENTS_LIMITED_MS
  return [...(isLimited ? [{ kind: 'events-limited', at } as const] : []), ...(await checkSocket(examination))]
}

/** Slack counts the events of an hour. */
const EVENTS_LIMITED_MS = 60 * 60_000

async function checkSocket({ slack, wrongSignatures, socketTrouble }: Examination): Promise<CheckResult[]> {
  if (!slack.socket) {
    const count = await wrongSignatures()
    return [count === 0 ? { kind: 'over-http' } : { kind: 'signatures-wrong', count }]
  }
  const opening = await slack.socket()
  if (opening.kind === 'open') {
    const code = await socketTrouble()
    return [code === null ? { kind: 'fine', count: null } : { kind: 'socket-trouble', code }]
  }
  return [
    opening.kind === 'refuses'
      ? { kind: 'slack-refuses', code: opening.code }
      : { kind: 'not-checked', why: 'slack-away' },
  ]
}

/** Requests signed over five minutes ago are refused as replays, as Slack advises. This warns well before that. */
export const CLOCK_OFF_MS_MAX = 30_000

/** Does our clock agree with Slack's? Compares it with the `Date` of Slack's response, to the second. */
async function checkClock({ identity }: Examination): Promise<CheckResult[]> {
  const who = await identity()
  if (who.kind !== 'known') return [{ kind: 'not-checked', why: 'slack-away' }]
  if (who.aheadMs === null) return [{ kind: 'not-checked', why: 'not-said' }]
  return Math.abs(who.aheadMs) > CLOCK_OFF_MS_MAX
    ? [{ kind: 'clock-off', ms: who.aheadMs }]
    : [{ kind: 'fine', count: null }]
}

/** Each delivery waits for a write. A write that takes longer than this is too slow. */
export const WRITE_MS_MAX = 1_000

/** With less free space than this, the check fails: a database that cannot grow stores no deliveries. */
const FREE_BYTES_MIN = 200 * 1024 * 1024

/** Does a write succeed, is it fast enough, and is there free disk space? */
async function checkStore({ store, clock, freeBytes }: Examination): Promise<CheckResult[]> {
  if (!store) return [{ kind: 'no-database' }]
  const beganAt = clock.now()
  try {
    await store.write((tx) => tx.setLastDoneAt(JOB, beganAt))
  } catch (error) {
    return [{ kind: 'store-fails', code: codeOf(error) }]
  }
  const ms = clock.now() - beganAt
  const free = await freeBytes?.()
  const results: CheckResult[] = [
    ...(ms > WRITE_MS_MAX ? [{ kind: 'store-slow', ms } as const] : []),
    ...(free !== undefined && free < FREE_BYTES_MIN ? [{ kind: 'disk-full', freeBytes: free } as const] : []),
  ]
  return results.length > 0 ? results : [{ kind: 'fine', count: null }]
}

// An examination writes only this row: the time of the last examination.
const JOB = 'doctor'

/** Only the error's code: the message of a database can contain anything. */
const codeOf = (error: unknown): string => errorCode(error) ?? 'unknown'
