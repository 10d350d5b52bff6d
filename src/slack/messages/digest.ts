import type { Schedule } from '../../domain/rules/digest.ts'
import type { DigestView } from '../../domain/cards/view.ts'
import { toLine } from '../../lib/escape.ts'
import { answerOf, line, type Part } from './answer.ts'
import type { ImageBlock, SlackMessage } from './blocks.ts'
import { onItWords, sinceWords } from './streak.ts'
import { branchName, buildCount, joined, outside, projectLabel, somebody } from './build.ts'
import { cut, PROJECT_CHARS_MAX, WORD_CHARS_MAX } from './limits.ts'
import { dayTime, durationWords } from './times.ts'

// Digests: the message itself, when a channel gets one, and what its chart shows.

/** A digest: its counts in one line, the chart, then each list that is not empty. */
export function renderDigest(view: DigestView): SlackMessage {
  const head = answerOf(headOf(view))
  const lists = listsOf(view).flatMap((lines) => answerOf(lines).blocks)
  return { text: head.text, blocks: [...head.blocks, ...pictureOf(view), ...lists], attachments: [] }
}

/** The digest without blocks: as many of its lines as fit. */
export const plainDigest = (view: DigestView): string => answerOf(digestLines(view)).text

/** Everything but the chart. */
export const digestLines = (view: DigestView): Part[] => [...headOf(view), ...listsOf(view).flat()]

function headOf(view: DigestView): Part[] {
  const title = `:bar_chart: *${titleOf(view)}*`
  const { builds, redNow } = view
  if (builds === 0) return [line(joined([`${title}: no builds`, retentionWords(view), stillRed(redNow)]))]
  return [line(title), line(joined([buildCount(builds), passedWords(view), retentionWords(view)]))]
}

function listsOf({ builds, red, redNow, flaky, slower }: DigestView): Part[][] {
  if (builds === 0) return []
  return [
    listOf('Red the longest', red, (one) => durationWords(one.forMs)),
    listOf('Red now', redNow, redWords),
    listOf('Flaky', flaky, flakyWords),
    listOf('Slower', slower, slowerWords),
  ]
}

/** `acme builds, 16–22 November` */
const titleOf = ({ about, firstDay, lastDay }: DigestView): string =>
  `${about === null ? 'Builds' : `${outside(about, PROJECT_CHARS_MAX) || '(no name)'} builds`}, ${daysInWords(firstDay, lastDay)}`

/** `16–22 November`, `30 November – 6 December`, `Tuesday 24 November` */
export function daysInWords(first: string, last: string): string {
  const [from, to] = [new Date(first), new Date(last)]
  if (first === last) return LONG_DAY.format(from).replace(',', '')
  const isOneMonth = first.slice(0, 7) === last.slice(0, 7)
  return isOneMonth ? `${from.getUTCDate()}–${DAY.format(to)}` : `${DAY.format(from)} – ${DAY.format(to)}`
}

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', timeZone: 'UTC' })
const LONG_DAY = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long', timeZone: 'UTC' })

/** `94% passed (▲ 2 points from the week before)` */
function passedWords({ builds, passed, before, every }: DigestView): string {
  const rate = percentOf(passed, builds)
  if (before === null) return `${rate}% passed`
  const points = rate - percentOf(before.passed, before.builds)
  if (points === 0) return `${rate}% passed (as in the ${every} before)`
  const by = `${points > 0 ? '▲' : '▼'} ${Math.abs(points)} ${Math.abs(points) === 1 ? 'point' : 'points'}`
  return `${rate}% passed (${by} from the ${every} before)`
}

function retentionWords({ since }: Pick<DigestView, 'since'>): string | null {
  const time = since === null ? null : dayTime(since)
  return time && `since ${time}, as older builds are not kept`
}

/** Branches named in one line, at most. */
const NAMED_MAX = 3

function stillRed({ shown, more }: DigestView['redNow']): string | null {
  if (shown.length === 0) return null
  const left = shown.length + more - NAMED_MAX
  const names = shown.slice(0, NAMED_MAX).map((one) => {
    const who = whoIsOn(one.onIt)
    return who === null ? projectBranch(one) : `${projectBranch(one)} (${who})`
  })
  return `still red: ${[...names, ...(left > 0 ? [`${left} more`] : [])].join(', ')}`
}

type OfBranch = Pick<DigestView['red']['shown'][number], 'project' | 'branch'>

function listOf<One extends OfBranch>(
  title: string,
  { shown, more }: { shown: readonly One[]; more: number },
  words: (one: One) => string,
): Part[] {
  if (shown.length === 0) return []
  const lines = shown.map((one) => `• ${projectBranch(one)}: ${words(one)}`)
  return [`*${title}*`, ...lines, ...(more > 0 ? [`… and ${more} more`] : [])].map(line)
}

/** ``acme/web `main` `` */
const projectBranch = ({ project, branch }: OfBranch): string => `${projectLabel({ project })} ${branchName(branch)}`

const whoIsOn = (onIt: DigestView['redNow']['shown'][number]['onIt']): string | null =>
  onIt ? onItWords(outside(onIt.name, WORD_CHARS_MAX) || 'Somebody', onIt) : null

/** `since May 3 09:30 (3 builds) · Ada is on it until 15:00` */
function redWords({ since, onIt }: DigestView['redNow']['shown'][number]): string {
  return joined([since ? sinceWords(since) : 'red', whoIsOn(onIt)])
}

/** `4 of 31 commits (13%), 42 min lost to reruns` */
export const flakyWords = ({ commits, flaky, lostMs }: DigestView['flaky']['shown'][number]): string =>
  joined(
    [
      `${flaky} of ${commits} ${commits === 1 ? 'commit' : 'commits'} (${percentOf(flaky, commits)}%)`,
      lostMs > 0 ? `${durationWords(lostMs)} lost to reruns` : null,
    ],
    ', ',
  )

export const flakyLine = (one: DigestView['flaky']['shown'][number]): string =>
  `${projectBranch(one)}: ${flakyWords(one)}`

/** `12 min, was 9 min (+33%)` */
const slowerWords = ({ beforeMs, nowMs }: DigestView['slower']['shown'][number]): string =>
  `${durationWords(nowMs)}, was ${durationWords(beforeMs)} (+${percentOf(nowMs - beforeMs, beforeMs)}%)`

function pictureOf(view: DigestView): ImageBlock[] {
  if (view.picture === null) return []
  return [{ type: 'image', slack_file: { id: view.picture }, alt_text: chartInWords(view) }]
}

export const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const

/** `every Monday at 9:00 (Europe/Berlin)` */
function scheduleWords({ weekday, minute, zone }: Schedule): string {
  const day = weekday === null ? 'day' : (WEEKDAYS[weekday - 1] ?? 'week')
  const time = `${Math.floor(minute / 60)}:${String(minute % 60).padStart(2, '0')}`
  return `every ${day} at ${time} (${outside(zone, WORD_CHARS_MAX)})`
}

/** `every Monday at 9:00 (Europe/Berlin) · next Nov 30 9:00` */
export function digestWords({ schedule, nextAt }: { schedule: Schedule; nextAt: number }): string {
  const next = dayTime(nextAt)
  return joined([scheduleWords(schedule), next && `next ${next}`])
}

export const digestSetLine = (user: string, schedule: Schedule): string =>
  `:bar_chart: ${somebody(user)} set a digest for this channel: ${scheduleWords(schedule)}.`

export const digestOffLine = (user: string): string => `:bar_chart: ${somebody(user)} turned off this channel's digest.`

const ALT_CHARS_MAX = 1_000

/** The chart's alternative text. */
export function chartInWords({ days, red }: Pick<DigestView, 'days' | 'red'>): string {
  const counts = days.map(({ day, builds, passed }) => {
    const rate = builds === 0 ? '' : `, ${percentOf(passed, builds)}% passed`
    return `${day}: ${buildCount(builds)}${rate}`
  })
  const times = red.shown.map(({ project, branch, forMs }) => `${project} ${branch}: red for ${durationWords(forMs)}`)
  return cut(toLine(['Builds by day', ...counts, ...times].join('; ')), ALT_CHARS_MAX)
}

/** In whole percent. */
export const percentOf = (part: number, whole: number): number => Math.round((100 * part) / whole)
