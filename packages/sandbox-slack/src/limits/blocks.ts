import { z } from 'zod'
import { accessory, actionElement, imageElement, inputElement } from './elements.ts'
import { LIMITS } from './numbers.ts'
import { anyText, bounded, hasOneSource, id, mrkdwnText, ONE_SOURCE, pictureSource, plainText } from './objects.ts'
import { richText } from './rich-text.ts'

const blockId = { block_id: id.optional() }

const section = z
  .strictObject({
    type: z.literal('section'),
    text: anyText(LIMITS.sectionTextMax).optional(),
    fields: z.array(anyText(LIMITS.sectionFieldTextMax)).min(1).max(LIMITS.sectionFieldsMax).optional(),
    accessory: accessory.optional(),
    expand: z.boolean().optional(),
    ...blockId,
  })
  .refine((block) => block.text !== undefined || block.fields !== undefined, 'missing required field: text')

const header = z.strictObject({ type: z.literal('header'), text: plainText(LIMITS.headerTextMax), ...blockId })
const divider = z.strictObject({ type: z.literal('divider'), ...blockId })

const contextElement = z.discriminatedUnion('type', [
  imageElement,
  plainText(LIMITS.contextTextMax),
  mrkdwnText(LIMITS.contextTextMax),
])
const context = z.strictObject({
  type: z.literal('context'),
  elements: z.array(contextElement).min(1).max(LIMITS.contextElementsMax),
  ...blockId,
})

const actions = z
  .strictObject({
    type: z.literal('actions'),
    elements: z.array(actionElement).min(1).max(LIMITS.actionsElementsMax),
    ...blockId,
  })
  .superRefine(({ elements }, issues) => {
    const ids = elements.map((element) => element.action_id)
    for (const index of repeats(ids)) {
      const path = ['elements', index, 'action_id']
      issues.addIssue({ code: 'custom', path, message: `\`action_id\` "${ids[index]}" already exists` })
    }
  })

const image = z
  .strictObject({
    type: z.literal('image'),
    ...pictureSource,
    alt_text: bounded(LIMITS.altTextMax),
    title: plainText(LIMITS.imageTitleMax).optional(),
    ...blockId,
  })
  .refine(hasOneSource, ONE_SOURCE)

const input = z.strictObject({
  type: z.literal('input'),
  label: plainText(LIMITS.inputLabelMax),
  element: inputElement,
  hint: plainText(LIMITS.inputLabelMax).optional(),
  optional: z.boolean().optional(),
  dispatch_action: z.boolean().optional(),
  ...blockId,
})

const markdown = z.strictObject({ type: z.literal('markdown'), text: bounded(LIMITS.markdownTextMax), ...blockId })

const shared = [section, header, divider, context, actions, image, input, richText] as const

/** The blocks of a message or an attachment: at most 50, with unique ids. */
export const messageBlocks = listOf(z.discriminatedUnion('type', [...shared, markdown]), LIMITS.messageBlocksMax)

/** The blocks of a modal or a home tab: at most 100, with unique ids. */
export const viewBlocks = listOf(z.discriminatedUnion('type', [...shared]), LIMITS.viewBlocksMax)

function listOf<Block extends z.ZodType<{ block_id?: string | undefined }>>(block: Block, max: number) {
  const tooMany = `no more than ${max} items allowed`
  return z
    .array(block)
    .max(max, tooMany)
    .superRefine((blocks, issues) => {
      const ids = blocks.map((one) => one.block_id)
      for (const index of repeats(ids)) {
        const message = `\`block_id\` "${ids[index]}" already exists`
        issues.addIssue({ code: 'custom', path: [index, 'block_id'], message })
      }
    })
}

/** The indexes of ids that already appear earlier in the list. Missing ids do not count. */
function repeats(ids: readonly (string | undefined)[]): number[] {
  return ids.flatMap((one, index) => (one !== undefined && ids.indexOf(one) < index ? [index] : []))
}
