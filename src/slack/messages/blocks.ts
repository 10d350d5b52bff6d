// The parts of Block Kit that our messages use.

/** A message as Slack takes it. If there are blocks, `text` is for notifications and screen readers only. */
export interface SlackMessage {
  text: string
  blocks: (Block | ImageBlock)[]
  attachments: Attachment[]
}

export interface Attachment {
  color: string
  /** for places that show no blocks */
  fallback?: string
  blocks: Block[]
}

export type Block = ContextBlock | SectionBlock | ActionsBlock

interface ContextBlock {
  type: 'context'
  elements: TextObject[]
}

export interface SectionBlock {
  type: 'section'
  text: Mrkdwn
  accessory?: Button
}

/** A picture that was uploaded before. */
export interface ImageBlock {
  type: 'image'
  slack_file: { id: string }
  alt_text: string
}

export interface ActionsBlock {
  type: 'actions'
  block_id: string
  elements: Button[]
}

export type Button = LinkButton | ActionButton

export type TextObject = Mrkdwn | Plain

export type Mrkdwn = ReturnType<typeof mrkdwn>
export type Plain = ReturnType<typeof plain>

interface LinkButton {
  type: 'button'
  action_id: string
  text: Plain
  url: string
}

/** A button whose click Slack reports to us. `value` says what it is about. */
export interface ActionButton {
  type: 'button'
  action_id: string
  text: Plain
  value: string
  style?: 'primary' | 'danger'
  confirm?: { title: Plain; text: Plain; confirm: Plain; deny: Plain; style?: 'primary' | 'danger' }
}

/** Markup that we wrote. `verbatim`: Slack adds no links by itself. */
export const mrkdwn = (text: string) => ({ type: 'mrkdwn', text, verbatim: true }) as const

export const plain = (text: string) => ({ type: 'plain_text', text, emoji: false }) as const

/** A context block of the elements that are not empty; none if all are, since Slack refuses an empty block. */
export function contextOf(elements: readonly (TextObject | null)[]): ContextBlock[] {
  const filled = elements.filter((element) => element !== null).filter(({ text }) => text !== '')
  return filled.length === 0 ? [] : [{ type: 'context', elements: filled }]
}

export const section = (text: string): SectionBlock => ({ type: 'section', text: mrkdwn(text) })
