import { ACCOUNT_STATUSES } from '../../domain/builds/status.ts'
import type { Shown } from '../../domain/cards/view.ts'
import { mrkdwnLink } from '../../lib/escape.ts'
import { plain, type ActionButton } from '../../slack/messages/blocks.ts'
import { buildNumber, counted, joined, onBranch } from '../../slack/messages/build.ts'
import { PAGE_ACTION_IDS, PAGES_BLOCK_ID } from '../../slack/messages/ids.ts'
import { INLINE_URL_CHARS_MAX } from '../../slack/messages/limits.ts'
import { dayTime } from '../../slack/messages/times.ts'
import type { ListQuery } from '../../projects/outcomes.ts'
import {
  answerOf,
  answerError,
  line,
  nextStep,
  row,
  small,
  type Answer,
  type AnswerContext,
  type Part,
  typed,
} from '../../slack/messages/answer.ts'
import { redCount, redWords, stateWords, projectLine, typeWord } from '../kit/build.ts'
import { failureWords, answerCiFailure } from '../kit/fault-messages.ts'
import { pageValue } from '../kit/values.ts'
import type { ListOutcome } from './list.ts'

type Projects = Extract<ListOutcome, { kind: 'projects' }>

/** One page of the projects with their last known state, or why there is none. */
export function answerList(outcome: ListOutcome, { reference }: Pick<AnswerContext, 'reference'>): Answer {
  switch (outcome.kind) {
    case 'projects':
      return outcome.projects.length === 0 ? noneFound(outcome) : found(outcome)
    case 'no-ci':
      return answerError(NO_CI)
    case 'ci-trouble':
      return answerCiFailure(
        outcome,
        ':warning: *No list*: CI could not be reached or did not answer properly.',
        reference,
      )
  }
}

const NO_CI = {
  what: ':warning: *No list*: Buildline is not connected to CI.',
  why: "Neither of CI's interfaces is configured.",
  next: 'Ask the person who runs Buildline to set CI_BASE_URL or CI_LEGACY_BASE_URL, with its credentials.',
}

function found(outcome: Projects): Answer {
  const { query, projects, page, pages, total } = outcome
  const pageWords = pages > 1 ? `page ${page} of ${pages}` : null
  return answerOf([
    line(joined([`:card_index_dividers: *${counted(total, 'project')}*${searched(query)}`, pageWords])),
    ...projects.map((one) => line(projectWithState(one))),
    ...footOf(outcome),
    row(PAGES_BLOCK_ID, pageButtons(outcome)),
  ])
}

/** `acme/web · Basic · :x: *Failed* #512 on `main` · May 4 14:09`, `acme/api · Basic · :x: *4 branches are red*` */
function projectWithState({ project, build, red }: Projects['projects'][number]): string {
  if (build === null) return `• ${joined([projectLine(project), 'no builds yet'])}`
  if (red > 1) return `• ${joined([projectLine(project), `:x: *${redCount(red)}*`])}`
  if (red === 0 && NO_RESULT.has(build.shown)) return `• ${joined([projectLine(project), 'no red branches'])}`
  const number = mrkdwnLink(build.buildUrl, buildNumber(build), INLINE_URL_CHARS_MAX)
  const state = `${stateWords(build)} ${number}${onBranch(build)}`
  return `• ${joined([projectLine(project), state, dayTime(build.at), redWords(build.streak)])}`
}

/** These do not say how a project is doing. */
const NO_RESULT: ReadonlySet<Shown> = new Set([...ACCOUNT_STATUSES, 'stopped', 'skipped', 'unknown'])

/** ` matching `web`, Basic only`: the search; empty if it was for everything. */
function searched({ text, type }: ListQuery): string {
  const named = text === null ? '' : ` matching ${typed(text)}`
  return type === null ? named : `${named}, ${typeWord(type)} only`
}

// `answerOf` leaves out empty parts.
const footOf = ({ from, stale, isWhole }: Projects): Part[] => [
  small(stale ? staleWords(stale) : isWhole ? '' : IN_PART),
  small(from === 'legacy' ? "From CI's legacy interface, which lists Basic projects only." : ''),
]

const IN_PART = ':warning: CI returned only part of its list, so a project may be missing.'

/** How old the list is, and why there is no newer one. */
function staleWords({ readAt, failure }: NonNullable<Projects['stale']>): string {
  const since = dayTime(readAt) ?? 'an earlier time'
  return `:warning: This list is from ${since}. ${failureWords(failure.code).why}`
}

function pageButtons({ query, page, pages }: Projects): ActionButton[] {
  const previous = page > 1 ? pageButton(PAGE_ACTION_IDS.previous, 'Previous', query, page - 1) : []
  const next = page < pages ? pageButton(PAGE_ACTION_IDS.next, 'Next', query, page + 1) : []
  return [...previous, ...next]
}

function pageButton(id: string, label: string, query: ListQuery, page: number): ActionButton[] {
  const value = pageValue({ ...query, page })
  return value === null ? [] : [{ type: 'button', action_id: id, text: plain(label), value }]
}

/** The search without results, and how to find more. */
function noneFound(outcome: Projects): Answer {
  const { query } = outcome
  const isNarrowed = query.text !== null || query.type !== null
  const first =
    outcome.from === null ? 'Push a commit: a project is listed once it has a build.' : 'Create a project in CI.'
  const wider = isNarrowed ? `Type ${typed('/ci list')} to see all projects.` : first
  const what = `:card_index_dividers: *No projects*${searched(query)}.`
  return answerOf([line(what), line(nextStep(wider)), ...footOf(outcome)])
}
