import { channelOf, textAt, threadOf, userOf } from './body.ts'
import type { SlackDeps } from './context.ts'
import { replyTargetIn } from './modal.ts'
import { directReplyTarget, nearPlace, type ReplyTarget } from '../../slack/reply-targets.ts'

/** Where to answer the sender of this interaction; null if Slack offers no way. */
export function replyTargetOf(
  deps: Pick<SlackDeps, 'client' | 'clock'>,
  body: unknown,
  replaces = false,
): ReplyTarget | null {
  const user = userOf(body)
  const channel = channelOf(body)
  const spot = channel && { channel, threadTs: threadOf(body) }
  const near = nearPlace(deps, { user, spot, url: textAt(body, 'response_url'), replaces })
  return near ?? replyTargetInModal(deps, body) ?? (user === null ? null : directReplyTarget(deps.client, user))
}

/** The modal that was clicked in or submitted. */
function replyTargetInModal({ client }: Pick<SlackDeps, 'client'>, body: unknown): ReplyTarget | null {
  const viewId = textAt(body, 'view', 'id')
  const user = userOf(body)
  if (viewId === null || textAt(body, 'view', 'type') !== 'modal') return null
  const direct = user === null ? null : directReplyTarget(client, user)
  return replyTargetIn(client, viewId, textAt(body, 'view', 'title', 'text') ?? 'Buildline', direct)
}
