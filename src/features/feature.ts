import type { Asking, Command } from './command.ts'
import type { SlackDeps, Reply } from './context.ts'
import type { FieldOption } from './fields.ts'
import type { Form } from './modal.ts'

/** What one feature handles in Slack. `register.ts` registers these with Bolt, and nothing else. */
export interface Feature {
  commands?: readonly Command[]
  /** by `action_id` */
  buttons?: Readonly<Record<string, ButtonHandler>>
  /** by `action_id`: fields of an open modal that act as soon as they are changed */
  fields?: Readonly<Record<string, FieldHandler>>
  /** by `action_id`: menus whose options are looked up while somebody types */
  menus?: Readonly<Record<string, MenuHandler>>
  /** by `callback_id` */
  forms?: Readonly<Record<string, Form>>
  /** by `callback_id` */
  shortcuts?: Readonly<Record<string, Shortcut>>
  /** by Slack's name of the event */
  events?: Readonly<Record<string, EventHandler>>
}

export interface ButtonHandler {
  /** its name in the log and in "Still working on …" */
  what: string
  /** the answer replaces the button's message, which only the requester sees */
  replaces?: boolean
  /** Names this click in the message about an interruption; null or left out: "a click". */
  describe?: (value: string) => string | null
  /** null: Buildline never wrote such a value */
  answer: (click: Click) => Promise<Reply | null>
}

/** A click on a button, with its value. */
export interface Click extends Asking, Pick<SlackDeps, 'seal'> {
  /** every command there is */
  commands: readonly Command[]
  value: string
}

/** Handles a changed field, after the request was acknowledged. */
export type FieldHandler = (deps: SlackDeps, body: unknown, action: unknown) => Promise<void>

export type MenuHandler = (deps: SlackDeps, text: string) => Promise<FieldOption[]>

/** An entry of Slack's shortcut menus; a test compares the manifest with it. */
export interface Shortcut {
  type: 'message' | 'global'
  name: string
  description: string
  answer: (deps: SlackDeps, body: unknown) => Promise<void>
}

/** Slack expects no answer to an event. */
export type EventHandler = (deps: SlackDeps, body: unknown) => Promise<void>
