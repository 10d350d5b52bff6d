import type { NoticeView } from '../../domain/view.ts'
import { mrkdwnLink } from '../../lib/escape.ts'
import { section, type SectionBlock, type SlackMessage } from '../../slack/messages/blocks.ts'
import { buildName, joined, onBranch, outside, projectName } from '../../slack/messages/build.ts'
import { INLINE_URL_CHARS_MAX, SECTION_CHARS_MAX } from '../../slack/messages/limits.ts'
import { NOTICE_LOOK } from '../../slack/messages/words.ts'

/** The account's notice of one day: how many builds did not run, why, and which. Neutral: no build did wrong. Pure. */
export function renderNotice(view: NoticeView): SlackMessage {
  const blocks = sectionsOf(linesOf(view))
  const attachments = blocks.length === 0 ? [] : [{ color: NOTICE_LOOK.color, fallback: countWords(view), blocks }]
  return { text: noticeLine(view), attachments }
}

/** The notice without blocks: the counts, and the projects by name. */
export const plainNotice = (view: NoticeView): string => noticeLine(view)

/** A screen reader gets the first projects by name; the list has them all. */
const PROJECTS_NAMED_MAX = 3
const DAY_CHARS_MAX = 10

function noticeLine(view: NoticeView): string {
  const reasons = joined([countOf('monthly limit', view.ignored), countOf('resource use', view.blocked)], ', ')
  const day = `on ${outside(view.day, DAY_CHARS_MAX)} (UTC)`
  const counted = `${NOTICE_LOOK.symbol} *${countWords(view)}* ${day}${reasons && `: ${reasons}`}`
  return joined([counted, projectNames(view)])
}

function countWords({ ignored, blocked }: NoticeView): string {
  const total = ignored + blocked
  return total === 1 ? '1 build was not built' : `${total} builds were not built`
}

const countOf = (reason: string, count: number): string | null => (count > 0 ? `${reason} (${count})` : null)

function projectNames({ builds }: NoticeView): string {
  const names = [...new Set(builds.map(projectName))]
  return joined([...names.slice(0, PROJECTS_NAMED_MAX), names.length > PROJECTS_NAMED_MAX ? '…' : null], ', ')
}

function linesOf({ builds, ignored, blocked }: NoticeView): string[] {
  const more = ignored + blocked - builds.length
  return [...builds.map(buildLine), ...(more > 0 ? [`and ${more} more`] : [])]
}

function buildLine(build: NoticeView['builds'][number]): string {
  const name = mrkdwnLink(build.buildUrl, buildName(build), INLINE_URL_CHARS_MAX)
  return `• ${name}${onBranch(build)} · ${build.shown === 'blocked' ? 'resource use' : 'monthly limit'}`
}

/** As few sections as hold all the lines. */
function sectionsOf(lines: readonly string[]): SectionBlock[] {
  const texts: string[] = []
  for (const line of lines) {
    const longer = joined([texts.at(-1) ?? '', line], '\n')
    if (texts.length === 0 || longer.length > SECTION_CHARS_MAX) texts.push(line)
    else texts[texts.length - 1] = longer
  }
  return texts.map(section)
}
