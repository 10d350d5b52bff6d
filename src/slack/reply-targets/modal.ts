import type { WebClient } from '@slack/web-api'
import { section, type Block } from '../messages/blocks.ts'
import { cut, SECTION_CHARS_MAX } from '../messages/limits.ts'
import type { Answer } from '../messages/answer.ts'
import { slackCodeOf, type Place } from './place.ts'

export interface Modal {
  client: WebClient
  viewId: string
  /** the modal with an answer in it */
  draw: (answer: readonly Block[]) => object
  /** false once something newer was asked in this modal: then an old answer must not take its place */
  isCurrent: () => boolean
  /** where the answer goes when the modal was closed meanwhile; null: then nobody waits for it */
  closed: Place | null
  /** where it goes when Slack does not take it for another reason; null: nowhere */
  instead: Place | null
}

/** An answer within an open modal. No hash is sent: what a person sees meanwhile is ours, and `isCurrent` orders it. */
export const modalPlace = (modal: Modal): Place => ({
  spot: null,
  async show(answer, isLast) {
    if (!modal.isCurrent()) return
    try {
      await update(modal, answer)
    } catch (error) {
      const isClosed = slackCodeOf(error) === 'not_found'
      if (!isClosed && !modal.instead) throw error
      await (isClosed ? modal.closed : modal.instead)?.show(answer, isLast)
    }
  },
})

async function update({ client, viewId, draw }: Modal, answer: Answer): Promise<void> {
  const show = (blocks: readonly Block[]) => client.apiCall('views.update', { view_id: viewId, view: draw(blocks) })
  const words = [section(cut(answer.text, SECTION_CHARS_MAX))]
  try {
    await show(answer.blocks.length > 0 ? answer.blocks : words)
  } catch (error) {
    // Blocks that Slack does not take; its words for a view are other ones than for a message.
    if (slackCodeOf(error) !== 'invalid_arguments') throw error
    await show(words)
  }
}
