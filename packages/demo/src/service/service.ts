import type { Clock } from '../../../../src/lib/clock.ts'
import type { CallRecord } from '../../../lib/calls.ts'
import { answerBy, commonRoutes, type CommonHandles, type Control } from '../../../sandbox-ci/src/control.ts'
import type { Delivery } from '../../../sandbox-ci/src/deliveries.ts'
import type { Handles, StormOutcome } from '../../../sandbox-ci/src/handles.ts'
import type { BuildSnapshot } from '../../../sandbox-ci/src/snapshot.ts'
import { stormPushes, type Storm } from '../../../sandbox-ci/src/storm.ts'
import type { CiBreak, PanelButton, PanelProject, PanelService } from '../../../sandbox-slack/src/panel-state.ts'
import type { RulesWatched } from '../demo/rules-watch.ts'

/**
 * A service that builds, as the demo plays and shows it. A build is shown as the sandbox CI service shows it, in its words:
 * what another service calls its own, its file translates.
 */
export interface Service extends Pick<Handles, 'push' | 'storm' | 'approve' | 'settle' | 'decisions'> {
  start(port: number): Promise<string>
  stop(): Promise<void>
  readonly url: string
  state(): { builds: readonly BuildSnapshot[] }
  projects(): PanelProject[]
  /** A step of this build sends the bot its test report; null: the service itself names what failed. */
  reportTests: ((build: BuildSnapshot, report: Report) => Promise<void>) | null
  /** what was sent to the bot, oldest first */
  sent(): readonly Sent[]
  /** what the bot asked of it for people */
  asked(): Asked[]
  /** the bot's settings for it */
  settings(): Record<string, string>
  /** Deliveries go to the bot at this address. */
  deliverTo(botUrl: string): void
  /** Asked again and again, it sees each change of the rules; null: the service keeps none. */
  watchRules(clock: Clock): () => RulesWatched
  /** Whether the bot finds by asking what was not delivered. */
  isPolled: boolean
  /** Whether what is sent says which attempt it is about. */
  namesAttempts: boolean
  story: Story
  /** the calls of the page, below /sandbox */
  control: Control
  panel: PanelService
  /** what it says of a build, and what can become of that */
  lookOf(build: BuildSnapshot): { word: string; buttons: readonly PanelButton[] }
  /** whether new deliveries are held back; null: it cannot do that */
  isHolding(): boolean | null
  isOverLimit(): boolean | null
  /** Breaks it in one way at a time, or mends it; what else was wrong with it is over. */
  break(how: CiBreak): void
  broken(): CiBreak | 'other'
}

/** A build step's test report. */
export interface Report {
  tests: number
  failed: number
  failures: readonly { name: string; message: string }[]
  log?: readonly string[]
}

/** A delivery. A build is known by its project and the number that people see. */
export interface Sent extends Pick<Delivery, 'n' | 'buildId' | 'status' | 'body' | 'state' | 'attempts'> {
  project: string
  /** the status as the service says it */
  word: string
}

export interface Asked {
  action: 'Restart' | 'Stop'
  /** the id or the uuid of the build */
  build: string
}

/** What the scenario says and leaves out where the services differ. */
export interface Story {
  /** `a sandbox GitHub` */
  what: string
  /** `GitHub` */
  name: string
  /** the page that says how to drive it */
  manual: string
  /** a push for the command line, below the service's address */
  push: { path: string; body: object }
  /** what happens to what was sent while the bot was away */
  missed: string
  projects: { web: string; api: string; ios: string }
  approval: string
  /** the button that lets its waiting build go on; null: that is done in the service */
  approves: 'Approve…' | 'Run…' | null
  machine: string
  /** null: it has no monthly limit */
  limit: string | null
  /** what is typed to ask why a build of acme/web was posted */
  why: (id: string) => string
  /** what follows `project: all` in the file of subscriptions, so that #builds sees everything */
  everything: string
  /** what there is to try of this service alone */
  yourTurn: readonly string[]
}

/** The calls that changed something, by what their paths look like; the build stands in the parentheses. */
export const askedIn = (calls: readonly CallRecord[], paths: Record<Asked['action'], RegExp>): Asked[] =>
  calls
    .filter(({ method }) => method === 'POST')
    .flatMap(({ path }) =>
      (['Restart', 'Stop'] as const).flatMap((action) => {
        const build = paths[action].exec(path)?.[1]
        return build === undefined ? [] : [{ action, build }]
      }),
    )

/** Many pushes at once, to a service that has no word for it. */
export function stormBy(push: Service['push'], project: string, wanted: Storm): StormOutcome {
  const outcomes = Array.from(stormPushes({ ...wanted, ms: wanted.ms ?? STORM_MS }, Math.random), (one) =>
    push(project, one),
  )
  if (outcomes.some(({ kind }) => kind === 'no-project')) return { kind: 'no-project' }
  return { kind: 'builds', builds: outcomes.flatMap((one) => (one.kind === 'build' ? one.build : [])) }
}

const STORM_MS = 4_000

/** What GitHub and GitLab have in common: they keep no rules, repeat nothing, and are polled. */
export const polledService = (handles: CommonHandles) =>
  ({
    push: handles.push,
    storm: handles.storm,
    approve: handles.approve,
    control: answerBy(commonRoutes(handles)),
    decisions: () => [],
    reportTests: null,
    watchRules: () => (): RulesWatched => ({ uncounted: new Set(), read: null }),
    isPolled: true,
    namesAttempts: true,
    isHolding: () => null,
    isOverLimit: () => null,
  }) satisfies Partial<Service>

export const POLLED_STORY = {
  limit: null,
  // A number counts in one project.
  why: (id: string) => `why acme/web #${id}`,
  everything: ', events: [started, waiting, failed, success, stopped]',
  yourTurn: [],
} satisfies Partial<Story>

export const polledPanel = (name: string) =>
  ({
    breaks: ['none', 'down'],
    hasNightly: false,
    pulled: `${name} does not repeat what it could not deliver: the bot asks for it when it is back. What it had accepted is on its disk.`,
    notes: `What ${name} could not deliver is right once Slack shows it: the bot has asked for it.`,
    key: `${name}'s`,
  }) satisfies Partial<PanelService>

/** A time as the sandbox CI service shows it. */
export const timeOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())
