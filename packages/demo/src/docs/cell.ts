import type { Answer } from '../../../../src/slack/messages/answer.ts'
import type { Block, Button } from '../../../../src/slack/messages/blocks.ts'

/** An answer as lines of Markdown: its text as it is read, then its buttons in brackets. */
export function answerLines({ text, blocks, picture }: Answer): string[] {
  const buttons = blocks.flatMap(buttonsOf).map((button) => `[${button.text.text}]`)
  const shown = picture === null ? [] : [`(picture: ${picture.alt})`]
  return [...asRead(text).split('\n'), [...buttons, ...shown].join(' ')].filter((line) => line !== '')
}

/** Text in one cell of a Markdown table. */
export const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', '<br>')

function buttonsOf(block: Block): Button[] {
  if (block.type === 'actions') return block.elements
  return block.type === 'section' && block.accessory ? [block.accessory] : []
}

/** Slack's markup as somebody reads it: names for ids, words for links, the fallback of a time. */
export const asRead = (text: string): string =>
  text
    .replaceAll(
      /<[@#]([A-Z0-9]+)>|<!subteam\^([A-Z0-9]+)>/g,
      (typed, id: string, group?: string) => nameOf(group ?? id) ?? typed,
    )
    .replaceAll(/<[^<>|]*\|([^<>]*)>/g, '$1')
    .replaceAll(/\*([^*\n]+)\*/g, '**$1**')
    .replaceAll(/[\u00ad\u2068\u2069]/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')

const NAMES = new Map([
  ['U0LIN', '@Lin'],
  ['S0OPS', '@operators'],
  ['C0BUILDS01', '#builds'],
])

const nameOf = (id: string): string | undefined => NAMES.get(id)
