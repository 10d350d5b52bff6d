import type { ChannelId } from '../../domain/ids.ts'
import type { Failure, Sent } from '../notifier.ts'
import { fieldOf } from '../../domain/raw-values.ts'
import { isMessageTs, BROKEN_ANSWER, classify } from './errors.ts'
import { createClient, type ClientOptions } from './client.ts'
import { section, type ActionButton } from '../messages/blocks.ts'
import { cut, TEXT_CHARS_MAX } from '../messages/limits.ts'

/**
 * Sends one short text to a channel, or to a person directly. Makes one call and never retries. Always resolves; a
 * failure is returned, and holds no secret.
 * @param text markup, in which everything from outside is escaped; cut if it is too long
 */
export type Say = (to: ChannelId | string, text: string, button?: ActionButton) => Promise<Sent | Failure>

export function createSay(options: ClientOptions): Say {
  const client = createClient(options)
  return async (to, text, button) => {
    try {
      const answer = await client.apiCall('chat.postMessage', {
        channel: to,
        text: cut(text, TEXT_CHARS_MAX),
        ...(button && { blocks: [{ ...section(text), accessory: button }] }),
        parse: 'none',
        link_names: false,
        unfurl_links: false,
        unfurl_media: false,
      })
      const ts = fieldOf(answer, 'ts')
      return isMessageTs(ts) ? { kind: 'sent', ts } : { kind: 'unclear', code: BROKEN_ANSWER }
    } catch (error) {
      return classify(error)
    }
  }
}
