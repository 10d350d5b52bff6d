// The data of the page's panels: CI, the bot's process, and the faults that are switched on.

/** A rule as CI shows it. Its options are sent back unchanged. */
export interface PanelRule {
  notifier: string
  target: string
  branch: string | null
  branch_match: string
  build_statuses: string[]
  options: Record<string, string>
}

export interface PanelProject {
  id: string
  name: string
  /** null: the service has no project types */
  type: 'basic' | 'pro' | null
  rules: PanelRule[]
}

/** A button of a build: it makes a call below the build's path. */
export interface PanelButton {
  words: string
  path: string
  body?: object
}

/** The CI service: its terms and abilities. */
export interface PanelService {
  /** its word for a build and for builds, such as `run` and `runs` */
  one: string
  many: string
  /** the possible outcomes of a pushed build, the usual one first */
  ends: readonly { words: string; push: object }[]
  breaks: readonly CiBreak[]
  /** whether a nightly build can be started by hand */
  hasNightly: boolean
  /** what happens to deliveries that the bot does not accept, as text for the panel and for the tour */
  whileAway: string
  pulled: string
  /** notes on how the figures are counted */
  notes: string
  /** what people need to run their own bot: `a CI`, and `CI's key` */
  own: string
  key: string
}

export interface PanelBuild {
  id: string
  uuid: string
  project: string
  branch: string
  message: string
  committer: string
  status: string
  /** the status in the service's words */
  word: string
  buttons: readonly PanelButton[]
  /** how many attempts it has had */
  attempt: number
  /** when its current attempt started (ms); null: not yet */
  startedAt: number | null
  /** how long its current attempt takes (ms); null: until somebody ends it */
  runMs: number | null
}

export interface PanelDelivery {
  n: number
  project: string
  buildId: string
  status: string
  state: 'held' | 'dropped' | 'queued' | 'answered' | 'failed'
  attempts: number
  /** the last attempt's status code or error; null: none yet */
  answer: number | string | null
  /** whether the bot has accepted it at least once */
  isTaken: boolean
}

/** The faults of Slack and of CI that the panel can switch on. */
export const SLACK_BREAKS = ['none', 'ratelimited', 'down', 'accept-then-drop'] as const
export type SlackBreak = (typeof SLACK_BREAKS)[number]
export const CI_BREAKS = ['none', 'slow', 'down', 'forgets'] as const
export type CiBreak = (typeof CI_BREAKS)[number]

/** The bot's process. */
export interface BotShown {
  state: 'running' | 'starting' | 'unplugged' | 'gone'
  pid: number | null
  /** how many processes have been started */
  starts: number
}

/** How far Slack is behind, in ms since the bot accepted a delivery. */
export interface Lag {
  /** the median of the newest cards; null: none yet */
  medianMs: number | null
  /** how long the oldest build without a right card has waited; null: none waits */
  oldestMs: number | null
}

/** What waits inside the bot, from its own metrics; null: unknown. */
export type Queue = { ingest: number; post: number; edit: number; look: number } | null

/**
 * What CI sent, compared with what Slack shows. The lists have a sentence for each missing, surplus or wrong card. A
 * card that the bot is still working on counts as on the way, not as lost.
 */
export interface Standing {
  lost: string[]
  doubled: string[]
  wrong: string[]
  /** the number of commits and branches whose card is right */
  right: number
  onTheWay: number
  /** builds with a delivery that the bot has not accepted: held back, in flight, or given up by CI */
  notTaken: number
  /** builds that cannot be judged, because their rules changed */
  notCounted: number
}

/** CI's rules that the bot has not read yet. It uses those that it read before. */
export interface RulesRead {
  /** the projects whose rules for Slack have changed since then */
  unread: string[]
  /** when a running bot reads them again at the latest (ms) */
  dueAt: number
  /** from this time on (ms), `/ci list` makes it read them at once */
  onListFrom: number
}

export interface Watched {
  bot: BotShown
  /** null: the service has no rules */
  rules: RulesRead | null
  queue: Queue
  lag: Lag
  standing: Standing
}

/** The scene that is playing. */
export interface Scene {
  n: number
  of: number
  title: string
}

export interface PanelState {
  /** when this demo started (ms); a reset changes it */
  startedAt: number
  /** the server's time (ms), for the progress of running builds */
  now: number
  service: PanelService
  projects: PanelProject[]
  /** the unfinished builds, then the newest finished ones; both newest first */
  builds: PanelBuild[]
  buildsTotal: number
  unfinishedTotal: number
  /** newest first */
  deliveries: PanelDelivery[]
  deliveriesTotal: number
  /** deliveries that the bot has not accepted, held back or given up by CI, oldest first; at most one resend */
  untaken: number[]
  /** null: the service does not support this */
  isHolding: boolean | null
  isOverLimit: boolean | null
  /** `other`: a fault that a script has set */
  slackBreak: SlackBreak | 'other'
  ciBreak: CiBreak | 'other'
  scene: Scene | null
  watched: Watched
}
