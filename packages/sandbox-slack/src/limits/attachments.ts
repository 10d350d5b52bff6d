import { z } from 'zod'
import { messageBlocks } from './blocks.ts'
import { LIMITS } from './numbers.ts'

const text = z.string().optional()
const color = z.union([z.enum(['good', 'warning', 'danger']), z.string().regex(/^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i)])

/** An attachment has blocks beside a colour bar, or the older fields. It must not be empty. */
const attachment = z
  .strictObject({
    color: color.optional(),
    blocks: messageBlocks.optional(),
    fallback: text,
    pretext: text,
    text,
    title: text,
    title_link: text,
    author_name: text,
    author_link: text,
    author_icon: text,
    fields: z.array(z.strictObject({ title: text, value: text, short: z.boolean().optional() })).optional(),
    image_url: text,
    thumb_url: text,
    footer: text,
    footer_icon: text,
    ts: z.union([z.string(), z.number()]).optional(),
    mrkdwn_in: z.array(z.string()).optional(),
    callback_id: text,
    id: z.int().optional(),
  })
  .refine(
    (one) => Boolean(one.blocks?.length || one.text || one.pretext || one.title || one.fields?.length || one.image_url),
    'missing required field: blocks',
  )

export const attachments = z.array(attachment).max(LIMITS.attachmentsMax)
