import { describe, expect, test } from 'vitest'
import { checkMessage, checkView, LIMITS } from '../src/limits.ts'
import type { Problem } from '../src/limits.ts'

type Json = Record<string, unknown>

const plain = (length: number): Json => ({ type: 'plain_text', text: 'é'.repeat(length) })
const mrkdwn = (length: number): Json => ({ type: 'mrkdwn', text: 'é'.repeat(length) })
const many = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, i) => make(i))
const section = (extra: Json = {}): Json => ({ type: 'section', text: plain(1), ...extra })
const button = (extra: Json = {}): Json => ({ type: 'button', text: plain(1), ...extra })
const actions = (...elements: Json[]): Json => ({ type: 'actions', elements })
const option = (extra: Json = {}): Json => ({ text: plain(1), value: 'v', ...extra })
const select = (extra: Json = {}): Json => ({ type: 'static_select', options: [option()], ...extra })
const overflow = (count: number): Json => ({ type: 'overflow', options: many(count, () => option()) })
const confirm = (extra: Json = {}): Json => ({
  title: plain(1),
  text: plain(1),
  confirm: plain(1),
  deny: plain(1),
  ...extra,
})
const url = (length: number): string => 'https://ci.test/'.padEnd(length, 'x')
const input = (element: Json, extra: Json = {}): Json => ({ type: 'input', label: plain(1), element, ...extra })
const metadata = (extra: Json = {}): Json => ({ event_type: 'build_card', event_payload: {}, ...extra })

/** Blocks whose JSON has this many characters, none of them too long by itself. */
function blocksOf(length: number): Json[] {
  const full = many(4, () => section({ text: mrkdwn(3_000) }))
  const rest = length - JSON.stringify([...full, section({ text: mrkdwn(0) })]).length
  return [...full, section({ text: mrkdwn(rest) })]
}

const withBlocks = (...blocks: Json[]): Problem[] => checkMessage({ text: 'fallback', blocks })
const modal = (extra: Json = {}): Json => ({ type: 'modal', title: plain(1), blocks: [section()], ...extra })

const form = (...elements: Json[]): Json => modal({ submit: plain(1), blocks: elements.map((one) => input(one)) })
const FOCUSED: Json = { type: 'plain_text_input', focus_on_load: true }

// [what, the limit, the problems of a value of that size]
const UPPER: [string, number, (size: number) => Problem[]][] = [
  ['text of a post', LIMITS.messageTextMax, (n) => checkMessage({ text: '🚀'.repeat(n) })],
  ['text of an update', LIMITS.updateTextMax, (n) => checkMessage({ text: 'é'.repeat(n) }, { isUpdate: true })],
  ['blocks of a message', 50, (n) => withBlocks(...many(n, () => section()))],
  ['characters of all blocks of a message', LIMITS.messageBlocksCharsMax, (n) => withBlocks(...blocksOf(n))],
  [
    'blocks of an attachment',
    50,
    (n) => checkMessage({ attachments: [{ color: '#e01e5a', blocks: many(n, () => section()) }] }),
  ],
  ['attachments', 100, (n) => checkMessage({ attachments: many(n, () => ({ text: 'one' })) })],
  ['section text', 3_000, (n) => withBlocks(section({ text: mrkdwn(n) }))],
  ['section fields', 10, (n) => withBlocks({ type: 'section', fields: many(n, () => mrkdwn(1)) })],
  ['text of a field', 2_000, (n) => withBlocks({ type: 'section', fields: [mrkdwn(n)] })],
  ['header', 150, (n) => withBlocks({ type: 'header', text: plain(n) })],
  ['context elements', 10, (n) => withBlocks({ type: 'context', elements: many(n, () => mrkdwn(1)) })],
  ['actions elements', 25, (n) => withBlocks(actions(...many(n, () => button())))],
  ['button text', 75, (n) => withBlocks(actions(button({ text: plain(n) })))],
  ['button value', 2_000, (n) => withBlocks(actions(button({ value: 'v'.repeat(n) })))],
  ['button url', 3_000, (n) => withBlocks(actions(button({ url: url(n) })))],
  ['button label', 75, (n) => withBlocks(actions(button({ accessibility_label: 'v'.repeat(n) })))],
  ['action_id', 255, (n) => withBlocks(actions(button({ action_id: 'a'.repeat(n) })))],
  ['block_id', 255, (n) => withBlocks(section({ block_id: 'b'.repeat(n) }))],
  ['select options', 100, (n) => withBlocks(actions(select({ options: many(n, () => option()) })))],
  ['placeholder', 150, (n) => withBlocks(actions(select({ placeholder: plain(n) })))],
  ['option text', 75, (n) => withBlocks(actions(select({ options: [option({ text: plain(n) })] })))],
  ['option value', 150, (n) => withBlocks(actions(select({ options: [option({ value: 'v'.repeat(n) })] })))],
  ['overflow options', 5, (n) => withBlocks(actions(overflow(n)))],
  ['confirm title', 100, (n) => withBlocks(actions(button({ confirm: confirm({ title: plain(n) }) })))],
  ['confirm text', 300, (n) => withBlocks(actions(button({ confirm: confirm({ text: mrkdwn(n) }) })))],
  ['confirm button', 30, (n) => withBlocks(actions(button({ confirm: confirm({ confirm: plain(n) }) })))],
  ['deny button', 30, (n) => withBlocks(actions(button({ confirm: confirm({ deny: plain(n) }) })))],
  ['alt_text', 2_000, (n) => withBlocks({ type: 'image', image_url: url(20), alt_text: 'a'.repeat(n) })],
  [
    'metadata payload',
    LIMITS.metadataPayloadBytesMax,
    (n) => checkMessage({ text: 'a', metadata: metadata({ event_payload: { k: 'v'.repeat(n - 8) } }) }),
  ],
  ['view blocks', 100, (n) => checkView(modal({ blocks: many(n, () => section()) }))],
  ['home blocks', 100, (n) => checkView({ type: 'home', blocks: many(n, () => section()) })],
  ['modal title', 24, (n) => checkView(modal({ title: plain(n) }))],
  ['modal submit', 24, (n) => checkView(modal({ submit: plain(n) }))],
  ['modal close', 24, (n) => checkView(modal({ close: plain(n) }))],
  ['private_metadata', 3_000, (n) => checkView(modal({ private_metadata: 'p'.repeat(n) }))],
  ['callback_id', 255, (n) => checkView(modal({ callback_id: 'c'.repeat(n) }))],
]

describe('at the upper limit', () => {
  test.each(UPPER)('%s of %i passes', (_what, limit, check) => expect(check(limit)).toEqual([]))
  test.each(UPPER)('%s over %i is refused', (_what, limit, check) => expect(check(limit + 1)).not.toEqual([]))
})

const FINE: [string, Problem[]][] = [
  [
    'a text field whose min_length equals its max_length',
    checkView(form({ type: 'plain_text_input', min_length: 5, max_length: 5 })),
  ],
  ['one field with focus_on_load', checkView(form(FOCUSED, { type: 'url_text_input' }))],
  [
    'numbers with and without decimals',
    checkView(form({ type: 'number_input', is_decimal_allowed: true, min_value: '-1', max_value: '2.5' })),
  ],
  ['text alone', checkMessage({ text: 'a' })],
  ['blocks alone', checkMessage({ blocks: [section()] })],
  ['attachments alone', checkMessage({ attachments: [{ color: 'good', blocks: [section()] }] })],
  ['an overflow of 2', withBlocks(actions(overflow(2)))],
  [
    'the same action_id in two blocks',
    withBlocks(actions(button({ action_id: 'a' })), actions(button({ action_id: 'a' }))),
  ],
  ['two buttons without ids', withBlocks(actions(button(), button()))],
  ['a divider', withBlocks({ type: 'divider' })],
  [
    'rich text',
    withBlocks({
      type: 'rich_text',
      elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: 'a', style: { bold: true } }] }],
    }),
  ],
  ['an initial option among the options', withBlocks(actions(select({ initial_option: option() })))],
  ['an empty metadata', checkMessage({ text: 'a', metadata: {} })],
  ['an input with submit', checkView(modal({ submit: plain(1), blocks: [input({ type: 'plain_text_input' })] }))],
]

const WRONG: [string, string, Problem[]][] = [
  ['nothing at all', 'no_text', checkMessage({ text: '', blocks: [] })],
  ['blocks that are not a list', 'invalid_blocks_format', checkMessage({ text: 'a', blocks: {} })],
  [
    'blocks that are too long only together',
    'msg_blocks_too_long',
    withBlocks(...many(5, () => section({ text: mrkdwn(3_000) }))),
  ],
  ['an unknown block', 'invalid_blocks', withBlocks({ type: 'sparkle' })],
  ['an unknown property', 'invalid_blocks', withBlocks(section({ colour: 'red' }))],
  ['an empty section text', 'invalid_blocks', withBlocks(section({ text: plain(0) }))],
  ['a section without text and fields', 'invalid_blocks', withBlocks({ type: 'section' })],
  ['no section fields', 'invalid_blocks', withBlocks({ type: 'section', fields: [] })],
  ['mrkdwn in a header', 'invalid_blocks', withBlocks({ type: 'header', text: mrkdwn(1) })],
  ['mrkdwn on a button', 'invalid_blocks', withBlocks(actions(button({ text: mrkdwn(1) })))],
  ['no actions', 'invalid_blocks', withBlocks(actions())],
  ['no context', 'invalid_blocks', withBlocks({ type: 'context', elements: [] })],
  ['a button in a context', 'invalid_blocks', withBlocks({ type: 'context', elements: [button()] })],
  ['an unknown button style', 'invalid_blocks', withBlocks(actions(button({ style: 'red' })))],
  ['an invalid button url', 'invalid_blocks', withBlocks(actions(button({ url: 'ci' })))],
  ['an empty button value', 'invalid_blocks', withBlocks(actions(button({ value: '' })))],
  ['an overflow of 1', 'invalid_blocks', withBlocks(actions(overflow(1)))],
  ['a select without options', 'invalid_blocks', withBlocks(actions({ type: 'static_select' }))],
  [
    'options and groups',
    'invalid_blocks',
    withBlocks(actions(select({ option_groups: [{ label: plain(1), options: [option()] }] }))),
  ],
  [
    'an initial option that is not among the options',
    'invalid_blocks',
    withBlocks(actions(select({ initial_option: option({ value: 'w' }) }))),
  ],
  ['a repeated block_id', 'invalid_blocks', withBlocks(section({ block_id: 'b' }), section({ block_id: 'b' }))],
  [
    'a repeated action_id in a block',
    'invalid_blocks',
    withBlocks(actions(button({ action_id: 'a' }), button({ action_id: 'a' }))),
  ],
  ['an image without alt_text', 'invalid_blocks', withBlocks({ type: 'image', image_url: url(20) })],
  [
    'an image with an empty alt_text',
    'invalid_blocks',
    withBlocks({ type: 'image', image_url: url(20), alt_text: '' }),
  ],
  ['rich text without elements', 'invalid_blocks', withBlocks({ type: 'rich_text', elements: [] })],
  [
    'a bad block in an attachment',
    'invalid_attachments',
    checkMessage({ attachments: [{ blocks: [{ type: 'header', text: mrkdwn(1) }] }] }),
  ],
  ['an empty attachment', 'invalid_attachments', checkMessage({ attachments: [{ color: '#e01e5a' }] })],
  ['an invalid colour', 'invalid_attachments', checkMessage({ attachments: [{ color: 'blood', text: 'a' }] })],
  ['too many attachments', 'too_many_attachments', checkMessage({ attachments: many(101, () => ({ text: 'a' })) })],
  [
    'an event_type with a dash',
    'invalid_metadata_schema',
    checkMessage({ text: 'a', metadata: metadata({ event_type: 'build-card' }) }),
  ],
  [
    'an event_type in capitals',
    'invalid_metadata_schema',
    checkMessage({ text: 'a', metadata: metadata({ event_type: 'Build' }) }),
  ],
  ['metadata without payload', 'invalid_metadata_schema', checkMessage({ text: 'a', metadata: { event_type: 'a' } })],
  [
    'too much metadata',
    'metadata_too_large',
    checkMessage({ text: 'a', metadata: metadata({ event_payload: { k: 'v'.repeat(2_000) } }) }),
  ],
  ['an input without submit', 'invalid_arguments', checkView(modal({ blocks: [input({ type: 'plain_text_input' })] }))],
  [
    'a min_length above max_length',
    'invalid_arguments',
    checkView(form({ type: 'plain_text_input', min_length: 5, max_length: 4 })),
  ],
  ['a max_length over 3,000', 'invalid_arguments', checkView(form({ type: 'plain_text_input', max_length: 3_001 }))],
  [
    'a min_value that is not a number',
    'invalid_arguments',
    checkView(form({ type: 'number_input', is_decimal_allowed: true, min_value: 'few' })),
  ],
  ['two fields with focus_on_load', 'invalid_arguments', checkView(form(FOCUSED, FOCUSED))],
  ['mrkdwn as a modal title', 'invalid_arguments', checkView(modal({ title: mrkdwn(1) }))],
  [
    'a view that is too large as a whole',
    'view_too_large',
    checkView(modal({ blocks: many(90, () => section({ text: plain(3_000) })) })),
  ],
]

test.each(FINE)('%s is fine', (_what, problems) => expect(problems).toEqual([]))

test.each(WRONG)('%s is refused as %s', (_what, error, problems) =>
  expect(problems.map((problem) => problem.error)).toContain(error),
)

test('a problem has its place', () => {
  expect(withBlocks(section(), section({ text: mrkdwn(3_001) }))).toEqual([
    { error: 'invalid_blocks', pointer: '/blocks/1/text/text', message: 'must be less than 3001 characters' },
  ])
})
