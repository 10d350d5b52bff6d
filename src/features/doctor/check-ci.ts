import { CiError, type CiErrorKind } from '../../sources/http/errors.ts'
import { certificateWords } from '../../slack/messages/words.ts'
import { failureWords } from '../fault-messages.ts'
import { toUuid, type Uuid } from '../../domain/ids.ts'
import {
  type CheckName,
  type DoctorDeps,
  type CheckResult,
  type Examination,
  type InterfaceReading,
  bounded,
  certificateIn,
  listedProjects,
  type FindingWords,
  type Say,
} from './findings.ts'
import { ciFailureOf, type WebhookRuleOutcome } from '../../catalog/outcomes.ts'
import type { RuleInput } from '../../domain/rule-input.ts'
import { fieldOf, textOf, textsOf } from '../../lib/raw-values.ts'
import { ourRules } from '../../sources/ci-service/check-rule.ts'
import type { Project } from '../../domain/project.ts'
import { EVERY_BUILD_STATUS, leftAway, rulesFor, type NotificationRule } from '../../domain/rule.ts'

/** Can the projects be listed through the v2 interface (`project.read`)? */
export const checkV2 = async ({ projects }: Examination): Promise<CheckResult[]> =>
  listFound(await projects(), 'project.read')

export const checkLegacy = async ({ legacyProjects }: Examination): Promise<CheckResult[]> =>
  listFound(await legacyProjects(), null)

interface List {
  projects: readonly unknown[]
  skipped: number
}

function listFound(reading: InterfaceReading<List>, scope: string | null): CheckResult[] {
  if (reading.kind === 'none') return [{ kind: 'not-configured' }]
  if (reading.kind === 'trouble') return [refusalIn(reading.error, scope)]
  const { projects, skipped } = reading.value
  const unread: CheckResult[] = skipped > 0 ? [{ kind: 'projects-unread', count: skipped }] : []
  return [{ kind: 'fine', count: projects.length }, ...unread]
}

/** The nil uuid, which no project and no build has. */
export const NOBODY = toUuid('00000000-0000-0000-0000-000000000000')

/**
 * May the credentials change projects and stop builds? CI has no harmless request for that. So this sends the real ones
 * for a project and a build that cannot exist: without the right CI answers 403, with it "not found" or "bad request".
 * This is safe however CI is built: nothing has this uuid, so nothing can be replaced or stopped, and the update names
 * no repository, so no project can be created. It changes nothing, so it is not in the audit.
 */
export async function checkV2Scopes({ v2, signal }: Examination): Promise<CheckResult[]> {
  if (!v2) return [{ kind: 'not-configured' }]
  const build = { projectUuid: NOBODY, buildUuid: NOBODY }
  const checked = await Promise.all([
    may('project.write', () => v2.updateProject(NOBODY, { type: 'basic' }, signal)),
    may('build.write', () => v2.stopBuild(build, signal)),
  ])
  const results = checked.filter((one) => one !== null)
  return results.length > 0 ? results : [{ kind: 'fine', count: null }]
}

/** Null if the credentials have the right. */
async function may(scope: string, ask: () => Promise<unknown>): Promise<CheckResult | null> {
  try {
    await ask()
    return null
  } catch (error) {
    const refused = refusalIn(error, scope)
    return refused.code === 'not-found' || refused.code === 'bad-request' ? null : refused
  }
}

type CiRefusal = Extract<CheckResult, { kind: 'ci-refuses' }>

/** The finding for a CiError. Throws every other error. */
function refusalIn(error: unknown, scope: string | null): CiRefusal {
  if (!(error instanceof CiError)) throw error
  return { kind: 'ci-refuses', code: error.kind, scope, ...certificateIn(error) }
}

/** Does the site draw the badge of a project that is known to exist? */
export async function checkSite(examination: Examination): Promise<CheckResult[]> {
  const { badges, signal } = examination
  if (!badges) return [{ kind: 'not-configured' }]
  const uuid = await anyProject(examination)
  if (uuid === null) return [{ kind: 'not-checked', why: 'no-project' }]
  try {
    await badges.fetchBadge(uuid, null, signal)
    return [{ kind: 'fine', count: null }]
  } catch (error) {
    return [refusalIn(error, null)]
  }
}

async function anyProject({ projects, legacyProjects }: Examination) {
  const [ofV2, ofLegacy] = await Promise.all([projects(), legacyProjects()])
  const listed = ofV2.kind === 'read' ? ofV2.value.projects[0]?.uuid : undefined
  if (listed) return listed
  return ofLegacy.kind === 'read' ? (ofLegacy.value.projects.find(({ uuid }) => uuid !== null)?.uuid ?? null) : null
}

/** Does every project send Buildline every event of every branch? */
export async function checkWebhookRules(examination: Examination): Promise<CheckResult[]> {
  const reading = await listedProjects(examination)
  if (reading.kind === 'not-checked') return [reading]
  const { isOurs } = examination
  const host = ourAddress(reading.projects, isOurs)?.host ?? null
  const found = reading.projects.flatMap((project) => findingOf(project, isOurs, host) ?? [])
  return found.length > 0 ? bounded(found) : [{ kind: 'fine', count: reading.projects.length }]
}

/** Null if the project sends us everything. */
function findingOf(project: Project, isOurs: Examination['isOurs'], host: string | null): CheckResult | null {
  const { name, uuid } = project
  const rules = ourRules(project.raw)
  if (rules.length === 0) return { kind: 'no-webhook-rule', project: name, uuid, host }
  const good = rules.filter(({ url }) => isOurs(url)).map(({ rule }) => ruleOf(rule))
  if (good.length === 0) return { kind: 'webhook-secret', project: name, uuid, host }
  const selecting = rulesFor('webhook', good)
  const events = leftAway(selecting, null)
  if (events.length === 0) return null
  // If a rule for single branches selects the missing events, they are missing only on the other branches.
  const branch = selecting.find((rule) => leftAway([rule], rule.branch).length === 0)?.branch ?? null
  return { kind: 'webhook-filtered', project: name, events, branch }
}

/**
 * The rule that a project needs to send Buildline everything. The bot does not know its own address, so it is taken
 * from other projects' rules. `known`: the project has a rule with our secret; `no-address`: no project has one.
 */
export async function webhookRuleFor(
  { v2, isOurs }: Pick<DoctorDeps, 'v2' | 'isOurs'>,
  uuid: Uuid,
): Promise<WebhookRuleOutcome> {
  if (!v2) return { kind: 'no-v2' }
  try {
    const { projects } = await v2.listProjects({})
    const own = projects.find((project) => project.uuid === uuid)
    if (own && ourAddress([own], isOurs)) return { kind: 'known', project: own.name }
    const address = ourAddress(projects, isOurs)
    return address ? { kind: 'rule', rule: ruleTo(address) } : { kind: 'no-address' }
  } catch (error) {
    return ciFailureOf(error)
  }
}

const ruleTo = ({ href }: URL): RuleInput => ({
  notifier: 'webhook',
  target: null,
  branch: null,
  branchMatch: null,
  events: EVERY_BUILD_STATUS,
  options: { url: href },
})

/** The address that most rules with one of our secrets use. It contains the secret. Null: no rule has one. */
function ourAddress(projects: readonly Project[], isOurs: DoctorDeps['isOurs']): URL | null {
  const urls = projects.flatMap(({ raw }) => ourRules(raw)).map(({ url }) => url)
  const same = Map.groupBy(urls.filter(isOurs), ({ href }) => href)
  return [...same.values()].sort((a, b) => b.length - a.length)[0]?.[0] ?? null
}

/** Does the project have a rule for Buildline, whatever the rule selects? */
export const hasOurRule = (project: Project): boolean => ourRules(project.raw).length > 0

const ruleOf = (sent: unknown): NotificationRule => ({
  notifier: textOf(fieldOf(sent, 'notifier')) ?? '',
  target: null,
  branch: textOf(fieldOf(sent, 'branch')),
  branchMatch: textOf(fieldOf(sent, 'branch_match')),
  buildStatuses: textsOf(fieldOf(sent, 'build_statuses')),
})

/** What a refusal of CI's means, and what to do about it. */
export function ciWords(check: CheckName, { code, scope, certificate }: CiRefusal, say: Say): FindingWords {
  const { address } = SETTINGS[check] ?? V2
  return (
    certificateWords(certificate, { server: 'CI', address }, say.code) ?? {
      // A check may be of a right to write, which the words for reading do not fit.
      what: code === 'forbidden' ? "Buildline's credentials lack a right." : failureWords(code).why,
      remedy: ciRemedy(check, code, scope, say),
    }
  )
}

function ciRemedy(check: CheckName, code: CiErrorKind, scope: string | null, say: Say): string {
  const { address, credentials } = SETTINGS[check] ?? V2
  const renewed = credentials.map(say.code).join(' or ')
  if (code === 'unauthorized') return `Renew ${renewed} and restart Buildline.`
  if (code === 'forbidden')
    return scope === null
      ? `Give the owner of ${renewed} access in CI.`
      : `Give the credentials the scope ${say.code(scope)} in CI.`
  if (code === 'not-found' && check === 'ci-v2')
    return `Check ${say.code(address)} and ${say.code('CI_ORGANIZATION_UUID')}.`
  if (code === 'rate-limited' || code === 'server' || code === 'timeout') return 'Try again in a few minutes.'
  return `Check ${say.code(address)}, and that this machine can reach it.`
}

const V2 = { address: 'CI_BASE_URL', credentials: ['CI_AUTHORIZATION', 'CI_CLIENT_SECRET'] }
const SETTINGS: Partial<Record<CheckName, typeof V2>> = {
  'ci-v2': V2,
  'ci-v2-scopes': V2,
  'ci-legacy': { address: 'CI_LEGACY_BASE_URL', credentials: ['CI_API_KEY'] },
  site: { address: 'CI_SITE_URL', credentials: ['CI_SITE_URL'] },
}
