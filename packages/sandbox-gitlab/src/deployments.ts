import { z } from 'zod'
import { json } from '../../lib/http.ts'
import { parseJson } from '../../lib/json.ts'
import type { Call, Reply } from '../../lib/http.ts'
import { accountOf, isoTime, personOf, triggererOf, USER, userEntity } from './entities.ts'
import { jobEntity } from './job-entities.ts'
import type { Life } from './life.ts'
import { projectOf, ROLES } from './state.ts'
import type { Job, Pipeline, World } from './state.ts'

// Deployment approvals, of the editions Premium and Ultimate.
// Source: GitLab, `ee/app/services/deployments/approval_service.rb`, `ee/app/models/ee/deployment.rb`,
// `ee/app/models/concerns/approval_rules/summarizable.rb`, and `ee/lib/ee/api/`.

/** Who has to approve a deployment: people with a role, one person, or a group. Names are those of people. */
export const ruleSchema = z
  .strictObject({
    role: z.enum(['Developer', 'Maintainer']).optional(),
    user: z.string().optional(),
    group: z
      .strictObject({ name: z.string(), members: z.array(z.string()), areInherited: z.boolean().default(false) })
      .optional(),
    required: z.int().min(1).max(5).default(1),
  })
  .refine(({ role, user, group }) => [role, user, group].filter((one) => one !== undefined).length === 1)
export type Rule = z.output<typeof ruleSchema>
export type RuleWanted = z.input<typeof ruleSchema>

/** What a person has said about a deployment, by one of the rules. */
export interface Approval {
  by: string
  status: 'approved' | 'rejected'
  comment: string | null
  at: number
  rule: Rule
}

export interface Deployment {
  id: number
  iid: number
  environment: string
  approvals: Approval[]
}

/** A job that deploys. */
export type DeployJob = Job & { deployment: Deployment }

export const isDeployJob = (job: Job): job is DeployJob => job.deployment !== null

const rulesOf = (world: World, pipeline: Pipeline, { deployment }: DeployJob): readonly Rule[] =>
  world.switches.isFree ? [] : (projectOf(world, pipeline).protections.get(deployment.environment) ?? [])

const approvalsBy = (rule: Rule, { deployment }: DeployJob): Approval[] =>
  deployment.approvals.filter((one) => one.rule === rule)

const missingBy = (rule: Rule, job: DeployJob): number =>
  Math.max(0, rule.required - approvalsBy(rule, job).filter(({ status }) => status === 'approved').length)

const pendingCount = (world: World, pipeline: Pipeline, job: DeployJob): number =>
  rulesOf(world, pipeline, job).reduce((sum, rule) => sum + missingBy(rule, job), 0)

/** Whether a job waits for approvals. It cannot be started before. */
export const waitsForApproval = (world: World, pipeline: Pipeline, job: Job): boolean =>
  isDeployJob(job) && job.status === 'manual' && pendingCount(world, pipeline, job) > 0

/** Whether the token's owner may approve by this rule; other people may. */
function isFor({ role, user, group }: Rule, by: string, world: World): boolean {
  if (role !== undefined) return by !== USER.name || ROLES[world.switches.role] >= ROLES[role]
  return user === by || (group?.members.includes(by) ?? false)
}

const nameOf = ({ role, user, group }: Rule): string => user ?? group?.name ?? ROLE_NAMES[role!]
const ROLE_NAMES = { Developer: 'Developers + Maintainers', Maintainer: 'Maintainers' }

/** A group's id, by its name. */
const groupId = (name: string): number => accountOf(name).id

/** The rule by which a person approves: the first of theirs whose name contains `as`. */
const ruleFor = (rules: readonly Rule[], world: World, { by, as = '' }: { by: string; as?: string | undefined }) =>
  rules.find((rule) => nameOf(rule).includes(as) && isFor(rule, by, world))

const decisionSchema = z.object({
  status: z.enum(['approved', 'rejected']),
  // Source: GitLab's `ee/app/models/deployments/approval.rb`.
  comment: z.string().max(255).nullable().default(null),
  represented_as: z.string().optional(),
})
export type Decision = z.input<typeof decisionSchema>

/** A person approves or rejects a deployment. Repeating the same decision changes nothing, not even the comment. */
export function decide(
  { world, life }: { world: World; life: Life },
  pipeline: Pipeline,
  job: DeployJob,
  by: string,
  wanted: Decision,
): { kind: 'done'; approval: Approval } | { kind: 'refused'; reason: string } {
  const { status, comment, represented_as: as } = decisionSchema.parse(wanted)
  const refused = (reason: string) => ({ kind: 'refused', reason }) as const
  const rules = rulesOf(world, pipeline, job)
  if (rules.length === 0) return refused('This environment is not protected.')
  const isOwn = triggererOf(pipeline).name === by
  if (isOwn && status === 'approved' && !world.switches.mayApproveOwn)
    return refused(
      'You cannot approve your own deployment. This configuration can be adjusted in the protected environment settings.',
    )
  if (!waitsForApproval(world, pipeline, job)) return refused('This deployment is not waiting for approvals.')
  if (!ruleFor(rules, world, { by }))
    return refused("You don't have permission to approve this deployment. Contact the project or group owner for help.")
  const rule = ruleFor(rules, world, { by, as })
  if (!rule)
    return refused(
      'There are no approval rules for the given `represent_as` parameter. Use a valid User/Group/Role name instead.',
    )
  const known = approvalsBy(rule, job).find((one) => one.by === by)
  if (known?.status === status) return { kind: 'done', approval: known }
  const approval = { by, status, comment, at: world.clock.now(), rule }
  job.deployment.approvals = [...job.deployment.approvals.filter((one) => one !== known), approval]
  if (status === 'rejected') life.reject(pipeline, job)
  return { kind: 'done', approval }
}

/** Source: GitLab, `lib/api/deployments.rb`. */
export function approveReply(
  parts: { world: World; life: Life },
  pipeline: Pipeline,
  job: DeployJob,
  call: Call,
): Reply {
  const body = parseJson(call.text)
  const wanted = body.kind === 'json' ? decisionSchema.safeParse(body.value).data : undefined
  if (!wanted) return json(400, { error: 'status does not have a valid value' })
  const result = decide(parts, pipeline, job, USER.name, wanted)
  return result.kind === 'done'
    ? json(201, approvalEntity(parts.world, result.approval))
    : json(400, { message: result.reason })
}

/** `blocked` once its job could run; that stays after the last approval, until the job is started. */
function statusOf(world: World, pipeline: Pipeline, job: DeployJob): string {
  if (job.status === 'manual') return rulesOf(world, pipeline, job).length > 0 ? 'blocked' : 'created'
  return ['running', 'success', 'failed', 'canceled', 'skipped'].includes(job.status) ? job.status : 'created'
}

/** A deployment in a list. Source: GitLab, `lib/api/entities/deployment.rb`. */
export function deploymentEntity(world: World, pipeline: Pipeline, job: DeployJob) {
  const { id, iid, environment } = job.deployment
  return {
    id,
    iid,
    ref: pipeline.branch,
    sha: pipeline.sha,
    created_at: isoTime(job.createdAt)!,
    updated_at: isoTime(pipeline.updatedAt)!,
    user: userEntity(world, triggererOf(pipeline)),
    environment: { id: accountOf(environment).id, name: environment, slug: environment, external_url: null },
    deployable: jobEntity(world, pipeline, job),
    status: statusOf(world, pipeline, job),
  }
}

/** A single deployment. Only Premium has what is about approvals. */
export const wholeDeployment = (world: World, pipeline: Pipeline, job: DeployJob) => ({
  ...deploymentEntity(world, pipeline, job),
  ...(!world.switches.isFree && {
    pending_approval_count: pendingCount(world, pipeline, job),
    approvals: job.deployment.approvals.map((one) => approvalEntity(world, one)),
    approval_summary: {
      rules: rulesOf(world, pipeline, job).map((rule, at) => ({
        id: at + 1,
        user_id: rule.user === undefined ? null : personOf(rule.user).id,
        group_id: rule.group === undefined ? null : groupId(rule.group.name),
        access_level: rule.role === undefined ? null : ROLES[rule.role],
        access_level_description: nameOf(rule),
        required_approvals: rule.required,
        group_inheritance_type: rule.group?.areInherited ? 1 : 0,
        deployment_approvals: approvalsBy(rule, job).map((one) => approvalEntity(world, one)),
      })),
    },
  }),
})

const approvalEntity = (world: World, { by, status, comment, at }: Approval) => ({
  user: userEntity(world, personOf(by)),
  status,
  created_at: isoTime(at)!,
  comment,
})

/** A member of a group that has to approve. Source: GitLab, `lib/api/members.rb`. */
export function memberReply(world: World, group: string, user: string, areAll: boolean): Reply {
  const rules = world.projects.flatMap(({ protections }) => [...protections.values()].flat())
  const isMember = rules.some(
    ({ group: one }) =>
      one !== undefined &&
      String(groupId(one.name)) === group &&
      (areAll || !one.areInherited) &&
      one.members.some((name) => String(personOf(name).id) === user),
  )
  return isMember
    ? json(200, { id: Number(user), state: 'active', access_level: ROLES.Developer, expires_at: null })
    : json(404, { message: '404 Not found' })
}
