import { plain, section, type Plain } from '../slack/messages/blocks.ts'
import { cut, SECTION_CHARS_MAX } from '../slack/messages/limits.ts'
import type { Answer } from '../slack/messages/answer.ts'

/** What a modal remembers, in characters, and how many blocks it shows. */
export const METADATA_CHARS_MAX = 3_000
export const MODAL_BLOCKS_MAX = 100

/** A modal as Slack takes it. */
export interface ModalView {
  type: 'modal'
  title: Plain
  blocks: readonly object[]
  submit?: Plain
  close?: Plain
  /** whose submission it is: a key of FORMS */
  callback_id?: string
  /** what it remembers, in at most METADATA_CHARS_MAX characters */
  private_metadata?: string
  /** a name that we can find it by */
  external_id?: string
}

/** An answer in a modal of its own. */
export const answerView = (title: string, { text, blocks }: Answer): ModalView => ({
  type: 'modal',
  title: plain(title),
  close: plain('Close'),
  blocks: blocks.length > 0 ? blocks.slice(0, MODAL_BLOCKS_MAX) : [section(cut(text, SECTION_CHARS_MAX))],
})
