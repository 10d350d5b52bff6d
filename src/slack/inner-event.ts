import { isRecord } from '../lib/json.ts'

/**
 * An event's payload as Slack documents it for all events. One event, `app_rate_limited`, has no inner event, on which
 * Slack's libraries rely: then its own type stands there.
 */
export const withInnerEvent = <Body extends Record<string, unknown>>(body: Body): Body =>
  body['type'] === 'app_rate_limited' && !isRecord(body['event']) ? { ...body, event: { type: body['type'] } } : body
