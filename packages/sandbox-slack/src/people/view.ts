import { getUser } from '../acts.ts'
import type { Acknowledgement } from '../acknowledgement.ts'
import { actionOf, findInBlocks } from '../elements.ts'
import type { Found } from '../elements.ts'
import { listOf, objectOf } from '../json.ts'
import type { Json } from '../json.ts'
import { isField, putValues, valueNameOf, valuesIn } from '../view-state.ts'
import type { Values } from '../view-state.ts'
import type { Views } from '../views.ts'
import { isDenied, unconfirmed } from './message.ts'
import { obey } from './obey.ts'
import { sendInteraction } from './parts.ts'
import type { PeopleParts } from './parts.ts'

export interface ViewPress {
  user: string
  actionId: string
  blockId?: string
  selected?: Json
  confirmed?: boolean
  /** one of the person's views; by default the top modal, or the home tab if no modal is open */
  viewId?: string
}

/** Stores a choice or text in the view's state. Sends a request only if the block dispatches at once. */
export async function pressInView(parts: PeopleParts, press: ViewPress): Promise<Acknowledgement> {
  const { workspace, views, triggers } = parts
  const { user: userId, actionId, selected = {} } = press
  const what = `click ${actionId}`
  const { view, found } = getElementInView(views, press)
  if (isDenied(found, press.confirmed)) return unconfirmed(what)
  if (isField(found.element)) putField(view, found, selected)
  if (!found.tellsAtOnce) return { kind: 'unsent', what, because: 'no_dispatch_action' }
  return sendInteraction(parts, what, {
    type: 'block_actions',
    user: getUser(workspace, userId),
    container: { type: 'view', view_id: view['id'] },
    trigger_id: triggers.issue(userId),
    view,
    actions: [actionOf(found, workspace.clock.now(), selected)],
  })
}

/** The view and the element in it. Throws if one of them does not exist. */
export function getElementInView(views: Views, press: ViewPress): { view: Json; found: Found } {
  const { user, viewId } = press
  const view = viewId === undefined ? (views.stack(user).at(-1) ?? views.home(user)) : findView(views, user, viewId)
  const found = view && findInBlocks(listOf(view['blocks']), press.actionId, press.blockId)
  if (!view || !found) throw new Error(`no open view of ${press.user} has an element ${press.actionId}`)
  return { view, found }
}

/** One of the views that this person has open. */
export const findView = (views: Views, userId: string, viewId: string): Json | undefined =>
  [...views.stack(userId), views.home(userId)].find((view) => view?.['id'] === viewId)

function putField(view: Json, { element, blockId }: Found, selected: Json): void {
  const actionId = String(element['action_id'])
  const held = valuesIn(view)[blockId]?.[actionId]
  putValues(view, { [blockId]: { [actionId]: { ...held, ...selected } } })
}

export async function submitView(
  parts: PeopleParts,
  { user: userId, values = {} }: { user: string; values?: Values },
): Promise<Acknowledgement> {
  const { workspace, views, triggers } = parts
  const view = getTop(views, userId)
  putValues(view, values)
  const acknowledgement = await sendInteraction(parts, 'view_submission', {
    type: 'view_submission',
    user: getUser(workspace, userId),
    trigger_id: triggers.issue(userId),
    view,
    response_urls: responseUrlsOf(parts, userId, view),
  })
  if (acknowledgement.kind !== 'answered' || acknowledgement.status !== 200) return acknowledgement
  return { ...acknowledgement, ...obey(parts, { userId, view }, acknowledgement.body) }
}

function getTop(views: Views, userId: string): Json {
  const view = views.stack(userId).at(-1)
  if (!view) throw new Error(`${userId} has no modal open`)
  return view
}

/** A response_url for each chosen conversation whose menu has `response_url_enabled`. Only in modals. */
function responseUrlsOf({ workspace, responseUrls }: PeopleParts, userId: string, view: Json): Json[] {
  const values = valuesIn(view)
  return listOf(view['blocks']).flatMap((block) => {
    const element = objectOf(block['element'])
    const [blockId, actionId] = [String(block['block_id']), String(element['action_id'])]
    const channelId = values[blockId]?.[actionId]?.[valueNameOf(element)]
    if (element['response_url_enabled'] !== true || typeof channelId !== 'string') return []
    const path = responseUrls.issue({ channelId, userId })
    const place = { block_id: blockId, action_id: actionId, channel_id: channelId }
    return [{ ...place, response_url: `${workspace.origin}${path}` }]
  })
}

/**
 * Closes the top modal, or all modals if `isCleared` or the view's `clear_on_close` is set. The bot gets a request if
 * the view has `notify_on_close`.
 */
export function closeView(
  parts: PeopleParts,
  { user: userId, isCleared = false }: { user: string; isCleared?: boolean },
): Promise<Acknowledgement> {
  const { workspace, views } = parts
  const view = getTop(views, userId)
  const clears = isCleared || view['clear_on_close'] === true
  if (clears) views.clear(userId)
  else views.close(userId)
  if (view['notify_on_close'] !== true) {
    return Promise.resolve({ kind: 'unsent', what: 'view_closed', because: 'no_notify_on_close' })
  }
  const user = getUser(workspace, userId)
  return sendInteraction(parts, 'view_closed', { type: 'view_closed', user, view, is_cleared: clears })
}
