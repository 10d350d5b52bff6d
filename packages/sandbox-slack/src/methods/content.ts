import { checkMessage, LIMITS } from '../limits.ts'
import type { Problem } from '../limits.ts'
import { listOf, objectOf } from '../json.ts'
import type { Json } from '../json.ts'
import { jsonArg, refuse, textArg } from './call.ts'
import type { Workspace } from '../model.ts'
import { unknownFiles } from '../slack-files.ts'
import type { Args } from './call.ts'

/** The fields of an answer that warn. */
export interface Warnings {
  response_metadata?: { messages?: string[]; warnings: string[] }
}

export interface Content {
  text?: string
  blocks?: Json[]
  attachments?: Json[]
  metadata?: Json
  warnings: Warnings
}

/** Reads and checks the content of a message. As in Slack, the text of a post is cut at the limit, with a warning. */
export function contentOf(workspace: Workspace, args: Args, { isUpdate = false } = {}): Content {
  const raw = {
    text: textArg(args, 'text'),
    blocks: jsonArg(args, 'blocks', 'invalid_blocks_format'),
    attachments: jsonArg(args, 'attachments', 'invalid_attachments'),
    metadata: jsonArg(args, 'metadata', 'invalid_metadata_format'),
  }
  const text = isUpdate ? raw.text : raw.text && cut(raw.text)
  const problems = [...checkMessage({ ...raw, text }, { isUpdate }), ...unknownFiles(workspace, raw)]
  // An update may have only metadata. The rest stays unchanged.
  const isMetadataOnly = isUpdate && raw.metadata !== undefined
  const [first] = problems.filter(({ error }) => !(isMetadataOnly && error === 'no_text'))
  if (first) refuseContent(first.error, problems)
  return {
    ...(text === undefined ? {} : { text }),
    ...(Array.isArray(raw.blocks) ? { blocks: listOf(raw.blocks) } : {}),
    ...(Array.isArray(raw.attachments) ? { attachments: listOf(raw.attachments) } : {}),
    ...(raw.metadata ? { metadata: objectOf(raw.metadata) } : {}),
    warnings: text === raw.text ? {} : TRUNCATED,
  }
}

const TRUNCATED: Warnings = {
  response_metadata: {
    messages: ['[WARN] Your message was truncated but still posted. The `text` field accepts up to 40,000 characters.'],
    warnings: ['message_truncated'],
  },
}

function cut(text: string): string {
  if (text.length <= LIMITS.messageTextMax) return text
  const points = Array.from(text)
  return points.length <= LIMITS.messageTextMax ? text : points.slice(0, LIMITS.messageTextMax).join('')
}

function refuseContent(error: string, problems: readonly Problem[]): never {
  const errors = problems
    .filter((problem) => problem.error === error)
    .map(({ message, pointer }) => `${message} [json-pointer:${pointer}]`)
  return refuse(error, { errors, response_metadata: { messages: errors.map((text) => `[ERROR] ${text}`) } })
}
