import { fieldOf, listOf, textOf, textsOf } from '../../domain/raw-values.ts'
import type { Project } from '../../domain/project.ts'
import { leftAway, rulesFor, type NotificationRule } from '../../domain/rule.ts'
import type { Found } from './asked.ts'
import type { Examination } from './readings.ts'
import { bounded, readProjects } from './projects.ts'

/** Does every project tell Buildline of everything that happens on every branch? */
export async function checkWebhookRules(examination: Examination): Promise<Found[]> {
  const reading = await readProjects(examination)
  if (reading.kind === 'not-checked') return [reading]
  const found = reading.projects.flatMap((project) => findingOf(project, examination.isOurs) ?? [])
  return found.length > 0 ? bounded(found) : [{ kind: 'fine', count: reading.projects.length }]
}

/** Null where the project tells us of everything. */
function findingOf(project: Project, isOurs: Examination['isOurs']): Found | null {
  const { name } = project
  const rules = ourRules(project)
  if (rules.length === 0) return { kind: 'no-webhook-rule', project: name }
  const good = rules.filter(({ url }) => isOurs(url)).map(({ rule }) => rule)
  if (good.length === 0) return { kind: 'webhook-secret', project: name }
  const selecting = rulesFor('webhook', good)
  const events = leftAway(selecting, null)
  if (events.length === 0) return null
  // Where a rule for single branches selects what is missing, the branch is what leaves it away.
  const branch = selecting.find((rule) => leftAway([rule], rule.branch).length === 0)?.branch ?? null
  return { kind: 'webhook-filtered', project: name, events, branch }
}

/** Has it a rule that is to tell us, whatever it selects? */
export const isTellingUs = (project: Project): boolean => ourRules(project).length > 0

interface WebhookRule {
  rule: NotificationRule
  url: URL
}

/** The rules to an address that looks like Buildline's: only its path is known for certain, since a proxy may stand before it. */
const ourRules = ({ raw }: Project): WebhookRule[] =>
  listOf(fieldOf(raw, 'notification_rules')).flatMap((sent) => {
    const options = fieldOf(sent, 'options')
    const address = textOf(fieldOf(options, 'url')) ?? textOf(fieldOf(fieldOf(options, 'webhook'), 'url'))
    const url = address === null ? null : URL.parse(address)
    return url && OUR_PATH.test(url.pathname) ? [{ rule: ruleOf(sent), url }] : []
  })

const OUR_PATH = /\/webhooks\/builds(?:\/[^/]*)?\/?$/

const ruleOf = (sent: unknown): NotificationRule => ({
  notifier: textOf(fieldOf(sent, 'notifier')) ?? '',
  target: null,
  branch: textOf(fieldOf(sent, 'branch')),
  branchMatch: textOf(fieldOf(sent, 'branch_match')),
  buildStatuses: textsOf(fieldOf(sent, 'build_statuses')),
})
