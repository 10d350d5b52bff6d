import type { z } from 'zod'
import { isJson } from './json.ts'
import type { Json } from './json.ts'
import { attachments } from './limits/attachments.ts'
import { messageBlocks } from './limits/blocks.ts'
import { LIMITS } from './limits/numbers.ts'
import { codePoints } from './limits/objects.ts'
import { suggestions } from './limits/options.ts'
import { view } from './limits/views.ts'

export { LIMITS } from './limits/numbers.ts'

/** A violation: Slack's error code, the place as a JSON pointer, and a message in Slack's style. */
export interface Problem {
  error: string
  pointer: string
  message: string
}

export interface MessageContent {
  text?: unknown
  blocks?: unknown
  attachments?: unknown
  metadata?: unknown
}

/**
 * Everything in a message that Slack would refuse or cut, in Slack's order; empty if there is nothing. `isUpdate`
 * applies the lower text limit of `chat.update`, and no limit on all blocks together, which is known only for posts.
 */
export function checkMessage(message: MessageContent, { isUpdate = false } = {}): Problem[] {
  return [
    ...checkText(message, isUpdate ? LIMITS.updateTextMax : LIMITS.messageTextMax),
    ...checkList(messageBlocks, message.blocks, '/blocks', 'invalid_blocks'),
    ...(isUpdate ? [] : checkBlocksLength(message.blocks)),
    ...checkAttachments(message.attachments),
    ...checkMetadata(message.metadata),
  ]
}

/** Everything that Slack would refuse in a modal or a home tab. */
export function checkView(value: unknown): Problem[] {
  const result = view.safeParse(value)
  const problems = result.success ? [] : toProblems(result.error.issues, '/view', 'invalid_arguments')
  const bytes = Buffer.byteLength(JSON.stringify(value) ?? '')
  if (bytes > LIMITS.viewBytesMax) problems.push({ error: 'view_too_large', pointer: '/view', message: 'too large' })
  return problems
}

/** Everything that Slack would refuse in a bot's options for a menu. */
export function checkSuggestions(value: unknown): Problem[] {
  const result = suggestions.safeParse(value)
  return result.success ? [] : toProblems(result.error.issues, '/', 'invalid_arguments')
}

function checkText({ text, blocks, attachments: extra }: MessageContent, max: number): Problem[] {
  const isEmpty = text === undefined || text === null || text === ''
  const hasContent = (Array.isArray(blocks) && blocks.length > 0) || (Array.isArray(extra) && extra.length > 0)
  if (isEmpty) return hasContent ? [] : [problem('no_text', '/text', 'no message text provided')]
  if (typeof text !== 'string') return [problem('invalid_arguments', '/text', 'must be a string')]
  if (codePoints(text) <= max) return []
  return [problem('msg_too_long', '/text', `must be less than ${max + 1} characters`)]
}

/** Slack counts more than the texts of the blocks, and does not say what. So their JSON is counted: it is never less. */
function checkBlocksLength(blocks: unknown): Problem[] {
  if (!Array.isArray(blocks) || codePoints(JSON.stringify(blocks)) <= LIMITS.messageBlocksCharsMax) return []
  const message = `must be less than ${LIMITS.messageBlocksCharsMax + 1} characters in all`
  return [problem('msg_blocks_too_long', '/blocks', message)]
}

function checkAttachments(value: unknown): Problem[] {
  if (Array.isArray(value) && value.length > LIMITS.attachmentsMax) {
    const message = `no more than ${LIMITS.attachmentsMax} items allowed`
    return [problem('too_many_attachments', '/attachments', message)]
  }
  return checkList(attachments, value, '/attachments', 'invalid_attachments')
}

const FORMAT_ERRORS = new Map([['invalid_blocks', 'invalid_blocks_format']])

function checkList(schema: z.ZodType, value: unknown, pointer: string, error: string): Problem[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) return [problem(FORMAT_ERRORS.get(error) ?? error, pointer, 'must be an array')]
  const result = schema.safeParse(value)
  return result.success ? [] : toProblems(result.error.issues, pointer, error)
}

const EVENT_TYPE = /^[a-z0-9_]+$/

function checkMetadata(value: unknown): Problem[] {
  if (value === undefined || value === null) return []
  if (!isJson(value)) return [problem('invalid_metadata_format', '/metadata', 'must be an object')]
  // In an update, an empty object removes the metadata.
  if (Object.keys(value).length === 0) return []
  return checkMetadataFields(value)
}

function checkMetadataFields({ event_type: type, event_payload: payload }: Json): Problem[] {
  if (typeof type !== 'string' || !EVENT_TYPE.test(type) || type.length > LIMITS.idMax) {
    return [problem('invalid_metadata_schema', '/metadata/event_type', 'must be lower-case letters, digits and _')]
  }
  if (!isJson(payload)) {
    return [problem('invalid_metadata_schema', '/metadata/event_payload', 'must be an object')]
  }
  if (Buffer.byteLength(JSON.stringify(payload)) <= LIMITS.metadataPayloadBytesMax) return []
  return [problem('metadata_too_large', '/metadata/event_payload', 'exceeds the size limit')]
}

const problem = (error: string, pointer: string, message: string): Problem => ({ error, pointer, message })

function toProblems(issues: readonly z.core.$ZodIssue[], root: string, error: string): Problem[] {
  return issues.map((issue) => problem(error, [root, ...issue.path.map(String)].join('/'), wordsOf(issue)))
}

function wordsOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `additional property: ${issue.keys.join(', ')}`
  if (issue.code === 'invalid_union') return `unsupported type`
  return issue.message
}
