import type { FieldFault } from '../../domain/rules/rule.ts'
import { BASIC_ONLY, projectField } from '../../domain/ci-project/project-fields.ts'
import * as z from 'zod'
import { isIdDigits } from '../../domain/ids.ts'
import { checkFilter, checkRuleAt, LIST_ITEMS_MAX, LINE_CHARS_MAX } from './check-rule.ts'
import { isRecord, numberOf } from '../../lib/json.ts'
import { withTargetNamed } from './wire.ts'

/** How many faults are reported. More would not help. */
export const FAULTS_MAX = 50

/**
 * Each field of a new project that cannot be sent and why, at most `FAULTS_MAX`. The fields have the names of CI's
 * request (E3). Values are never quoted.
 */
export function checkCreation(creation: ProjectCreation): FieldFault[] {
  const { type, branches = [], notification_rules: rules = [] } = creation
  const dropped = type === 'pro' ? [...BASIC_ONLY].filter((name) => name in creation) : []
  const faults = [
    ...(creationSchema.safeParse(creation).error?.issues ?? []).map(faultOf),
    ...dropped.map((field) => ({ field, reason: `only Basic projects have ${projectField(field)?.words}` })),
    ...checkFilter(branches),
    ...rules.flatMap((rule, at) => checkRuleAt(at, rule, 'create')),
  ]
  return faults.slice(0, FAULTS_MAX)
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

const faultOf = ({ path, message }: z.core.$ZodIssue): FieldFault => ({ field: fieldOf(path), reason: message })

const fieldOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((field, key) => {
    if (typeof key === 'number') return `${field}[${key}]`
    return field === '' ? String(key) : `${field}.${String(key)}`
  }, '')

/** The body that creates a project. Source: interface, E3, by its table. */
export function creationBody(creation: ProjectCreation): Record<string, unknown> {
  const { team_ids: teamIds, notification_rules: rules, ...plain } = creation
  return {
    ...plain,
    team_ids: teamIds.map(numberOf),
    ...(rules && { notification_rules: rules.map(ruleBody) }),
  }
}

// The interface has no null here, so fields that are null are left out.
const ruleBody = (rule: RuleCreation): Record<string, unknown> =>
  Object.fromEntries(Object.entries(withTargetNamed(rule)).filter(([, value]) => value !== null))

// Schemas for what people type in a form, each with its limit, and messages that quote no value.

/** The longest command or value that is sent, in characters. */
export const TEXT_CHARS_MAX = 10_000

const textUpTo = (charsMax: number) => z.string().max(charsMax, `has more than ${charsMax} characters`)

/** A command or a value, which may be empty. */
const text = textUpTo(TEXT_CHARS_MAX)

/** A text of one line, which may be empty. */
const line = textUpTo(LINE_CHARS_MAX)

/** A name: a line that is not blank. */
const named = line.refine((name) => name.trim() !== '', 'is empty')

const listOf = <Item extends z.ZodType>(item: Item) =>
  z.array(item).max(LIST_ITEMS_MAX, `has more than ${LIST_ITEMS_MAX} entries`).readonly()

/** A rule with the field names of CI's answers. See `checkRule`. */
type RuleCreation = Readonly<Record<string, unknown>>

const creationSchema = z.object({
  repository_url: line.refine(namesRepository, 'must name a repository, as https://host/owner/name does'),
  type: z.enum(['basic', 'pro']),
  team_ids: listOf(z.string().refine(isIdDigits, 'must be a whole number')),
  setup_commands: listOf(text).exactOptional(),
  test_pipelines: listOf(z.object({ name: named, commands: listOf(text) })).exactOptional(),
  notification_rules: z.array(z.custom<RuleCreation>(isRecord)).readonly().exactOptional(),
  environment_variables: listOf(z.object({ name: named, value: text })).exactOptional(),
  build_on_pr_only: z.boolean().exactOptional(),
  branch_match: z.enum(['include', 'exclude']).exactOptional(),
  branches: z.array(z.string()).readonly().exactOptional(),
})

/** A project to be created, with the field names of CI's request. It contains secrets. Source: interface, E3. */
export type ProjectCreation = z.output<typeof creationSchema>
