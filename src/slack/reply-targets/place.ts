import { fieldOf } from '../../domain/raw-values.ts'
import { textOf } from '../api/answer.ts'
import type { ChannelId, MessageTs } from '../../domain/ids.ts'
import type { Answer } from '../messages/answer.ts'

/** Where an asker gets to see an answer. */
export interface Place {
  /** Shows it to the asker alone; throws, without an address in the error, where nothing shows it. */
  show(answer: Answer, isLast: boolean): Promise<void>
  /** where a picture may go; null: nowhere */
  spot: Spot | null
}

export interface Spot {
  channel: ChannelId
  threadTs: MessageTs | null
}

/** Text and blocks as Slack takes them; a message without blocks has none. */
export const contentOf = ({ text, blocks }: Answer) => ({ text, ...(blocks.length > 0 ? { blocks } : {}) })

/** The text alone, which tells the whole story: for blocks that Slack does not take. */
export const withoutBlocks = (answer: Answer): Answer => ({ ...answer, blocks: [] })

/** Slack's words for content that it will not take, however often it is sent. */
export const isContentRefusal = (code: string): boolean =>
  /^(?:invalid_blocks|msg_blocks_too_long|msg_too_long)/.test(code)

/** Slack's own word for what went wrong with a call; empty where it said none. */
export const slackCodeOf = (error: unknown): string => textOf(fieldOf(fieldOf(error, 'data'), 'error')) ?? ''
