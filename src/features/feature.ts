import type { Requester } from '../catalog/outcomes.ts'
import type { Command } from './command.ts'
import type { SlackDeps, Reply } from './context.ts'
import type { FieldOption } from './fields.ts'
import type { Form, ModalOpener } from './modal.ts'

/** What one feature listens to in Slack. `register.ts` hands each of these to Bolt; nothing else is listened to. */
export interface Feature {
  commands?: readonly Command[]
  /** by `action_id` */
  buttons?: Readonly<Record<string, Button>>
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

export interface Button {
  /** what the log, and "this takes longer", call it */
  what: string
  /** the answer takes the place of the question, which only the requester sees */
  replaces?: boolean
  /** Names this click in the message that it was interrupted; null or left out: "a click". */
  describe?: (value: string) => string | null
  /** null: the value is not one that we can have written */
  answer: (click: Click) => Promise<Reply | null>
}

/** What a click carries: its value, who made it, and what the answer refers to. */
export interface Click {
  deps: Pick<SlackDeps, 'operations' | 'homes' | 'seal'>
  /** every command there is */
  commands: readonly Command[]
  value: string
  by: Requester
  modalOpener: ModalOpener | null
  reference: string
}

/** A field was changed, and Slack has been answered. */
export type FieldHandler = (deps: SlackDeps, body: unknown, action: unknown) => Promise<void>

export type MenuHandler = (deps: SlackDeps, text: string) => Promise<FieldOption[]>

/** An entry of Slack's menus; the manifest is compared with it. */
export interface Shortcut {
  type: 'message' | 'global'
  name: string
  description: string
  answer: (deps: SlackDeps, body: unknown) => Promise<void>
}

/** Slack expects no answer to an event. */
export type EventHandler = (deps: SlackDeps, body: unknown) => Promise<void>
