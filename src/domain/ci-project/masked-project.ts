import type { FieldFault } from '../rules/rule.ts'
import { filterOf, type BranchFilter } from '../rules/pattern.ts'
import { fieldsThat, isSecretPlace, MASK, projectField, withoutCredentials } from './project-fields.ts'
import { fieldOf, listOf, textOf, textsOf, isNullish } from '../../lib/raw-values.ts'
import { isRecord } from '../../lib/json.ts'

type Raw = Readonly<Record<string, unknown>>

/** The parts of a project that may be shown; null: CI sent nothing readable. */
export interface MaskedProject {
  /** `basic`, `pro`, or CI's own word */
  type: string | null
  /** its address, without credentials */
  repository: string | null
  provider: string | null
  /** the public part of the key with which CI reads the repository, without its comment */
  deployKey: string | null
  hasAesKey: boolean | null
  /** milliseconds since the epoch */
  createdAt: number | null
  updatedAt: number | null
  /** team ids in digits */
  teams: readonly string[]
  onPullRequestsOnly: boolean | null
  filter: BranchFilter
  setupCommands: readonly string[]
  /** names only: values are secrets */
  variableNames: readonly string[]
  testPipelines: readonly { name: string | null; commands: readonly string[] }[]
  deployments: readonly ShownDeployment[]
  rules: readonly ShownRule[]
  /** the names of fields that the interface does not describe */
  unknownFields: readonly string[]
}

export interface ShownDeployment {
  branch: string | null
  /** CI's `match_mode` */
  match: string | null
  types: readonly string[]
}

export interface ShownRule {
  /** its place among the project's rules, counted from 0; changes name a rule by it */
  at: number
  notifier: string | null
  target: string | null
  /** null: every branch */
  branch: string | null
  branchMatch: string | null
  events: readonly string[]
  /** the options that are set, by name: values are secrets */
  optionNames: readonly string[]
}

/** A project to show, without secrets. Fields that are missing or have an unknown form are null or left out. */
export const maskedProject = (raw: Raw): MaskedProject => ({
  type: textOf(raw['type']),
  repository: withoutCredentialsOrNull(textOf(raw['repository_url'])),
  provider: textOf(raw['repository_provider']),
  deployKey: PUBLIC_KEY.exec(textOf(raw['ssh_key'])?.trim() ?? '')?.[1] ?? null,
  hasAesKey: raw['aes_key'] === undefined ? null : textOf(raw['aes_key']) !== null,
  createdAt: timeOf(raw['created_at']),
  updatedAt: timeOf(raw['updated_at']),
  teams: textsOf(raw['team_ids']),
  onPullRequestsOnly: booleanOf(raw['build_on_pr_only']),
  filter: filterOf(raw),
  setupCommands: commandsOf(raw['setup_commands']),
  variableNames: listOf(raw['environment_variables']).flatMap((variable) => textOf(fieldOf(variable, 'name')) ?? []),
  testPipelines: listOf(raw['test_pipelines']).filter(isRecord).map(testPipelineOf),
  deployments: listOf(raw['deployment_pipelines']).filter(isRecord).map(deploymentOf),
  rules: listOf(raw['notification_rules']).flatMap((rule, at) => (isRecord(rule) ? [ruleOf(rule, at)] : [])),
  unknownFields: Object.keys(raw).filter((name) => !projectField(name)),
})

// Only a public key as OpenSSH writes it. Anything else in the field may be a private key.
const PUBLIC_KEY = /^((?:ssh|ecdsa|sk)-[\w@.-]{1,60} [A-Za-z0-9+/]{1,1500}={0,2})(?:\s.*)?$/

function timeOf(value: unknown): number | null {
  const timeMs = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(timeMs) ? null : timeMs
}

const withoutCredentialsOrNull = (address: string | null): string | null =>
  address === null ? null : withoutCredentials(address)

const commandsOf = (value: unknown): readonly string[] => textsOf(value).map(withoutCredentials)

const booleanOf = (value: unknown): boolean | null => {
  if (value === true || value === 'true') return true
  return value === false || value === 'false' ? false : null
}

const testPipelineOf = (pipeline: Record<string, unknown>): MaskedProject['testPipelines'][number] => ({
  name: textOf(pipeline['name']),
  commands: commandsOf(pipeline['commands']),
})

const deploymentOf = ({ branch, config }: Record<string, unknown>): ShownDeployment => ({
  branch: textOf(branch) ?? textOf(fieldOf(branch, 'branch_name')),
  match: textOf(fieldOf(branch, 'match_mode')),
  types: [...new Set(stepsOf(config).flatMap(typesOf))],
})

/** The steps. If they are in lists inside an object, a form that CI does not document, only their types. */
function stepsOf(config: unknown): unknown[] {
  if (!isRecord(config) || config['type'] !== undefined) return [config].flat()
  return Object.values(config).flatMap((inner) => listOf(inner).flatMap((step) => textOf(fieldOf(step, 'type')) ?? []))
}

// A bare string in a deployment's settings can be anything, even a credential: only what looks like a type is shown.
function typesOf(step: unknown): string[] {
  const type = typeof step === 'string' ? step : textOf(fieldOf(step, 'type'))
  return type !== null && (isRecord(step) || TYPE.test(type)) ? [type] : []
}

const TYPE = /^[a-z0-9]{1,20}(?:_[a-z0-9]{1,20}){0,3}_deployment$/

function ruleOf(rule: Record<string, unknown>, at: number): ShownRule {
  return {
    at,
    notifier: textOf(rule['notifier']),
    target: textOf(rule['target']) ?? textOf(rule['email_target']),
    branch: textOf(rule['branch']),
    branchMatch: textOf(rule['branch_match']),
    events: textsOf(rule['build_statuses']),
    optionNames: [...new Set(optionNamesOf(rule['options']))],
  }
}

/** The names of the options that are set. If they are nested by notifier, `{slack: {key}}`, the innermost names. */
const optionNamesOf = (options: unknown): string[] =>
  !isRecord(options)
    ? []
    : Object.entries(options).flatMap(([name, value]) => {
        if (isRecord(value)) return optionNamesOf(value)
        return isSet(value) ? [name] : []
      })

const isSet = (value: unknown): boolean => value !== null && value !== undefined && value !== ''

/** Shown in place of a line break within one command. */
const BREAK = ' ⏎ '

/** A project's setup commands for showing and typing back: one line each, credentials masked. */
export const commandLines = (raw: Raw): string[] => setupOf(raw).map(lineOf)

/**
 * Turns typed lines back into commands. An unchanged line keeps the existing command. Any other line with a mask or a
 * line break sign is a fault.
 */
export function commandsOfLines(lines: readonly string[], raw: Raw): { commands: string[]; faults: FieldFault[] } {
  const left = setupOf(raw).map((command) => ({ command, line: lineOf(command) }))
  const faults: FieldFault[] = []
  const commands = lines.map((line, at) => {
    const kept = left.findIndex((one) => one.line === line)
    const [known] = kept < 0 ? [] : left.splice(kept, 1)
    const isBroken = !known && (line.includes(MASK) || line.includes(BREAK.trim()))
    if (isBroken)
      faults.push({ field: `setup_commands[${at}]`, reason: 'leave it unchanged, or type the whole command' })
    return known?.command ?? line
  })
  return { commands, faults }
}

const setupOf = (raw: Raw): string[] => listOf(raw['setup_commands']).flatMap((command) => textOf(command) ?? [])

const lineOf = (command: string): string =>
  withoutCredentials(command)
    .trim()
    .split(/\r\n|[\r\n]/)
    .join(BREAK)

// An update replaces the whole project, and a value that CI masks in its answers cannot be written back.

/**
 * The secrets that CI's answer masks or leaves out: written back, a mask would replace the secret. A variable without a
 * value counts too. No value is quoted.
 */
export const maskedSecrets = (raw: Raw): FieldFault[] =>
  Object.entries(raw)
    .flatMap(([name, value]) => (name === VARIABLES ? inVariables(value) : inValue(name, [name], value)))
    .map((field) => ({
      field,
      reason: 'CI hides it, so it would be lost: enter it again, or change this in CI itself',
    }))

const VARIABLES = 'environment_variables'

/** Whether this looks like a masked secret: `****`, `xxxx1a2b`, `[FILTERED]`. */
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
    const isHidden = isRecord(variable) && (isNullish(given) || (typeof given === 'string' && isMask(given)))
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

/** The fields of an update that CI's answer lacks, even as null. @param isBasic Basic-only fields count too */
export const absentFields = (raw: Raw, isBasic: boolean): string[] =>
  [...fieldsThat((field) => field.setBy === 'update' && (isBasic || !field.isBasicOnly))].filter(
    (name) => !Object.hasOwn(raw, name),
  )
