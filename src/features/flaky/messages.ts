import { flakyLine } from '../../alerts/messages/digest.ts'
import { projectName } from '../../slack/messages/build.ts'
import { answerOf, line, nextStep, small, typed, type Answer, type AnswerContext } from '../../slack/messages/answer.ts'
import { dayTime } from '../../slack/messages/times.ts'
import { answerNotFound, isNotFound } from '../not-found.ts'
import { FLAKY_DAYS_MAX, type FlakyOutcome } from './flaky.ts'

/** Which branches have commits that passed only on a later attempt. */
export function answerFlaky(outcome: FlakyOutcome, context: AnswerContext): Answer {
  if (isNotFound(outcome)) return answerNotFound(outcome, context)
  const { project, days, since, branches } = outcome
  const where = project === null ? '' : ` in ${projectName({ project })}`
  const when = `in the last ${days === 1 ? 'day' : `${days} days`}`
  const time = since === null ? null : dayTime(since)
  const kept = small(time === null ? '' : `Since ${time}: what is older is not kept.`)
  if (branches.shown.length === 0) return answerOf([line(`:white_check_mark: *Nothing flaky*${where} ${when}.`), kept])
  return answerOf([
    line(`:game_die: *Flaky*${where} ${when}: commits that passed only on a later attempt`),
    ...branches.shown.map((one) => line(`• ${flakyLine(one)}`)),
    ...(branches.more > 0 ? [line(`… and ${branches.more} more`)] : []),
    kept,
  ])
}

/** The period is none of those that are kept. */
export const answerDays = (text: string): Answer =>
  answerOf([
    line(
      `:mag: *Not understood*: ${typed(text)} is not a period from ${typed('1d')} to ${typed(`${FLAKY_DAYS_MAX}d`)}.`,
    ),
    line(nextStep(`Type ${typed('/ci flaky 30d')}.`)),
  ])
