import type { Acknowledgement } from '../acknowledgement.ts'
import { getChannel, getMessage, getUser } from '../acts.ts'
import { actionOf, findElement } from '../elements.ts'
import type { Found } from '../elements.ts'
import type { Json } from '../json.ts'
import { messageFields } from '../payloads.ts'
import type { MessagePlace } from '../payloads.ts'
import type { Origin } from '../response-urls.ts'
import type { Workspace } from '../workspace.ts'
import { actionTs, ask, sendInteraction } from './parts.ts'
import type { PeopleParts } from './parts.ts'

/** A message, and the person who uses it. */
export interface Spot {
  user: string
  channel: string
  ts: string
}

export interface Press extends Spot {
  actionId: string
  blockId?: string
  selected?: Json
  /** the person's answer in the element's confirmation dialog; default yes */
  confirmed?: boolean
}

export function click(parts: PeopleParts, press: Press): Promise<Acknowledgement> {
  const { workspace } = parts
  const what = `click ${press.actionId}`
  const { place, found } = getElement(workspace, press)
  if (isDenied(found, press.confirmed)) return Promise.resolve(unconfirmed(what))
  const { triggerId, responseUrl } = ask(parts, originOf(press))
  return sendInteraction(parts, what, {
    type: 'block_actions',
    user: getUser(workspace, press.user),
    ...messageFields(workspace, { ...place, attachmentId: found.attachmentId }),
    trigger_id: triggerId,
    response_url: responseUrl,
    actions: [actionOf(found, workspace.clock.now(), press.selected ?? {})],
  })
}

/** Throws if the person says no, but the element has no dialog: that is a mistake in the test. */
export function isDenied({ element }: Found, confirmed = true): boolean {
  if (!confirmed && element['confirm'] === undefined) {
    throw new Error(`${String(element['action_id'])} asks for no confirmation`)
  }
  return !confirmed
}

export const unconfirmed = (what: string): Acknowledgement => ({ kind: 'unsent', what, because: 'not_confirmed' })

export function getElement(workspace: Workspace, press: Press): { place: MessagePlace; found: Found } {
  const place = placeOf(workspace, press)
  const found = findElement(place.message, press.actionId, press.blockId)
  if (!found) throw new Error(`message ${press.ts} has no element ${press.actionId}`)
  return { place, found }
}

const originOf = ({ user, channel, ts }: Spot): Origin => ({ channelId: channel, userId: user, sourceTs: ts })

/** The message, if this person can see it. */
function placeOf(workspace: Workspace, { user, channel: id, ts }: Spot): MessagePlace {
  const channel = getChannel(workspace, id)
  const ephemeral = workspace.ephemerals.find(({ channelId, message }) => channelId === id && message.ts === ts)
  if (!ephemeral) return { channel, message: getMessage(channel, ts), isEphemeral: false }
  if (ephemeral.userId !== user) throw new Error(`message ${ts} is not visible to ${user}`)
  return { channel, message: ephemeral.message, isEphemeral: true }
}

export function useMessageShortcut(parts: PeopleParts, use: Spot & { callbackId: string }): Promise<Acknowledgement> {
  const { workspace } = parts
  const { triggerId, responseUrl } = ask(parts, originOf(use))
  const { message, channel } = messageFields(workspace, placeOf(workspace, use))
  return sendInteraction(parts, `shortcut ${use.callbackId}`, {
    type: 'message_action',
    user: getUser(workspace, use.user),
    callback_id: use.callbackId,
    trigger_id: triggerId,
    response_url: responseUrl,
    message_ts: use.ts,
    action_ts: actionTs(workspace),
    channel,
    message,
  })
}

/** Used from the menu or the search. The bot gets neither a channel nor a `response_url`. */
export function useGlobalShortcut(
  parts: PeopleParts,
  { user, callbackId }: { user: string; callbackId: string },
): Promise<Acknowledgement> {
  const { workspace, triggers } = parts
  return sendInteraction(parts, `shortcut ${callbackId}`, {
    type: 'shortcut',
    user: getUser(workspace, user),
    callback_id: callbackId,
    trigger_id: triggers.issue(user),
    action_ts: actionTs(workspace),
  })
}
