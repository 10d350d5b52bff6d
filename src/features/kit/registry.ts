import { invariant } from '../../lib/assert.ts'
import type { Check } from './check.ts'
import type { Command } from './command.ts'
import type { ButtonHandler, EventHandler, Feature, FieldHandler, MenuHandler, Shortcut } from './feature.ts'
import type { Form } from './modal.ts'

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
