import { isJson, listOf, textOf, type Json } from './reading.ts'

// The golden files have Block Kit in short: plain text is a string, markup is a list of lines, and a list of lines among
// the blocks is a section. Anything else stands as it is sent, such as a text with `emoji: true`.

/** Where Slack takes a text object; `blocks` and `elements` are lists of them. */
const TEXTS = new Set(['text', 'title', 'submit', 'close', 'label', 'hint', 'placeholder', 'confirm', 'deny'])
const TEXT_TYPES = new Set<unknown>(['plain_text', 'mrkdwn'])
const LISTS = new Set(['blocks', 'elements'])

export function shorten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shorten)
  if (!isJson(value)) return value
  const { type, text, emoji, verbatim, ...rest } = value
  const isBare = Object.keys(rest).length === 0
  if (isBare && type === 'plain_text' && emoji === false && verbatim === undefined) return text
  if (isBare && type === 'mrkdwn' && verbatim === true && emoji === undefined) return String(text).split('\n')
  const short = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shorten(one)]))
  return isBare && type === 'section' && Array.isArray(short['text']) ? short['text'] : short
}

/** What was shortened, as it is sent; `at` is the field in which it stands. */
export function expand(value: unknown, at = ''): unknown {
  if (isJson(value) && TEXT_TYPES.has(value['type'])) return value
  if (isJson(value)) return Object.fromEntries(Object.entries(value).map(([field, one]) => [field, expand(one, field)]))
  if (LISTS.has(at) && Array.isArray(value)) return value.map((one) => (isJson(one) ? expand(one) : itemOf(one, at)))
  if (TEXTS.has(at)) return textObject(value)
  return Array.isArray(value) ? value.map((one) => expand(one)) : value
}

const itemOf = (value: unknown, at: string) =>
  at === 'blocks' ? { type: 'section', text: textObject(value) } : textObject(value)

const textObject = (value: unknown) =>
  Array.isArray(value)
    ? { type: 'mrkdwn', text: value.join('\n'), verbatim: true }
    : { type: 'plain_text', text: value, emoji: false }

/** A message, whole. `plain` is what is sent alone where Slack refuses the blocks. */
export interface Message {
  text: string
  plain: string
  blocks: readonly Json[]
  attachments: readonly Json[]
}

/** A message without what is empty, and without a text that only repeats its blocks. */
export function shortMessage({ text, plain, blocks, attachments }: Message): Json {
  const said = saidBy(blocks, attachments)
  return {
    ...(text !== said && { text: text.split('\n') }),
    ...(plain !== (said || text) && { plain: plain.split('\n') }),
    ...(blocks.length > 0 && { blocks: shorten(blocks) }),
    ...(attachments.length > 0 && { attachments: shorten(attachments) }),
  }
}

export function wholeMessage(short: Json): Message {
  const blocks = listOf(expand(short['blocks'], 'blocks'))
  const attachments = listOf(expand(short['attachments']))
  const said = saidBy(blocks, attachments)
  const text = linesOf(short['text']) ?? said
  return { text, plain: linesOf(short['plain']) ?? (said || text), blocks, attachments }
}

const linesOf = (value: unknown): string | null => (Array.isArray(value) ? value.join('\n') : null)

/** The texts of the blocks, without the buttons. */
const saidBy = (blocks: readonly Json[], attachments: readonly Json[]): string =>
  [...blocks, ...attachments.flatMap((one) => listOf(one['blocks']))]
    .map((block) =>
      block['type'] === 'context' ? listOf(block['elements']).map(textOf).join(' · ') : textOf(block['text']),
    )
    .filter((text) => text !== '')
    .join('\n')
