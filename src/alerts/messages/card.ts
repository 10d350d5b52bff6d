import type { CardView } from '../../domain/view.ts'
import type { ChannelId, MessageTs } from '../../domain/ids.ts'
import { mrkdwnLink } from '../../lib/escape.ts'
import { askedWords, missingWords } from '../../slack/messages/asked.ts'
import {
  contextOf,
  mrkdwn,
  plain,
  type ActionsBlock,
  type Button,
  type SlackMessage,
} from '../../slack/messages/blocks.ts'
import {
  buildName,
  buildUrl,
  commitElements,
  commitLine,
  joined,
  onBranch,
  outside,
} from '../../slack/messages/build.ts'
import { actButton } from '../../slack/messages/buttons.ts'
import { committerMention } from '../../slack/messages/handle.ts'
import { ACTION_IDS, ACTIONS_BLOCK_ID } from '../../slack/messages/ids.ts'
import { INLINE_URL_CHARS_MAX, WORD_CHARS_MAX } from '../../slack/messages/limits.ts'
import { redSince } from './recovery.ts'
import { clockTime, dayTime, durationWords } from '../../slack/messages/times.ts'
import { lookOf } from '../../slack/messages/words.ts'

/** The card: one line that says it all, and beneath it, beside a bar, the commit, the history, the buttons. Pure. */
export function renderCard(view: CardView, channel: ChannelId | null = null): SlackMessage {
  const look = lookOf(view.shown)
  const attempt = view.attempt > 1 ? mrkdwn(`attempt ${view.attempt}`) : null
  const blocks = [
    ...contextOf([...commitElements(view.build), attempt]),
    ...contextOf([mrkdwn(storyLine(view, channel))]),
    ...actionsOf(view),
  ]
  const fallback = joined([wordOf(view), buildName(view.build, view.attempt)], ': ')
  return { text: headline(view), attachments: blocks.length === 0 ? [] : [{ color: look.color, fallback, blocks }] }
}

/** The card without blocks: the way out when Slack refuses them. */
export function plainCard(view: CardView, channel: ChannelId | null = null): string {
  const url = buildUrl(view.build)
  const link = url === null ? '' : mrkdwnLink(url, 'Open build', INLINE_URL_CHARS_MAX)
  return joined([headline(view), storyLine(view, channel), link === 'Open build' ? '' : link], '\n')
}

function headline(view: CardView): string {
  const { symbol } = lookOf(view.shown)
  const what = `${symbol} *${wordOf(view)}* ${buildName(view.build, view.attempt)}${onBranch(view.build)}`
  return joined([what, commitLine(view.build), committerMention(view.mention, view.build.committer)])
}

/** Ours, or for a word that CI never documented the word itself. */
function wordOf({ shown, word }: CardView): string {
  const look = lookOf(shown)
  return shown === 'unknown' ? outside(word, WORD_CHARS_MAX) || look.word : look.word
}

function storyLine(view: CardView, channel: ChannelId | null): string {
  const noLink = buildUrl(view.build) === null ? 'no button to open it: CI gave no link' : null
  const { recovery, asked, missing, replaces } = view
  return joined([
    historyLine(view),
    redSince(recovery),
    hintOf(view),
    asked && askedWords(asked),
    missing && missingWords(missing),
    replacesLine(replaces, channel),
    noLink,
  ])
}

// Whom nobody can restart from here, such as a Pro project's build, is not told to be.
function hintOf({ shown, offers }: CardView): string | null {
  const { hint } = lookOf(shown)
  return shown === 'infrastructure_failure' && offers.includes('restart') ? `${hint}: restart it` : hint
}

/** `started 14:02, failed 14:09, 7 min`, and where no delivery told of the end: `CI was asked 17:20` */
function historyLine(view: CardView): string {
  const said = ({ what, at }: Step) => {
    const time = clockTime(at)
    return time && `${stepWord(what, view)} ${time}`
  }
  const [polled, steps] = [view.history.filter(isPolled), view.history.filter((step) => !isPolled(step))]
  const duration = view.durationMs === null ? null : durationWords(view.durationMs)
  return joined([...steps.map(said), duration, ...polled.map(said)], ', ')
}

type Step = CardView['history'][number]

const isPolled = ({ what }: Step): boolean => what === 'polled'

function stepWord(what: Step['what'], view: CardView): string {
  if (what === 'polled') return 'CI was asked'
  if (what === 'ended') return lookOf(view.shown).ended
  if (what === 'waiting') return 'waiting since'
  return what === 'heard' ? 'heard of it' : what
}

function replacesLine(ts: MessageTs | null, channel: ChannelId | null): string | null {
  if (ts === null) return null
  const time = dayTime(Number(ts) * 1_000)
  const before =
    channel === null ? 'an earlier card' : mrkdwnLink(addressOf(channel, ts), 'an earlier card', INLINE_URL_CHARS_MAX)
  return time ? `goes on from ${before} of ${time}` : `goes on from ${before}`
}

/** Slack leads this address to the workspace that the reader is signed in to. */
export const addressOf = (channel: ChannelId, ts: MessageTs): string =>
  `https://slack.com/archives/${channel}/p${ts.replace('.', '')}`

function actionsOf({ build, shown, offers, ref, unconfirmed }: CardView): ActionsBlock[] {
  const url = buildUrl(build)
  const open =
    url === null ? [] : [{ type: 'button', action_id: ACTION_IDS.open, text: plain('Open build'), url } as const]
  const acts = offers.map((action) => actButton(action, ref, { ...build, unconfirmed }))
  // A machine's failure is nobody's fault: there is nothing to read before running it again.
  const elements: Button[] = shown === 'infrastructure_failure' ? [...acts, ...open] : [...open, ...acts]
  return elements.length === 0 ? [] : [{ type: 'actions', block_id: ACTIONS_BLOCK_ID, elements }]
}
