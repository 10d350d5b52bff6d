import { z } from 'zod'
import { LIMITS } from './numbers.ts'
import { bounded, choiceOption, confirm, hasOneSource, id, ONE_SOURCE, option } from './objects.ts'
import { optionGroup, overflowOption, pictureSource, plainText, url } from './objects.ts'

const actionId = { action_id: id.optional() }
const placeholder = { placeholder: plainText(LIMITS.placeholderMax).optional() }
const focus = { focus_on_load: z.boolean().optional() }
const confirmation = { confirm: confirm.optional() }
const menu = { ...actionId, ...placeholder, ...focus, ...confirmation }
const several = { max_selected_items: z.int().min(1).optional() }
const options = {
  options: z.array(option).min(1).max(LIMITS.optionsMax).optional(),
  option_groups: z.array(optionGroup).min(1).max(LIMITS.optionsMax).optional(),
}
const dispatch = {
  dispatch_action_config: z
    .strictObject({ trigger_actions_on: z.array(z.enum(['on_enter_pressed', 'on_character_entered'])).min(1) })
    .optional(),
}

const button = z.strictObject({
  type: z.literal('button'),
  text: plainText(LIMITS.buttonTextMax),
  value: bounded(LIMITS.buttonValueMax).optional(),
  url: url.optional(),
  style: z.enum(['primary', 'danger']).optional(),
  accessibility_label: bounded(LIMITS.buttonLabelMax).optional(),
  ...actionId,
  ...confirmation,
})

const overflow = z.strictObject({
  type: z.literal('overflow'),
  options: z.array(overflowOption).min(LIMITS.overflowOptionsMin).max(LIMITS.overflowOptionsMax),
  ...actionId,
  ...confirmation,
})

const staticSelect = z
  .strictObject({ type: z.literal('static_select'), ...menu, ...options, initial_option: option.optional() })
  .superRefine((element, context) => {
    checkOneSource(element, context)
    checkInitial(element, element.initial_option ? [element.initial_option] : [], context)
  })

const multiStaticSelect = z
  .strictObject({
    type: z.literal('multi_static_select'),
    ...menu,
    ...several,
    ...options,
    initial_options: z.array(option).min(1).max(LIMITS.optionsMax).optional(),
  })
  .superRefine((element, context) => {
    checkOneSource(element, context)
    checkInitial(element, element.initial_options ?? [], context)
  })

const remote = { min_query_length: z.int().min(0).optional() }
const externalSelect = z.strictObject({
  type: z.literal('external_select'),
  ...menu,
  ...remote,
  initial_option: option.optional(),
})
const multiExternalSelect = z.strictObject({
  type: z.literal('multi_external_select'),
  ...menu,
  ...remote,
  ...several,
  initial_options: z.array(option).min(1).optional(),
})

const usersSelect = z.strictObject({
  type: z.literal('users_select'),
  ...menu,
  initial_user: z.string().optional(),
})
const multiUsersSelect = z.strictObject({
  type: z.literal('multi_users_select'),
  ...menu,
  ...several,
  initial_users: z.array(z.string()).optional(),
})

const responseUrl = { response_url_enabled: z.boolean().optional() }
const channelsSelect = z.strictObject({
  type: z.literal('channels_select'),
  ...menu,
  ...responseUrl,
  initial_channel: z.string().optional(),
})
const multiChannelsSelect = z.strictObject({
  type: z.literal('multi_channels_select'),
  ...menu,
  ...several,
  initial_channels: z.array(z.string()).optional(),
})

const conversation = {
  default_to_current_conversation: z.boolean().optional(),
  filter: z
    .strictObject({
      include: z
        .array(z.enum(['im', 'mpim', 'private', 'public']))
        .min(1)
        .optional(),
      exclude_external_shared_channels: z.boolean().optional(),
      exclude_bot_users: z.boolean().optional(),
    })
    .optional(),
}
const conversationsSelect = z.strictObject({
  type: z.literal('conversations_select'),
  ...menu,
  ...responseUrl,
  ...conversation,
  initial_conversation: z.string().optional(),
})
const multiConversationsSelect = z.strictObject({
  type: z.literal('multi_conversations_select'),
  ...menu,
  ...several,
  ...conversation,
  initial_conversations: z.array(z.string()).optional(),
})

const datepicker = z.strictObject({
  type: z.literal('datepicker'),
  ...menu,
  initial_date: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}$/)
    .optional(),
})
const timepicker = z.strictObject({
  type: z.literal('timepicker'),
  ...menu,
  initial_time: z
    .string()
    .regex(/^\d{2}:\d{2}$/)
    .optional(),
  timezone: z.string().optional(),
})
const datetimepicker = z.strictObject({
  type: z.literal('datetimepicker'),
  ...actionId,
  ...focus,
  ...confirmation,
  initial_date_time: z.int().optional(),
})

const choices = { options: z.array(choiceOption).min(1).max(LIMITS.choiceOptionsMax) }
const radioButtons = z
  .strictObject({
    type: z.literal('radio_buttons'),
    ...actionId,
    ...focus,
    ...confirmation,
    ...choices,
    initial_option: choiceOption.optional(),
  })
  .superRefine((element, context) =>
    checkInitial(element, element.initial_option ? [element.initial_option] : [], context),
  )
const checkboxes = z
  .strictObject({
    type: z.literal('checkboxes'),
    ...actionId,
    ...focus,
    ...confirmation,
    ...choices,
    initial_options: z.array(choiceOption).min(1).optional(),
  })
  .superRefine((element, context) => checkInitial(element, element.initial_options ?? [], context))

const typed = { ...actionId, ...placeholder, ...focus, ...dispatch }
const inputLength = z.int().max(LIMITS.inputTextMax)
const plainTextInput = z
  .strictObject({
    type: z.literal('plain_text_input'),
    ...typed,
    multiline: z.boolean().optional(),
    initial_value: bounded(LIMITS.inputTextMax, 0).optional(),
    min_length: inputLength.min(0).optional(),
    max_length: inputLength.min(1).optional(),
  })
  .refine(
    ({ min_length: min = 0, max_length: max = LIMITS.inputTextMax }) => min <= max,
    'min_length must not be above max_length',
  )
const emailInput = z.strictObject({
  type: z.literal('email_text_input'),
  ...typed,
  initial_value: z.string().optional(),
})
const urlInput = z.strictObject({ type: z.literal('url_text_input'), ...typed, initial_value: z.string().optional() })
const number = z.string().regex(/^-?\d+(?:\.\d+)?$/, 'must be a number')
const numberInput = z.strictObject({
  type: z.literal('number_input'),
  ...typed,
  is_decimal_allowed: z.boolean(),
  initial_value: number.optional(),
  min_value: number.optional(),
  max_value: number.optional(),
})

export const imageElement = z
  .strictObject({ type: z.literal('image'), ...pictureSource, alt_text: bounded(LIMITS.altTextMax) })
  .refine(hasOneSource, ONE_SOURCE)

const selects = [staticSelect, externalSelect, usersSelect, conversationsSelect, channelsSelect] as const
const multiSelects = [
  multiStaticSelect,
  multiExternalSelect,
  multiUsersSelect,
  multiConversationsSelect,
  multiChannelsSelect,
] as const
const pickers = [datepicker, timepicker, radioButtons, checkboxes] as const

/** The elements of an actions block. */
export const actionElement = z.discriminatedUnion('type', [button, overflow, datetimepicker, ...selects, ...pickers])

/** The accessory of a section. */
export const accessory = z.discriminatedUnion('type', [
  button,
  overflow,
  imageElement,
  ...selects,
  ...multiSelects,
  ...pickers,
])

/** The element of an input block. */
export const inputElement = z.discriminatedUnion('type', [
  plainTextInput,
  emailInput,
  urlInput,
  numberInput,
  datetimepicker,
  ...selects,
  ...multiSelects,
  ...pickers,
])

type Issues = { addIssue(issue: { code: 'custom'; message: string; path?: (string | number)[] }): void }
interface Sources {
  options?: readonly unknown[] | undefined
  option_groups?: readonly { options: readonly unknown[] }[] | undefined
}

function checkOneSource(element: Sources, context: Issues): void {
  if ((element.options === undefined) === (element.option_groups === undefined)) {
    context.addIssue({ code: 'custom', message: 'must have either options or option_groups' })
  }
}

function checkInitial(element: Sources, initial: readonly unknown[], context: Issues): void {
  const offered = [...(element.options ?? []), ...(element.option_groups ?? []).flatMap((group) => group.options)]
  const known = new Set(offered.map((one) => JSON.stringify(one)))
  if (initial.every((one) => known.has(JSON.stringify(one)))) return
  context.addIssue({ code: 'custom', message: 'initial options must be among the options' })
}
