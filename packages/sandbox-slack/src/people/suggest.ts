import { getUser } from '../acts.ts'
import type { Acknowledgement } from '../acknowledgement.ts'
import type { Found } from '../elements.ts'
import { parseObject } from '../http.ts'
import { listOf } from '../json.ts'
import type { Json } from '../json.ts'
import { checkSuggestions } from '../limits.ts'
import { messageFields } from '../payloads.ts'
import { getElement } from './message.ts'
import { sendInteraction } from './parts.ts'
import type { PeopleParts } from './parts.ts'
import { getElementInView } from './view.ts'

/** Slack asks the bot for options from this many characters on, unless the menu has `min_query_length`. */
export const QUERY_LENGTH_MIN = 3

/** A search in a menu of the top modal or the home tab; of a message, if `channel` and `ts` are given. */
export interface Search {
  user: string
  actionId: string
  value: string
  blockId?: string
  /** one of the person's views; by default the top modal or the home tab */
  viewId?: string
  channel?: string
  ts?: string
}

export interface Suggestion {
  acknowledgement: Acknowledgement
  /** the options without their groups; empty if the answer violates Slack's limits (`refusal`) */
  options: Json[]
}

export async function suggest(parts: PeopleParts, search: Search): Promise<Suggestion> {
  const { found, fields } = placeOf(parts, search)
  requireLength(found, search)
  const acknowledgement = await sendInteraction(parts, `suggestion ${search.actionId}`, {
    type: 'block_suggestion',
    user: getUser(parts.workspace, search.user),
    action_id: search.actionId,
    block_id: found.blockId,
    value: search.value,
    ...fields,
  })
  return toSuggestion(acknowledgement)
}

function placeOf(parts: PeopleParts, search: Search): { found: Found; fields: Json } {
  const { workspace, views } = parts
  const { channel, ts } = search
  if (channel === undefined || ts === undefined) {
    const { view, found } = getElementInView(views, search)
    return { found, fields: { container: { type: 'view', view_id: view['id'] }, view } }
  }
  const { place, found } = getElement(workspace, { ...search, channel, ts })
  return { found, fields: messageFields(workspace, { ...place, attachmentId: found.attachmentId }) }
}

function requireLength({ element }: Found, { value, actionId }: Search): void {
  const min = requiredLength(element)
  if (Array.from(value).length < min) throw new Error(`${actionId} asks the bot from ${min} characters on`)
}

/** How many characters must be typed before this menu asks the bot. */
export const requiredLength = (menu: Json): number => Number(menu['min_query_length'] ?? QUERY_LENGTH_MIN)

function toSuggestion(acknowledgement: Acknowledgement): Suggestion {
  if (acknowledgement.kind !== 'answered' || acknowledgement.status !== 200) return { acknowledgement, options: [] }
  const body = parseObject(acknowledgement.body) ?? {}
  const [problem] = checkSuggestions(body)
  if (problem) return { acknowledgement: { ...acknowledgement, refusal: problem.error }, options: [] }
  const grouped = listOf(body['option_groups']).flatMap(({ options }) => listOf(options))
  return { acknowledgement, options: [...listOf(body['options']), ...grouped] }
}
