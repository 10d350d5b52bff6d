import { parseObject } from '../http.ts'
import { isJson, listOf } from '../json.ts'
import type { Json } from '../json.ts'
import { problemsOfView } from '../slack-files.ts'
import type { PeopleParts } from './parts.ts'

/** The result of the answer to a submission: `refusal` if Slack refuses it, `errors` if the bot refuses the form. */
export interface Obeyed {
  refusal?: string
  errors?: Record<string, string>
}

export interface Submitted {
  userId: string
  view: Json
}

/** Slack's error code for an answer that it cannot read. The person sees "We had some trouble connecting". */
const MALFORMED: Obeyed = { refusal: 'invalid_arguments' }

/**
 * Does what the answer to a submission asks for. An empty answer closes the modal, `errors` leave it open, and an
 * answer that Slack refuses changes nothing.
 */
export function obey(parts: PeopleParts, submitted: Submitted, body: string): Obeyed {
  const { views } = parts
  const { userId } = submitted
  const answer = body.trim() === '' ? {} : parseObject(body)
  if (!answer) return MALFORMED
  switch (answer['response_action']) {
    case undefined:
      views.close(userId)
      return {}
    case 'clear':
      views.clear(userId)
      return {}
    case 'errors':
      return readErrors(submitted.view, answer['errors'])
    case 'update':
    case 'push':
      return show(parts, submitted, answer['response_action'], answer['view'])
    default:
      return MALFORMED
  }
}

/** Reads errors by the ids of input blocks. If one names another block, Slack refuses all of them. */
function readErrors({ blocks }: Json, errors: unknown): Obeyed {
  if (!isJson(errors)) return MALFORMED
  const inputs = listOf(blocks).filter(({ type }) => type === 'input')
  const ids = new Set(inputs.map((block) => block['block_id']))
  const entries = Object.entries(errors).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  const isWhole = entries.length === Object.keys(errors).length && entries.length > 0
  return isWhole && entries.every(([id]) => ids.has(id)) ? { errors: Object.fromEntries(entries) } : MALFORMED
}

function show(parts: PeopleParts, { userId, view }: Submitted, how: 'update' | 'push', content: unknown): Obeyed {
  const { workspace, views } = parts
  const [problem] = problemsOfView(workspace, content)
  if (problem) return { refusal: problem.error }
  if (!isJson(content) || content['type'] !== 'modal') return MALFORMED
  const result = how === 'push' ? views.push({ userId }, content) : views.update(String(view['id']), content)
  return result.kind === 'refused' ? { refusal: result.error } : {}
}
