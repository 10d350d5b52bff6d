import { listAt, channelOf, textAt, threadOf, userOf } from './body.ts'
import type { SlackDeps } from './context.ts'
import { FIND_BLOCKS, FIND_CALLBACK_ID, findModal } from '../builds/find-modal.ts'
import { replyTargetIn } from './modal.ts'
import { isRecord } from '../../lib/json.ts'
import { directReplyTarget, modalReplyTarget, nearPlace, type ReplyTarget } from '../../slack/reply-targets.ts'

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

/** The modal that was clicked in or submitted. "Find a build" keeps its form, and shows the answer below it. */
function replyTargetInModal({ client }: Pick<SlackDeps, 'client'>, body: unknown): ReplyTarget | null {
  const viewId = textAt(body, 'view', 'id')
  const user = userOf(body)
  if (viewId === null || textAt(body, 'view', 'type') !== 'modal') return null
  const direct = user === null ? null : directReplyTarget(client, user)
  if (textAt(body, 'view', 'callback_id') !== FIND_CALLBACK_ID)
    return replyTargetIn(client, viewId, textAt(body, 'view', 'title', 'text') ?? 'Buildline', direct)
  const form = listAt(body, 'view', 'blocks').filter((block) => FIND_BLOCKS.test(textAt(block, 'block_id') ?? ''))
  const metadata = textAt(body, 'view', 'private_metadata') ?? ''
  return modalReplyTarget({
    client,
    viewId,
    draw: (answer) => findModal({ blocks: [...form.filter(isRecord), ...answer], metadata }),
    isCurrent: () => true,
    closed: direct,
    instead: direct,
  })
}
