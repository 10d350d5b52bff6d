import type { ChannelId } from '../../domain/ids.ts'
import type { View } from '../../domain/view.ts'
import { assertNever } from '../../lib/assert.ts'
import { askLine } from '../../slack/messages/asked.ts'
import type { SlackMessage } from '../../slack/messages/blocks.ts'
import { plainCard, renderCard } from './card.ts'
import { plainNotice, renderNotice } from './notice.ts'
import { plainReply, renderReply } from './reply.ts'

/**
 * A view as a message that Slack takes, whatever the view holds: within its limits, with all outside text escaped.
 * `plain` leaves the blocks out and puts what matters of them into the text. Pure: the same view, the same message.
 */
export function renderView(view: View, { plain = false, channel = null }: RenderOptions = {}): SlackMessage {
  return plain ? { text: plainText(view, channel), attachments: [] } : withBlocks(view, channel)
}

export interface RenderOptions {
  plain?: boolean
  /** where it is said: a card that replaces another one links to it */
  channel?: ChannelId | null
}

function withBlocks(view: View, channel: ChannelId | null): SlackMessage {
  switch (view.kind) {
    case 'card':
      return renderCard(view, channel)
    case 'reply':
      return renderReply(view)
    case 'ask':
      return { text: askLine(view), attachments: [] }
    case 'notice':
      return renderNotice(view)
    default:
      return assertNever(view)
  }
}

function plainText(view: View, channel: ChannelId | null): string {
  switch (view.kind) {
    case 'card':
      return plainCard(view, channel)
    case 'reply':
      return plainReply(view)
    case 'ask':
      return askLine(view)
    case 'notice':
      return plainNotice(view)
    default:
      return assertNever(view)
  }
}
