import { z } from 'zod'
import { LIMITS } from './numbers.ts'

/** A string of `min` to `max` code points, with Slack's own error messages. */
export const bounded = (max: number, min = 1) =>
  z.string().superRefine((text, context) => {
    const length = codePoints(text)
    if (length > max) context.addIssue({ code: 'custom', message: `must be less than ${max + 1} characters` })
    if (length < min) context.addIssue({ code: 'custom', message: `must be more than ${min - 1} characters` })
  })

export const codePoints = (text: string): number => {
  let count = 0
  for (const _ of text) count += 1
  return count
}

export const plainText = (max: number) =>
  z.strictObject({ type: z.literal('plain_text'), text: bounded(max), emoji: z.boolean().optional() })

export const mrkdwnText = (max: number) =>
  z.strictObject({ type: z.literal('mrkdwn'), text: bounded(max), verbatim: z.boolean().optional() })

export const anyText = (max: number) => z.discriminatedUnion('type', [plainText(max), mrkdwnText(max)])

export const id = bounded(LIMITS.idMax)

export const url = bounded(LIMITS.urlMax).refine((text) => URL.canParse(text), 'must be a valid URI')

const slackFile = z
  .strictObject({ id: z.string().optional(), url: url.optional() })
  .refine((file) => (file.id === undefined) !== (file.url === undefined), 'must have either id or url')

/** The source of a picture: a URL, or an uploaded file. */
export const pictureSource = { image_url: url.optional(), slack_file: slackFile.optional() }

export const hasOneSource = (picture: { image_url?: unknown; slack_file?: unknown }): boolean =>
  (picture.image_url === undefined) !== (picture.slack_file === undefined)

export const ONE_SOURCE = 'must have either image_url or slack_file'

export const confirm = z.strictObject({
  title: plainText(LIMITS.confirmTitleMax),
  text: anyText(LIMITS.confirmTextMax),
  confirm: plainText(LIMITS.confirmButtonMax),
  deny: plainText(LIMITS.confirmButtonMax),
  style: z.enum(['primary', 'danger']).optional(),
})

const optionFields = {
  value: bounded(LIMITS.optionValueMax),
  description: plainText(LIMITS.optionTextMax).optional(),
}

/** An option of a menu, with plain text. */
export const option = z.strictObject({ ...optionFields, text: plainText(LIMITS.optionTextMax) })

/** An option of an overflow menu, which may be a link. */
export const overflowOption = z.strictObject({
  ...optionFields,
  text: plainText(LIMITS.optionTextMax),
  url: url.optional(),
})

/** An option of radio buttons or checkboxes, which may be formatted. */
export const choiceOption = z.strictObject({
  value: bounded(LIMITS.optionValueMax),
  text: anyText(LIMITS.optionTextMax),
  description: anyText(LIMITS.optionTextMax).optional(),
})

export const optionGroup = z.strictObject({
  label: plainText(LIMITS.optionTextMax),
  options: z.array(option).min(1).max(LIMITS.optionsMax),
})
