import type { ReplyView } from '../../domain/view.ts'
import { mrkdwnLink } from '../../lib/escape.ts'
import { contextOf, type SlackMessage } from '../../slack/messages/blocks.ts'
import { buildNumber, commitElements, commitLine, joined, onBranch, projectName } from '../../slack/messages/build.ts'
import { committerMention } from '../../slack/messages/handle.ts'
import { INLINE_URL_CHARS_MAX } from '../../slack/messages/limits.ts'
import { redSince } from './recovery.ts'
import { afterWords } from '../../slack/messages/times.ts'
import { lookOf } from '../../slack/messages/words.ts'

/**
 * A reply in the thread: one line, `:x: *Failed* after 7 min · web #512 on `main``. One that also goes to the channel
 * stands there without its card, so it brings the commit along. Pure.
 */
export function renderReply(view: ReplyView): SlackMessage {
  const { color, word } = lookOf(view.shown)
  const blocks = view.broadcast ? contextOf(commitElements(view.build)) : []
  const attachments = blocks.length === 0 ? [] : [{ color, fallback: fallbackOf(view, word), blocks }]
  return { text: replyLine(view), attachments }
}

/** The reply without blocks: what they would have said goes into the line. */
export const plainReply = (view: ReplyView): string =>
  view.broadcast ? joined([replyLine(view), commitLine(view.build)]) : replyLine(view)

function replyLine(view: ReplyView): string {
  const { symbol, word, hint } = lookOf(view.shown)
  const attempt = view.attempt > 1 || view.isLate ? `Attempt ${view.attempt} · ` : ''
  const after = view.durationMs === null ? '' : ` ${afterWords(view.durationMs)}`
  const outcome = `${symbol} ${attempt}*${word}*${after}`
  return joined([
    outcome,
    subjectOf(view),
    redSince(view.recovery),
    hint,
    committerMention(view.mention, view.build.committer),
  ])
}

/** Project, build and branch, with the build's number as the link to it. */
function subjectOf({ build }: ReplyView): string {
  const number = mrkdwnLink(build.buildUrl, buildNumber(build), INLINE_URL_CHARS_MAX)
  return `${projectName(build)} ${number}${onBranch(build)}`
}

const fallbackOf = ({ build }: ReplyView, word: string): string =>
  `${word}: ${projectName(build)} ${buildNumber(build)}`
