import { DETAILS, type Details } from '../../domain/builds/failure.ts'
import { PATTERN_CHARS_MAX } from '../../domain/rules/pattern.ts'
import { type ChannelId, isChannelId, isRepositoryId } from '../../domain/ids.ts'
import { ALL_WORKFLOWS } from '../../slack/messages/subscription.ts'
import { plain, section, type Plain } from '../../slack/messages/blocks.ts'
import type { ShownSubscription } from '../../projects/subscriptions.ts'
import { CHANGES, RULE_EVENTS, type ChannelRule } from '../../domain/rules/rule.ts'
import type { ReminderRule } from '../../domain/builds/reminder.ts'
import { readReminderAlone, typedHours, typedTime } from './remind.ts'
import { parseName } from '../../slack/commands/parse.ts'
import { patternOf, typedPattern, type SubscribeInput } from './subscribe-input.ts'
import { listAt, textAt } from '../kit/body.ts'
import { type FieldOption, ALL_PROJECTS, fieldOption as choice, projectOption } from '../kit/fields.ts'
import { formView, waitingView, type ModalView } from '../kit/modal.ts'
import { jsonOf } from '../kit/values.ts'

// The form of a subscription: its project, which rules apply, and the events and branches of the channel's own rules.

export const SUBSCRIBE_CALLBACK_ID = 'subscribe'

/** The ids of the fields, and of their blocks. */
export const SUBSCRIBE_FIELDS = {
  project: 'subscribe_project',
  how: 'subscribe_how',
  events: 'subscribe_events',
  branch: 'subscribe_branch',
  options: 'subscribe_options',
  details: 'subscribe_details',
  remind: 'subscribe_remind',
  hours: 'subscribe_hours',
} as const

/** The form's metadata: its channel, and what it changes. */
interface SubscribeMemory {
  channel: ChannelId
  /** the subscription that is being changed; null: a new one is made */
  instead: string | null
}

/** Which builds the channel gets: breaks and fixes, those of the project's rules in CI, or those of its own rules. */
export type How = 'changes' | 'ci' | 'own'

/** The form, new or filled in. */
export interface SubscribeForm {
  memory: SubscribeMemory
  /** the subscription that fills it in at first; null: none */
  shown?: ShownSubscription | null
  /** left out: as that subscription says */
  how?: How
  /** the chosen reminder time, if the form was filled in before */
  remind?: string | null
}

export const SUBSCRIBE_TITLE = 'Subscribe'

export const subscribeView = ({ memory, shown = null, how = howOf(shown), remind = null }: SubscribeForm): ModalView =>
  formView({
    id: SUBSCRIBE_CALLBACK_ID,
    title: SUBSCRIBE_TITLE,
    submit: 'Save',
    metadata: JSON.stringify(memory),
    blocks: [
      section(`Which builds does <#${memory.channel}> get?`),
      projectBlock(shown),
      howBlock(how),
      ...(how === 'own' ? [eventsBlock(shown)] : []),
      ...(how === 'ci' ? [] : [branchBlock(shown)]),
      optionsBlock(shown),
      detailsBlock(shown),
      ...reminderBlocks(shown?.subscription.remind ?? null, remind),
    ],
  })

export const pendingView = waitingView(SUBSCRIBE_TITLE, 'Saving …')

/** A field of the form. Its block has the same id. */
const fieldBlock = (
  id: string,
  label: string,
  { type, ...element }: { type: string; [more: string]: unknown },
  block: { hint?: Plain; optional?: true; dispatch_action?: true } = {},
): object => ({
  type: 'input',
  block_id: id,
  label: plain(label),
  ...block,
  element: { type, action_id: id, ...element },
})

function projectBlock(shown: ShownSubscription | null): object {
  const chosen = shown && optionFor(shown)
  const menu = {
    type: 'external_select',
    placeholder: plain('Choose a project'),
    min_query_length: 0,
    ...(chosen && { initial_option: chosen }),
  }
  return fieldBlock(SUBSCRIBE_FIELDS.project, 'Project', menu)
}

function optionFor({ subscription: { follows }, project }: ShownSubscription): FieldOption | null {
  if (follows.what === 'all') return ALL_PROJECTS
  if (follows.what !== 'project') return null
  const { name, uuid = null, projectId = null } = follows
  const known = project ?? { name, uuid, projectId, type: null }
  return projectOption(isRepositoryId(projectId) ? { ...known, name: `${known.name}${ALL_WORKFLOWS}` } : known)
}

const HOW: Record<How, FieldOption> = {
  changes: choice('When a branch breaks, and when it is fixed', 'changes'),
  ci: choice("What the project's own rules say", 'ci'),
  own: choice('Events that I choose', 'own'),
}

/** How an existing subscription chooses builds. A new one starts with the choice that makes the least noise. */
function howOf(shown: ShownSubscription | null): How {
  if (!shown) return 'changes'
  const { rules } = shown.subscription
  return rules === null ? 'ci' : rules.every(isChanges) ? 'changes' : 'own'
}

const isChanges = ({ events }: ChannelRule): boolean =>
  events !== 'every' && events.length === CHANGES.length && CHANGES.every((event) => events.includes(event))

const howBlock = (how: How): object =>
  fieldBlock(
    SUBSCRIBE_FIELDS.how,
    'Post',
    { type: 'radio_buttons', options: Object.values(HOW), initial_option: HOW[how] },
    { dispatch_action: true },
  )

const EVENT_OPTIONS: Record<(typeof RULE_EVENTS)[number], string> = {
  started: 'started',
  waiting: 'waiting',
  failed: 'failed',
  broken: 'broken: failed on a branch that was green',
  success: 'passed',
  recovered: 'fixed: passed after a failure',
  stopped: 'stopped',
}

const eventOption = (event: (typeof RULE_EVENTS)[number]): FieldOption => choice(EVENT_OPTIONS[event], event)

function eventsBlock(shown: ShownSubscription | null): object {
  const events = ownRule(shown)?.events ?? DEFAULT_EVENTS
  const initial = RULE_EVENTS.filter((event) => events === 'every' || events.includes(event))
  return fieldBlock(
    SUBSCRIBE_FIELDS.events,
    'Events',
    checkboxes(RULE_EVENTS.map(eventOption), initial.map(eventOption)),
    {
      hint: plain('With all of them, the channel also gets statuses that Buildline does not know.'),
    },
  )
}

const checkboxes = (options: readonly FieldOption[], initial: readonly FieldOption[]) => ({
  type: 'checkboxes',
  options,
  ...(initial.length > 0 && { initial_options: initial }),
})

const DEFAULT_EVENTS: readonly string[] = ['failed', 'recovered']

const ownRule = (shown: ShownSubscription | null) => shown?.subscription.rules?.[0] ?? null

function branchBlock(shown: ShownSubscription | null): object {
  const rule = ownRule(shown)
  const typed = rule ? typedPattern(rule) : ''
  const input = {
    type: 'plain_text_input',
    max_length: PATTERN_CHARS_MAX,
    ...(typed !== '' && { initial_value: typed.slice(0, PATTERN_CHARS_MAX) }),
  }
  return fieldBlock(SUBSCRIBE_FIELDS.branch, 'Branches', input, {
    hint: plain('Empty: every branch. release/* is a pattern, ^v[0-9]+$ a regular expression, anything else a name.'),
    optional: true,
  })
}

const QUIET = choice('Quiet: replies stay in their threads', 'quiet')
const MENTION = choice('Mention the committer of a failed build', 'mention')

function optionsBlock(shown: ShownSubscription | null): object {
  const { quiet = false, mention = 'committer' } = shown?.subscription ?? {}
  const initial = [...(quiet ? [QUIET] : []), ...(mention === 'committer' ? [MENTION] : [])]
  return fieldBlock(SUBSCRIBE_FIELDS.options, 'Options', checkboxes([QUIET, MENTION], initial), { optional: true })
}

const SHOWN: Record<Details, FieldOption> = {
  lines: choice('Jobs, tests and their messages', 'lines'),
  names: choice('Jobs and tests', 'names'),
  none: choice('Nothing', 'none'),
}

const detailsBlock = (shown: ShownSubscription | null): object =>
  fieldBlock(SUBSCRIBE_FIELDS.details, 'Show of what failed', {
    type: 'static_select',
    options: Object.values(SHOWN),
    initial_option: SHOWN[shown?.subscription.details ?? 'lines'],
  })

const REMIND = [
  choice('off', 'off'),
  choice('1 h', '1h'),
  choice('2 h', '2h'),
  choice('4 h', '4h'),
  choice('1 day', '1d'),
] as const

/** @param chosen the value of the field, if the form was filled in before */
function reminderBlocks(rule: ReminderRule | null, chosen: string | null): object[] {
  const value = rule ? typedTime(rule.afterMs) : (chosen ?? 'off')
  const known = REMIND.find((option) => option.value === value)
  const other = known ? [] : [choice(value, value)]
  const times = { type: 'static_select', options: [...REMIND, ...other], initial_option: known ?? other[0] }
  const hours = {
    type: 'plain_text_input',
    max_length: HOURS_CHARS_MAX,
    ...(rule && { initial_value: typedHours(rule) }),
  }
  return [
    fieldBlock(SUBSCRIBE_FIELDS.remind, 'Remind the channel', times, {
      hint: plain('When a branch has been red this long and nobody is on it. Three times at most.'),
    }),
    fieldBlock(SUBSCRIBE_FIELDS.hours, 'Reminder hours', hours, {
      hint: plain('Empty: 9-18 weekdays, in your time zone. For example: 8-20 daily Europe/Berlin.'),
      optional: true,
    }),
  ]
}

/** Hours, days and the longest name of a time zone. */
const HOURS_CHARS_MAX = 60

/** The current values of the form. */
export interface Filled {
  memory: SubscribeMemory
  how: How
  /** its `project` is empty if none is chosen */
  input: SubscribeInput
  /** the chosen time, and what it means together with the typed hours */
  chosenTime: string
  reminder: ReturnType<typeof readReminderAlone>
}

/** Null if the metadata cannot be read, such as that of an older version. */
export function readSubscribeForm(body: unknown): Filled | null {
  const memory = memoryIn(body)
  if (!memory) return null
  const how = HOWS.find((one) => one === textAt(body, ...at('how'), 'selected_option', 'value')) ?? 'ci'
  const options = chosenIn(body, 'options')
  const chosenTime = textAt(body, ...at('remind'), 'selected_option', 'value') ?? 'off'
  const reminder = readReminderAlone(`${chosenTime} ${textAt(body, ...at('hours'), 'value') ?? ''}`)
  const details = DETAILS.find((one) => one === textAt(body, ...at('details'), 'selected_option', 'value'))
  const pattern = patternOf(parseName(textAt(body, ...at('branch'), 'value') ?? ''))
  return {
    memory,
    how,
    chosenTime,
    reminder,
    input: {
      project: textAt(body, ...at('project'), 'selected_option', 'value') ?? '',
      events: how === 'ci' ? null : how === 'changes' ? CHANGES : chosenIn(body, 'events'),
      branch: how === 'ci' ? null : pattern.branch,
      branchMatch: how === 'ci' ? null : pattern.branchMatch,
      quiet: options.includes(QUIET.value),
      mention: options.includes(MENTION.value) ? 'committer' : 'nobody',
      ...(details && details !== 'lines' && { details }),
      remind: reminder.kind === 'reminder' ? reminder.remind : null,
      ...(memory.instead !== null && { instead: memory.instead }),
    },
  }
}

const HOWS: readonly How[] = ['changes', 'ci', 'own']

const at = (field: keyof typeof SUBSCRIBE_FIELDS) =>
  ['view', 'state', 'values', SUBSCRIBE_FIELDS[field], SUBSCRIBE_FIELDS[field]] as const

const chosenIn = (body: unknown, field: 'events' | 'options'): string[] =>
  listAt(body, ...at(field), 'selected_options').flatMap((option) => textAt(option, 'value') ?? [])

function memoryIn(body: unknown): SubscribeMemory | null {
  const read = jsonOf(textAt(body, 'view', 'private_metadata') ?? '')
  const channel = textAt(read, 'channel')
  if (channel === null || !isChannelId(channel)) return null
  return { channel, instead: textAt(read, 'instead') }
}
