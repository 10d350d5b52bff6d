import type { ReminderRule } from '../../domain/reminder.ts'
import { plain } from '../../slack/messages/blocks.ts'
import { textAt } from '../body.ts'
import { fieldOption as choice } from '../fields.ts'
import { readReminderAlone, typedHours, typedTime } from './remind.ts'

// The reminder fields in the subscription form.

export const REMINDER_FIELDS = { remind: 'subscribe_remind', hours: 'subscribe_hours' } as const

const REMIND = [
  choice('off', 'off'),
  choice('1 h', '1h'),
  choice('2 h', '2h'),
  choice('4 h', '4h'),
  choice('1 day', '1d'),
] as const

/** @param chosen the value of the field, if the form was filled in before */
export function reminderBlocks(rule: ReminderRule | null, chosen: string | null): object[] {
  const value = rule ? typedTime(rule.afterMs) : (chosen ?? 'off')
  const known = REMIND.find((option) => option.value === value)
  const other = known ? [] : [choice(value, value)]
  return [
    {
      type: 'input',
      block_id: REMINDER_FIELDS.remind,
      label: plain('Remind the channel'),
      hint: plain('When a branch has been red this long and nobody is on it. Three times at most.'),
      element: {
        type: 'static_select',
        action_id: REMINDER_FIELDS.remind,
        options: [...REMIND, ...other],
        initial_option: known ?? other[0],
      },
    },
    {
      type: 'input',
      block_id: REMINDER_FIELDS.hours,
      label: plain('Reminder hours'),
      hint: plain('Empty: 9-18 weekdays, in your time zone. For example: 8-20 daily Europe/Berlin.'),
      optional: true,
      element: {
        type: 'plain_text_input',
        action_id: REMINDER_FIELDS.hours,
        max_length: HOURS_CHARS_MAX,
        ...(rule && { initial_value: typedHours(rule) }),
      },
    },
  ]
}

/** Hours, days and the longest name of a time zone. */
const HOURS_CHARS_MAX = 60

/** The values of the fields. */
export type FilledReminder = ReturnType<typeof readReminderFields>

export function readReminderFields(body: unknown) {
  const at = (field: string) => ['view', 'state', 'values', field, field] as const
  const chosen = textAt(body, ...at(REMINDER_FIELDS.remind), 'selected_option', 'value') ?? 'off'
  return { chosen, ...readReminderAlone(`${chosen} ${textAt(body, ...at(REMINDER_FIELDS.hours), 'value') ?? ''}`) }
}
