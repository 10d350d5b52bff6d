import { z } from 'zod'
import { viewBlocks } from './blocks.ts'
import { LIMITS } from './numbers.ts'
import { bounded, plainText } from './objects.ts'

const shared = {
  blocks: viewBlocks,
  private_metadata: bounded(LIMITS.privateMetadataMax, 0).optional(),
  callback_id: bounded(LIMITS.idMax, 0).optional(),
  external_id: bounded(LIMITS.idMax, 0).optional(),
}

const modal = z
  .strictObject({
    type: z.literal('modal'),
    title: plainText(LIMITS.modalTitleMax),
    submit: plainText(LIMITS.modalButtonMax).optional(),
    close: plainText(LIMITS.modalButtonMax).optional(),
    clear_on_close: z.boolean().optional(),
    notify_on_close: z.boolean().optional(),
    submit_disabled: z.boolean().optional(),
    ...shared,
  })
  .refine(
    (view) => view.submit !== undefined || view.blocks.every((block) => block.type !== 'input'),
    'submit is required when an input block is within blocks',
  )

const home = z.strictObject({ type: z.literal('home'), ...shared })

/** Only one element of a view may have `focus_on_load`. */
const oneFocus = (view: { blocks: readonly object[] }): boolean => view.blocks.filter(asksForFocus).length <= 1

const asksForFocus = (block: object): boolean =>
  'element' in block && JSON.stringify(block.element).includes('"focus_on_load":true')

export const view = z
  .discriminatedUnion('type', [modal, home])
  .refine(oneFocus, 'focus_on_load can only be set for one element')
