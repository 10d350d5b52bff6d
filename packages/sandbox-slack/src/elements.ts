import { listOf } from './json.ts'
import type { Json } from './json.ts'
import type { Message } from './messages.ts'

/** An interactive element found in a message or a view. */
export interface Found {
  element: Json
  blockId: string
  /** the id of the attachment that holds it; ids count from 1 */
  attachmentId?: number
  /** whether a change sends a request at once: true except in input blocks without `dispatch_action` */
  tellsAtOnce: boolean
}

/** Finds the element by action id (and block id, if given), in the blocks or in an attachment's blocks. */
export function findElement(message: Message, actionId: string, blockId?: string): Found | undefined {
  const direct = findInBlocks(message.blocks, actionId, blockId)
  if (direct) return direct
  for (const attachment of message.attachments) {
    const found = findInBlocks(listOf(attachment['blocks']), actionId, blockId)
    if (found) return { ...found, attachmentId: Number(attachment['id']) }
  }
  return undefined
}

export function findInBlocks(blocks: readonly Json[], actionId: string, blockId?: string): Found | undefined {
  for (const block of blocks) {
    const id = String(block['block_id'])
    const element = elementsOf(block).find((one) => one['action_id'] === actionId)
    const tellsAtOnce = block['type'] !== 'input' || block['dispatch_action'] === true
    if (element && (blockId === undefined || blockId === id)) return { element, blockId: id, tellsAtOnce }
  }
  return undefined
}

export function elementsOf(block: Json): Json[] {
  return [...listOf(block['elements']), ...listOf([block['accessory'], block['element']])]
}

/** The entry in `actions` for a use of this element; `selected` has the choice. */
export const actionOf = ({ element, blockId }: Found, atMs: number, selected: Json): Json => {
  const { type, action_id, confirm } = element
  const words = type === 'button' ? wordsOf(element) : {}
  const asked = confirm === undefined ? {} : { confirm }
  const actionTs = (atMs / 1_000).toFixed(6)
  return { action_id, block_id: blockId, ...words, ...asked, ...selected, type, action_ts: actionTs }
}

const wordsOf = ({ text, value, style, url }: Json): Json => ({
  text,
  ...(value === undefined ? {} : { value }),
  ...(style === undefined ? {} : { style }),
  ...(url === undefined ? {} : { url }),
})
