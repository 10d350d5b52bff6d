import type { Reason } from '../../domain/decide.ts'
import type { RuleVerdict } from '../../domain/rule.ts'
import { outside } from '../../notify/slack/build.ts'
import { WORD_CHARS_MAX } from '../../notify/slack/limits.ts'
import { dayTime } from '../../notify/slack/times.ts'
import type { Explained, WhyOutcome } from '../../operations/asked.ts'
import { answerOf, line, row, type Answer, type AskedWith, type Part } from './answer.ts'
import { buildButtons, buildLine } from './build.ts'
import { answerNotFound, isNotFound } from './not-found.ts'
import { ACTIONS_BLOCK_ID } from '../../notify/slack/ids.ts'

/** The most decisions that one answer lists. */
export const DECISIONS_LISTED_MAX = 20
/** The most rules of one decision. */
export const RULES_LISTED_MAX = 8

type Found = Extract<WhyOutcome, { kind: 'why' }>

/** Why each channel was told of each fact of a build, or was not; the newest first. */
export const answerWhy = (outcome: WhyOutcome, asked: AskedWith): Answer =>
  isNotFound(outcome) ? answerNotFound(outcome, asked) : explained(outcome)

function explained({ build, decisions, more }: Found): Answer {
  const left = more + Math.max(0, decisions.length - DECISIONS_LISTED_MAX)
  return answerOf([
    line(buildLine(build)),
    ...(decisions.length === 0 ? [line(NOBODY)] : []),
    ...decisions.slice(-DECISIONS_LISTED_MAX).toReversed().flatMap(decisionLines),
    ...(left > 0 ? [line(`… and ${left} earlier`)] : []),
    row(ACTIONS_BLOCK_ID, buildButtons(build)),
  ])
}

const NOBODY = 'No channel follows this project: nobody was told, and nobody was to be told.'

/** The verdict with its reason in one line, and a line for each rule that was looked at. */
function decisionLines(decision: Explained): Part[] {
  const { channel, word, at, verdict, reason, looked } = decision
  const when = dayTime(at)
  const heard = `${outside(word, WORD_CHARS_MAX) || '(no word)'}${when === null ? '' : `, heard ${when}`}`
  const left = looked.length - RULES_LISTED_MAX
  return [
    line(`• <#${channel}> ${VERDICTS[verdict]}: ${heard}. ${reasonWords(reason)}${rulesWords(decision)}`),
    ...looked.slice(0, RULES_LISTED_MAX).map(({ verdict: one }, n) => line(`    ◦ rule ${n + 1} ${lookedWords(one)}`)),
    ...(left > 0 ? [line(`    ◦ … and ${left} more`)] : []),
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

const reasonWords = (reason: string): string => (isReason(reason) ? REASONS[reason] : `Reason: ${shown(reason)}.`)

const isReason = (reason: string): reason is Reason => Object.hasOwn(REASONS, reason)

const LOOKED: Record<RuleVerdict, string> = {
  selects: 'selects it',
  'branch-not-matched': 'does not cover this branch',
  'branch-unknown': 'asks for a branch, and CI named none',
  'pattern-invalid': 'has an invalid branch pattern, which matches nothing',
  'event-not-selected': 'covers the branch, but does not select this event',
}

const lookedWords = (looked: string): string => (isLooked(looked) ? LOOKED[looked] : `ended with ${shown(looked)}`)

const isLooked = (looked: string): looked is RuleVerdict => Object.hasOwn(LOOKED, looked)

const shown = (word: string): string => outside(word, WORD_CHARS_MAX) || '(none)'

const RULES_FROM: Record<Explained['rulesFrom'], string> = {
  ci: " The rules are the project's own, as CI holds them.",
  channel: " The rules are this channel's own.",
  nobody: '',
}

const rulesWords = ({ rulesFrom, looked }: Explained): string => (looked.length === 0 ? '' : RULES_FROM[rulesFrom])
