import { attemptRefText } from '../../domain/cards/request.ts'
import type { BuildSummary } from '../../projects/outcomes.ts'
import { answerOf, answerError, line, small, type Answer, type Part, typed } from '../../slack/messages/answer.ts'
import type { AnswerContext } from '../../slack/messages/answer.ts'
import { streakButton, laterWords, ownershipWords, untilWords } from '../../slack/messages/streak.ts'
import { branchName, linkedBuild, mention, onBranch, projectLabel } from '../../slack/messages/build.ts'
import { actionButton } from '../../slack/messages/request.ts'
import { buildLine, redCount } from '../kit/build.ts'
import { answerRefused } from '../kit/not-allowed.ts'
import { answerNotFound, isNotFound } from '../kit/not-found.ts'
import type { StreakOutcome, NotRed, RedBranch } from './action.ts'

type Of<Kind extends StreakOutcome['kind']> = Extract<StreakOutcome, { kind: Kind }>

/** Answers the requester. Mentions notify nobody, since only the requester sees it. */
export function answerStreak(outcome: StreakOutcome, context: AnswerContext): Answer {
  if (isNotFound(outcome) || outcome.kind === 'fixed' || outcome.kind === 'not-red')
    return answerNotRed(outcome, context)
  switch (outcome.kind) {
    case 'changed':
      return answerOf([line(changedWords(outcome)), small("The build's thread says so too.")])
    case 'unchanged':
      return answerError({
        what: `:information_source: *Nothing to change* for ${subjectOf(outcome.red)}: ${stateWords(outcome.red)}.`,
        ...unchangedWords(outcome),
      })
    case 'not-a-member':
      return answerError({
        what: `:no_entry: *${mention(outcome.user) || 'That account'} cannot look after a branch*; nothing was changed.`,
        why: 'Only full members of this workspace can, and Slack does not list this person as one.',
        next: 'Open the form again, and choose another person.',
      })
    case 'forbidden':
    case 'unknown-person':
      return answerRefused(outcome, context.reference)
  }
}

function unchangedWords({ action, red }: Of<'unchanged'>): { why: string; next: string } {
  const press = `Press *${streakButton('', red.ownership.owner !== null).text.text}*`
  switch (action) {
    case 'take':
      return { why: 'You are already on it until then.', next: `${press} to choose another time.` }
    case 'hand':
      return { why: 'They are already on it.', next: `${press} to choose another person.` }
    case 'snooze':
      return { why: 'Reminders are already snoozed until then.', next: `${press} to choose another time.` }
    case 'let-go':
      return { why: 'Only the person who is on it can let it go.', next: `${press} to take it yourself.` }
  }
}

export function answerNotRed(outcome: NotRed, context: AnswerContext): Answer {
  if (isNotFound(outcome)) return answerNotFound(outcome, context)
  switch (outcome.kind) {
    case 'fixed': {
      const by = outcome.by === null ? '' : ` by ${linkedBuild(outcome.by)}`
      return answerError({ what: `:white_check_mark: *Already fixed*${by}${after(outcome)}`, why: null, next: LOOK })
    }
    case 'not-red':
      return answerError({ what: notRed(outcome), why: null, next: LOOK })
  }
}

function notRed({ build }: Extract<NotRed, { kind: 'not-red' }>): string {
  const branch = build ? `${projectLabel(build)}${onBranch(build)}` : 'this branch'
  if (build?.streak) return `:warning: *Nobody needs to look after* ${branch}: ${ONLY_MACHINES}; nothing was changed.`
  return `:mag: *Not red*: no build of ${branch} has failed since it last passed; nothing was changed.`
}

const ONLY_MACHINES = 'its builds ended only in CI machine errors'

const after = ({ project, branch, by }: Extract<NotRed, { kind: 'fixed' }>): string =>
  `${by === null ? `: ${projectLabel({ project })}` : ''}${onBranch({ branch })}; nothing was changed.`

export const answerOnNone = (): Answer =>
  answerError({ what: ':information_source: *You are on no branch*; nothing was changed.', why: null, next: LOOK })

const LOOK = `Type ${typed('/ci red')} to see what is red now.`

function changedWords({ change: { kind, to, until, at }, red }: Of<'changed'>): string {
  switch (kind) {
    case 'taken':
      return `:raising_hand: *You're on* ${subjectOf(red)}${untilWords(until, at)}.`
    case 'handed':
      return `:raising_hand: *Handed over* to ${mention(to) || 'somebody'}${untilWords(until, at)}: ${subjectOf(red)}.`
    case 'snoozed':
      return `:zzz: *Reminders snoozed*${laterWords(until)}: ${subjectOf(red)}.`
    case 'let-go':
    case 'left':
    case 'deleted':
    case 'renamed':
    case 'merged':
    case 'closed':
    case 'reminded':
    case 'lapsed':
      return `:wave: *Nobody is on it now*: ${subjectOf(red)}.`
  }
}

/** ``acme/web `main` `` */
export const subjectOf = ({ project, branch }: Pick<RedBranch, 'project' | 'branch'>): string =>
  `${projectLabel({ project })} ${branchName(branch)}`

/** `@Ada is on it until 15:00`, `nobody is on it` */
const stateWords = ({ ownership }: RedBranch): string => ownershipWords(ownership) || 'nobody is on it'

/**
 * The red branches, since when, who is on them, and the button.
 * @param where ` in this channel's projects`
 */
export function answerRed({ builds, more }: { builds: readonly BuildSummary[]; more: number }, where: string): Answer {
  if (builds.length === 0) return answerOf([line(`:white_check_mark: *No red branches*${where}`)])
  return answerOf([
    line(`:x: *${redCount(builds.length + more)}*${where}`),
    ...builds.map(redPart),
    ...(more > 0 ? [line(`… and ${more} more. Type ${typed('/ci red project')} to see one project.`)] : []),
  ])
}

/** A line with the red branch's button. A CI machine error needs no owner: it has the first possible action. */
export function redPart(build: BuildSummary): Part {
  const [action] = build.offers
  const act = action && actionButton(action, attemptRefText(build.ref), build)
  const button = build.ownership ? streakButton(build.ownership.id, build.ownership.owner !== null) : act
  const text = build.ownership ? buildLine(build) : `${buildLine(build)} · nobody needs to look after it`
  return { kind: 'line', text, ...(button && { button }) }
}
