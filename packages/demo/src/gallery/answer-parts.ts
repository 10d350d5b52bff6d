import type { Block, Button } from '../../../../src/slack/messages/blocks.ts'

/** A block of an answer as the golden files have it: the lines of a section, with its button; small print; a row of buttons. */
export type AnswerPart =
  | string[]
  | { section: string[]; accessory: Button }
  | { context: string[] }
  | { buttons: Button[]; row: string }

/** The block that such a part stands for. */
export function blockOf(part: AnswerPart): Block {
  if ('buttons' in part) return { type: 'actions', block_id: part.row, elements: part.buttons }
  if ('context' in part) return { type: 'context', elements: [markup(part.context)] }
  if ('section' in part) return { type: 'section', text: markup(part.section), accessory: part.accessory }
  return { type: 'section', text: markup(part) }
}

const markup = (lines: readonly string[]) => ({ type: 'mrkdwn', text: lines.join('\n'), verbatim: true }) as const

/** @throws on a block that cannot be written so */
export function partOf(block: Block): AnswerPart {
  switch (block.type) {
    case 'actions':
      return { buttons: block.elements, row: block.block_id }
    case 'section': {
      const lines = block.text.text.split('\n')
      return block.accessory ? { section: lines, accessory: block.accessory } : lines
    }
    case 'context': {
      const [element, ...more] = block.elements
      if (element?.type !== 'mrkdwn' || more.length > 0) throw new Error('a context block of an answer is one text')
      return { context: element.text.split('\n') }
    }
  }
}

/** What a screen reader says of it: every text, without the buttons. */
export const linesOf = (parts: readonly AnswerPart[]): string[] =>
  parts.flatMap((part) => {
    if ('buttons' in part) return []
    return 'context' in part ? part.context : 'section' in part ? part.section : part
  })
