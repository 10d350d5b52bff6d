import type { ViewResponseAction } from '@slack/bolt'
import { fieldOf } from '../domain/raw-values.ts'
import type { Door } from './context.ts'
import type { ModalView } from './modal-view.ts'

/** One modal that can be sent in, or that tells of its fields while it is filled in. */
export interface Form {
  /** what the log, and whoever was interrupted, calls it */
  what: string
  /** Reads what was sent in, at once and from the body alone: Slack waits three seconds for the answer. */
  receive(body: unknown): Received
  /** what its fields that tell at once do, by action id */
  actions?: ReadonlyMap<string, FieldTold>
}

/** A field was changed, and Slack has been answered. */
export type FieldTold = (door: Door, body: unknown, action: unknown) => Promise<void>

export interface Received {
  /** Slack's `response_action` and what goes with it; null: the modal closes */
  ack: ViewResponseAction | null
  /** what follows once Slack has been answered; null: nothing */
  work: ((door: Door) => Promise<void>) | null
}

/** Slack shows so much of a fault. */
export const FAULT_CHARS_MAX = 250

/** Faults at their blocks, by block id: the form stays open. */
export const refusing = (errors: Readonly<Record<string, string>>): Received => ({
  ack: { response_action: 'errors', errors },
  work: null,
})

/** Another view takes the form's place, or lies on top of it. */
export const showing = (how: 'update' | 'push', view: ModalView): ViewResponseAction => ({
  response_action: how,
  view: { ...view, blocks: view.blocks.filter(isBlock) },
})

const isBlock = (block: object): block is { type: string } => typeof fieldOf(block, 'type') === 'string'
