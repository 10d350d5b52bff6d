import { type Block, plain } from '../../slack/messages/blocks.ts'
import { HOME_ACTION_IDS, HOME_BLOCK_IDS } from '../../slack/messages/ids.ts'
import { streakButton } from '../../slack/messages/streak.ts'
import { missingWords, actionButton } from '../../slack/messages/request.ts'
import { closedWords, followedHow, followedProject } from '../../slack/messages/subscription.ts'
import { joined, outside } from '../../slack/messages/build.ts'
import { SECTION_CHARS_MAX, WORD_CHARS_MAX } from '../../slack/messages/limits.ts'
import { dayTime } from '../../slack/messages/times.ts'
import { attemptRefText } from '../../domain/cards/request.ts'
import type { BuildSummary } from '../../projects/outcomes.ts'
import { COUNTED_MAX, SHOWN_MAX, type HomeState, type Some } from './home.ts'
import type { ShownSubscription } from '../../projects/subscriptions.ts'
import { answerOf, line, row, small, type Answer, type Part, typed } from '../../slack/messages/answer.ts'
import { buildLine, openButton } from '../kit/build.ts'

/** Slack's limit for the blocks of a view. */
export const HOME_BLOCKS_MAX = 100

export interface HomeView {
  type: 'home'
  blocks: readonly object[]
}

/** The most committer names in the view. */
const HANDLES_MAX = 10

/** Draws one person's App Home. Pure: the same state always gives the same view. */
export function homeView({ me, red, othersRed, waiting, subscriptions }: HomeState): HomeView {
  return viewOf([
    redSection(red, me),
    ...(othersRed ? [othersSection(othersRed)] : []),
    waitingSection(waiting),
    followedSection(subscriptions),
    mentionsSection(me),
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
  const head = line(':x: *Your red branches*')
  if (red.shown.length > 0) return [head, ...listed(red, SHOWN_MAX.builds, redParts(HOME_BLOCK_IDS.red))]
  if (me.handles.length > 0) return [head, line('None. Your branches are green.')]
  return [head, line(`Type ${typed('/ci me name')} with your committer name to see them here.`)]
}

function waitingSection(waiting: HomeState['waiting']): Part[] {
  const head = line(':hourglass_flowing_sand: *Waiting*')
  if (waiting.shown.length === 0) return [head, line('Nothing is queued or waiting for approval.')]
  return [head, ...listed(waiting, SHOWN_MAX.builds, buildPart)]
}

function othersSection(red: Some<BuildSummary>): Part[] {
  const head = line(":x: *Other red branches of your channels' projects*")
  if (red.shown.length === 0) return [head, line('None.')]
  return [head, ...listed(red, SHOWN_MAX.builds, redParts(HOME_BLOCK_IDS.othersRed))]
}

/** @param id what the ids of the rows begin with */
const redParts =
  (id: string) =>
  (build: BuildSummary, at: number): Part[] => [
    buildPart(build),
    row(`${id}_${at}`, build.ownership ? [streakButton(build.ownership.id, build.ownership.owner !== null)] : []),
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

/** The first entries of a list, and a line that says how many are left out. */
function listed<One>({ shown, more }: Some<One>, max: number, draw: (one: One, at: number) => Part | Part[]): Part[] {
  const parts = shown.slice(0, max).flatMap(draw)
  const left = more + Math.max(0, shown.length - max)
  if (left === 0) return parts
  const isCounted = shown.length + more < COUNTED_MAX
  return [...parts, line(isCounted ? `… and ${left} more` : `… and at least ${left} more`)]
}
