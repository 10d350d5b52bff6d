import { setImmediate as nextTurn } from 'node:timers/promises'
import { hasOurSecret, ourAddress, type IsOurs } from '../../projects/webhook-rule.ts'
import type { ProjectWithBuilds, Project } from '../../domain/ci-project/project.ts'
import { leftAway, rulesFor } from '../../domain/rules/rule.ts'
import { counted } from '../../slack/messages/build.ts'
import { ourRules } from '../../sources/ci-service/check-rule.ts'
import { readRule } from '../../sources/ci-service/wire.ts'
import { CiError } from '../../sources/http/errors.ts'
import type { DeliveredProject } from '../../store/records.ts'
import {
  bounded,
  fine,
  NO_PROJECT,
  notChecked,
  STORE_NOT_READ,
  wrong,
  type Check,
  type Examination,
  type Finding,
  type Say,
} from '../kit/check.ts'

/** Does every project send Buildline every event of every branch? */
export const webhookRules: Check = {
  name: 'webhook-rules',
  title: 'Webhook rules',
  calls: 'CI',
  isOfCi: true,
  async run(examination) {
    const projects = await listedProjects(examination)
    if ('verdict' in projects) return [projects]
    const isOurs = hasOurSecret(examination)
    const host = ourAddress(projects, isOurs)?.host ?? null
    const found = projects.flatMap((project) => lackOf(project, isOurs, host, examination.say) ?? [])
    if (found.length > 0) return bounded(found)
    return [fine(`${counted(projects.length, 'project')} send${projects.length === 1 ? 's' : ''} every event.`)]
  },
}

/** The projects as CI lists them now, with their rules; or why they cannot be checked. */
async function listedProjects({ projects, say }: Examination): Promise<readonly Project[] | Finding> {
  const list = await projects()
  if (list === null)
    return notChecked(`only CI's v2 interface shows the rules, and it is not set up (${say.code('CI_BASE_URL')})`)
  if (list instanceof CiError) return notChecked("CI's projects could not be read")
  return list.projects.length === 0 ? NO_PROJECT : list.projects
}

/** Null if the project sends us everything. @param host of other projects' rules; null: no project has one */
function lackOf(project: Project, isOurs: IsOurs, host: string | null, say: Say): Finding | null {
  const name = nameOf(project, say)
  const rules = ourRules(project.raw)
  const addable = (stays = '') =>
    host !== null && {
      addWebhook: {
        uuid: project.uuid,
        remedy: `Press *Add webhook rule* to see the change and send it: the rule gets the address that other projects have, at ${say.code(host)}.${stays}`,
      },
    }
  if (rules.length === 0)
    return {
      ...wrong(
        `${name} has no webhook rule for Buildline, so its builds are not seen.`,
        `Add one in CI with every event, all branches and the address ${say.code('https://<host>/webhooks/builds/<WEBHOOK_SECRET>')}.`,
      ),
      ...addable(),
    }
  const good = rules.filter(({ url }) => isOurs(url))
  if (good.length === 0)
    return {
      ...wrong(
        `${name} has a webhook rule with a wrong secret, so its deliveries are refused.`,
        `In CI, replace the secret at the end of the rule's address with the value of ${say.code('WEBHOOK_SECRET')}.`,
      ),
      ...addable(' The rule with the wrong secret stays as it is.'),
    }
  const selecting = rulesFor(
    'webhook',
    good.flatMap(({ rule }) => readRule(rule) ?? []),
  )
  const events = leftAway(selecting, null)
  if (events.length === 0) return null
  // If a rule for single branches selects the missing events, they are missing only on the other branches.
  const branch = selecting.find((rule) => leftAway([rule], rule.branch).length === 0)?.branch ?? null
  const [left, whole] =
    branch === null
      ? [events.join(', '), 'Select every event in that rule']
      : [`branches other than ${say.outside(branch)}`, 'Make that rule cover all branches']
  return wrong(
    `The webhook rule of ${name} leaves out ${left}.`,
    `${whole} in CI. Channels choose in Slack what they get.`,
  )
}

const nameOf = ({ name }: Project, say: Say): string => say.outside(name) || '(no name)'

/** CI's newest build may be this much newer than the last delivery. If it is newer still, the project is silent. */
export const SILENT_MS_MAX = 60 * 60_000

/** A delivery may be in flight for this long. */
export const UNDER_WAY_MS_MAX = 2 * 60_000

/** Is there a project with a webhook rule whose builds are not delivered? */
export const silentProjects: Check = {
  name: 'silent-projects',
  title: 'Silent projects',
  calls: 'CI',
  isOfCi: true,
  async run(examination) {
    const { store, legacyProjects, clock, say } = examination
    const projects = await listedProjects(examination)
    if ('verdict' in projects) return [projects]
    // Before the first start, every project is silent.
    if (!store) return []
    const ofLegacy = await legacyProjects()
    const hasOld = ofLegacy !== null && !(ofLegacy instanceof CiError)
    const old = new Map((hasOld ? ofLegacy.projects : []).map((one) => [one.uuid, one]))
    const withRule = projects.filter(({ raw }) => ourRules(raw).length > 0)
    const now = clock.now()
    const found: Finding[] = []
    for (let at = 0; at < withRule.length; at += PROJECTS_AT_ONCE) {
      const some = withRule
        .slice(at, at + PROJECTS_AT_ONCE)
        .map((project) => ({ project, old: old.get(project.uuid) ?? null }))
      const delivered = await store.read.deliveredAs(some.flatMap(keysOf), DELIVERED_MAX).catch(() => null)
      if (!delivered) return [STORE_NOT_READ]
      found.push(...some.flatMap((one) => silenceOf(one, delivered, now, say) ?? []))
      await nextTurn()
    }
    // Certain findings come first, since only the first ones are shown.
    const sorted = [...found.filter(isCertain), ...found.filter((one) => !isCertain(one))]
    if (sorted.length > 0) return bounded(sorted)
    return [fine(`None of the ${counted(withRule.length, 'project')} with a webhook rule is silent.`)]
  },
}

const isCertain = ({ verdict }: Finding): boolean => verdict === 'wrong'

/** Projects of CI's list that are looked up at once. */
const PROJECTS_AT_ONCE = 200
/** Delivered projects that are read for them: a few may have one name. */
const DELIVERED_MAX = 1_000

interface Listed {
  project: Project
  /** as the legacy interface lists it */
  old: ProjectWithBuilds | null
}

const keysOf = ({ project: { uuid, name }, old }: Listed): string[] => [uuid, old ? old.id : name.toLowerCase()]

/** Null: it is not silent. It is uncertain if the project never sent anything, and may never have built. */
function silenceOf(
  { project, old }: Listed,
  delivered: readonly DeliveredProject[],
  now: number,
  say: Say,
): Finding | null {
  const lastAt = latest(delivered.filter((one) => one.at > 0 && isSame(one, project, old)).map(({ at }) => at))
  const builtAt = old && newestBuildAt(old, now - UNDER_WAY_MS_MAX)
  // Without the legacy interface CI does not say whether there is a build at all.
  const isSilent =
    builtAt === null ? old === null && lastAt === null : lastAt === null || builtAt - lastAt > SILENT_MS_MAX
  if (!isSilent) return null
  const last = lastAt === null ? 'no build was ever reported' : `the last report was ${say.time(lastAt)}`
  const built = builtAt === null ? '' : `, and CI has a build of ${say.time(builtAt)}`
  return {
    verdict: lastAt === null && builtAt === null ? 'unsure' : 'wrong',
    what: `${nameOf(project, say)} has a webhook rule, but ${last}${built}.`,
    remedy: "Check that CI can reach Buildline at the rule's address, then start a build.",
  }
}

function isSame(delivered: DeliveredProject, { uuid, name }: Project, old: ProjectWithBuilds | null): boolean {
  if (delivered.projectUuid !== null) return delivered.projectUuid === uuid
  if (old) return delivered.projectId === old.id
  return [delivered.fullName, delivered.name].some((one) => one?.toLowerCase() === name.toLowerCase())
}

/** When the newest build before `before` (ms) began or ended; null: there is none. */
function newestBuildAt({ builds }: ProjectWithBuilds, before: number): number | null {
  const times = builds
    .flatMap(({ details: { startedAt, finishedAt } }) => [startedAt, finishedAt])
    .filter((at) => at !== null)
  return latest(times.filter((at) => at <= before))
}

const latest = (times: readonly number[]): number | null => (times.length > 0 ? Math.max(...times) : null)
