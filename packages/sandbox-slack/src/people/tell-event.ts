import type { Acknowledgement } from '../acknowledgement.ts'
import type { Json } from '../json.ts'
import { eventEnvelope, VERIFICATION_TOKEN } from '../payloads.ts'
import type { Sender } from '../sender.ts'
import type { Workspace } from '../workspace.ts'

/** Sends the bot an event. With `retryNum` and the same `eventId`, it is one of Slack's retries. */
export function sendEvent(
  { workspace, sender }: { workspace: Workspace; sender: Sender },
  event: Json,
  { eventId, retryNum }: { eventId?: string; retryNum?: number } = {},
): Promise<Acknowledgement> {
  const payload = eventEnvelope(workspace, event, eventId)
  const what = `event ${String(event['type'])}`
  const told = { what, contentType: 'application/json', body: JSON.stringify(payload) } as const
  if (retryNum === undefined) return sender.send({ ...told, envelope: { type: 'events_api', payload } })
  const headers = { 'x-slack-retry-num': String(retryNum), 'x-slack-retry-reason': 'http_timeout' }
  const retry = { attempt: retryNum, reason: 'timeout' }
  return sender.send({ ...told, headers, envelope: { type: 'events_api', payload, retry } })
}

/** Slack tells the app that it gets no more events for now. This payload has no inner event. */
export function sendRateLimited({
  workspace,
  sender,
}: {
  workspace: Workspace
  sender: Sender
}): Promise<Acknowledgement> {
  const payload = {
    token: VERIFICATION_TOKEN,
    type: 'app_rate_limited',
    team_id: workspace.team.id,
    minute_rate_limited: Math.floor(workspace.clock.now() / 60_000) * 60,
    api_app_id: workspace.bot.appId,
  }
  const envelope = { type: 'events_api', payload } as const
  return sender.send({ what: payload.type, contentType: 'application/json', body: JSON.stringify(payload), envelope })
}
