import { z } from 'zod'
import { isHalfPattern } from './branches.ts'
import { faultReasons } from '../../lib/reasons.ts'
import { readDeployments } from './request-deployments.ts'
import { createSpelling, readRules, updateSpelling } from './request-rules.ts'
import type { RuleSpelling } from './request-rules.ts'
import type { DeploymentPipeline, NotificationRule, ProjectFields, TestPipeline } from './state.ts'
import type { Switches } from './switches.ts'

/** The project fields that both create and update accept; undefined if not given. */
export type ProjectChanges = Partial<
  Pick<
    ProjectFields,
    'setup_commands' | 'team_ids' | 'environment_variables' | 'build_on_pr_only' | 'branch_match' | 'branches'
  >
> & { type: ProjectFields['type']; notification_rules?: NotificationRule[] }

export type UpdateRead = { kind: 'update'; changes: ProjectChanges } | { kind: 'invalid'; reasons: string[] }

export interface Creation {
  repositoryUrl: string
  changes: ProjectChanges
  testPipelines: Omit<TestPipeline, 'id'>[]
  deployments: Omit<DeploymentPipeline, 'id'>[]
}
export type CreateRead = { kind: 'create'; creation: Creation } | { kind: 'invalid'; reasons: string[] }

const words = z.array(z.string())
const branchEntry = z
  .string()
  .refine((entry) => !isHalfPattern(entry), 'a regular expression must start with ^ and end with $')

const shared = {
  type: z.enum(['basic', 'pro']),
  setup_commands: words.exactOptional(),
  environment_variables: z.array(z.object({ name: z.string().min(1), value: z.string() })).exactOptional(),
  build_on_pr_only: z.boolean().exactOptional(),
  branch_match: z.enum(['include', 'exclude']).exactOptional(),
  branches: z.array(branchEntry).exactOptional(),
}
const teamIds = z.array(z.number())
const updateSchema = z.object({ ...shared, team_ids: teamIds.exactOptional() })
const createSchema = z.object({
  ...shared,
  team_ids: teamIds,
  repository_url: z.string().refine((text) => repositoryName(text) !== undefined, 'must name a repository'),
  test_pipelines: z.array(z.object({ name: z.string(), commands: words })).exactOptional(),
})

/** Reads the body of E3. The Basic-only fields of a Pro project are ignored, even if they are invalid. */
export function readCreate(raw: unknown, switches: Switches): CreateRead {
  const body = withoutIgnored(asObject(raw), 'ignore')
  const parsed = createSchema.safeParse(body)
  const rules = readRulesOf(body, createSpelling(switches), switches)
  const deployments = readDeployments(body, switches.deploymentForm)
  if (!parsed.success || rules.kind === 'invalid' || deployments.kind === 'invalid') {
    return {
      kind: 'invalid',
      reasons: [...schemaReasons(parsed, body), ...reasonsOf(rules), ...reasonsOf(deployments)],
    }
  }
  const { repository_url: repositoryUrl, test_pipelines: testPipelines = [], ...changes } = parsed.data
  const creation = { repositoryUrl, testPipelines, deployments: deployments.deployments }
  return { kind: 'create', creation: { ...creation, changes: withRules(changes, rules.rules) } }
}

/** Reads the body of E4. Test and deployment pipelines are ignored. */
export function readUpdate(raw: unknown, switches: Switches): UpdateRead {
  const body = withoutIgnored(asObject(raw), switches.proBasicFields)
  const parsed = updateSchema.safeParse(body)
  const rules = readRulesOf(body, updateSpelling(switches), switches)
  const forbidden = body['type'] === 'pro' ? forbiddenReasons(body) : []
  if (!parsed.success || rules.kind === 'invalid' || forbidden.length > 0) {
    return { kind: 'invalid', reasons: [...schemaReasons(parsed, body), ...reasonsOf(rules), ...forbidden] }
  }
  return { kind: 'update', changes: withRules(parsed.data, rules.rules) }
}

const asObject = (raw: unknown): Record<string, unknown> =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw) ? { ...raw } : {}

const BASIC_ONLY = ['setup_commands', 'environment_variables']
const PRO_IGNORED = [...BASIC_ONLY, 'test_commands', 'deploy_pipelines', 'deployment_pipelines']

function withoutIgnored(body: Record<string, unknown>, mode: 'ignore' | 'refuse'): Record<string, unknown> {
  if (body['type'] !== 'pro' || mode === 'refuse') return body
  return Object.fromEntries(Object.entries(body).filter(([name]) => !PRO_IGNORED.includes(name)))
}

const forbiddenReasons = (body: Record<string, unknown>): string[] =>
  BASIC_ONLY.filter((name) => body[name] !== undefined).map((name) => `${name} is accepted only for type basic`)

function readRulesOf(body: Record<string, unknown>, spelling: RuleSpelling, switches: Switches) {
  const raw = body['notification_rules']
  return raw === undefined ? { kind: 'rules' as const, rules: undefined } : readRules(raw, spelling, switches)
}

const schemaReasons = (parsed: { error?: z.ZodError | undefined }, body: unknown): string[] =>
  parsed.error ? faultReasons(parsed.error, body) : []

const reasonsOf = (read: { kind: string; reasons?: string[] }): string[] => read.reasons ?? []

const withRules = (said: ProjectChanges, rules: NotificationRule[] | undefined): ProjectChanges =>
  rules ? { ...said, notification_rules: rules } : said

/** `acme/web` of `https://git.example.com/acme/web.git` or `git@git.example.com:acme/web.git`. */
export const repositoryName = (url: string): string | undefined =>
  /^(?:[a-z+]+:\/\/[^/\s]+\/|[^@/\s]+@[^:/\s]+:)(?:\S+\/)?([^/\s]+\/[^/\s]+?)(?:\.git)?\/?$/.exec(url)?.[1]
