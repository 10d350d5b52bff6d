import { ACCOUNT_STATUSES, type AccountStatus } from '../../domain/builds/status.ts'
import type { View, ReplyView, NoticeView, Shown } from '../../domain/cards/view.ts'
import { assertNever } from '../../lib/assert.ts'
import { noteLine, reminderLine } from '../../slack/messages/streak.ts'
import { requestLine } from '../../slack/messages/request.ts'
import { type SlackMessage, section, type SectionBlock } from '../../slack/messages/blocks.ts'
import { plainDigest, renderDigest } from '../../slack/messages/digest.ts'
import { endWords, flakyWord, LATE_WORDS, plainCard, renderCard, spanWords, streakCount, type Place } from './card.ts'
import { mrkdwnLink } from '../../lib/escape.ts'
import { failuresReply } from '../../slack/messages/failures.ts'
import {
  joined,
  linkedBuild,
  mention,
  onBranch,
  projectLabel,
  buildName,
  outside,
  claimButton,
  isThisYou,
} from '../../slack/messages/build.ts'
import { COMMITTER_CHARS_MAX, INLINE_URL_CHARS_MAX, SECTION_CHARS_MAX } from '../../slack/messages/limits.ts'
import { afterWords, timeIn } from '../../slack/messages/times.ts'
import { ACCOUNT_REASONS, styleOf, NOTICE_STYLE } from '../../slack/messages/words.ts'

/**
 * Renders any view as a message that Slack accepts: within its limits, with all outside text escaped. `plain` leaves
 * out the blocks and puts their essentials into the text. Pure.
 */
export function renderView(
  view: View,
  { plain = false, channel = null, postedAt = null }: RenderOptions = {},
): SlackMessage {
  const place = { channel, postedAt }
  switch (view.kind) {
    case 'card':
      return plain ? textAlone(plainCard(view, place)) : renderCard(view, place)
    case 'reply':
      return plain ? textAlone(replyLine(view, place)) : renderReply(view, place)
    case 'failures':
      return textAlone(failuresReply(view))
    case 'request':
      return textAlone(requestLine(view))
    case 'note':
      return textAlone(noteLine(view))
    case 'reminder':
      return textAlone(reminderLine(view))
    case 'notice':
      return plain ? textAlone(noticeLine(view)) : renderNotice(view)
    case 'digest':
      return plain ? textAlone(plainDigest(view)) : renderDigest(view)
    default:
      return assertNever(view)
  }
}

interface RenderOptions extends Partial<Place> {
  plain?: boolean
}

const textAlone = (text: string): SlackMessage => ({ text, blocks: [], attachments: [] })

/** A reply is one line. A button needs a block, and Slack shows only blocks if there are any: the line is in both. */
function renderReply(view: ReplyView, place: Place): SlackMessage {
  const text = joined([replyLine(view, place), isThisYou(view.proposed)])
  const blocks =
    view.claim === null ? [] : [{ ...section(text), accessory: claimButton(view.claim, view.build.committer) }]
  return { text, blocks, attachments: [] }
}

/**
 * A reply in the thread, in one line: `:x: *Failed* after 7 min · @Ada`. One that is also sent to the channel appears
 * there without its card, so it names the build: `:x: *Failed* acme/web #512 on `main` after 7 min · @Ada`. A reply
 * with the button that claims the committer's name also shows that name. Once the commit has run again, the line in the
 * channel says what followed: `:x: *Failed, run again* acme/web #512 on `main``. Pure.
 */
function replyLine(view: ReplyView, { postedAt }: Place): string {
  const { symbol, label, hint } = styleOf(view.shown)
  const again =
    (view.attemptNumber > 1 || view.isLate) && view.shown !== 'flaky' ? `Attempt ${view.attemptNumber} · ` : ''
  const said = `${view.shown === 'flaky' ? flakyWord(view.attemptNumber) : label}${endWords(view.end)}`
  const build = ` ${linkedBuild(view.build)}${onBranch(view.build)}`
  const committer = view.claim === null ? null : outside(view.build.committer, COMMITTER_CHARS_MAX)
  if (view.later)
    return joined([
      `${laterSymbol(view.later) ?? symbol} *${said}, ${laterWords(view.later, view.shown)}*${build}`,
      committer,
    ])
  const outcome = `${symbol} ${again}*${said}*${view.broadcast ? build : ''}${afterWhat(view)}`
  // In the thread, the card says the hint.
  return joined([outcome, lateWords(view, postedAt), view.broadcast ? hint : null, mention(view.mention), committer])
}

type Later = NonNullable<ReplyView['later']>

const laterSymbol = ({ shown }: Later): string | null => (UNFINISHED.has(shown) ? null : styleOf(shown).symbol)

/** `run again`, `then stopped on attempt 2`, `then passed on attempt 2 (flaky)`, `and again on attempt 2` */
function laterWords({ shown, attemptNumber }: Later, before: Shown): string {
  if (UNFINISHED.has(shown)) return 'run again'
  if (shown === before && shown !== 'flaky') return `and again on attempt ${attemptNumber}`
  const said = shown === 'flaky' ? flakyWord(attemptNumber) : `${styleOf(shown).label} on attempt ${attemptNumber}`
  return `then ${said.replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase())}`
}

const UNFINISHED: ReadonlySet<Shown> = new Set(['requested', 'queued', 'started', 'waiting'])

function lateWords({ lateEnd }: ReplyView, postedAt: number | null): string | null {
  const time = lateEnd === undefined ? null : timeIn(lateEnd, postedAt)
  return time && `${LATE_WORDS} ${time}`
}

/** ` after 7 min`, and of a build that ended a red streak ` after 2 h red (3 builds)`. */
function afterWhat({ shown, streak, durationMs }: ReplyView): string {
  if (shown === 'fixed' && streak) return ` after ${spanWords(streak)} red (${streakCount(streak)})`
  return durationMs === null ? '' : ` ${afterWords(durationMs)}`
}

/** The account's notice of one day: how many builds did not run, why, and which. Neutral colours: no build failed. */
function renderNotice(view: NoticeView): SlackMessage {
  const blocks = sectionsOf(linesOf(view))
  const attachments = blocks.length === 0 ? [] : [{ color: NOTICE_STYLE.color, fallback: countWords(view), blocks }]
  return { text: noticeLine(view), blocks: [], attachments }
}

/** The text, for screen readers, names only the first projects; the list has all. */
const PROJECTS_NAMED_MAX = 3
const DAY_CHARS_MAX = 10

function noticeLine(view: NoticeView): string {
  const reasons = joined(
    reasonsOf(view).map((status) => `${ACCOUNT_REASONS[status]} (${view[status]})`),
    ', ',
  )
  const day = `on ${outside(view.day, DAY_CHARS_MAX)} (UTC)`
  const counted = `${NOTICE_STYLE.symbol} *${countWords(view)}* ${day}${reasons && `: ${reasons}`}`
  return joined([counted, projectNames(view)])
}

function countWords(view: NoticeView): string {
  const total = totalOf(view)
  return total === 1 ? '1 build was not built' : `${total} builds were not built`
}

const reasonsOf = (view: NoticeView): AccountStatus[] => ACCOUNT_STATUSES.filter((status) => view[status] > 0)

const totalOf = (view: NoticeView): number => ACCOUNT_STATUSES.reduce((sum, status) => sum + view[status], 0)

function projectNames({ builds }: NoticeView): string {
  const names = [...new Set(builds.map(projectLabel))]
  return joined([...names.slice(0, PROJECTS_NAMED_MAX), names.length > PROJECTS_NAMED_MAX ? '…' : null], ', ')
}

function linesOf(view: NoticeView): string[] {
  const { builds } = view
  const more = totalOf(view) - builds.length
  const hasReasons = reasonsOf(view).length > 1
  return [...builds.map((build) => buildLine(build, hasReasons)), ...(more > 0 ? [`and ${more} more`] : [])]
}

function buildLine(build: NoticeView['builds'][number], withReason: boolean): string {
  const name = mrkdwnLink(build.buildUrl, buildName(build), INLINE_URL_CHARS_MAX)
  return joined([`• ${name}${onBranch(build)}`, withReason ? ACCOUNT_REASONS[build.shown] : null])
}

/** Puts the lines into as few sections as possible. */
function sectionsOf(lines: readonly string[]): SectionBlock[] {
  const texts: string[] = []
  for (const line of lines) {
    const longer = joined([texts.at(-1) ?? '', line], '\n')
    if (texts.length === 0 || longer.length > SECTION_CHARS_MAX) texts.push(line)
    else texts[texts.length - 1] = longer
  }
  return texts.map(section)
}
