import type { FieldFault } from './project.ts'
import { fieldOf, isRecord, listOf, saysNothing, textOf } from './raw-values.ts'
import { isSecretPlace } from './secret-fields.ts'

// An update replaces all that a project has. What CI hides where it is read cannot be written back.

type Raw = Readonly<Record<string, unknown>>

/**
 * The secrets of a project, in the form of CI's answers, for which only a mask stands: written back, it would take the
 * secret's place. A variable without a value is one, too. No value is quoted.
 */
export const maskedSecrets = (raw: Raw): FieldFault[] =>
  Object.entries(raw)
    .flatMap(([name, value]) => (name === VARIABLES ? inVariables(value) : inValue(name, [name], value)))
    .map((field) => ({ field, reason: 'CI hides it, and it would be lost: type it anew, or change this in CI itself' }))

const VARIABLES = 'environment_variables'

/** Is this how a service shows a secret without showing it: `****`, `xxxx1a2b`, `[FILTERED]`? */
export const isMask = (text: string): boolean => MASKS.some((mask) => mask.test(text.trim()))

const MASKS = [
  /^[*•●]{3,}$/,
  /[*•●]{4,}/,
  /^x{4}[\w-]{0,4}$/i,
  /^[[<({](?:filtered|redacted|hidden|masked|secret|encrypted|protected|removed)[\]>)}]$/i,
]

const inVariables = (value: unknown): string[] =>
  listOf(value).flatMap((variable, at) => {
    const given = fieldOf(variable, 'value')
    const isHidden = isRecord(variable) && (saysNothing(given) || (typeof given === 'string' && isMask(given)))
    const name = textOf(fieldOf(variable, 'name'))
    return isHidden ? [name === null ? `${VARIABLES}[${at}]` : `${VARIABLES}.${name}`] : []
  })

/** @param names of the fields from the outermost to the innermost */
function inValue(field: string, names: readonly string[], value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((item, at) => inValue(`${field}[${at}]`, names, item))
  if (isRecord(value))
    return Object.entries(value).flatMap(([name, item]) => inValue(`${field}.${name}`, [...names, name], item))
  return typeof value === 'string' && isSecretPlace(names) && isMask(value) ? [field] : []
}

/** The fields of an update that CI said nothing of, not even null. @param isBasic what only a Basic project has is one, too */
export const unsaidFields = (raw: Raw, isBasic: boolean): string[] =>
  [...SET_BY_UPDATE, ...(isBasic ? SET_IF_BASIC : [])].filter((name) => !Object.hasOwn(raw, name))

const SET_BY_UPDATE = ['type', 'team_ids', 'notification_rules', 'build_on_pr_only', 'branch_match', 'branches']
const SET_IF_BASIC = ['setup_commands', VARIABLES]
