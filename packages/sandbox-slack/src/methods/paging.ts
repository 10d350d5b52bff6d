import { numberArg, refuse, textArg } from './call.ts'
import type { Args } from './call.ts'

export interface Page<Item> {
  items: Item[]
  /** the fields `has_more` and `response_metadata`; `next_cursor` is empty on the last page */
  fields: { has_more: boolean; response_metadata: { next_cursor: string } }
}

export interface PageOptions<Item> {
  limitDefault: number
  limitMax: number
  keyOf: (item: Item) => string
}

const CURSOR_PREFIX = 'next_key:'

/** One page of `items`. The cursor is the key of the next page's first item, so that new items do not shift it. */
export function pageOf<Item>(args: Args, items: readonly Item[], options: PageOptions<Item>): Page<Item> {
  const limit = numberArg(args, 'limit', {
    fallback: options.limitDefault,
    max: options.limitMax,
    code: 'invalid_limit',
  })
  const start = startOf(args, items, options)
  const next = items[start + limit]
  const cursor = next === undefined ? '' : toCursor(options.keyOf(next))
  return {
    items: items.slice(start, start + limit),
    fields: { has_more: next !== undefined, response_metadata: { next_cursor: cursor } },
  }
}

function startOf<Item>(args: Args, items: readonly Item[], { keyOf }: PageOptions<Item>): number {
  const cursor = textArg(args, 'cursor')
  if (cursor === undefined) return 0
  const text = Buffer.from(cursor, 'base64').toString()
  const index = items.findIndex((item) => `${CURSOR_PREFIX}${keyOf(item)}` === text)
  return index === -1 ? refuse('invalid_cursor') : index
}

const toCursor = (key: string): string => Buffer.from(`${CURSOR_PREFIX}${key}`).toString('base64')
