// What the page's panels get to see of the other side: CI, the bot's process, and what goes wrong on purpose.

/** A rule as CI shows it; its options go back as they came. */
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
  /** null: the service has no types */
  type: 'basic' | 'pro' | null
  rules: PanelRule[]
}

/** What a person can do with a build: a call below its address. */
export interface PanelButton {
  words: string
  path: string
  body?: object
}

/** The service that builds: what it calls things, and what it has. */
export interface PanelService {
  /** what it calls a build: `run`, `runs` */
  one: string
  many: string
  /** how a build can go that somebody pushes, the usual one first */
  ends: readonly { words: string; push: object }[]
  breaks: readonly CiBreak[]
  /** whether what runs by the clock can be begun by hand */
  hasNightly: boolean
  /** what becomes of what the bot does not take, for the panel and for the tour */
  whileAway: string
  pulled: string
  /** what else is to be known of how the figures are counted */
  notes: string
  /** what somebody needs for a bot of their own: `a CI`, and `CI's key` */
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
  /** the status as the service says it */
  word: string
  buttons: readonly PanelButton[]
  /** how many runs it has had */
  attempt: number
  /** when its attempt began (ms); null: not yet */
  startedAt: number | null
  /** how long its attempt takes (ms); null: until somebody ends it */
  runMs: number | null
}

export interface PanelDelivery {
  n: number
  project: string
  buildId: string
  status: string
  state: 'held' | 'dropped' | 'queued' | 'answered' | 'failed'
  attempts: number
  /** of the last attempt: a status code, or what went wrong; null: none yet */
  answer: number | string | null
  /** whether the bot has ever taken it */
  isTaken: boolean
}

/** What can be wrong with Slack, and with CI, on purpose. */
export const SLACK_BREAKS = ['none', 'ratelimited', 'down', 'accept-then-drop'] as const
export type SlackBreak = (typeof SLACK_BREAKS)[number]
export const CI_BREAKS = ['none', 'slow', 'down', 'forgets'] as const
export type CiBreak = (typeof CI_BREAKS)[number]

/** The bot's process, as whoever keeps it sees it. */
export interface BotShown {
  state: 'running' | 'starting' | 'unplugged' | 'gone'
  pid: number | null
  /** how many processes there have been */
  starts: number
}

/** How far behind Slack is, in ms from the moment that the bot took a delivery. */
export interface Lag {
  /** of what was told last, the median */
  lastMs: number | null
  /** since when the oldest untold news has waited */
  oldestMs: number | null
}

/** What waits inside the bot, by its own metrics; null: it does not say. */
export type Queue = { ingest: number; post: number; edit: number; look: number } | null

/**
 * What CI sent against what Slack shows. Sentences: a card that should be there, one too many, one that says something
 * else. What the bot is still at work on is on its way, not lost.
 */
export interface Standing {
  lost: string[]
  doubled: string[]
  wrong: string[]
  /** of how many commits and branches the card is right */
  right: number
  onTheWay: number
  /** builds of which a delivery was not taken: held back, under way, or given up by CI */
  notTaken: number
  /** builds that nothing can be said about, as the rules changed under them */
  notCounted: number
}

/** What CI's rules say and the bot has not read yet: it goes by those that it read before. */
export interface RulesRead {
  /** the projects whose rules for Slack have changed since */
  unread: string[]
  /** when it reads them again at the latest (ms), if it is there */
  dueAt: number
  /** from when on (ms) it reads them as soon as somebody types `/ci list` */
  onListFrom: number
}

export interface Watched {
  bot: BotShown
  /** null: the service keeps none */
  rules: RulesRead | null
  queue: Queue
  lag: Lag
  standing: Standing
}

/** What is being played by itself; null: nothing, or it is over. */
export interface Scene {
  n: number
  of: number
  title: string
}

export interface PanelState {
  /** when this demo began (ms): after a reset another one */
  startedAt: number
  /** the server's time (ms), for what is under way */
  now: number
  service: PanelService
  projects: PanelProject[]
  /** the unfinished ones, then the newest of the finished, each newest first */
  builds: PanelBuild[]
  buildsTotal: number
  unfinishedTotal: number
  /** newest first */
  deliveries: PanelDelivery[]
  deliveriesTotal: number
  /** those that nobody has taken, held back or given up by CI, oldest first; so many at most as are sent at once */
  untaken: number[]
  /** null: the service cannot do that */
  isHolding: boolean | null
  isOverLimit: boolean | null
  /** `other`: a fault that a script has set */
  slackBreak: SlackBreak | 'other'
  ciBreak: CiBreak | 'other'
  scene: Scene | null
  watched: Watched
}
