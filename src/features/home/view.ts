import { type Block, plain } from '../../slack/messages/blocks.ts'
import { HOME_ACTION_IDS, HOME_BLOCK_IDS } from '../../slack/messages/ids.ts'
import { streakButton } from '../../slack/messages/streak.ts'
import { missingWords, actionButton } from '../../slack/messages/request.ts'
import { closedWords, followedHow, followedProject } from '../../slack/messages/subscription.ts'
import { branchName, buildNumber, joined, mention, outside, projectLabel } from '../../slack/messages/build.ts'
import { SECTION_CHARS_MAX, WORD_CHARS_MAX } from '../../slack/messages/limits.ts'
import { dayTime } from '../../slack/messages/times.ts'
import { shortId } from '../../domain/ids.ts'
import { attemptRefText } from '../../domain/cards/request.ts'
import type { BuildSummary } from '../../projects/outcomes.ts'
import {
  COUNTED_MAX,
  SHOWN_MAX,
  type AdminState,
  type AuditLine,
  type HomeState,
  type PausedChannel,
  type Some,
} from './home.ts'
import type { ShownSubscription } from '../../projects/subscriptions.ts'
import { answerOf, line, row, small, type Answer, type Part, typed } from '../../slack/messages/answer.ts'
import { buildLine, openButton } from '../kit/build.ts'
import type { Connection } from '../../sources/ci-service/source.ts'
import { failureWords } from '../kit/fault-messages.ts'

/** Slack's limit for the blocks of a view. */
export const HOME_BLOCKS_MAX = 100

export interface HomeView {
  type: 'home'
  blocks: readonly object[]
}

/** The most committer names in the view. */
const HANDLES_MAX = 10

/** Draws one person's App Home. Pure: the same state always gives the same view. */
export function homeView({ me, red, waiting, subscriptions, admin }: HomeState): HomeView {
  return viewOf([
    redSection(red, me),
    waitingSection(waiting),
    followedSection(subscriptions),
    mentionsSection(me),
    ...(admin ? adminSections(admin) : []),
  ])
}

/** An answer instead of a Home that cannot be shown. */
export const answerHome = ({ blocks }: Answer): HomeView => ({ type: 'home', blocks })

const viewOf = (sections: readonly (readonly Part[])[]): HomeView => ({
  type: 'home',
  blocks: sections.flatMap((parts, at): (Block | typeof DIVIDER)[] => [
    ...(at === 0 ? [] : [DIVIDER]),
    ...answerOf(parts).blocks,
  ]),
})

const DIVIDER = { type: 'divider' } as const

function redSection(red: HomeState['red'], me: HomeState['me']): Part[] {
  const head = line(':x: *Your red builds*')
  if (red.shown.length > 0) return [head, ...listed(red, SHOWN_MAX.builds, redParts)]
  if (me.handles.length > 0) return [head, line('None. Your branches are green.')]
  return [head, line(`Type ${typed('/ci me name')} with your committer name to see them here.`)]
}

function waitingSection(waiting: HomeState['waiting']): Part[] {
  const head = line(':hourglass_flowing_sand: *Waiting*')
  if (waiting.shown.length === 0) return [head, line('Nothing is queued or waiting for approval.')]
  return [head, ...listed(waiting, SHOWN_MAX.builds, buildPart)]
}

const redParts = (build: BuildSummary, at: number): Part[] => [
  buildPart(build),
  row(
    `${HOME_BLOCK_IDS.red}_${at}`,
    build.ownership ? [streakButton(build.ownership.id, build.ownership.owner !== null)] : [],
  ),
]

/** A line with a button for the first possible action, else with *Open build*. */
function buildPart(build: BuildSummary): Part {
  const missing = build.missing && missingWords(build.missing)
  const [act] = build.offers.map((action) => actionButton(action, attemptRefText(build.ref), build))
  const button = act ?? openButton(build)[0]
  return { kind: 'line', text: joined([buildLine(build), missing]), ...(button && { button }) }
}

function followedSection(subscriptions: HomeState['subscriptions']): Part[] {
  const head = line(':bell: *Subscriptions of your channels*')
  const how = small(`Type ${typed('/ci subscribe')} in a channel to get builds there.`)
  if (subscriptions === null) return [head, line('Slack did not say which channels you are in.'), how]
  if (subscriptions.shown.length === 0) return [head, line('None yet.'), how]
  return [head, ...listed(subscriptions, SHOWN_MAX.subscriptions, subscriptionPart), how]
}

function subscriptionPart({ subscription, paused }: ShownSubscription): Part {
  const begin = `• <#${subscription.channel}>: *${followedProject(subscription)}*`
  const end = [
    SOURCES[subscription.source],
    paused && `:mute: paused since ${dayTime(paused.at)}: ${closedWords(paused.code).what}`,
  ]
  const whole = joined([`${begin}: ${followedHow(subscription)}`, ...end])
  // Very long rules are not shown here: `/ci rules` shows them.
  return line(
    whole.length <= LINE_CHARS_MAX
      ? whole
      : joined([`${begin}: many rules; ${typed('/ci rules')} there shows them`, ...end]),
  )
}

const LINE_CHARS_MAX = SECTION_CHARS_MAX / 2

const SOURCES: Record<ShownSubscription['subscription']['source'], string | null> = {
  slack: null,
  file: 'set by the subscriptions file',
  'default-channel': 'the default channel',
}

function mentionsSection({ handles, mentions }: HomeState['me']): Part[] {
  const names = handles.slice(0, HANDLES_MAX).map(({ handle }) => `*${outside(handle, WORD_CHARS_MAX)}*`)
  const left = handles.length - names.length
  const own = `${names.join(', ')}${left > 0 ? ` … and ${left} more` : ''}`
  return [
    line(':bust_in_silhouette: *Mentions*'),
    line(
      handles.length === 0
        ? 'You have not claimed a committer name, so no failed build mentions you.'
        : mentions
          ? `Failed builds of ${own} mention you, in channels that mention committers.`
          : `You are ${own}, and mentions are off.`,
    ),
    small(
      handles.length === 0
        ? ''
        : `Add a name with ${typed('/ci me name')}, remove one with ${typed('/ci me forget name')}.`,
    ),
    row(HOME_BLOCK_IDS.me, handles.length === 0 ? [] : [mentionsButton(mentions)]),
  ]
}

const mentionsButton = (mentions: boolean) =>
  ({
    type: 'button',
    action_id: HOME_ACTION_IDS.mentions,
    text: plain(mentions ? 'Turn mentions off' : 'Turn mentions on'),
    value: mentions ? 'off' : 'on',
  }) as const

/** What only admins see. */
const adminSections = ({ connections, deliveries, paused, audit }: AdminState): Part[][] => [
  [
    ...(connections.some(({ isConfigured }) => isConfigured)
      ? [line(':electric_plug: *CI connections*'), ...connections.map((one) => line(connectionLine(one)))]
      : []),
    small(`${typed('/ci doctor')} checks the whole setup.`),
  ],
  [
    line(':inbox_tray: *Last deliveries*'),
    ...(deliveries.shown.length === 0 ? [line('None yet.')] : []),
    ...listed(deliveries, SHOWN_MAX.deliveries, ({ project, at }) =>
      line(`• ${projectLabel({ project })} · ${timeWords(at)}`),
    ),
  ],
  [
    line(':mute: *Paused channels*'),
    ...(paused.shown.length === 0 ? [line('None.')] : []),
    ...listed(paused, SHOWN_MAX.paused, (one) => line(pausedLine(one))),
  ],
  [
    line(':scroll: *Last requests*'),
    ...(audit.length === 0 ? [line('None yet.')] : []),
    ...audit.slice(0, SHOWN_MAX.audit).map((one) => line(auditWords(one))),
    small(audit.length === 0 ? '' : '`npm run buildline -- audit` beside the bot lists all of them.'),
  ],
]

const NAMES: Record<Connection['name'], string> = { v2: 'v2 interface', legacy: 'Legacy interface', site: 'Site' }

function connectionLine({ name, isConfigured, readAt, failure }: Connection): string {
  if (!isConfigured) return `:black_square_for_stop: ${NAMES[name]}: not set up`
  const read = readAt === null ? 'not asked yet' : `last answered ${timeWords(readAt)}`
  if (failure === null) return `${readAt === null ? ':grey_question:' : ':white_check_mark:'} ${NAMES[name]}: ${read}`
  return `:x: ${NAMES[name]}: ${joined([failureWords(failure).why, readAt === null ? null : read])}`
}

function pausedLine({ channel, code, at, follows }: PausedChannel): string {
  const names = follows?.slice(0, SHOWN_MAX.follows).map(({ subscription }) => followedProject(subscription)) ?? []
  const subscribedTo = names.length > 0 ? `subscribed to ${names.join(', ')}` : null
  return `• ${joined([`<#${channel}>: ${closedWords(code).what}`, `since ${timeWords(at)}`, subscribedTo])}`
}

const DEEDS: Record<AuditLine['action'], string> = {
  stop: 'stop',
  restart: 'restart',
  approve: 'approve',
  reject: 'reject',
  play: 'run a job of',
  'create-project': 'create',
  'edit-project': 'edit',
  'reset-aes-key': 'new AES key of',
  run: 'run',
}

const STATES: Record<AuditLine['state'], string> = {
  calling: 'in progress',
  accepted: 'accepted',
  unclear: 'unclear',
  confirmed: 'done',
  refused: 'refused',
  unconfirmed: 'not confirmed',
}

function auditWords({ at, by, action, project, buildId, branch, state }: AuditLine): string {
  const build = buildId === null ? '' : ` ${buildNumber({ buildId: shortId(buildId) })}`
  const on = branch === null ? '' : ` on ${branchName(branch)}`
  const what = `${DEEDS[action]} ${projectLabel({ project })}${build}${on}`
  return `• ${joined([timeWords(at), mention(by) || 'Somebody', what, STATES[state]])}`
}

const timeWords = (at: number): string => dayTime(at) ?? 'at an unknown time'

/** The first entries of a list, and a line that says how many are left out. */
function listed<One>({ shown, more }: Some<One>, max: number, draw: (one: One, at: number) => Part | Part[]): Part[] {
  const parts = shown.slice(0, max).flatMap(draw)
  const left = more + Math.max(0, shown.length - max)
  if (left === 0) return parts
  const isCounted = shown.length + more < COUNTED_MAX
  return [...parts, line(isCounted ? `… and ${left} more` : `… and at least ${left} more`)]
}
