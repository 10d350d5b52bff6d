import type { MaskedProject, ShownRule } from '../../domain/masked-project.ts'
import { MASK } from '../../domain/project-fields.ts'
import { plain, section } from '../../slack/messages/blocks.ts'
import { projectName } from '../../slack/messages/build.ts'
import type { ChannelId } from '../../domain/ids.ts'
import type { ShownProject } from './outcomes.ts'
import { EVENTS } from './words.ts'
import {
  checksField,
  choiceField,
  fieldOption,
  INPUT_CHARS_MAX,
  textField,
  type FieldOption,
  OPTION_VALUE_CHARS_MAX,
  OPTIONS_MAX,
} from '../fields.ts'
import type { ModalView } from '../modal.ts'
import { branchesInput, branchMatchInput, pullRequestsInput, setupInput, teamsInput, typeInput } from './inputs.ts'
import { writeMemory } from './metadata.ts'
import { EDIT_TITLE } from './send.ts'

export const EDIT_CALLBACK_ID = 'project_edit_form'
export const PART_ACTION_ID = 'project_part'

/** The form to edit a project: what to change, and below it the fields of that part alone. */
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

/** None where they would not fit. */
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
        variablesFields,
      )
    case 'teams':
      return fitting(masked.teams, (ids) => [teamsInput.draw('edit', ids)])
    case 'type':
      return [typeInput.draw('edit', masked.type)]
    default:
      return ruleFields(part, ruleAt(masked, part))
  }
}

/** Others are not looked at where the form is sent in, and would take room. */
const isAskedFor = (option: string): boolean => OPTION_LABELS.has(option) || option === 'domain'

const fitting = (lines: readonly string[], draw: (lines: readonly string[]) => readonly object[]): readonly object[] =>
  lines.join('\n').length > INPUT_CHARS_MAX ? [] : draw(lines)

const variablesFields = (lines: readonly string[]): object[] => [
  textField(
    {
      block: 'edit:environment_variables',
      label: 'Environment variables',
      hint: `NAME=value, one a line; a value of several lines in double quotes. ${MASK} means: as it is. A line that is taken away takes its variable away.`,
      isOptional: true,
    },
    { initial: lines.join('\n'), isLong: true },
  ),
]

const NOTIFIERS = ['email', 'slack', 'webhook', 'campfire', 'flowdock', 'hipchat', 'grove']
/** Slack shows so many boxes to tick. */
const EVENTS_SHOWN_MAX = 10

const TOO_LONG = `This is more than a form of Slack takes (${INPUT_CHARS_MAX.toLocaleString('en')} characters, ${EVENTS_SHOWN_MAX} events): change it in CI itself.`

function ruleFields(part: string, rule: ShownRule | null): object[] {
  if (rule && !isFitting(rule)) return []
  const block = (name: string) => `${part}:${name}`
  const notifiers = [...new Set([...NOTIFIERS, ...(rule?.notifier ? [rule.notifier] : [])])]
  const unknown = (rule?.events ?? []).filter((event) => !EVENTS.some(([known]) => known === event))
  const events = [...EVENTS, ...unknown.map((event) => [event, event] as const)]
  const matches = ['exact', 'wildcard', 'regex'].map((match) => fieldOption(match, match))
  return [
    choiceField(
      { block: block('notifier'), label: 'Tells' },
      notifiers.map((one) => fieldOption(one, one)),
      rule?.notifier ?? null,
    ),
    checksField(
      { block: block('events'), label: 'Of builds that have' },
      events.map(([event, word]) => fieldOption(word, event)),
      rule?.events ?? [],
    ),
    textField(
      { block: block('branch'), label: 'On the branch', hint: 'Empty: every branch.', isOptional: true },
      { initial: rule?.branch ?? '' },
    ),
    choiceField(
      { block: block('match'), label: 'Which is', hint: 'wildcard: * stands for anything.', isOptional: true },
      matches,
      rule?.branchMatch ?? null,
    ),
    choiceField(
      { block: block('target'), label: 'E-mail goes to', isOptional: true },
      [fieldOption('everyone on the team', 'all'), fieldOption('the committer', 'committer')],
      rule?.target ?? null,
    ),
    ...['key', 'url', 'room'].map((name) => optionField(block(name), name, rule)),
    ...(rule === null
      ? []
      : [
          checksField(
            { block: block('remove'), label: 'Remove', isOptional: true },
            [fieldOption('Remove this rule; what else stands here does not matter then', 'remove')],
            [],
          ),
        ]),
  ]
}

/** What a form could not show would be lost by it. */
function isFitting({ notifier, branch, events, optionNames }: ShownRule): boolean {
  const words = [notifier ?? '', ...events, ...optionNames]
  const unknown = events.filter((event) => !EVENTS.some(([known]) => known === event))
  const isShort =
    words.every((word) => word.length <= OPTION_VALUE_CHARS_MAX) && (branch ?? '').length <= INPUT_CHARS_MAX
  return isShort && EVENTS.length + unknown.length <= EVENTS_SHOWN_MAX && optionNames.length <= OPTION_NAMES_MAX
}

/** More options than any notifier has. */
const OPTION_NAMES_MAX = 8

const OPTION_LABELS = new Map([
  ['key', 'Key (Slack, Campfire, Flowdock, HipChat, Grove)'],
  ['url', 'Address (webhook) or domain (Campfire)'],
  ['room', 'Room (Campfire, HipChat)'],
])

const optionField = (block: string, name: string, rule: ShownRule | null): object => {
  const isSet = rule?.optionNames.includes(name) ?? false
  const label = OPTION_LABELS.get(name) ?? name
  return textField({ block, label, isOptional: true }, { placeholder: isSet ? 'Set; leave empty to keep it' : '' })
}
