import * as z from 'zod'
import { GATES_MAX, type Gate } from '../../domain/builds/build-event.ts'
import { toStatus } from '../../domain/builds/status.ts'
import { fieldOf, listOf, textOf } from '../../lib/raw-values.ts'
import { unlessGone } from '../http/errors.ts'
import type { Decision, ShownBuild } from '../source.ts'
import { cleanTextOrNull, idDigits } from '../values.ts'
import type { GitlabClient } from './client.ts'
import { idIn, roleIn } from './pipeline.ts'

/**
 * The pipeline with what it waits for: its manual jobs, and its deployments that need approvals.
 * @param project as GitLab shows it
 */
export async function withGates<Build extends ShownBuild | null>(
  client: GitlabClient,
  project: unknown,
  shown: Build,
  signal?: AbortSignal,
): Promise<Build> {
  if (!shown || toStatus(shown.event.rawStatus) !== 'waiting') return shown
  const { event } = shown
  const id = idIn(event.projectId)
  const listed = (await unlessGone(client.manualJobs(id, event.buildId, { signal }))) ?? []
  // GitLab lists the newest job first, which comes last in the pipeline.
  const jobs = listed.flatMap((job) => JOB.safeParse(job).data ?? []).toReversed()
  const blocked = jobs.length === 0 ? [] : ((await unlessGone(client.blockedDeployments(id, signal))) ?? [])
  const waiting: { gate: Gate; job: string }[] = []
  for (const job of jobs.slice(0, GATES_MAX)) {
    const deployment = blocked.find((one) => textOf(fieldOf(fieldOf(one, 'deployable'), 'id')) === job.id)
    const read =
      deployment && (await unlessGone(client.deployment(id, textOf(fieldOf(deployment, 'id')) ?? '', signal)))
    waiting.push({ job: job.name, gate: (await approvalIn(client, project, read, signal)) ?? gateOf(job) })
  }
  // Several jobs may deploy to one environment: a person must see which is approved.
  const gates = waiting.map(({ gate, job }) => {
    const isShared = waiting.some((other) => other.gate !== gate && other.gate.name === gate.name)
    return isShared ? { ...gate, name: `${gate.name} (${job})` } : gate
  })
  return { ...shown, event: { ...event, details: { ...event.details, gates } } }
}

const JOB = z.object({ id: idDigits, name: cleanTextOrNull.pipe(z.string()), stage: cleanTextOrNull })

/** GitLab does not say who may start a job, so every job is offered, and GitLab refuses those that the token may not start. Source: GitLab, "Jobs API". */
function gateOf({ id, name: job, stage }: z.infer<typeof JOB>): Gate {
  const name = stage === null ? job : `${stage}: ${job}`
  return { kind: 'job', id, name, reviewers: [], isOurs: true, until: null }
}

/**
 * The approval that a deployment waits for; null: none, as always in the edition Free. Its job can be started only after
 * that. Source: GitLab, "Deployments API", and `ee/app/services/deployments/approval_service.rb`.
 */
async function approvalIn(
  client: GitlabClient,
  project: unknown,
  shown: unknown,
  signal?: AbortSignal,
): Promise<Gate | null> {
  const deployment = DEPLOYMENT.safeParse(shown).data
  if (!deployment || deployment.pending_approval_count === 0) return null
  const { id, environment, approval_summary: summary } = deployment
  const unmet = summary.rules.filter(isUnmet)
  const rule = await ownRule(client, project, deployment, signal)
  return {
    kind: 'environment',
    id,
    name: environment.name ?? id,
    // Every rule has to be met.
    reviewers: unmet.length === 0 ? [] : [unmet.map(ruleWords).join(' and ')],
    isOurs: rule !== undefined,
    until: null,
    ...(rule && { as: rule.access_level_description }),
  }
}

const missingBy = ({ required_approvals: required, deployment_approvals: given }: Rule): number =>
  required - given.filter(({ status }) => status === 'approved').length

const isUnmet = (rule: Rule): boolean => missingBy(rule) > 0

/** `Maintainers`, `2 of security`. */
const ruleWords = (rule: Rule): string =>
  `${missingBy(rule) > 1 ? `${missingBy(rule)} of ` : ''}${rule.access_level_description}`

/** The rule by which the token's owner may approve; GitLab does not say so itself. */
async function ownRule(
  client: GitlabClient,
  project: unknown,
  { user, approval_summary: { rules } }: Deployment,
  signal?: AbortSignal,
): Promise<Rule | undefined> {
  const own = textOf(fieldOf(await unlessGone(client.user(signal)), 'id'))
  if (own === null) return undefined
  const isOwn = (one: { id: string } | null) => one?.id === own
  // An account decides once about each deployment, and by default does not approve one that it triggered.
  if (rules.some(({ deployment_approvals: given }) => given.some((one) => isOwn(one.user)))) return undefined
  if (isOwn(user) && fieldOf(project, 'allow_pipeline_trigger_approve_deployment') !== true) return undefined
  for (const rule of rules.filter(isUnmet)) {
    const { user_id: person, group_id: group, access_level: role } = rule
    if (person === own || (role !== null && (roleIn(project) ?? 0) >= role)) return rule
    const areInherited = rule.group_inheritance_type === INHERITED
    if (group !== null && (await unlessGone(client.member(group, own, areInherited, signal)))) return rule
  }
  return undefined
}

/** `group_inheritance_type`: members of the group's parents count too. */
const INHERITED = 1

const idOrNull = idDigits.nullable().catch(null)
const USER = z.object({ id: idDigits }).nullable().catch(null)
const RULE = z.object({
  user_id: idOrNull,
  group_id: idOrNull,
  access_level: z.int().nullable().catch(null),
  access_level_description: cleanTextOrNull.pipe(z.string()),
  group_inheritance_type: z.int().nullable().catch(null),
  required_approvals: z.int(),
  deployment_approvals: z.array(z.object({ user: USER, status: z.string() })),
})
const DEPLOYMENT = z.object({
  id: idDigits,
  environment: z.object({ name: cleanTextOrNull }),
  user: USER,
  pending_approval_count: z.int(),
  approval_summary: z.object({ rules: z.array(RULE) }),
})
type Rule = z.infer<typeof RULE>
type Deployment = z.infer<typeof DEPLOYMENT>

/** Starts a job, or tells GitLab what a person decided about a deployment. */
export const decide = (client: GitlabClient, project: string, { action, gate, comment }: Decision): Promise<void> =>
  gate.kind === 'job'
    ? client.play(project, gate.id)
    : client.review(project, gate.id, {
        status: action === 'reject' ? 'rejected' : 'approved',
        comment,
        represented_as: gate.as,
      })

/** The comments about a deployment. GitLab keeps none about the start of a job. */
export async function readDecisions(
  client: GitlabClient,
  project: string,
  { kind, id }: Pick<Gate, 'kind' | 'id'>,
): Promise<readonly string[] | null> {
  if (kind !== 'environment') return null
  const approvals = fieldOf(await client.deployment(project, id), 'approvals')
  return listOf(approvals).map((one) => textOf(fieldOf(one, 'comment')) ?? '')
}
