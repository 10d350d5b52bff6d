export type Json = Record<string, unknown>

/**
 * What a screen reader reads of a form or of Home, in its order, a line each: texts are markup as they are sent, and what
 * can be used is named by what it is.
 */
export function readingOf(view: Json, errors: Readonly<Record<string, string>> = {}): string[] {
  const title = textOf(view['title'])
  const ends = [textOf(view['submit']), textOf(view['close'])].filter((text) => text !== '')
  const blocks = listOf(view['blocks']).flatMap((block) => blockLines(block, errors))
  return [...(title === '' ? [] : [title]), ...blocks, ...(ends.length === 0 ? [] : [ends.map(button).join(' ')])]
}

const button = (text: string): string => `[${text}]`

function blockLines(block: Json, errors: Readonly<Record<string, string>>): string[] {
  switch (block['type']) {
    case 'divider':
      return []
    case 'input':
      return inputLines(block, errors[String(block['block_id'])])
    case 'actions':
      return [listOf(block['elements']).map(elementWords).join(' ')]
    case 'context':
      return [listOf(block['elements']).map(textOf).join(' ')]
    default:
      return [
        ...textOf(block['text']).split('\n'),
        ...(isJson(block['accessory']) ? [elementWords(block['accessory'])] : []),
      ]
  }
}

function inputLines(block: Json, error: string | undefined): string[] {
  const element = isJson(block['element']) ? block['element'] : {}
  const label = `${textOf(block['label'])}${block['optional'] === true ? ' (optional)' : ''}`
  const hint = textOf(block['hint'])
  return [
    `${label}: ${elementWords(element)}`,
    ...(hint === '' ? [] : [hint]),
    ...(error === undefined ? [] : [`Wrong: ${error}`]),
  ]
}

function elementWords(element: Json): string {
  if (element['type'] === 'button') return button(textOf(element['text']))
  const options = listOf(element['options']).map((one) => textOf(one['text']))
  const chosen = [element['initial_option'], ...listOf(element['initial_options'])]
    .filter(isJson)
    .map((one) => textOf(one['text']))
  if (element['type'] === 'radio_buttons' || element['type'] === 'checkboxes')
    return options.map((text) => `${chosen.includes(text) ? '(x)' : '( )'} ${text}`).join(' ')
  const filled = typeof element['initial_value'] === 'string' ? element['initial_value'] : chosen.join(', ')
  return `${KINDS[String(element['type'])] ?? 'choice'}${filled === '' ? ', empty' : `: ${filled}`}`
}

const KINDS: Readonly<Record<string, string>> = { plain_text_input: 'text' }

export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
export const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJson) : [])

/** Of a text object, or of what holds one. */
export const textOf = (value: unknown): string => {
  if (!isJson(value)) return ''
  return typeof value['text'] === 'string' ? value['text'] : textOf(value['text'])
}
