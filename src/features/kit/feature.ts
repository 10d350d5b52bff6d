import type { Check } from './check.ts'
import type { Interaction, Command, Question } from './command.ts'
import type { SlackDeps, Reply } from './context.ts'
import type { FieldOption } from './fields.ts'
import type { Form } from './modal.ts'
import { invariant } from '../../lib/assert.ts'

/** Everything that one feature does in Slack and on a schedule. */
export interface Feature {
  commands?: readonly Command[]
  /** by `action_id` */
  buttons?: Readonly<Record<string, ButtonHandler>>
  /** by `action_id`: fields of an open modal that act as soon as they are changed */
  fields?: Readonly<Record<string, FieldHandler>>
  /** by `action_id`: menus whose options are looked up while a person types */
  menus?: Readonly<Record<string, MenuHandler>>
  /** by `callback_id` */
  forms?: Readonly<Record<string, Form>>
  /** by `callback_id` */
  shortcuts?: Readonly<Record<string, Shortcut>>
  /** by Slack's name of the event */
  events?: Readonly<Record<string, EventHandler>>
  /** answers the slash command without any word */
  overview?: (question: Omit<Question, 'row'>) => Promise<Reply>
  /** Called when a person's interaction has ended. Never throws. */
  afterInteraction?: (slack: SlackDeps, body: unknown) => Promise<void>
  jobs?: readonly Job[]
  /** the doctor's, of what belongs to this feature */
  checks?: readonly Check[]
}

export interface ButtonHandler {
  /** its name in the log and in "Still working on …" */
  what: string
  /** the answer replaces the button's message, which only the requester sees */
  replaces?: boolean
  /** Names this click in the message about an interruption; null or left out: "a click". */
  describe?: (value: string) => string | null
  /** null: not a value that Buildline writes */
  answer: (click: Click) => Promise<Reply | null>
}

/** A click on a button, with its value. */
export interface Click extends Interaction, Pick<SlackDeps, 'seal'> {
  /** every command there is */
  commands: readonly Command[]
  value: string
}

/** Handles a changed field, after the interaction was acknowledged. */
export type FieldHandler = (slack: SlackDeps, body: unknown, action: unknown) => Promise<void>

export type MenuHandler = (text: string) => Promise<FieldOption[]>

/** An entry in the menu of a message; a test compares the manifest with it. */
interface Shortcut {
  name: string
  description: string
  answer: (slack: SlackDeps, body: unknown) => Promise<void>
}

/** Scheduled work, run by one process. The last run of a job without seconds is stored, so that a restart catches up. */
export interface Job {
  name: string
  /** when it is due, as a cron expression in UTC; with six fields, the first is seconds */
  cron: string
  /** also due every few seconds for a minute after something was stored */
  afterNews?: true
  /** Resolves to `again` if the job is still due. The signal aborts when this process no longer runs the jobs. */
  run(signal: AbortSignal): Promise<unknown>
}

/** Slack expects no answer to an event. */
export type EventHandler = (slack: SlackDeps, body: unknown) => Promise<void>

/** The handlers of all features, by the id that Slack sends. */
export interface Registry {
  /** in the order of the features */
  commands: readonly Command[]
  buttons: ReadonlyMap<string, ButtonHandler>
  fields: ReadonlyMap<string, FieldHandler>
  menus: ReadonlyMap<string, MenuHandler>
  forms: ReadonlyMap<string, Form>
  shortcuts: ReadonlyMap<string, Shortcut>
  events: ReadonlyMap<string, EventHandler>
  overview: Feature['overview']
  afterInteraction: readonly NonNullable<Feature['afterInteraction']>[]
  /** in the order of the features */
  checks: readonly Check[]
}

/** Two features with the same id would both answer, so this throws. */
export function registryOf(features: readonly Feature[]): Registry {
  function all<Handler>(pick: (feature: Feature) => Readonly<Record<string, Handler>> | undefined) {
    const entries = features.flatMap((feature) => Object.entries(pick(feature) ?? {}))
    const handlers: ReadonlyMap<string, Handler> = new Map(entries)
    invariant(handlers.size === entries.length, 'each id belongs to one feature')
    return handlers
  }
  return {
    commands: features.flatMap(({ commands }) => commands ?? []),
    buttons: all(({ buttons }) => buttons),
    fields: all(({ fields }) => fields),
    menus: all(({ menus }) => menus),
    forms: all(({ forms }) => forms),
    shortcuts: all(({ shortcuts }) => shortcuts),
    events: all(({ events }) => events),
    overview: features.find(({ overview }) => overview)?.overview,
    afterInteraction: features.flatMap(({ afterInteraction }) => afterInteraction ?? []),
    checks: features.flatMap(({ checks }) => checks ?? []),
  }
}

/** The command of that name, ignoring case; null if there is none. */
export const commandNamed = ({ commands }: Pick<Registry, 'commands'>, name: string): Command | null =>
  commands.find((command) => command.name === name.toLowerCase()) ?? null
