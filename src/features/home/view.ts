import type { Block } from '../../slack/messages/blocks.ts'
import { plain } from '../../slack/messages/blocks.ts'
import { HOME_ACTION_IDS, HOME_BLOCK_IDS } from '../../slack/messages/ids.ts'
import { missingWords } from '../../slack/messages/asked.ts'
import { closedWords, followedHow, followedProject } from '../../slack/messages/subscription.ts'
import { joined, outside } from '../../slack/messages/build.ts'
import { actButton } from '../../slack/messages/buttons.ts'
import { SECTION_CHARS_MAX, WORD_CHARS_MAX } from '../../slack/messages/limits.ts'
import { dayTime } from '../../slack/messages/times.ts'
import { runRefText } from '../../domain/request.ts'
import type { BuildSummary } from '../../catalog/outcomes.ts'
import type { HomeState } from './outcomes.ts'
import type { ShownSubscription } from '../subscriptions/outcomes.ts'
import { answerOf, line, row, small, type Answer, type Part } from '../../slack/messages/answer.ts'
import { buildLine, openButton } from '../build.ts'
import { typed } from '../../slack/messages/typed.ts'
import { adminSections } from './admin-view.ts'
import { listed } from './list-view.ts'

/** Slack shows no more blocks of a view. */
export const HOME_BLOCKS_MAX = 100

export interface HomeView {
  type: 'home'
  blocks: readonly object[]
}

/** How many of each list stand in the view, however many there are. */
const BUILDS_MAX = 10
const SUBSCRIPTIONS_MAX = 20
const HANDLES_MAX = 10

/** One person's App Home. Pure: the same state is the same view, whenever it is drawn. */
export function homeView({ me, red, waiting, subscriptions, mayFollow, admin }: HomeState): HomeView {
  return viewOf([
    redSection(red, me),
    waitingSection(waiting),
    followedSection(subscriptions, mayFollow),
    mentionsSection(me),
    ...(admin ? adminSections(admin) : []),
  ])
}

/** An answer in the place of a Home that cannot be shown. */
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
  if (red.shown.length > 0) return [head, ...listed(red, BUILDS_MAX, buildPart)]
  if (me.handles.length > 0) return [head, line('None. All the branches that you committed to last are fine.')]
  return [head, line(`Say which committer name is yours, and they stand here: type ${typed('/ci me name')}.`)]
}

function waitingSection(waiting: HomeState['waiting']): Part[] {
  const head = line(':hourglass_flowing_sand: *What waits*')
  if (waiting.shown.length === 0) return [head, line('Nothing is queued, or waits for an approval.')]
  return [head, ...listed(waiting, BUILDS_MAX, buildPart)]
}

/** A line with the first thing that can be done; of what cannot be done here, the way to where it can. */
function buildPart(build: BuildSummary): Part {
  const missing = build.missing && missingWords(build.missing)
  const [act] = build.offers.map((action) => actButton(action, runRefText(build.ref), build))
  const button = act ?? openButton(build)[0]
  return { kind: 'line', text: joined([buildLine(build), missing]), ...(button && { button }) }
}

function followedSection(subscriptions: HomeState['subscriptions'], mayFollow: boolean): Part[] {
  const head = line(':bell: *What your channels follow*')
  const follow = row(HOME_BLOCK_IDS.follow, mayFollow ? [FOLLOW_BUTTON] : [])
  if (subscriptions === null) return [head, line('Slack does not say now which channels you are in.'), follow]
  if (subscriptions.shown.length === 0)
    return [head, line(`Nothing yet. Type ${typed('/ci subscribe')} in a channel, to be told of builds there.`), follow]
  return [head, ...listed(subscriptions, SUBSCRIPTIONS_MAX, subscriptionPart), follow]
}

const FOLLOW_BUTTON = {
  type: 'button',
  action_id: HOME_ACTION_IDS.follow,
  text: plain('Follow a project'),
  value: 'new',
} as const

function subscriptionPart({ subscription, paused }: ShownSubscription): Part {
  const begin = `• <#${subscription.channel}>: *${followedProject(subscription)}*`
  const end = [
    SOURCES[subscription.source],
    paused && `:mute: paused since ${dayTime(paused.at)}: ${closedWords(paused.code).what}`,
  ]
  const whole = joined([`${begin}: ${followedHow(subscription)}`, ...end])
  // Rules that fill a section by themselves are for another place.
  return line(
    whole.length <= LINE_CHARS_MAX
      ? whole
      : joined([`${begin}: many rules; ${typed('/ci rules')} there shows them`, ...end]),
  )
}

const LINE_CHARS_MAX = SECTION_CHARS_MAX / 2

const SOURCES: Record<ShownSubscription['subscription']['source'], string | null> = {
  slack: null,
  file: 'kept by the file of subscriptions',
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
        ? 'No committer name is yours, so no failure mentions you.'
        : mentions
          ? `A failed build of ${own} mentions you, where the channel wants that.`
          : `You are ${own}, and want no mentions.`,
    ),
    small(
      handles.length === 0 ? '' : `Another name: ${typed('/ci me name')}. Not yours: ${typed('/ci me forget name')}.`,
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
