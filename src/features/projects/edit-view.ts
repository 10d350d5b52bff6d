import type { MaskedProject, ShownRule } from '../../domain/masked-project.ts'
import { MASK } from '../../domain/project-fields.ts'
import { plain, section } from '../../slack/messages/blocks.ts'
import { projectName } from '../../slack/messages/build.ts'
import type { ChannelId } from '../../domain/ids.ts'
import type { ShownProject } from './outcomes.ts'
import { EVENTS } from './words.ts'
import {
  checksField,
  fieldOption,
  INPUT_CHARS_MAX,
  type FieldOption,
  OPTION_VALUE_CHARS_MAX,
  OPTIONS_MAX,
} from '../fields.ts'
import type { ModalView } from '../modal.ts'
import {
  branchesInput,
  branchMatchInput,
  OPTION_LABELS,
  pullRequestsInput,
  ruleInput,
  setupInput,
  teamsInput,
  typeInput,
  variablesInput,
} from './inputs.ts'
import { writeMemory } from './metadata.ts'
import { EDIT_TITLE } from './send.ts'

export const EDIT_CALLBACK_ID = 'project_edit_form'
export const PART_ACTION_ID = 'project_part'

/** The form to edit a project: a menu of its parts, and below it the fields of the chosen part. */
export function editView(shown: ShownProject, part: string | null, channel: ChannelId | null): ModalView {
  const { project, masked } = shown
  const all = masked ? partsOf(masked) : []
  const parts = all.slice(0, OPTIONS_MAX)
  const chosen = parts.find(({ value }) => value === part) ?? null
  const rule = masked && chosen ? ruleAt(masked, chosen.value) : null
  const fields = masked && chosen ? fieldsOf(shown, masked, chosen.value) : []
  const isWhole = fields.length > 0
  return {
    type: 'modal',
    callback_id: EDIT_CALLBACK_ID,
    title: plain(EDIT_TITLE),
    close: plain('Cancel'),
    ...(isWhole && { submit: plain('Compare') }),
    private_metadata: writeMemory({
      project: project.uuid!,
      name: project.name,
      channel,
      base: shown.base,
      part: chosen?.value ?? null,
      rule: rule && isWhole ? { notifier: rule.notifier ?? '', options: rule.optionNames.filter(isAskedFor) } : null,
    }),
    blocks: [
      {
        ...section(`*${projectName({ project: project.name })}*: what shall change?`),
        block_id: 'project_part',
        accessory: {
          type: 'static_select',
          action_id: PART_ACTION_ID,
          placeholder: plain('Choose'),
          options: parts,
          ...(chosen && { initial_option: chosen }),
        },
      },
      ...(all.length > parts.length ? [section(leftOut(all.length - parts.length))] : []),
      ...(chosen && !isWhole ? [section(TOO_LONG)] : fields),
    ],
  }
}

const leftOut = (rules: number): string =>
  `The last ${rules === 1 ? 'rule is' : `${rules} rules are`} not among these: a menu of Slack takes ${OPTIONS_MAX}. They stay as they are; change them in CI itself.`

function partsOf(masked: MaskedProject): FieldOption[] {
  const basic = masked.type?.toLowerCase() === 'basic'
  const own = [
    fieldOption('Branches and pull requests', 'builds'),
    ...(basic ? [fieldOption('Setup commands', 'setup'), fieldOption('Environment variables', 'variables')] : []),
    fieldOption('Teams', 'teams'),
    fieldOption('Type', 'type'),
    fieldOption('A new notification rule', 'rule:new'),
  ]
  const rules = masked.rules.map((rule) => fieldOption(`Rule ${rule.at + 1}: ${plainRule(rule)}`, `rule:${rule.at}`))
  return [...own, ...rules]
}

const plainRule = ({ notifier, events, branch }: ShownRule): string =>
  `${notifier ?? 'no service'}, ${events.join(' ')}, ${branch ?? 'every branch'}`

export const ruleAt = ({ rules }: MaskedProject, part: string): ShownRule | null => {
  const place = /^rule:(\d+)$/.exec(part)?.[1]
  return place === undefined ? null : (rules.find(({ at }) => at === Number(place)) ?? null)
}

/** Empty if the fields would not fit. */
function fieldsOf(shown: ShownProject, masked: MaskedProject, part: string): readonly object[] {
  switch (part) {
    case 'builds':
      return fitting(masked.filter.entries, (branches) => [
        pullRequestsInput.draw('edit', masked.onPullRequestsOnly ?? false),
        branchMatchInput.draw('edit', masked.filter.mode),
        branchesInput.draw('edit', branches),
      ])
    case 'setup':
      return fitting(shown.setup, (commands) => [setupInput.draw('edit', commands)])
    case 'variables':
      return fitting(
        masked.variableNames.map((name) => `${name}=${MASK}`),
        (lines) => [variablesInput.draw('edit', lines)],
      )
    case 'teams':
      return fitting(masked.teams, (ids) => [teamsInput.draw('edit', ids)])
    case 'type':
      return [typeInput.draw('edit', masked.type)]
    default:
      return ruleFields(part, ruleAt(masked, part))
  }
}

/** The metadata holds only options that the form reads; others would take up space. */
const isAskedFor = (option: string): boolean => OPTION_LABELS.has(option) || option === 'domain'

const fitting = (lines: readonly string[], draw: (lines: readonly string[]) => readonly object[]): readonly object[] =>
  lines.join('\n').length > INPUT_CHARS_MAX ? [] : draw(lines)

/** Slack shows at most this many checkboxes. */
const EVENTS_SHOWN_MAX = 10

const TOO_LONG = `This is more than a form of Slack takes (${INPUT_CHARS_MAX.toLocaleString('en')} characters, ${EVENTS_SHOWN_MAX} events): change it in CI itself.`

function ruleFields(part: string, rule: ShownRule | null): object[] {
  if (rule && !isFitting(rule)) return []
  return [
    ...ruleInput.draw(part, rule),
    ...(rule === null
      ? []
      : [
          checksField(
            { block: `${part}:remove`, label: 'Remove', isOptional: true },
            [fieldOption('Remove this rule; what else stands here does not matter then', 'remove')],
            [],
          ),
        ]),
  ]
}

/** Whether a form can show the whole rule. What it does not show would be lost on submission. */
function isFitting({ notifier, branch, events, optionNames }: ShownRule): boolean {
  const words = [notifier ?? '', ...events, ...optionNames]
  const unknown = events.filter((event) => !EVENTS.some(([known]) => known === event))
  const isShort =
    words.every((word) => word.length <= OPTION_VALUE_CHARS_MAX) && (branch ?? '').length <= INPUT_CHARS_MAX
  return isShort && EVENTS.length + unknown.length <= EVENTS_SHOWN_MAX && optionNames.length <= OPTION_NAMES_MAX
}

/** The most options of a rule that the form shows. No notifier has this many. */
const OPTION_NAMES_MAX = 8
