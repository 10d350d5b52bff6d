import { flakyLine } from '../../slack/messages/digest.ts'
import { counted, outside, projectLabel } from '../../slack/messages/build.ts'
import { answerOf, line, nextStep, small, typed, type Answer, type AnswerContext } from '../../slack/messages/answer.ts'
import { NAME_CHARS_MAX } from '../../slack/messages/failures.ts'
import { dayTime } from '../../slack/messages/times.ts'
import { answerNotFound, isNotFound } from '../kit/not-found.ts'
import { FLAKY_DAYS_MAX, type FlakyOutcome } from './flaky.ts'

/** Branches with commits that passed only on a later attempt, and tests that did so. */
export function answerFlaky(outcome: FlakyOutcome, context: AnswerContext): Answer {
  if (isNotFound(outcome)) return answerNotFound(outcome, context)
  const { project, days, since, branches, tests } = outcome
  const where = project === null ? '' : ` in ${projectLabel({ project })}`
  const when = `in the last ${days === 1 ? 'day' : `${days} days`}`
  const time = since === null ? null : dayTime(since)
  const kept = small(time === null ? '' : `Since ${time}, as older builds are not kept.`)
  if (branches.shown.length + tests.shown.length === 0)
    return answerOf([line(`:white_check_mark: *Nothing flaky*${where} ${when}.`), kept])
  return answerOf([
    line(`:game_die: *Flaky*${where} ${when}`),
    ...listOf('*Branches* with commits that passed only on a later attempt', branches, flakyLine),
    ...listOf('*Tests* that failed and passed on the same commit', tests, testLine),
    kept,
  ])
}

function listOf<One>(
  title: string,
  { shown, more }: { shown: readonly One[]; more: number },
  words: (one: One) => string,
) {
  if (shown.length === 0) return []
  const lines = [title, ...shown.map((one) => `• ${words(one)}`), ...(more > 0 ? [`… and ${more} more`] : [])]
  return lines.map(line)
}

/** `LoginTest › redirects (acme/web): 3 commits` */
function testLine({
  project,
  name,
  commits,
}: Extract<FlakyOutcome, { kind: 'flaky' }>['tests']['shown'][number]): string {
  return `${outside(name, NAME_CHARS_MAX) || '(no name)'} (${projectLabel({ project })}): ${counted(commits, 'commit')}`
}

/** The period is out of range. */
export const answerDays = (text: string): Answer =>
  answerOf([
    line(
      `:mag: *Not understood*: ${typed(text)} is not a period from ${typed('1d')} to ${typed(`${FLAKY_DAYS_MAX}d`)}.`,
    ),
    line(nextStep(`Type ${typed('/ci flaky 30d')}.`)),
  ])
