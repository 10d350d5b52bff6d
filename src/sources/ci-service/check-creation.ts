import type { FieldFault } from '../../domain/rules/rule.ts'
import * as z from 'zod'
import { isIdDigits } from '../../domain/ids.ts'
import { PRO_IGNORES } from '../../domain/ci-project/project-fields.ts'
import { checkFilter, checkRuleAt, LIST_ITEMS_MAX, LINE_CHARS_MAX } from './check-rule.ts'
import { isRecord, numberOf } from '../../lib/json.ts'
import { without, withTargetNamed } from './wire.ts'

/** How many faults are reported. More would not help. */
export const FAULTS_MAX = 50

export type CreationCheck = { kind: 'creation'; creation: ProjectCreation } | { kind: 'faults'; faults: FieldFault[] }

/**
 * Checks a new project in the names of CI's request (E3, by its table). Returns it, or each field that cannot be sent
 * and why, at most `FAULTS_MAX`. Unknown fields are faults, except within a rule, where they are sent. What CI ignores
 * for a Pro project is not checked. Values are never quoted.
 */
export function checkCreation(input: unknown): CreationCheck {
  const wanted = isRecord(input) && input['type'] === 'pro' ? without(input, PRO_IGNORES) : input
  const parsed = creationSchema.safeParse(wanted)
  const faults = [...(parsed.error?.issues.flatMap(faultsOf) ?? []), ...faultsWithin(wanted)]
  if (!parsed.success || faults.length > 0) return { kind: 'faults', faults: faults.slice(0, FAULTS_MAX) }
  return { kind: 'creation', creation: parsed.data }
}

/** `https://host/owner/name` or `git@host:owner/name`, with or without `.git`. */
function namesRepository(address: string): boolean {
  const [, path = ''] = REPOSITORY.exec(address.trim()) ?? []
  const segments = path
    .replace(/\/$/, '')
    .replace(/\.git$/, '')
    .split('/')
  return address.length <= LINE_CHARS_MAX && segments.length >= 2 && !segments.includes('')
}

const REPOSITORY = /^(?:(?:https?|ssh|git|git\+ssh):\/\/[^/\s]+\/|[^@/:\s]+@[^@/:\s]+:)(\S+)$/i

function faultsOf(issue: z.core.$ZodIssue): FieldFault[] {
  const field = fieldOf(issue.path)
  if (issue.code !== 'unrecognized_keys') return [{ field, reason: issue.message }]
  return issue.keys.map((name) => ({
    field: fieldOf([...issue.path, name]),
    reason: 'is not a field that CI knows here',
  }))
}

const fieldOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((field, key) => {
    if (typeof key === 'number') return `${field}[${key}]`
    return field === '' ? String(key) : `${field}.${String(key)}`
  }, '')

function faultsWithin(input: unknown): FieldFault[] {
  if (!isRecord(input)) return []
  const { branches, notification_rules: rules } = input
  return [
    ...(Array.isArray(branches) ? checkFilter(branches) : []),
    ...(Array.isArray(rules)
      ? rules.slice(0, LIST_ITEMS_MAX).flatMap((rule, at) => checkRuleAt(at, rule, 'create'))
      : []),
  ]
}

/** How CI expects the parts of a creation that its interface leaves open. */
export interface CreationForms {
  /**
   * `table`: `deploy_pipelines` with config objects and `position`, as in the table of the interface. `example`:
   * `deployment_pipelines` with `postion`, and each config object as JSON text, as in its example.
   */
  deploymentForm: 'table' | 'example'
  /** The field of a rule that restricts who gets its e-mail. */
  createTargetName: 'email_target' | 'target'
}

/** The body that creates a project. Fields that CI ignores for a Pro project are left out. Source: interface, E3. */
export function creationBody(
  creation: ProjectCreation,
  { deploymentForm = 'table', createTargetName = 'email_target' }: Partial<CreationForms> = {},
): Record<string, unknown> {
  const { team_ids: teamIds, notification_rules: rules, deploy_pipelines: deployments, ...plain } = creation
  const body = {
    ...plain,
    team_ids: teamIds.map(numberOf),
    ...(rules && { notification_rules: rules.map((rule) => ruleBody(rule, createTargetName)) }),
    ...(deployments &&
      (deploymentForm === 'table'
        ? { deploy_pipelines: deployments }
        : { deployment_pipelines: deployments.map(asInExample) })),
  }
  return creation.type === 'pro' ? without(body, PRO_IGNORES) : body
}

// The interface has no null here, so fields that are null are left out.
const ruleBody = (rule: RuleCreation, targetName: CreationForms['createTargetName']): Record<string, unknown> =>
  Object.fromEntries(Object.entries(withTargetNamed(targetName, { ...rule })).filter(([, value]) => value !== null))

// The example does not say what its strings contain. JSON loses nothing of a config. `postion` is CI's spelling.
const asInExample = ({ branch, config: configs, position }: z.output<typeof deployment>) => ({
  branch,
  config: configs.map((one) => JSON.stringify(one)),
  postion: position,
})

// Schemas for the values of a request, each with its limit, and messages that quote no value.

/** The longest command or value that is sent, in characters. */
export const TEXT_CHARS_MAX = 10_000

const must = (reason: string) => ({
  error: ({ input }: { input?: unknown }) => (input === undefined ? 'is required' : reason),
})

const textUpTo = (charsMax: number) =>
  z.string(must('must be text')).max(charsMax, `has more than ${charsMax} characters`)

/** A command or a value, which may be empty. */
const text = textUpTo(TEXT_CHARS_MAX)

/** A text of one line, which may be empty. */
const line = textUpTo(LINE_CHARS_MAX)

/** A name: a line that is not blank. */
const named = line.refine((name) => name.trim() !== '', 'is empty')

const oneOf = <const Words extends readonly string[]>(words: Words) =>
  z.enum(words, must(`must be one of ${words.join(', ')}`))

const listOf = <Item extends z.ZodType>(item: Item) =>
  z.array(item, must('must be a list')).max(LIST_ITEMS_MAX, `has more than ${LIST_ITEMS_MAX} entries`)

const objectOf = <Shape extends z.ZodRawShape>(shape: Shape) => z.strictObject(shape, must('must be an object'))

const setting = text.exactOptional()

export const DEPLOYMENT_TYPES = [
  'script_deployment',
  'elastic_beanstalk_deployment',
  's3_deployment',
  'aws_code_deploy_deployment',
  'app_engine_deployment',
  'heroku_deployment',
] as const

/** Which fields a deployment has depends on its type. */
const config = objectOf({
  type: oneOf(DEPLOYMENT_TYPES),
  commands: listOf(text).exactOptional(),
  aws_access_key_id: setting,
  aws_secret_access_key: setting,
  region: setting,
  application_name: setting,
  environment_name: setting,
  s3_bucket: setting,
  local_path: setting,
  acl: setting,
  deployment_group_name: setting,
  deployment_config_name: setting,
  path: setting,
  url: setting,
  refresh_token: setting,
  name: setting,
  api_key: setting,
  restore_from: setting,
  post_deploy: setting,
  backup: setting,
  force: setting,
  check_url: setting,
})

const deployment = objectOf({
  branch: objectOf({ branch_name: named, match_mode: named }),
  config: listOf(config),
  position: z.number(must('must be a number')),
})

/** A rule with the field names of CI's answers; it may have further fields, which are sent too. See `checkRule`. */
interface RuleCreation {
  notifier: string
  build_statuses: readonly string[]
  [field: string]: unknown
}

const digits = z.preprocess(
  (id) => (typeof id === 'number' ? String(id) : id),
  z.custom<string>((id) => typeof id === 'string' && isIdDigits(id), 'must be a whole number'),
)

const creationSchema = objectOf({
  repository_url: line.refine(namesRepository, 'must name a repository, as https://host/owner/name does'),
  type: oneOf(['basic', 'pro']),
  team_ids: listOf(digits),
  setup_commands: listOf(text).exactOptional(),
  test_pipelines: listOf(objectOf({ name: named, commands: listOf(text) })).exactOptional(),
  notification_rules: listOf(z.custom<RuleCreation>(isRecord, 'must be an object')).exactOptional(),
  environment_variables: listOf(objectOf({ name: named, value: text })).exactOptional(),
  deploy_pipelines: listOf(deployment).exactOptional(),
  build_on_pr_only: z.boolean(must('must be true or false')).exactOptional(),
  branch_match: oneOf(['include', 'exclude']).exactOptional(),
  branches: z.custom<readonly string[]>(Array.isArray, 'must be a list').exactOptional(),
})

/** A project to be created, with the field names of CI's request. It contains secrets. Source: interface, E3. */
export type ProjectCreation = z.output<typeof creationSchema>
export type DeploymentConfig = z.output<typeof config>
