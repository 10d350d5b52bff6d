import { uuidBuildId, type BuildId, type ProjectId, type Uuid } from './ids.ts'
import type { NotificationRule } from './rule.ts'

/** A project in CI's v2 interface. */
export interface Project {
  uuid: Uuid
  /** the integer id that deliveries carry, if CI sends it; the interface's description does not mention it */
  id: ProjectId | null
  organizationUuid: Uuid | null
  /** the repository's full name, else the path of its URL */
  name: string
  /** `basic` or `pro`, in any spelling of CI's, or CI's own word; `unknown` if CI gave none */
  type: string
  repositoryUrl: string | null
  /** the rules that could be read; all of them, as sent, are in `raw` */
  rules: readonly NotificationRule[]
  /** the object as CI sent it, with unknown fields; whole numbers beyond 2^53 are digit strings. Contains secrets. */
  raw: Record<string, unknown>
}

/** A list of projects, and how much of it is missing. */
export interface ProjectList<Item> {
  projects: Item[]
  /** how many projects there are, as CI says; null if it does not */
  total: number | null
  /** CI has more than is listed here */
  truncated: boolean
  /** how many items could not be read */
  skipped: number
}

/** A project in CI's legacy interface, which has Basic projects only. */
export interface LegacyProject {
  id: ProjectId
  uuid: Uuid | null
  name: string
  /** builds without a usable id are left out */
  builds: LegacyBuild[]
}

/** The build that CI named when it restarted one: the same or a new one. Null: it named none in a readable form. */
export interface RestartedBuild {
  id: BuildId | null
  uuid: Uuid | null
}

export interface LegacyBuild {
  id: BuildId
  uuid: Uuid | null
  projectId: ProjectId
  /** CI's word as sent; `unknown` if it sent none */
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

/** CI may deliver a build by its uuid and list it by its number. A build known by its uuid gets the uuid as its id. */
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

/** A project to be created, with the field names of CI's request. It contains secrets. Source: interface, E3. */
export interface ProjectCreation {
  repository_url: string
  type: 'basic' | 'pro'
  /** in decimal digits: they can exceed 2^53 */
  team_ids: readonly string[]
  /** Basic only, as are environment_variables and deploy_pipelines */
  setup_commands?: readonly string[]
  test_pipelines?: readonly { name: string; commands: readonly string[] }[]
  notification_rules?: readonly RuleCreation[]
  environment_variables?: readonly { name: string; value: string }[]
  deploy_pipelines?: readonly DeploymentCreation[]
  build_on_pr_only?: boolean
  branch_match?: 'include' | 'exclude'
  branches?: readonly string[]
}

/** A rule with the field names of CI's answers; it may have further fields, which are sent too. */
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

/** Which fields a deployment has depends on its type. All are optional strings, except `commands`. */
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
