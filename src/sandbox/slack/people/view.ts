import type { Acknowledgement } from '../acknowledgement.ts'
import { actionOf, findInBlocks } from '../elements.ts'
import type { Found } from '../elements.ts'
import { parseObject } from '../http.ts'
import { listOf, objectOf } from '../json.ts'
import type { Json } from '../json.ts'
import { checkView } from '../limits.ts'
import { isField, putValues, valuesIn } from '../view-state.ts'
import type { Values } from '../view-state.ts'
import type { Views } from '../views.ts'
import { isDenied, unconfirmed } from './message.ts'
import { getUser, sendInteraction } from './parts.ts'
import type { PeopleParts } from './parts.ts'

export interface ViewPress {
  user: string
  actionId: string
  blockId?: string
  selected?: Json
  confirmed?: boolean
}

/** What is chosen or typed stays in the view's state; the bot is told where the block tells at once. */
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

/** The top modal of a person, or their home tab, and the element in it. */
export function getElementInView(views: Views, press: ViewPress): { view: Json; found: Found } {
  const view = views.stack(press.user).at(-1) ?? views.home(press.user)
  const found = view && findInBlocks(listOf(view['blocks']), press.actionId, press.blockId)
  if (!view || !found) throw new Error(`no open view of ${press.user} has an element ${press.actionId}`)
  return { view, found }
}

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
    response_urls: [],
  })
  if (acknowledgement.kind === 'answered' && acknowledgement.status === 200) {
    const refusal = obey(views, userId, String(view['id']), parseObject(acknowledgement.body) ?? {})
    if (refusal !== null) acknowledgement.refusal = refusal
  }
  return acknowledgement
}

function getTop(views: Views, userId: string): Json {
  const view = views.stack(userId).at(-1)
  if (!view) throw new Error(`${userId} has no modal open`)
  return view
}

/** An empty answer closes the modal; `errors` leaves it open; a view that Slack refuses changes nothing. */
function obey(views: Views, userId: string, viewId: string, { response_action: wanted, view }: Json): string | null {
  if (wanted === 'errors') return null
  if (wanted === 'update' || wanted === 'push') {
    const [problem] = checkView(view)
    if (problem) return problem.error
    const result = wanted === 'push' ? views.push(userId, objectOf(view)) : views.update(viewId, objectOf(view))
    return result.kind === 'refused' ? result.error : null
  }
  if (wanted === 'clear') views.clear(userId)
  else views.close(userId)
  return null
}

/** Closes the top modal, or all with `isCleared`; the bot is told if the view asks for it. */
export function closeView(
  parts: PeopleParts,
  { user: userId, isCleared = false }: { user: string; isCleared?: boolean },
): Promise<Acknowledgement> {
  const { workspace, views } = parts
  const view = getTop(views, userId)
  if (isCleared) views.clear(userId)
  else views.close(userId)
  if (view['notify_on_close'] !== true) {
    return Promise.resolve({ kind: 'unsent', what: 'view_closed', because: 'no_notify_on_close' })
  }
  const user = getUser(workspace, userId)
  return sendInteraction(parts, 'view_closed', { type: 'view_closed', user, view, is_cleared: isCleared })
}
