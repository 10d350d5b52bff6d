import type { Reason } from '../../domain/decide.ts'
import { codeSpan, toLine } from '../../lib/escape.ts'
import { outside } from '../../slack/messages/build.ts'
import { ACTIONS_BLOCK_ID } from '../../slack/messages/ids.ts'
import { cut, WORD_CHARS_MAX } from '../../slack/messages/limits.ts'
import { dayTime } from '../../slack/messages/times.ts'
import type { Explained, WhyOutcome } from '../../catalog/outcomes.ts'
import { answerOf, line, row, type Answer, type AskedWith } from '../../slack/messages/answer.ts'
import { buildButtons, buildLine } from '../build.ts'
import { answerNotFound, isNotFound } from '../not-found.ts'
import { hiddenParts } from '../hidden.ts'
import { postedWords } from './posted-messages.ts'
import { lookedWords } from './rule-messages.ts'

/** The most decisions that one answer lists. */
export const DECISIONS_LISTED_MAX = 20
/** The most rules of one decision. */
export const RULES_LISTED_MAX = 8
/** Decisions are listed whole, and no further one where they are so long together, in characters. */
export const WHY_CHARS_MAX = 9_000

type Found = Extract<WhyOutcome, { kind: 'why' }>

/** Why each channel was told of each fact of a build, or was not; the newest first. */
export const answerWhy = (outcome: WhyOutcome, asked: AskedWith): Answer =>
  isNotFound(outcome) ? answerNotFound(outcome, asked) : explained(outcome)

function explained({ build, decisions, more, hidden }: Found): Answer {
  const listed = listedOf(decisions.toReversed())
  const left = more + decisions.length - listed.length
  return answerOf([
    line(buildLine(build)),
    ...(decisions.length === 0 && hidden === 0 ? [line(NOBODY)] : []),
    ...listed.flat().map(line),
    ...(left > 0 ? [line(`… and ${left} earlier`)] : []),
    ...hiddenParts(hidden),
    row(ACTIONS_BLOCK_ID, buildButtons(build)),
  ])
}

const NOBODY = 'No channel follows this project: nobody was told, and nobody was to be told.'

/** The lines of each decision, the newest first; at least one is listed. */
function listedOf(newestFirst: readonly Explained[]): string[][] {
  const listed: string[][] = []
  let chars = 0
  for (const decision of newestFirst.slice(0, DECISIONS_LISTED_MAX)) {
    const lines = decisionLines(decision)
    chars += lines.join('\n').length
    if (listed.length > 0 && chars > WHY_CHARS_MAX) break
    listed.push(lines)
  }
  return listed
}

/** The verdict with its reason in one line, a line for each rule that was looked at, and what stands there. */
function decisionLines(decision: Explained): string[] {
  const { channel, word, at, verdict, reason, looked } = decision
  const when = dayTime(at)
  const heard = `${outside(word, WORD_CHARS_MAX) || '(no word)'}${when === null ? '' : `, heard ${when}`}`
  const left = looked.length - RULES_LISTED_MAX
  return [
    `• <#${channel}> ${VERDICTS[verdict]}: ${heard}. ${reasonWords(reason)} (${codeSpan(cut(toLine(reason), WORD_CHARS_MAX)) || 'no name'})`,
    ...looked.slice(0, RULES_LISTED_MAX).map((one, n) => `    ◦ rule ${n + 1}${lookedWords(one, decision)}`),
    ...(left > 0 ? [`    ◦ … and ${left} more`] : []),
    `    ◦ ${postedWords(decision)}`,
  ]
}

const VERDICTS: Record<Explained['verdict'], string> = {
  tell: '*told*',
  update: '*card updated*',
  silent: '*not told*',
}

const REASONS: Record<Reason, string> = {
  'event-selected': 'A rule selects this event on this branch.',
  'every-event': 'This channel follows every event.',
  'rules-unread': "The project's rules could not be read, so every event was told.",
  'account-notice': "It is the account's trouble: it goes into the notice of the day.",
  'updates-card': 'No rule selects it, but the card was there and shows the newest state.',
  'event-not-selected': 'No rule selects this event on this branch.',
  'branch-not-matched': 'No rule covers this branch.',
  'branch-unknown': 'CI named no branch, and the rules ask for one.',
  'pattern-invalid': 'The branch pattern of a rule is invalid, and so matches nothing.',
  duplicate: 'CI said this before: nothing changed.',
  late: 'It came after the end of the run: it changes nothing.',
}

export const reasonWords = (reason: string): string =>
  isReason(reason) ? REASONS[reason] : `Reason: ${shown(reason)}.`

const isReason = (reason: string): reason is Reason => Object.hasOwn(REASONS, reason)

const shown = (word: string): string => outside(word, WORD_CHARS_MAX) || '(none)'
