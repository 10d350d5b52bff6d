import type { Button } from '../../slack/messages/blocks.ts'
import { commitLine, onBranch, projectLabel } from '../../slack/messages/build.ts'
import { actionButton, missingWords } from '../../slack/messages/request.ts'
import { testsLine } from '../../slack/messages/tests.ts'
import { ACTIONS_BLOCK_ID } from '../../slack/messages/ids.ts'
import { attemptRefText } from '../../domain/request.ts'
import type { BuildSummary, RunningOutcome, StatusOutcome } from '../../catalog/outcomes.ts'
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
import { buildButtons, buildLine } from '../build.ts'
import { answerNotFound, isNotFound } from '../not-found.ts'

/** The most builds that one answer lists. */
export const BUILDS_LISTED_MAX = 15

/** The last build of each branch, or of each project that the channel follows. */
export function answerStatus(outcome: StatusOutcome, context: AnswerContext): Answer {
  if (isNotFound(outcome)) return answerNotFound(outcome, context)
  switch (outcome.kind) {
    case 'status':
      return ofProject(outcome)
    case 'channel-status':
      return ofChannel(outcome)
  }
}

/** What runs now, each with its Stop button, or why it has none. */
export function answerRunning({ builds, more }: RunningOutcome): Answer {
  if (builds.length === 0) return nothingHere(":zzz: *Nothing is running* in this channel's projects.")
  const count = builds.length + more
  const head = line(
    `:arrow_forward: *${count === 1 ? '1 build runs' : `${count} builds run`}* in this channel's projects`,
  )
  return answerOf([head, ...listed(builds, more)])
}

/** What is red and what runs, each once and with its button. */
export function answerOverview({
  newest,
  running,
}: {
  /** the red ones first; `more` may be red too */
  newest: Pick<RunningOutcome, 'builds' | 'more'>
  running: RunningOutcome
}): Answer {
  const more = small(`${typed('/ci help')} shows what else you can do.`)
  if (newest.builds.length === 0 && running.builds.length === 0)
    return answerOf([line(":zzz: *No builds yet* in this channel's projects."), more])
  const names = new Set(running.builds.map(({ ref }) => attemptRefText(ref)))
  const red = newest.builds.filter((build) => isRed(build) && !names.has(attemptRefText(build.ref)))
  const orMore = newest.more > 0 && newest.builds.every(isRed) ? ' or more' : ''
  const count = running.builds.length + running.more
  const head =
    red.length === 0 && count === 0
      ? ':white_check_mark: *Nothing is red and nothing is running*'
      : `${red.length > 0 ? ':x:' : ':arrow_forward:'} *${red.length}${orMore} red, ${count} running*`
  return answerOf([
    line(`${head} in this channel's projects`),
    ...listed([...red, ...running.builds], running.more),
    more,
  ])
}

/** One build with its buttons. */
export const answerFound = (build: BuildSummary): Answer => answerOf(buildParts(build))

const buildParts = (build: BuildSummary): Part[] => [
  line(buildLine(build)),
  small(commitLine(build)),
  small(testsLine(build.failedTests)),
  small(capital(missingOf(build) ?? '')),
  row(ACTIONS_BLOCK_ID, buildButtons(build)),
]

function ofProject({ project, branch, builds }: Extract<StatusOutcome, { kind: 'status' }>): Answer {
  const [only, ...others] = builds
  const subject = `${projectLabel({ project: project.name })}${onBranch({ branch })}`
  if (!only) return nothingHere(`:mag: *No build yet* for ${subject}.`)
  if (others.length === 0) return answerFound(only)
  if (branch !== null) return ofBranch(subject, builds)
  return answerOf([line(`${redSummary(builds, 'branches')}: ${subject}`), ...listed(builds, 0)])
}

/** The newest build with its buttons, and those before it in a line each. */
function ofBranch(subject: string, [newest, ...before]: readonly BuildSummary[]): Answer {
  const lines = before.map((build) => small(buildLine(build)))
  return answerOf([
    line(`:information_source: *The last ${before.length + 1} builds* of ${subject}`),
    ...(newest ? buildParts(newest) : []),
    ...lines,
  ])
}

function ofChannel({ builds, more }: Extract<StatusOutcome, { kind: 'channel-status' }>): Answer {
  if (builds.length === 0) return nothingHere(":mag: *No build yet* for this channel's projects.")
  return answerOf([
    line(`${redSummary(builds, more > 0 ? 'newest builds' : 'builds')} in this channel's projects`),
    ...listed(builds, more),
  ])
}

const nothingHere = (what: string): Answer =>
  answerOf([line(what), line(nextStep(`Type ${typed('/ci status project')} to look at any other project.`))])

/** `:x: *2 of 5 branches are red*` */
function redSummary(builds: readonly BuildSummary[], noun: string): string {
  const red = builds.filter(isRed).length
  const count =
    builds.length === 1
      ? `The last build is ${red === 0 ? 'not ' : ''}red`
      : `${red === 0 ? 'None' : red} of ${builds.length} ${noun} ${red <= 1 ? 'is' : 'are'} red`
  return `${red === 0 ? ':information_source:' : ':x:'} *${count}*`
}

const isRed = ({ shown, redSince }: BuildSummary): boolean =>
  redSince !== null || shown === 'failed' || shown === 'infrastructure_failure'

function listed(builds: readonly BuildSummary[], more: number): Part[] {
  const left = more + Math.max(0, builds.length - BUILDS_LISTED_MAX)
  const shown = builds.slice(0, BUILDS_LISTED_MAX).map(withButton)
  if (left === 0) return shown
  return [...shown, line(`… and ${left} more. Type ${typed('/ci status project')} to see one project.`)]
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
