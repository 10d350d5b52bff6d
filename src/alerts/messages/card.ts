import { FAILED_JOBS_MAX } from '../../domain/builds/build-event.ts'
import type { CardView, EndView, StreakView } from '../../domain/cards/view.ts'
import { sourceOf, type ChannelId, type MessageTs } from '../../domain/ids.ts'
import { parseAttemptRef } from '../../domain/cards/request.ts'
import { assertNever } from '../../lib/assert.ts'
import { mrkdwnLink } from '../../lib/escape.ts'
import { requestWords, missingWords, actionButton, gatesLine } from '../../slack/messages/request.ts'
import {
  contextOf,
  mrkdwn,
  plain,
  section,
  type ActionsBlock,
  type Button,
  type SlackMessage,
} from '../../slack/messages/blocks.ts'
import {
  buildCount,
  buildName,
  buildUrl,
  commitElements,
  commitLine,
  joined,
  linkedBuild,
  onBranch,
  onLinkedBranch,
  outside,
  claimButton,
  isThisYou,
} from '../../slack/messages/build.ts'
import { streakButton, sinceWords, ownershipWords } from '../../slack/messages/streak.ts'
import { ACTION_IDS, ACTIONS_BLOCK_ID } from '../../slack/messages/ids.ts'
import { INLINE_URL_CHARS_MAX, WORD_CHARS_MAX } from '../../slack/messages/limits.ts'
import { dayTime, durationWords, timeIn } from '../../slack/messages/times.ts'
import { failuresLine } from '../../slack/messages/failures.ts'
import { styleOf, withSourceName, SOURCE_NAMES } from '../../slack/messages/words.ts'

/**
 * The card: what happened, where, and to which commit; below it, beside the coloured bar, times, requests and buttons.
 * A client that shows no attachments still shows status, project, link and commit. Pure.
 */
export function renderCard(view: CardView, place: Place): SlackMessage {
  const failures = mrkdwn(failuresLine(view.failures))
  const beneath = [...contextOf([mrkdwn(storyLine(view, place))]), ...contextOf([failures]), ...actionsOf(view)]
  const asked = mrkdwn(isThisYou(view.proposed))
  const text = joined([sentence(view), asked.text])
  return {
    text,
    blocks: [section(titleLine(view)), ...contextOf([...commitElements(view.build, view.mention), asked])],
    attachments: beneath.length === 0 ? [] : [{ color: styleOf(view.shown).color, fallback: text, blocks: beneath }],
  }
}

/** Where and when a message is posted; null: not known. */
export interface Place {
  /** a card that replaces another one links to that */
  channel: ChannelId | null
  /** ms; times of other days have their date */
  postedAt: number | null
}

/** The card without blocks, in case Slack refuses them. */
export const plainCard = (view: CardView, place: Place): string =>
  joined(
    [titleLine(view), commitLine(view.build, view.mention), storyLine(view, place), failuresLine(view.failures)],
    '\n',
  )

/** The text for notifications and screen readers. */
function sentence(view: CardView): string {
  const { build, streak, shown, attemptNumber } = view
  const which = attemptNumber > 1 ? ` (attempt ${attemptNumber})` : ''
  const said = shown === 'unknown' ? `says ${statusWords(view)}` : `${styleOf(shown).verb}${endWords(view.end)}`
  const row = isRedStill(view) && streak ? `, the ${inARow(streak)}` : ''
  const commit = commitLine(build, view.mention)
  return joined([`${buildName(build)}${which} ${said}${onBranch(build)}${row}`, commit], ': ')
}

/** `:x: *Still failing* acme/web #512 on `main` · 3rd in a row · attempt 2`, with the number as the link to the build. */
function titleLine(view: CardView): string {
  const { build, streak, shown, attemptNumber } = view
  return joined([
    `${styleOf(shown).symbol} *${statusWords(view)}* ${linkedBuild(build)}${onLinkedBranch(build)}`,
    isRedStill(view) && streak ? inARow(streak) : null,
    attemptNumber > 1 && shown !== 'flaky' ? `attempt ${attemptNumber}` : null,
  ])
}

const isRedStill = ({ shown, streak }: CardView): boolean => shown === 'failed' && streak !== null

/** `3rd in a row`, or `at least 500th …` if the stored history begins within the streak. */
function inARow({ builds, atLeast }: StreakView): string {
  const ending = ORDINALS[builds % 100 > 10 && builds % 100 < 14 ? 0 : builds % 10] ?? 'th'
  return `${atLeast ? 'at least ' : ''}${builds}${ending} in a row`
}

const ORDINALS: Readonly<Record<number, string>> = { 1: 'st', 2: 'nd', 3: 'rd' }

/** Our word for the status; for a status that CI does not document, CI's own word. */
function statusWords(view: CardView): string {
  const style = styleOf(view.shown)
  if (view.shown === 'unknown') return outside(view.word, WORD_CHARS_MAX) || style.label
  if (view.shown === 'flaky') return `${flakyWord(view.attemptNumber)}${endWords(view.end)}`
  return `${isRedStill(view) ? 'Still failing' : style.label}${endWords(view.end)}`
}

const NAMES_SHOWN = 3

/** `, then cancelled`, after the word for the status. */
export function endWords(end: EndView | undefined): string {
  if (!end?.how) return ''
  switch (end.how) {
    case 'then-cancelled':
      return ', then cancelled'
    case 'timed-out':
      return ': timed out'
    case 'invalid':
      return ': the configuration is not valid'
    case 'with-warnings':
      return `, with warnings${end.says.length === 0 ? '' : `: ${namesWords(end.says, NAMES_SHOWN)}`}`
    default:
      return assertNever(end.how)
  }
}

/** The same commit failed before, so nothing was fixed. */
export const flakyWord = (attemptNumber: number): string => `Passed on attempt ${attemptNumber} (flaky)`

function storyLine(view: CardView, { channel, postedAt }: Place): string {
  const noLink = buildUrl(view.build) === null ? `no link: ${SOURCE_NAMES[sourceIn(view)]} gave none` : null
  const { request, missing, replaces } = view
  return joined([
    withSourceName(sourceIn(view), historyLine(view, postedAt)),
    faultLine(view),
    failedLine(view),
    redWords(view),
    view.ownership?.grown ? `still failing ${sinceWords(view.ownership.grown)}` : null,
    view.ownership ? ownershipWords(view.ownership, postedAt) : null,
    gatesLine(view.gates ?? [], postedAt),
    hintOf(view),
    request && requestWords(request),
    missing && missingWords(missing),
    replacesLine(replaces, channel),
    noLink,
  ])
}

const sourceIn = ({ ref }: CardView) => sourceOf(parseAttemptRef(ref)?.projectId ?? null)

// Suggests a restart only if the card offers one: a Pro project's build, for example, cannot be restarted from here.
function hintOf({ shown, offers, gates }: CardView): string | undefined {
  if (gates) return undefined
  const { hint } = styleOf(shown)
  return shown === 'infrastructure_failure' && offers.includes('restart') ? `${hint}: restart it` : hint
}

/** `7 min, started 14:02`; if the build has not ended `started 14:02`; if CI was asked, also when. */
function historyLine(view: CardView, postedAt: number | null): string {
  const duration = view.durationMs === null ? null : durationWords(view.durationMs)
  const said = view.history.map(({ what, at }) => {
    const time = timeIn(at, postedAt)
    return time && (what !== 'ended' || duration === null) ? `${STEP_WORDS[what]} ${time}` : null
  })
  return joined([duration, ...said], ', ')
}

const FAILED_JOBS_SHOWN = 5
const JOB_CHARS_MAX = 80

/** `failed: test / unit: Run tests, lint, 3 more` */
const failedLine = ({ failedJobs = [] }: CardView): string | null =>
  failedJobs.length === 0 ? null : `failed: ${namesWords(failedJobs, FAILED_JOBS_SHOWN)}`

/** `test / unit: Run tests, lint, 3 more` */
function namesWords(jobs: readonly string[], shown: number): string {
  const more = jobs.length - shown
  const names = jobs.slice(0, shown).map((name) => outside(name, JOB_CHARS_MAX))
  const isCut = jobs.length >= FAILED_JOBS_MAX
  return [...names, ...(more > 0 ? [`${isCut ? 'at least ' : ''}${more} more`] : [])].join(', ')
}

const FAULT_CHARS_MAX = 200

/** The source's message about a configuration that it cannot use. */
const faultLine = ({ end }: CardView): string | null =>
  end?.how === 'invalid' && end.says[0] !== undefined ? outside(end.says[0], FAULT_CHARS_MAX) : null

/** Comes before the time of an end that was reported long after it. */
export const LATE_WORDS = 'reported late; ended'

const STEP_WORDS: Record<CardView['history'][number]['what'], string> = {
  started: 'started',
  waiting: 'waiting since',
  ended: 'ended',
  late: LATE_WORDS,
  received: 'last news',
  snapshot: 'checked with CI',
}

function replacesLine(ts: MessageTs | null, channel: ChannelId | null): string | null {
  if (ts === null) return null
  const time = dayTime(Number(ts) * 1_000)
  const before =
    channel === null ? 'an earlier card' : mrkdwnLink(messageUrl(channel, ts), 'an earlier card', INLINE_URL_CHARS_MAX)
  return time ? `continues ${before} from ${time}` : `continues ${before}`
}

/** Slack redirects this address to the workspace that the reader is signed in to. */
export const messageUrl = (channel: ChannelId, ts: MessageTs): string =>
  `https://slack.com/archives/${channel}/p${ts.replace('.', '')}`

function actionsOf({ build, shown, offers, ref, unconfirmed, claim, ownership }: CardView): ActionsBlock[] {
  const url = buildUrl(build)
  const open =
    url === null ? [] : [{ type: 'button', action_id: ACTION_IDS.open, text: plain('Open build'), url } as const]
  const acts = offers.map((action) => actionButton(action, ref, { ...build, unconfirmed }))
  const claims = [
    ...(ownership ? [streakButton(ownership.id, ownership.owner !== null)] : []),
    ...(claim === null ? [] : [claimButton(claim, build.committer)]),
  ]
  // After a CI machine error the action buttons come first: the build itself shows nothing useful.
  const elements: Button[] = [
    ...(shown === 'infrastructure_failure' ? [...acts, ...open] : [...open, ...acts]),
    ...claims,
  ]
  return elements.length === 0 ? [] : [{ type: 'actions', block_id: ACTIONS_BLOCK_ID, elements }]
}

/** `red for 2 h (3 builds)`: how long the branch has been red, or was. */
function redWords({ shown, streak }: Pick<CardView, 'shown' | 'streak'>): string | null {
  if (streak === null || (shown === 'flaky' && streak.builds === 1)) return null
  return `red for ${spanWords(streak)} (${streakCount(streak)})`
}

export const spanWords = ({ forMs, atLeast }: StreakView): string =>
  `${atLeast ? 'at least ' : ''}${durationWords(forMs)}`

export const streakCount = ({ builds, atLeast }: StreakView): string =>
  `${buildCount(builds)}${atLeast ? ' or more' : ''}`
