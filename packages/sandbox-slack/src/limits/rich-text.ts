import { z } from 'zod'
import { id, url } from './objects.ts'

const style = z
  .strictObject({
    bold: z.boolean().optional(),
    italic: z.boolean().optional(),
    strike: z.boolean().optional(),
    underline: z.boolean().optional(),
    code: z.boolean().optional(),
  })
  .optional()

const inline = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string().min(1), style }),
  z.strictObject({ type: z.literal('link'), url, text: z.string().optional(), unsafe: z.boolean().optional(), style }),
  z.strictObject({ type: z.literal('emoji'), name: z.string().min(1), unicode: z.string().optional(), style }),
  z.strictObject({ type: z.literal('user'), user_id: z.string().min(1), style }),
  z.strictObject({ type: z.literal('usergroup'), usergroup_id: z.string().min(1), style }),
  z.strictObject({ type: z.literal('channel'), channel_id: z.string().min(1), style }),
  z.strictObject({ type: z.literal('broadcast'), range: z.enum(['here', 'channel', 'everyone']), style }),
  z.strictObject({ type: z.literal('color'), value: z.string().min(1) }),
  z.strictObject({
    type: z.literal('date'),
    timestamp: z.int(),
    format: z.string().min(1),
    url: url.optional(),
    fallback: z.string().optional(),
  }),
])

const border = z.union([z.literal(0), z.literal(1)]).optional()
const section = z.strictObject({ type: z.literal('rich_text_section'), elements: z.array(inline) })
const quote = z.strictObject({ type: z.literal('rich_text_quote'), elements: z.array(inline), border })
const preformatted = z.strictObject({ type: z.literal('rich_text_preformatted'), elements: z.array(inline), border })
const list = z.strictObject({
  type: z.literal('rich_text_list'),
  style: z.enum(['bullet', 'ordered']),
  elements: z.array(section).min(1),
  indent: z.int().min(0).max(8).optional(),
  offset: z.int().min(0).optional(),
  border,
})

export const richText = z.strictObject({
  type: z.literal('rich_text'),
  block_id: id.optional(),
  elements: z.array(z.discriminatedUnion('type', [section, quote, preformatted, list])).min(1),
})
