export const RULE_STATUSES = ['started', 'failed', 'success', 'recovered'] as const

/** The eight statuses that a webhook delivers. */
export const BUILD_STATUSES = [
  'initiated',
  'waiting',
  'success',
  'error',
  'stopped',
  'ignored',
  'blocked',
  'infrastructure_failure',
] as const
export type BuildStatus = (typeof BUILD_STATUSES)[number]

/** A notification rule as in a response. */
export interface NotificationRule {
  notifier: string
  target: string
  branch: string | null
  branch_match: string
  build_statuses: string[]
  options: Record<string, string>
}

export interface TestPipeline {
  id: number
  name: string
  commands: string[]
}

export interface DeploymentPipeline {
  id: number
  branch: { branch_name: string; match_mode: string }
  config: Record<string, unknown>
  position: number
}

/** A project as in a v2 response. */
export interface ProjectFields {
  uuid: string
  organization_uuid: string
  name: string
  type: 'basic' | 'pro'
  repository_url: string
  repository_provider: string
  authentication_user: string
  ssh_key: string
  aes_key: string | null
  created_at: string
  updated_at: string
  build_on_pr_only: boolean
  branch_match: 'include' | 'exclude'
  branches: string[]
  setup_commands: string[]
  team_ids: number[]
  test_pipelines: TestPipeline[]
  notification_rules: NotificationRule[]
  environment_variables: { name: string; value: string }[]
  deployment_pipelines: DeploymentPipeline[]
}

export interface Project {
  /** the integer id of legacy calls and deliveries, to which the switch `bigIds` adds 2^60 */
  readonly id: number
  fields: ProjectFields
}

/** One execution of a build. Times are milliseconds since the epoch. */
export interface Run {
  status: BuildStatus
  startedAt: number | null
  finishedAt: number | null
}

/** The planned course of a build. Outcome `none`: it runs until somebody ends it. */
export interface Plan {
  outcome: Outcome
  ms: number
  waitingMs: number
  needsApproval: boolean
}
export const OUTCOMES = ['success', 'error', 'stopped', 'infrastructure_failure', 'ignored', 'blocked', 'none'] as const
export type Outcome = (typeof OUTCOMES)[number]

export interface Build {
  readonly id: number
  readonly uuid: string
  readonly projectId: number
  readonly branch: string
  readonly commitId: string
  readonly message: string
  readonly committer: string
  plan: Plan
  /** oldest first, never empty; the last one has the build's status */
  runs: Run[]
}

export const SCOPES = ['project.read', 'project.write', 'build.write'] as const
export type Scope = (typeof SCOPES)[number]

export interface Token {
  value: string
  scopes: readonly Scope[]
  organizationUuid: string
  /** null: it does not expire */
  expiresAt: number | null
}

export interface CiState {
  organizations: { uuid: string; name: string }[]
  projects: Project[]
  /** by id, oldest first */
  builds: Map<number, Build>
  tokens: Token[]
  apiKey: string
  clientId: string
  clientSecret: string
  nextProjectId: number
  nextBuildId: number
  nextPipelineId: number
}

/** How many builds are kept; the oldest finished one is removed first. */
export const BUILDS_MAX = 5_000

export const currentRun = (build: Build): Run => build.runs.at(-1)!
export const isUnfinished = (status: BuildStatus): boolean => status === 'initiated' || status === 'waiting'
export const buildsOf = (state: CiState, projectId: number): Build[] =>
  [...state.builds.values()].filter((build) => build.projectId === projectId)

export function addBuild(state: CiState, build: Build): void {
  state.builds.set(build.id, build)
  if (state.builds.size <= BUILDS_MAX) return
  const oldest = [...state.builds.values()].find((candidate) => !isUnfinished(currentRun(candidate).status))
  if (oldest) state.builds.delete(oldest.id)
}
