import type { Acknowledgement } from '../acknowledgement.ts'
import type { Json } from '../json.ts'
import { interactionFields } from '../payloads.ts'
import type { Origin, ResponseUrls } from '../response-urls.ts'
import type { Sender } from '../sender.ts'
import type { Triggers } from '../triggers.ts'
import type { Views } from '../views.ts'
import type { User, Workspace } from '../workspace.ts'

export interface PeopleParts {
  workspace: Workspace
  triggers: Triggers
  views: Views
  responseUrls: ResponseUrls
  sender: Sender
}

export const FORM = 'application/x-www-form-urlencoded'

/** Issues a trigger for a view, and a response_url for messages. */
export const ask = ({ workspace, triggers, responseUrls }: PeopleParts, origin: Origin) => ({
  triggerId: triggers.issue(origin.userId, origin.channelId),
  responseUrl: `${workspace.origin}${responseUrls.issue(origin)}`,
})

/** Sends the bot an interaction with these fields, and with those that every interaction has. */
export function sendInteraction(
  { workspace, sender }: PeopleParts,
  what: string,
  { type, user, ...rest }: { type: string; user: User; [field: string]: unknown },
): Promise<Acknowledgement> {
  const payload: Json = { ...interactionFields(workspace, type, user), ...rest }
  const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString()
  return sender.send({ what, contentType: FORM, body, envelope: { type: 'interactive', payload } })
}

export const actionTs = ({ clock }: Workspace): string => (clock.now() / 1_000).toFixed(6)
