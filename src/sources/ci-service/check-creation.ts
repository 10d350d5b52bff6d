import { z } from 'zod'
import { isIdDigits } from '../../domain/ids.ts'
import { PRO_IGNORES } from '../../domain/project-fields.ts'
import type { FieldFault, ProjectCreation, RuleCreation } from '../../domain/project.ts'
import { checkFilter, LIST_ITEMS_MAX } from './check-filter.ts'
import { checkRule, LINE_CHARS_MAX } from './check-rule.ts'
import { deployments } from './deployment-schema.ts'
import { isRecord } from '../../lib/json.ts'
import { flag, line, listOf, named, objectOf, oneOf, text } from './request-values.ts'
import { without } from './update-body.ts'

/** More faults than these help nobody. */
export const FAULTS_MAX = 50

export type CreationCheck = { kind: 'creation'; creation: ProjectCreation } | { kind: 'faults'; faults: FieldFault[] }

/**
 * A creation in the names of CI's request (E3, by its table), or each field that cannot be sent and why, at most `FAULTS_MAX`.
 * Fields that the interface does not have are faults, within a rule they go along. What CI ignores of a Pro project is
 * not looked at. No value is quoted.
 */
export function checkCreation(input: unknown): CreationCheck {
  const wanted = isRecord(input) && input['type'] === 'pro' ? without(input, PRO_IGNORES) : input
  const parsed = creationSchema.safeParse(wanted)
  const faults = [...(parsed.error?.issues.flatMap(faultsOf) ?? []), ...faultsWithin(wanted)]
  if (!parsed.success || faults.length > 0) return { kind: 'faults', faults: faults.slice(0, FAULTS_MAX) }
  return { kind: 'creation', creation: parsed.data }
}

const digits = z.preprocess(
  (id) => (typeof id === 'number' ? String(id) : id),
  z.custom<string>((id) => typeof id === 'string' && isIdDigits(id), 'must be a whole number'),
)
const filter = z.custom<readonly string[]>(Array.isArray, 'must be a list')
const rule = z.custom<RuleCreation>(isRecord, 'must be an object')

const creationSchema = objectOf({
  repository_url: line.refine(namesRepository, 'must name a repository, as https://host/owner/name does'),
  type: oneOf(['basic', 'pro']),
  team_ids: listOf(digits),
  setup_commands: listOf(text).exactOptional(),
  test_pipelines: listOf(objectOf({ name: named, commands: listOf(text) })).exactOptional(),
  notification_rules: listOf(rule).exactOptional(),
  environment_variables: listOf(objectOf({ name: named, value: text })).exactOptional(),
  deploy_pipelines: deployments.exactOptional(),
  build_on_pr_only: flag.exactOptional(),
  branch_match: oneOf(['include', 'exclude']).exactOptional(),
  branches: filter.exactOptional(),
})

/** `https://host/owner/name`, or `git@host:owner/name`; with `.git` or without. */
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
  return issue.keys.map((name) => ({ field: fieldOf([...issue.path, name]), reason: 'is no field that CI knows here' }))
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
    ...(Array.isArray(rules) ? rules.slice(0, LIST_ITEMS_MAX).flatMap(faultsOfRule) : []),
  ]
}

const faultsOfRule = (one: unknown, at: number): FieldFault[] =>
  isRecord(one)
    ? checkRule(one).map(({ field, reason }) => ({ field: `notification_rules[${at}].${field}`, reason }))
    : []
