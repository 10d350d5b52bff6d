import { badge } from './badge/slack.ts'
import { breakages } from './breakages/slack.ts'
import { builds } from './builds/slack.ts'
import { choiceButtons } from './kit/choice.ts'
import { webhookRuleFor } from './doctor/check-webhooks.ts'
import type { DoctorDeps } from './doctor/findings.ts'
import { doctor } from './doctor/slack.ts'
import type { Feature } from './kit/feature.ts'
import { flaky } from './flaky/slack.ts'
import { help } from './help/slack.ts'
import { home } from './home/slack.ts'
import { list } from './list/slack.ts'
import { people } from './people/slack.ts'
import { projects } from './projects/slack.ts'
import { registryOf, type Registry } from './kit/registry.ts'
import { subscriptions } from './subscriptions/slack.ts'
import { why } from './why/slack.ts'

/** Everything that people can do, in the order of the help. A feature that is not listed here is not there. */
export const createFeatures = (deps: FeatureDeps): readonly Feature[] => [
  list(deps),
  builds(deps),
  breakages(deps),
  badge(deps),
  flaky(deps),
  why(deps),
  people(deps),
  home(deps),
  doctor({ ...deps.doctor, permits: deps.permits }),
  subscriptions(deps),
  projects({ ...deps, webhookRuleFor: (project) => webhookRuleFor(deps.doctor, project) }),
  choiceButtons(),
  help(),
]

/** What the features need, all together. */
export type FeatureDeps = Parameters<typeof list>[0] &
  Parameters<typeof builds>[0] &
  Parameters<typeof breakages>[0] &
  Parameters<typeof badge>[0] &
  Parameters<typeof flaky>[0] &
  Parameters<typeof why>[0] &
  Parameters<typeof people>[0] &
  Parameters<typeof home>[0] &
  Parameters<typeof subscriptions>[0] &
  Omit<Parameters<typeof projects>[0], 'webhookRuleFor'> & { doctor: DoctorDeps }

/** The slash command whose first word names a command. */
export const ROOT_COMMAND = '/ci'

/** The features by name and text, with nothing behind them: for the docs and the manifest. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing is handled with it
export const describedFeatures = (): Registry => registryOf(createFeatures({} as FeatureDeps))
