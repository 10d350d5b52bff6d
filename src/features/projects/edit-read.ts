import { checkFilter } from '../../sources/ci-service/check-filter.ts'
import { checkRule } from '../../sources/ci-service/check-rule.ts'
import { isIdDigits } from '../../domain/ids.ts'
import type { ProjectChange, VariableInput } from '../../domain/project-change.ts'
import type { FieldFault } from '../../domain/project.ts'
import type { RuleInput } from '../../domain/rule-input.ts'
import { MASK } from '../../domain/secret-fields.ts'
import { checkedIn, chosenIn, linesIn, typedIn } from '../fields.ts'
import { FAULT_CHARS_MAX } from '../form.ts'
import type { FormMemory } from './metadata.ts'

/** Faults by block id. */
export type Faults = Readonly<Record<string, string>>

export type EditReading = { kind: 'change'; change: ProjectChange; block: string } | { kind: 'faults'; faults: Faults }

/** What was sent in, or what is wrong with it and where. `block`: the field that holds most of it. */
export function readEdit(body: unknown, memory: FormMemory): EditReading | null {
  switch (memory.part) {
    case null:
      return null
    case 'builds':
      return readBuilds(body)
    case 'setup':
      return changeOf('setup:commands', { what: 'setup', commands: linesIn(body, 'setup:commands') })
    case 'variables':
      return readVariables(body)
    case 'teams':
      return readTeams(body)
    case 'type':
      return readType(body)
    default:
      return readRule(body, memory.part, memory.rule)
  }
}

const changeOf = (block: string, change: ProjectChange): EditReading => ({ kind: 'change', change, block })

function orFaults(faults: Record<string, string[]>, reading: EditReading): EditReading {
  const found = Object.entries(faults).filter(([, reasons]) => reasons.length > 0)
  if (found.length === 0) return reading
  const short = found.map(([block, reasons]) => [block, reasons.join('; ').slice(0, FAULT_CHARS_MAX)] as const)
  return { kind: 'faults', faults: Object.fromEntries(short) }
}

function readBuilds(body: unknown): EditReading {
  const branches = linesIn(body, 'builds:branches')
  const match = chosenIn(body, 'builds:match') === 'exclude' ? 'exclude' : 'include'
  const onPullRequestsOnly = checkedIn(body, 'builds:pull').includes('only')
  return orFaults(
    { 'builds:branches': checkFilter(branches).map(lineFault) },
    changeOf('builds:branches', { what: 'builds', onPullRequestsOnly, match, branches }),
  )
}

/** `branches[2]` as the line that it is. */
function lineFault({ field, reason }: FieldFault): string {
  const place = /\[(\d+)\]/.exec(field)?.[1]
  return place === undefined ? reason : `line ${Number(place) + 1} ${reason}`
}

/** What stands for a value that stays; beside anything else it stands for nothing. */
const KEPT = /^•{3,}$/
const HALF_KEPT = /•{3,}/

function readVariables(body: unknown): EditReading {
  const block = 'variables:all'
  const read = linesIn(body, block).map(variableOf)
  const variables = read.filter((one) => one !== null)
  const names = variables.map(({ name }) => name)
  const faults = read.flatMap((variable, at) => {
    if (variable === null) return [`line ${at + 1} is not NAME=value`]
    if (HALF_KEPT.test(variable.value ?? '')) return [`line ${at + 1}: leave ${MASK} as it is, or type the whole value`]
    return names.indexOf(variable.name) < at && names.filter((name) => name === variable.name).length > 1
      ? [`line ${at + 1} names a variable for the second time`]
      : []
  })
  return orFaults({ [block]: faults }, changeOf(block, { what: 'variables', variables }))
}

function variableOf(line: string): VariableInput | null {
  const [, name, value = ''] = /^([^=]+)=(.*)$/.exec(line) ?? []
  if (name === undefined || name.trim() === '') return null
  return { name: name.trim(), value: KEPT.test(value) ? null : value }
}

function readTeams(body: unknown): EditReading {
  const block = 'teams:ids'
  const ids = typedIn(body, block)
    .split(/[\s,;]+/)
    .filter((id) => id !== '')
  const wrong = ids.filter((id) => !isIdDigits(id))
  return orFaults(
    { [block]: wrong.length > 0 ? ['team ids are whole numbers, parted by blanks'] : [] },
    changeOf(block, { what: 'teams', ids }),
  )
}

function readType(body: unknown): EditReading {
  const type = chosenIn(body, 'type:type') === 'pro' ? 'pro' : 'basic'
  return changeOf('type:type', { what: 'type', type })
}

const TARGETS = ['all', 'committer'] as const
const MATCHES = ['exact', 'wildcard', 'regex'] as const
const OPTIONS = ['key', 'url', 'room'] as const

function readRule(body: unknown, part: string, before: FormMemory['rule']): EditReading | null {
  const [, place] = /^rule:(\d+|new)$/.exec(part) ?? []
  if (place === undefined) return null
  const at = place === 'new' ? null : Number(place)
  const block = (name: string) => `${part}:${name}`
  if (at !== null && checkedIn(body, block('remove')).includes('remove'))
    return changeOf(block('remove'), { what: 'remove-rule', at })
  const options = Object.fromEntries(OPTIONS.map((name) => [name, typedIn(body, block(name)).trim() || null]))
  const [target, match] = [chosenIn(body, block('target')), chosenIn(body, block('match'))]
  const rule: RuleInput = {
    notifier: chosenIn(body, block('notifier')) ?? '',
    target: TARGETS.find((one) => one === target) ?? null,
    branch: typedIn(body, block('branch')).trim() || null,
    branchMatch: MATCHES.find((one) => one === match) ?? null,
    events: checkedIn(body, block('events')),
    options,
  }
  const faults: Record<string, string[]> = {}
  for (const { field, reason } of checkRule(asRaw(rule, before), 'update'))
    (faults[block(fieldBlock(field))] ??= []).push(reason)
  return orFaults(faults, changeOf(block('branch'), { what: 'rule', at, rule }))
}

/** The rule as it would be: of options that stay only the names are known here. */
function asRaw({ notifier, target, branch, branchMatch, events, options }: RuleInput, before: FormMemory['rule']) {
  const kept = before?.notifier.toLowerCase() === notifier.toLowerCase() ? before.options : []
  const stand = Object.fromEntries(kept.map((name) => [name, name === 'url' ? 'https://kept' : 'kept']))
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null))
  const own = { ...stand, ...given }
  return {
    notifier,
    target,
    branch,
    branch_match: branchMatch,
    build_statuses: events,
    options: { ...own, ...('url' in own && { domain: own['url'] }) },
  }
}

const BLOCKS = new Map([
  ['build_statuses', 'events'],
  ['branch_match', 'match'],
  ['options.domain', 'url'],
  ['email_target', 'target'],
])

const fieldBlock = (field: string): string =>
  BLOCKS.get(field) ?? BLOCKS.get(field.replace(/\[\d+\]$/, '')) ?? field.replace(/^options\./, '')
