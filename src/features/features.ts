import { invariant } from '../lib/assert.ts'
import { badge } from './badge/slack.ts'
import { breakages } from './breakages/slack.ts'
import { builds } from './builds/slack.ts'
import { choiceButtons } from './choice.ts'
import type { Command } from './command.ts'
import { doctor } from './doctor/slack.ts'
import type { ButtonHandler, EventHandler, Feature, FieldHandler, MenuHandler, Shortcut } from './feature.ts'
import type { Form } from './modal.ts'
import { flaky } from './flaky/slack.ts'
import { help } from './help/slack.ts'
import { home } from './home/slack.ts'
import { list } from './list/slack.ts'
import { people } from './people/slack.ts'
import { projects } from './projects/slack.ts'
import { subscriptions } from './subscriptions/slack.ts'
import { why } from './why/slack.ts'

/** Everything that people can do. A feature that is not listed here is not registered. */
const FEATURES: readonly Feature[] = [
  list,
  builds,
  breakages,
  badge,
  flaky,
  why,
  people,
  home,
  doctor,
  subscriptions,
  projects,
  choiceButtons,
  help,
]

/** The slash command whose first word names a command. */
export const ROOT_COMMAND = '/ci'

/** In the order of the features. Tests compare the manifest, the help and the docs with it. */
export const COMMANDS: readonly Command[] = FEATURES.flatMap(({ commands }) => commands ?? [])

export const BUTTONS = all<ButtonHandler>(({ buttons }) => buttons)
export const FIELDS = all<FieldHandler>(({ fields }) => fields)
export const MENUS = all<MenuHandler>(({ menus }) => menus)
export const FORMS = all<Form>(({ forms }) => forms)
export const SHORTCUTS = all<Shortcut>(({ shortcuts }) => shortcuts)
export const EVENT_HANDLERS = all<EventHandler>(({ events }) => events)

/** Two features with the same id would both answer, so this fails at the start. */
function all<Handler>(pick: (feature: Feature) => Readonly<Record<string, Handler>> | undefined) {
  const entries = FEATURES.flatMap((feature) => Object.entries(pick(feature) ?? {}))
  const handlers: ReadonlyMap<string, Handler> = new Map(entries)
  invariant(handlers.size === entries.length, 'each id belongs to one feature')
  return handlers
}

/** The command of that name, ignoring case; null if there is none. */
export const commandNamed = (name: string): Command | null =>
  COMMANDS.find((command) => command.name === name.toLowerCase()) ?? null
