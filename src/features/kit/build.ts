import { attemptRefText, type RequestState } from '../../domain/cards/request.ts'
import { mrkdwnLink } from '../../lib/escape.ts'
import type { BuildSummary, ProjectRef, Where } from '../../projects/outcomes.ts'
import { plain, type ActionButton, type Button } from '../../slack/messages/blocks.ts'
import { buildNumber, buildUrl, joined, onBranch, outside, projectLabel } from '../../slack/messages/build.ts'
import { sinceWords, ownershipWords } from '../../slack/messages/streak.ts'
import { actionButton } from '../../slack/messages/request.ts'
import { ACTION_IDS, CHOICE_ACTION_IDS } from '../../slack/messages/ids.ts'
import { INLINE_URL_CHARS_MAX, WORD_CHARS_MAX } from '../../slack/messages/limits.ts'
import { dayTime } from '../../slack/messages/times.ts'
import { styleOf } from '../../slack/messages/words.ts'
import { choiceValue } from './values.ts'

/** `:x: *Failed* acme/web #512 on `main` · May 4 14:09 · red since …`: a whole build in one line. Markup. */
export function buildLine(build: BuildSummary): string {
  const onIt = build.ownership ? ownershipWords(build.ownership) : null
  const red = isOnlyRed(build) ? null : redWords(build.streak)
  return joined([`${stateWords(build)} ${buildSubject(build)}`, dayTime(build.at), red, onIt])
}

/** Whether this build is its branch's only red one, so that its own time says since when the branch is red. */
const isOnlyRed = ({ shown, streak }: BuildSummary): boolean =>
  (shown === 'failed' || shown === 'infrastructure_failure') && streak?.builds === 1 && !streak.atLeast

/** ` in this channel's projects`, with its leading blank. */
export const inWords = (where: Where): string =>
  where === 'channel' ? " in this channel's projects" : ' in all projects'

/** `4 branches are red` */
export const redCount = (count: number): string => (count === 1 ? '1 branch is red' : `${count} branches are red`)

/** `:x: *Failed*`. For a status that CI does not document: CI's own word. */
export function stateWords({ shown, word }: Pick<BuildSummary, 'shown' | 'word'>): string {
  const style = styleOf(shown)
  const own = shown === 'unknown' ? outside(word, WORD_CHARS_MAX) : ''
  return `${style.symbol} *${own || style.label}*`
}

/** Project, number as a link, branch, and the attempt's number if it is not the first. */
export function buildSubject(build: BuildSummary): string {
  const number = mrkdwnLink(build.buildUrl, buildNumber(build), INLINE_URL_CHARS_MAX)
  const again = build.attemptNumber > 1 ? ` (attempt ${build.attemptNumber})` : ''
  return `${projectLabel(build)} ${number}${again}${onBranch(build)}`
}

/** `red since May 3 09:30 (3 builds)`; null if the branch is not red. */
export const redWords = (red: BuildSummary['streak']): string | null => red && `red ${sinceWords(red)}`

/** *Open build* and the possible actions. After an infrastructure failure, actions come first: a restart may fix it. */
export function buildButtons(build: BuildSummary): Button[] {
  const acts = build.offers.map((action) => actionButton(action, attemptRefText(build.ref), build))
  return build.shown === 'infrastructure_failure' ? [...acts, ...openButton(build)] : [...openButton(build), ...acts]
}

export function openButton(build: BuildSummary): Button[] {
  const url = buildUrl(build)
  return url === null ? [] : [{ type: 'button', action_id: ACTION_IDS.open, text: plain('Open build'), url }]
}

/** Runs `status` again for this build. It is handled like any choice button. */
export function refreshButton({ ref }: BuildSummary): ActionButton[] {
  const value = choiceValue({ kind: 'run', command: 'status', ref })
  return value === null ? [] : [{ type: 'button', action_id: CHOICE_ACTION_IDS[0], text: plain('Refresh'), value }]
}

/** `acme/web · Basic`. Markup. */
export const projectLine = ({ name, type }: ProjectRef): string =>
  joined([projectLabel({ project: name }), typeWord(type)])

/** `Basic`, `Pro`, `GitHub`, `GitLab`, or for an undocumented type CI's own word; null without a type. Markup. */
export function typeWord(type: string | null): string | null {
  if (type === null) return null
  return TYPES.get(type.toLowerCase()) ?? outside(type, WORD_CHARS_MAX)
}

const TYPES = new Map([
  ['basic', 'Basic'],
  ['pro', 'Pro'],
  ['github', 'GitHub'],
  ['gitlab', 'GitLab'],
  ['unknown', 'type unknown'],
])

/** The progress of a request. */
export const SO_FAR: Record<RequestState, string> = {
  calling: 'The request to CI is in progress.',
  accepted: 'CI accepted the request and has not confirmed it yet.',
  unclear: 'It is not clear yet whether CI received it. Buildline is checking.',
  confirmed: 'CI has done it.',
  refused: 'CI refused it.',
  unconfirmed: 'CI has not confirmed it. Open the build to see.',
}
