import type { Button } from '../../slack/messages/blocks.ts'
import { commitLine, onBranch, projectLabel } from '../../slack/messages/build.ts'
import { actionButton, missingWords } from '../../slack/messages/request.ts'
import { failuresLine } from '../../slack/messages/failures.ts'
import { ACTIONS_BLOCK_ID } from '../../slack/messages/ids.ts'
import { attemptRefText } from '../../domain/cards/request.ts'
import type { BuildSummary } from '../../projects/outcomes.ts'
import {
  answerOf,
  line,
  nextStep,
  row,
  small,
  type Answer,
  type AnswerContext,
  type Part,
  typed,
} from '../../slack/messages/answer.ts'
import {
  COUNTED_MAX,
  STATUS_BUILDS_MAX,
  type ChannelStatus,
  type RunningOutcome,
  type StatusOutcome,
} from './status.ts'
import { buildButtons, buildLine, inWords, redCount } from '../kit/build.ts'
import { answerNotFound, isNotFound } from '../kit/not-found.ts'

export const BUILDS_LISTED_MAX = 15

/** The last build of each branch, or of each project that the channel follows. */
export function answerStatus(outcome: StatusOutcome, context: AnswerContext): Answer {
  if (isNotFound(outcome)) return answerNotFound(outcome, context)
  switch (outcome.kind) {
    case 'status':
      return ofBuilds(outcome)
    case 'project-status':
      return ofProject(outcome)
    case 'channel-status':
      return ofChannel(outcome)
  }
}

/** The running builds, each with its Stop button, or why it has none. */
export function answerRunning({ builds, more, where }: RunningOutcome): Answer {
  if (builds.length === 0) return nothingHere(`:zzz: *Nothing is running*${inWords(where)}.`)
  const count = builds.length + more
  const head = line(`:arrow_forward: *${count === 1 ? '1 build runs' : `${count} builds run`}*${inWords(where)}`)
  return answerOf([head, ...listed(builds, more)])
}

/** The channel's builds that have a Restart button. */
export function answerRestartable(outcome: Pick<ChannelStatus, 'builds' | 'where'>): Answer {
  const builds = outcome.builds.filter(({ offers }) => offers.includes('restart'))
  const where = inWords(outcome.where)
  if (builds.length === 0) return nothingHere(`:zzz: *Nothing can be restarted*${where}.`)
  return answerOf([line(`:repeat: *What can be restarted*${where}`), ...listed(builds, 0)])
}

interface Overview {
  newest: Pick<ChannelStatus, 'builds' | 'red'>
  running: RunningOutcome
}

/** The red and the running builds, each once and with its button. */
export function answerOverview({ newest, running }: Overview): Answer {
  const more = small(`${typed('/ci help')} shows what else you can do.`)
  if (newest.builds.length === 0 && running.builds.length === 0)
    return answerOf([line(`:zzz: *No builds yet*${inWords(running.where)}.`), more])
  const names = new Set(running.builds.map(({ ref }) => attemptRefText(ref)))
  const red = newest.builds.filter(isRed)
  const count = running.builds.length + running.more
  const head =
    newest.red === 0 && count === 0
      ? ':white_check_mark: *Nothing is red and nothing is running*'
      : `${newest.red > 0 ? ':x:' : ':arrow_forward:'} *${newest.red} red, ${count} running*`
  return answerOf([
    line(`${head}${inWords(running.where)}`),
    ...listed(
      [...red.filter(({ ref }) => !names.has(attemptRefText(ref))), ...running.builds],
      running.more + Math.max(0, newest.red - red.length),
    ),
    more,
  ])
}

export const answerFound = (build: BuildSummary): Answer => answerOf(buildParts(build))

const buildParts = (build: BuildSummary): Part[] => [
  line(buildLine(build)),
  small(commitLine(build)),
  small(failuresLine(build.failures)),
  small(capital(missingOf(build) ?? '')),
  row(ACTIONS_BLOCK_ID, buildButtons(build)),
]

function ofBuilds({ project, branch, builds }: Extract<StatusOutcome, { kind: 'status' }>): Answer {
  const [newest, ...before] = builds
  const subject = `${projectLabel({ project: project.name })}${onBranch({ branch })}`
  if (!newest) return nothingHere(`:mag: *No build yet* for ${subject}.`)
  if (before.length === 0) return answerFound(newest)
  return answerOf([
    line(`:information_source: *The last ${builds.length} builds* of ${subject}`),
    ...buildParts(newest),
    ...before.map((build) => small(buildLine(build))),
  ])
}

function ofProject({ project, builds, more, red }: Extract<StatusOutcome, { kind: 'project-status' }>): Answer {
  const count = builds.length + more
  const label = projectLabel({ project: project.name })
  const head =
    red === 0
      ? `:information_source: ${label}: *no red branches*`
      : `:x: ${label}: *${red} of ${count} branches ${red === 1 ? 'is' : 'are'} red*`
  const hint = `Type ${typed('/ci status project branch')} to see one branch.`
  return answerOf([line(head), ...listed(builds, more, hint)])
}

function ofChannel({ builds, more, red, where }: ChannelStatus): Answer {
  if (builds.length === 0) return nothingHere(`:mag: *No build yet*${inWords(where)}.`)
  const head = red === 0 ? ':information_source: *No red branches*' : `:x: *${redCount(red)}*`
  return answerOf([line(`${head}${inWords(where)}`), ...listed(builds, more)])
}

const nothingHere = (what: string): Answer =>
  answerOf([line(what), line(nextStep(`Type ${typed('/ci status project')} to look at any other project.`))])

const isRed = ({ shown, streak }: BuildSummary): boolean =>
  streak !== null || shown === 'failed' || shown === 'infrastructure_failure'

function listed(
  builds: readonly BuildSummary[],
  more: number,
  hint = `Type ${typed('/ci status project')} to see one project.`,
): Part[] {
  const left = more + Math.max(0, builds.length - BUILDS_LISTED_MAX)
  const shown = builds.slice(0, BUILDS_LISTED_MAX).map(withButton)
  if (left === 0) return shown
  return [...shown, line(`… and ${left >= COUNTED_MAX - STATUS_BUILDS_MAX ? 'at least ' : ''}${left} more. ${hint}`)]
}

/** A line with a button for the first possible action, or with the reason why there is none. */
function withButton(build: BuildSummary): Part {
  const missing = missingOf(build)
  const text = missing === null ? buildLine(build) : `${buildLine(build)} · ${missing}`
  const [button] = build.offers.map((action): Button => actionButton(action, attemptRefText(build.ref), build))
  return { kind: 'line', text, ...(button && { button }) }
}

const missingOf = ({ missing }: BuildSummary): string | null => missing && missingWords(missing)

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
