import { uuidBuildId, type BuildId, type ProjectId, type Uuid } from './ids.ts'
import type { NotificationRule } from './rule.ts'

/** A project as the v2 interface holds it. */
export interface Project {
  uuid: Uuid
  /** the integer that deliveries carry, where CI says it; the interface does not name it */
  id: ProjectId | null
  organizationUuid: Uuid | null
  /** the repository's full name; where CI gave none, the path of its address */
  name: string
  /** `basic` or `pro`, however CI writes it, or CI's own word; `unknown` where CI gave none */
  type: string
  repositoryUrl: string | null
  /** the rules that could be read; all of them, as sent, are in `raw` */
  rules: readonly NotificationRule[]
  /** the object as CI sent it, unknown fields too; whole numbers beyond 2^53 are digit strings. It holds secrets. */
  raw: Record<string, unknown>
}

/** What a listing found, and what it could not read. */
export interface ProjectList {
  projects: Project[]
  /** how many CI says there are; null where it does not say */
  total: number | null
  /** CI has more than is listed here */
  truncated: boolean
  /** items that were no readable project */
  skipped: number
}

/** A project as the legacy interface holds it: Basic projects only. */
export interface LegacyProject {
  id: ProjectId
  uuid: Uuid | null
  name: string
  /** builds without a usable id are left out */
  builds: LegacyBuild[]
}

export interface LegacyProjectList {
  projects: LegacyProject[]
  total: number | null
  truncated: boolean
  skipped: number
}

/** What CI said about a build that it restarts: the same build again or a new one; null where it said nothing usable. */
export interface RestartedBuild {
  id: BuildId | null
  uuid: Uuid | null
}

export interface LegacyBuild {
  id: BuildId
  uuid: Uuid | null
  projectId: ProjectId
  /** CI's word as sent; `unknown` where it sent none */
  status: string
  branch: string | null
  commitId: string | null
  /** the committer's username on the repository host */
  committer: string | null
  message: string | null
  /** milliseconds since the epoch, UTC */
  startedAt: number | null
  finishedAt: number | null
  /** see BuildDetails */
  number?: string | null
  attempt?: number | null
  lastEndAt?: number | null
  raw: Record<string, unknown>
}

/** What CI delivers by its uuid it may show by its number: of builds that are known by their uuids, that is the id. */
export function knownAs(ids: readonly BuildId[], shown: readonly LegacyBuild[]): LegacyBuild[] {
  const known = new Set(ids)
  return shown.map((build) => {
    const id = build.uuid && uuidBuildId(build.uuid)
    return id !== null && id !== build.id && known.has(id) ? { ...build, id, number: build.id } : build
  })
}

/** What is wrong with one field of a request, in words; no value is quoted. */
export interface FieldFault {
  /** `notification_rules[0].options.key` */
  field: string
  /** `slack needs a key` */
  reason: string
}

/** A project to be created, in the words of CI's request. It holds secrets. Source: interface, E3. */
export interface ProjectCreation {
  repository_url: string
  type: 'basic' | 'pro'
  /** in decimal digits: they can exceed 2^53 */
  team_ids: readonly string[]
  /** Basic only, as environment_variables and deploy_pipelines are */
  setup_commands?: readonly string[]
  test_pipelines?: readonly { name: string; commands: readonly string[] }[]
  notification_rules?: readonly RuleCreation[]
  environment_variables?: readonly { name: string; value: string }[]
  deploy_pipelines?: readonly DeploymentCreation[]
  build_on_pr_only?: boolean
  branch_match?: 'include' | 'exclude'
  branches?: readonly string[]
}

/** A rule in the words of CI's answers; fields beyond these go along. */
export interface RuleCreation {
  notifier: string
  target?: string | null
  /** null or empty: every branch */
  branch?: string | null
  branch_match?: string | null
  build_statuses: readonly string[]
  /** `key`, `url`, `room` */
  options?: Readonly<Record<string, unknown>> | null
}

export interface DeploymentCreation {
  branch: { branch_name: string; match_mode: string }
  config: readonly DeploymentConfig[]
  position: number
}

export const DEPLOYMENT_TYPES = [
  'script_deployment',
  'elastic_beanstalk_deployment',
  's3_deployment',
  'aws_code_deploy_deployment',
  'app_engine_deployment',
  'heroku_deployment',
] as const

/** The fields that each type knows are its own affair: all of them are optional texts, but for the commands. */
export interface DeploymentConfig {
  type: (typeof DEPLOYMENT_TYPES)[number]
  commands?: readonly string[]
  aws_access_key_id?: string
  aws_secret_access_key?: string
  region?: string
  application_name?: string
  environment_name?: string
  s3_bucket?: string
  local_path?: string
  acl?: string
  deployment_group_name?: string
  deployment_config_name?: string
  path?: string
  url?: string
  refresh_token?: string
  name?: string
  api_key?: string
  restore_from?: string
  post_deploy?: string
  backup?: string
  force?: string
  check_url?: string
}
