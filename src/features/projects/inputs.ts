import { isIdDigits } from '../../domain/ids.ts'
import type { ShownRule } from '../../domain/ci-project/masked-project.ts'
import type { VariableInput } from '../../domain/ci-project/project-change.ts'
import { MASK } from '../../domain/ci-project/project-fields.ts'
import type { RuleInput } from '../../domain/rules/rule.ts'
import { MATCHES, TARGETS } from '../../sources/ci-service/check-rule.ts'
import { EVENT_WORDS } from './words.ts'
import { FAULT_CHARS_MAX } from '../kit/modal.ts'
import {
  checkedIn,
  checksField,
  chosenIn,
  choiceField,
  fieldOption,
  linesIn,
  textField,
  typedIn,
} from '../kit/fields.ts'

// The inputs that the forms to create and to edit a project share: drawing and reading each. Its block is named after
// the form and the field, such as `create:team_ids`.

type FormName = 'create' | 'edit'

export function faultsByBlock(faults: readonly (readonly [block: string, reason: string])[]): Record<string, string> {
  const byBlock: Record<string, string> = {}
  for (const [block, reason] of faults)
    byBlock[block] = [byBlock[block], reason].filter(Boolean).join('; ').slice(0, FAULT_CHARS_MAX)
  return byBlock
}

interface Input<Value, Read = Value> {
  draw(form: FormName, value: Value): object
  read(body: unknown, form: FormName): Read
}

export const typeInput: Input<string | null, 'basic' | 'pro'> = {
  draw: (form, type) =>
    choiceField(
      { block: `${form}:type`, label: 'Type', ...(form === 'edit' && { hint: TYPE_CHANGES }) },
      [fieldOption('Basic', 'basic'), fieldOption('Pro', 'pro')],
      type?.toLowerCase() ?? null,
    ),
  read: (body, form) => (chosenIn(body, `${form}:type`) === 'pro' ? 'pro' : 'basic'),
}

const TYPE_CHANGES =
  'A project that becomes Pro loses its setup commands and environment variables; one that becomes Basic, its AES key.'

/** Several values in one field of text. @param says its label and hint */
const listInput = <Read>(
  name: string,
  says: (form: FormName) => { label: string; hint: string },
  read: (body: unknown, block: string) => Read,
  separator = '\n',
): Input<readonly string[], Read> => ({
  draw: (form, values) =>
    textField(
      { block: `${form}:${name}`, ...says(form), isOptional: true },
      { initial: values.join(separator), isLong: separator === '\n' },
    ),
  read: (body, form) => read(body, `${form}:${name}`),
})

export const teamsInput = listInput(
  'team_ids',
  () => ({ label: 'Team ids', hint: 'Numbers, separated by spaces or commas.' }),
  (body, block) =>
    typedIn(body, block)
      .split(/[\s,;]+/)
      .filter((id) => id !== ''),
  ' ',
)

export const teamFaults = (ids: readonly string[]): string[] =>
  ids.every(isIdDigits) ? [] : ['team ids are whole numbers, separated by spaces or commas']

export const pullRequestsInput: Input<boolean> = {
  draw: (form, isOnly) =>
    checksField(
      { block: `${form}:build_on_pr_only`, label: 'Pull requests', isOptional: true },
      [fieldOption('Build only pull requests', 'only')],
      isOnly ? ['only'] : [],
    ),
  read: (body, form) => checkedIn(body, `${form}:build_on_pr_only`).includes('only'),
}

export const branchMatchInput: Input<string | null, 'include' | 'exclude'> = {
  draw: (form, match) =>
    choiceField(
      { block: `${form}:branch_match`, label: 'The branches below are' },
      [
        fieldOption('the only ones that are built', 'include'),
        fieldOption('the only ones that are not built', 'exclude'),
      ],
      match?.trim().toLowerCase() ?? 'include',
    ),
  read: (body, form) => (chosenIn(body, `${form}:branch_match`) === 'exclude' ? 'exclude' : 'include'),
}

export const branchesInput = listInput(
  'branches',
  () => ({
    label: 'Branches',
    hint: 'One per line: a full name, or a regular expression from ^ to $. Empty: every branch is built.',
  }),
  linesIn,
)

export const setupInput = listInput(
  'setup_commands',
  (form) =>
    form === 'create'
      ? { label: 'Setup commands (Basic)', hint: 'One per line.' }
      : {
          label: 'Setup commands',
          hint: `One per line. A line with ${MASK} or ⏎ keeps its command if you leave the line unchanged.`,
        },
  linesIn,
)

const VARIABLE_LINES = 'NAME=value, one per line; put a value of several lines in double quotes.'

export const variablesInput = listInput(
  'environment_variables',
  (form) =>
    form === 'create'
      ? { label: 'Environment variables (Basic)', hint: VARIABLE_LINES }
      : {
          label: 'Environment variables',
          hint: `${VARIABLE_LINES} ${MASK} keeps the value. Removing a line removes its variable.`,
        },
  (body, block) => variablesIn(typedIn(body, block)),
)

/** The variables in the text, without its empty lines. Null for a line that is not a variable. */
export const variablesIn = (text: string): (VariableInput | null)[] =>
  variableLines(text.split(/\r\n?|\n/))
    .map((lines) => lines.trim())
    .filter((lines) => lines !== '')
    .map(variableOf)

/** A value that opens with a double quote ends at the line that ends with one. Quotes within one line are part of it. */
function variableLines(lines: readonly string[]): string[] {
  const last = lines.findLastIndex((line) => CLOSES.test(line))
  const found: string[] = []
  let open: string[] | null = null
  for (const [at, line] of lines.entries()) {
    if (open === null && at < last && OPENS.test(line) && !CLOSES.test(line)) open = [line]
    else if (open === null) found.push(line)
    else {
      open.push(line)
      if (!CLOSES.test(line)) continue
      found.push(open.join('\n'))
      open = null
    }
  }
  return found
}

const OPENS = /^[^=]+="/
const CLOSES = /"[ \t]*$/

function variableOf(text: string): VariableInput | null {
  const [, name = '', lines, value = lines] = /^([^=]+)=(?:"([^\n]*\n[^]*)"|(.*))$/.exec(text) ?? []
  if (name.trim() === '' || value === undefined) return null
  return { name: name.trim(), value: KEPT.test(value) ? null : value }
}

/** The mask alone keeps the value; a mask with other text (HALF_KEPT) is a fault. */
const KEPT = /^•{3,}$/
const HALF_KEPT = /•{3,}/

export function variableFaults(read: readonly (VariableInput | null)[]): string[] {
  const names = read.map((variable) => variable?.name)
  return read.flatMap((variable, at) => {
    if (variable === null) return [`entry ${at + 1} is not NAME=value`]
    if (HALF_KEPT.test(variable.value ?? ''))
      return [`entry ${at + 1}: leave ${MASK} as it is, or type the whole value`]
    return names.indexOf(variable.name) < at ? [`entry ${at + 1} repeats a variable`] : []
  })
}

// The fields of one of CI's own notification rules. Their block ids begin with the form's part, such as `rule:0`.

const NOTIFIERS = ['email', 'slack', 'webhook', 'campfire', 'flowdock']
/** Notifiers that CI accepts in updates only. */
const MORE_NOTIFIERS = ['hipchat', 'grove']

export const OPTION_LABELS = new Map([
  ['key', 'Key (Slack, Campfire, Flowdock, HipChat, Grove)'],
  ['url', 'Address (webhook) or domain (Campfire)'],
  ['room', 'Room (Campfire, HipChat)'],
])

export const ruleInput = {
  /** @param hint makes the rule optional, and says what happens without one */
  draw(part: string, rule: ShownRule | null, hint?: string): object[] {
    const block = (name: string) => `${part}:${name}`
    const isOptional = hint !== undefined
    const notifiers = [
      ...new Set([...NOTIFIERS, ...(isOptional ? [] : MORE_NOTIFIERS), ...(rule?.notifier ? [rule.notifier] : [])]),
    ]
    const events = new Set([...EVENT_WORDS.keys(), ...(rule?.events ?? [])])
    return [
      choiceField(
        {
          block: block('notifier'),
          label: hint === undefined ? 'Notify by' : 'Notification rule: notify by',
          isOptional,
          ...(hint && { hint }),
        },
        notifiers.map((one) => fieldOption(one, one)),
        rule?.notifier ?? null,
      ),
      checksField(
        { block: block('events'), label: 'Events', isOptional },
        [...events].map((event) => fieldOption(EVENT_WORDS.get(event) ?? event, event)),
        rule?.events ?? [],
      ),
      textField(
        { block: block('branch'), label: 'Branch', hint: 'Empty: every branch.', isOptional: true },
        { initial: rule?.branch ?? '' },
      ),
      choiceField(
        {
          block: block('match'),
          label: 'How the branch is matched',
          hint: 'wildcard: * stands for anything.',
          isOptional: true,
        },
        MATCHES.map((match) => fieldOption(match, match)),
        rule?.branchMatch ?? null,
      ),
      choiceField(
        { block: block('target'), label: 'E-mail goes to', isOptional: true },
        [fieldOption('everyone on the team', 'all'), fieldOption('the committer', 'committer')],
        rule?.target ?? null,
      ),
      ...[...OPTION_LABELS].map(([name, label]) => {
        const placeholder = rule?.optionNames.includes(name) ? 'Set; leave empty to keep it' : ''
        return textField({ block: block(name), label, isOptional: true }, { placeholder })
      }),
    ]
  },
  read: (body: unknown, part: string): RuleInput => {
    const block = (name: string) => `${part}:${name}`
    const [target, match] = [chosenIn(body, block('target')), chosenIn(body, block('match'))]
    return {
      notifier: chosenIn(body, block('notifier')) ?? '',
      target: TARGETS.find((one) => one === target) ?? null,
      branch: typedIn(body, block('branch')).trim() || null,
      branchMatch: MATCHES.find((one) => one === match) ?? null,
      events: checkedIn(body, block('events')),
      options: Object.fromEntries(
        [...OPTION_LABELS.keys()].map((name) => [name, typedIn(body, block(name)).trim() || null]),
      ),
    }
  },
}

const BLOCKS = new Map([
  ['build_statuses', 'events'],
  ['branch_match', 'match'],
  ['options.domain', 'url'],
  ['email_target', 'target'],
])

/** The block, without its prefix, that shows this field of CI's rule. */
export function ruleBlock(field: string): string {
  const name = field.replace(/\[\d+\]$/, '')
  return BLOCKS.get(name) ?? name.replace(/^options\./, '')
}
