import { badge } from './badge/slack.ts'
import { streaks } from './streaks/slack.ts'
import { builds } from './builds/slack.ts'
import { choiceButtons } from './kit/run.ts'
import { doctor } from './doctor/slack.ts'
import { type Feature, registryOf, type Registry } from './kit/feature.ts'
import { flaky } from './flaky/slack.ts'
import { help } from './help/slack.ts'
import { home } from './home/slack.ts'
import { list } from './list/slack.ts'
import { people } from './people/slack.ts'
import { projects } from './projects/slack.ts'
import { run } from './run/slack.ts'
import { subscriptions } from './subscriptions/slack.ts'
import { why } from './why/slack.ts'

/** Everything that people can do, in the order of the help. A feature that is not listed here is not there. */
const FEATURES = [
  list,
  builds,
  run,
  streaks,
  badge,
  flaky,
  why,
  people,
  home,
  doctor,
  subscriptions,
  projects,
  // The buttons below "which one?", of every command.
  choiceButtons,
  help,
] as const

/** What the features need, all together. */
export type FeatureDeps = AllOf<NonNullable<Parameters<(typeof FEATURES)[number]>[0]>>

// A union is turned into an intersection where it stands for a parameter.
type AllOf<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never

export const createFeatures = (deps: FeatureDeps): readonly Feature[] => FEATURES.map((feature) => feature(deps))

/** The slash command whose first word names a command. */
export const ROOT_COMMAND = '/ci'

/** The features by name and text, with nothing behind them: for the docs, the manifest, and the doctor's command line. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing is handled with it
export const describedFeatures = (): Registry => registryOf(createFeatures({} as FeatureDeps))
