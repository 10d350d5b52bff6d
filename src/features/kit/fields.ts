import { escapePlain, toLine } from '../../lib/escape.ts'
import { plain, type Plain } from '../../slack/messages/blocks.ts'
import { cut } from '../../slack/messages/limits.ts'
import { listAt, textAt } from './body.ts'
import { projectKey } from '../../domain/ci-project/project-names.ts'
import type { ProjectRef } from '../../projects/outcomes.ts'

// The fields of our forms: drawing them, and reading their values.

export const INPUT_CHARS_MAX = 3_000
const HINT_CHARS_MAX = 2_000
const PLACEHOLDER_CHARS_MAX = 150
/** The longest option text, in code points: Slack takes 75 characters, and escaping can lengthen it. */
const OPTION_POINTS_MAX = 60
/** Only this much of a text is processed, since the rest would be cut anyway. */
const OPTION_CHARS_READ = 1_000

/** The action id of the one field in each block. */
const VALUE_ID = 'value'

interface Field {
  block: string
  label: string
  hint?: string
  isOptional?: boolean
}

export interface FieldOption {
  text: Plain
  value: string
}

export const fieldOption = (text: string, value: string): FieldOption => ({
  text: plain(optionText(text) || '(empty)'),
  value,
})

const optionText = (text: string): string =>
  escapePlain(cut(toLine(text.slice(0, OPTION_CHARS_READ)), OPTION_POINTS_MAX))

/** A field to type in. @param initial its first value: at most INPUT_CHARS_MAX characters */
export const textField = (
  field: Field,
  { initial = '', isLong = false, placeholder = '' }: { initial?: string; isLong?: boolean; placeholder?: string } = {},
): object =>
  input(field, {
    type: 'plain_text_input',
    multiline: isLong,
    max_length: INPUT_CHARS_MAX,
    ...(initial !== '' && { initial_value: initial }),
    ...(placeholder !== '' && { placeholder: plain(cut(placeholder, PLACEHOLDER_CHARS_MAX)) }),
  })

/** A menu to choose one option. */
export const choiceField = (field: Field, options: readonly FieldOption[], chosen: string | null): object => {
  const initial = options.find(({ value }) => value === chosen)
  return input(field, { type: 'static_select', options, ...(initial && { initial_option: initial }) })
}

/** Checkboxes; Slack shows ten at most. */
export const checksField = (field: Field, options: readonly FieldOption[], checked: readonly string[]): object => {
  const initial = options.filter(({ value }) => checked.includes(value))
  return input(field, { type: 'checkboxes', options, ...(initial.length > 0 && { initial_options: initial }) })
}

const input = ({ block, label, hint = '', isOptional = false }: Field, element: object): object => ({
  type: 'input',
  block_id: block,
  label: plain(label),
  optional: isOptional,
  ...(hint !== '' && { hint: plain(cut(hint, HINT_CHARS_MAX)) }),
  element: { action_id: VALUE_ID, ...element },
})

/** The typed text; empty if there is none. */
export const typedIn = (body: unknown, block: string): string =>
  textAt(body, 'view', 'state', 'values', block, VALUE_ID, 'value') ?? ''

/** The typed lines, trimmed and without empty ones. */
export const linesIn = (body: unknown, block: string): string[] =>
  typedIn(body, block)
    .split(/\r\n|[\r\n]/)
    .map((line) => line.trim())
    .filter((line) => line !== '')

export const chosenIn = (body: unknown, block: string): string | null =>
  textAt(body, 'view', 'state', 'values', block, VALUE_ID, 'selected_option', 'value')

export const checkedIn = (body: unknown, block: string): string[] =>
  listAt(body, 'view', 'state', 'values', block, VALUE_ID, 'selected_options').flatMap(
    (option) => textAt(option, 'value') ?? [],
  )

/** Slack shows at most this many options of a menu. */
export const OPTIONS_MAX = 100
/** The longest option value, in characters. A longer one is left out, since a cut name would be another name. */
export const OPTION_VALUE_CHARS_MAX = 150

export const ALL_PROJECTS: FieldOption = { text: plain('All projects'), value: 'all' }

export const projectOptions = (projects: readonly ProjectRef[]): FieldOption[] =>
  projects.flatMap((project) => menuOption(project.name, projectKey(project))).slice(0, OPTIONS_MAX)

/** One project as an option; null if `menuOption` gives none. */
export const projectOption = (project: ProjectRef): FieldOption | null => projectOptions([project])[0] ?? null

/** One option; none if the value is too long, or if the name has no visible characters. */
export function menuOption(name: string, value: string): FieldOption[] {
  const text = optionText(name)
  return text === '' || value.length > OPTION_VALUE_CHARS_MAX ? [] : [{ text: plain(text), value }]
}
