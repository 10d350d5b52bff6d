import type { ViewResponseAction } from '@slack/bolt'
import { textAt } from '../body.ts'
import type { Door } from '../door.ts'

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

/** Every form by its `callback_id`. */
export const FORMS: ReadonlyMap<string, Form> = new Map<string, Form>([])

/** Faults at their blocks, by block id: the form stays open. */
export const refusing = (errors: Readonly<Record<string, string>>): Received => ({
  ack: { response_action: 'errors', errors },
  work: null,
})

/** What a submission comes to. Of a form that an older version drew, whoever sends it in sees it close. */
export const receiveForm = (body: unknown): Received => formOf(body)?.receive(body) ?? { ack: null, work: null }

export const formOf = (body: unknown): Form | null => FORMS.get(textAt(body, 'view', 'callback_id') ?? '') ?? null

/** What a field of an open form does; null: nobody knows it. */
export const fieldToldBy = (actionId: string): FieldTold | null =>
  [...FORMS.values()].map(({ actions }) => actions?.get(actionId)).find((told) => told !== undefined) ?? null
