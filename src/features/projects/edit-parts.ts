import type { ShownRule } from '../../domain/ci-project/masked-project.ts'
import { MASK } from '../../domain/ci-project/project-fields.ts'
import type { ProjectChange } from '../../domain/ci-project/project-change.ts'
import { ruleOf, type FieldFault } from '../../domain/rules/rule.ts'
import { checkFilter, checkRule } from '../../sources/ci-service/check-rule.ts'
import {
  checkedIn,
  checksField,
  fieldOption,
  INPUT_CHARS_MAX,
  OPTION_VALUE_CHARS_MAX,
  type FieldOption,
} from '../kit/fields.ts'
import {
  branchesInput,
  branchMatchInput,
  faultsByBlock,
  OPTION_LABELS,
  pullRequestsInput,
  ruleBlock,
  ruleInput,
  setupInput,
  teamFaults,
  teamsInput,
  typeInput,
  variableFaults,
  variablesInput,
} from './inputs.ts'
import type { FormMemory } from './forms.ts'
import type { ShownProject } from './outcomes.ts'
import { EVENT_WORDS } from './words.ts'

// The parts of a project that the form to edit it can change. One is chosen at a time.

interface Part {
  name: string
  label: string
  isBasicOnly?: true
  /** the field that holds most of the change, where its faults are shown */
  block: string
  /** empty if the fields would not fit */
  draw(shown: ShownProject): readonly object[]
  read(body: unknown): { change: ProjectChange; faults?: readonly string[] }
}

const PARTS: readonly Part[] = [
  {
    name: 'builds',
    label: 'Branches and pull requests',
    block: 'edit:branches',
    draw: ({ masked: { filter, onPullRequestsOnly } }) =>
      fitting(filter.entries, (branches) => [
        pullRequestsInput.draw('edit', onPullRequestsOnly ?? false),
        branchMatchInput.draw('edit', filter.mode),
        branchesInput.draw('edit', branches),
      ]),
    read(body) {
      const branches = branchesInput.read(body, 'edit')
      const match = branchMatchInput.read(body, 'edit')
      const onPullRequestsOnly = pullRequestsInput.read(body, 'edit')
      const change = { what: 'builds', onPullRequestsOnly, match, branches } as const
      return { change, faults: checkFilter(branches).map(entryFault) }
    },
  },
  {
    name: 'setup',
    label: 'Setup commands',
    isBasicOnly: true,
    block: 'edit:setup_commands',
    draw: ({ setup }) => fitting(setup, (commands) => [setupInput.draw('edit', commands)]),
    read: (body) => ({ change: { what: 'setup', commands: setupInput.read(body, 'edit') } }),
  },
  {
    name: 'variables',
    label: 'Environment variables',
    isBasicOnly: true,
    block: 'edit:environment_variables',
    draw: ({ masked }) =>
      fitting(
        masked.variableNames.map((name) => `${name}=${MASK}`),
        (lines) => [variablesInput.draw('edit', lines)],
      ),
    read(body) {
      const read = variablesInput.read(body, 'edit')
      const variables = read.filter((one) => one !== null)
      return { change: { what: 'variables', variables }, faults: variableFaults(read) }
    },
  },
  {
    name: 'teams',
    label: 'Teams',
    block: 'edit:team_ids',
    draw: ({ masked }) => fitting(masked.teams, (ids) => [teamsInput.draw('edit', ids)]),
    read(body) {
      const ids = teamsInput.read(body, 'edit')
      return { change: { what: 'teams', ids }, faults: teamFaults(ids) }
    },
  },
  {
    name: 'type',
    label: 'Type',
    block: 'edit:type',
    draw: ({ masked }) => [typeInput.draw('edit', masked.type)],
    read: (body) => ({ change: { what: 'type', type: typeInput.read(body, 'edit') } }),
  },
]

const partNamed = (name: string | null): Part | undefined => PARTS.find((part) => part.name === name)

const fitting = (lines: readonly string[], draw: (lines: readonly string[]) => readonly object[]): readonly object[] =>
  lines.join('\n').length > INPUT_CHARS_MAX ? [] : draw(lines)

/** Names the entry instead of `branches[2]`: `entry 3 …`. Empty lines between the entries do not count. */
function entryFault({ field, reason }: FieldFault): string {
  const place = /\[(\d+)\]/.exec(field)?.[1]
  return place === undefined ? reason : `entry ${Number(place) + 1} ${reason}`
}

/** Every part to choose from: those above, then `rule:new`, `rule:0`, `rule:1`, … */
export function partOptions({ masked: { type, rules } }: ShownProject): FieldOption[] {
  const isBasic = type?.toLowerCase() === 'basic'
  const own = PARTS.filter((part) => isBasic || !part.isBasicOnly)
  return [
    ...own.map(({ label, name }) => fieldOption(label, name)),
    fieldOption('A new notification rule', 'rule:new'),
    ...rules.map((rule) => fieldOption(`Rule ${rule.at + 1}: ${plainRule(rule)}`, `rule:${rule.at}`)),
  ]
}

const plainRule = ({ notifier, events, branch }: ShownRule): string =>
  `${notifier ?? 'no service'}, ${events.join(' ')}, ${branch ?? 'every branch'}`

/** The fields of a part; empty if they would not fit. */
export const drawPart = (shown: ShownProject, name: string): readonly object[] =>
  partNamed(name)?.draw(shown) ?? drawRule(name, ruleAt(shown, name))

/** The rule that a part is about; null for any other part, and for a new rule. */
export const ruleAt = ({ masked: { rules } }: ShownProject, name: string): ShownRule | null =>
  rules.find(({ at }) => name === `rule:${at}`) ?? null

/** Slack shows at most this many checkboxes. */
export const EVENTS_SHOWN_MAX = 10

function drawRule(name: string, rule: ShownRule | null): object[] {
  if (rule === null) return ruleInput.draw(name, null)
  if (!isFitting(rule)) return []
  const remove = fieldOption('Remove this rule and ignore the fields above', 'remove')
  const field = { block: `${name}:remove`, label: 'Remove', isOptional: true }
  return [...ruleInput.draw(name, rule), checksField(field, [remove], [])]
}

/** Whether a form can show the whole rule. Any other part would be lost on submission. */
function isFitting({ notifier, branch, events }: ShownRule): boolean {
  const words = [notifier ?? '', ...events]
  const unknown = events.filter((event) => !EVENT_WORDS.has(event))
  const isShort =
    words.every((word) => word.length <= OPTION_VALUE_CHARS_MAX) && (branch ?? '').length <= INPUT_CHARS_MAX
  return isShort && EVENT_WORDS.size + unknown.length <= EVENTS_SHOWN_MAX
}

/** What the form remembers of a rule. Options that the form does not read would only take up space. */
export const rememberedRule = ({ notifier, optionNames }: ShownRule): FormMemory['rule'] => ({
  notifier: notifier ?? '',
  options: optionNames.filter((name) => OPTION_LABELS.has(name) || name === 'domain'),
})

interface PartReading {
  change: ProjectChange
  /** the field that holds most of the change */
  block: string
  /** by block */
  faults: Readonly<Record<string, string>>
}

/** The submitted change, and what is wrong with it. Null: another version of Buildline drew this form. */
export function readPart(body: unknown, { part, rule }: Pick<FormMemory, 'part' | 'rule'>): PartReading | null {
  const chosen = partNamed(part)
  if (!chosen) return part === null ? null : readRule(body, part, rule)
  const { block } = chosen
  const { change, faults = [] } = chosen.read(body)
  return { change, block, faults: faultsByBlock(faults.map((reason) => [block, reason])) }
}

function readRule(body: unknown, part: string, before: FormMemory['rule']): PartReading | null {
  const [, place] = /^rule:(\d+|new)$/.exec(part) ?? []
  if (place === undefined) return null
  const at = place === 'new' ? null : Number(place)
  if (at !== null && checkedIn(body, `${part}:remove`).includes('remove'))
    return { change: { what: 'remove-rule', at }, block: `${part}:remove`, faults: {} }
  const rule = ruleInput.read(body, part)
  const faults = checkRule(ruleOf(before && standIn(before), rule), 'update')
  return {
    change: { what: 'rule', at, rule },
    block: `${part}:branch`,
    faults: faultsByBlock(faults.map(({ field, reason }) => [`${part}:${ruleBlock(field)}`, reason])),
  }
}

/** Only the names of kept options are known here, so their values are dummies. */
const standIn = ({ notifier, options }: NonNullable<FormMemory['rule']>) => ({
  notifier,
  options: Object.fromEntries(options.map((name) => [name, name === 'url' ? 'https://kept' : 'kept'])),
})
