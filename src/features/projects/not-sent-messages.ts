import { outside, projectName, mention } from '../../slack/messages/build.ts'
import { MESSAGE_CHARS_MAX } from '../../slack/messages/limits.ts'
import { dayTime } from '../../slack/messages/times.ts'
import type { ChangedMeanwhile, NotSent } from './outcomes.ts'
import type { NotFound, ProjectRef } from '../../catalog/outcomes.ts'
import { assertNever } from '../../lib/assert.ts'
import { answerTrouble, type Answer, type AskedWith } from '../../slack/messages/answer.ts'
import { SO_FAR } from '../builds/act-messages.ts'
import { answerNotAllowed } from '../not-allowed.ts'
import { answerNotFound, isNotFound } from '../not-found.ts'
import { fieldsWords, fieldWords } from './words.ts'
import { answerCiTrouble } from '../trouble.ts'
import { typed } from '../../slack/messages/typed.ts'

/** Why nothing was sent to CI. */
export function answerNotSent(outcome: NotSent, asked: AskedWith): Answer {
  if (isNotFound(outcome)) return answerNotFound(outcome, asked)
  const { reference } = asked
  switch (outcome.kind) {
    case 'no-v2':
      return answerNoV2(reference)
    case 'not-listed':
      return answerNotListed(outcome.project, reference)
    case 'faults':
      return answerTrouble(faultTrouble(outcome), reference)
    case 'asked-already':
      return answerTrouble(askedAlready(outcome), reference)
    case 'ci-trouble':
      return answerCiTrouble(outcome, ':warning: *CI could not be asked*: nothing was changed.', reference)
    case 'forbidden':
      return answerNotAllowed(outcome.permit, { action: outcome.action, reference })
    case 'unknown-person':
      return answerNotAllowed(outcome, { action: 'administer', reference })
    default:
      return assertNever(outcome)
  }
}

/** Whether an outcome is one of these, whatever else it could be. */
export const isNotSent = (outcome: { kind: string }): outcome is NotSent =>
  isNotFound(outcome) || Object.hasOwn(NOT_SENT, outcome.kind)

const NOT_SENT: Record<Exclude<NotSent['kind'], NotFound['kind']>, true> = {
  'no-v2': true,
  'not-listed': true,
  faults: true,
  'asked-already': true,
  'ci-trouble': true,
  forbidden: true,
  'unknown-person': true,
}

export const answerNoV2 = (reference: string): Answer =>
  answerTrouble(
    {
      what: ":warning: *Projects cannot be read*: CI's v2 interface is not configured.",
      why: null,
      next: 'Ask whoever runs Buildline to set CI_BASE_URL and what goes with it.',
    },
    reference,
  )

export const answerNotListed = ({ name }: ProjectRef, reference: string): Answer =>
  answerTrouble(
    {
      what: `:mag: *CI does not list ${projectName({ project: name })}* in its v2 interface.`,
      why: "It is gone, or Buildline's credentials do not reach it.",
      next: `Type ${typed('/ci list')} to see all that CI lists.`,
    },
    reference,
  )

const FAULTS_SHOWN_MAX = 10

function faultTrouble({ faults }: Extract<NotSent, { kind: 'faults' }>) {
  const left = faults.length - FAULTS_SHOWN_MAX
  const shown = faults
    .slice(0, FAULTS_SHOWN_MAX)
    .map(({ field, reason }) => `• ${fieldWords(field)}: ${outside(reason, MESSAGE_CHARS_MAX)}`)
  return {
    what: ':pencil2: *This cannot be sent to CI*: nothing was changed.',
    why: left > 0 ? [...shown, `… and ${left} more`] : shown,
    next: 'Go back, mend it, and send it again.',
  }
}

function askedAlready({ by, at, state }: Extract<NotSent, { kind: 'asked-already' }>) {
  const when = dayTime(at)
  return {
    what: ':information_source: *Asked for already*: CI is not asked again.',
    why: `${mention(by) || 'Somebody'} asked for it${when === null ? '' : ` on ${when}`}. ${SO_FAR[state]}`,
    next: 'Wait until that has ended, then look at the project again.',
  }
}

/** Somebody else was faster: nothing was sent. */
export function answerChangedMeanwhile({ project, theirs, by }: ChangedMeanwhile, reference: string): Answer {
  const who = mention(by) || 'Somebody else'
  return answerTrouble(
    {
      what: `:twisted_rightwards_arrows: *Not sent*: ${projectName({ project: project.name })} has been changed meanwhile.`,
      why: `${who} changed ${fieldsWords(theirs)} after you had looked at it.`,
      next: `Type ${typed(`/ci project edit ${project.name}`)} to see it as it is now, and change it again.`,
    },
    reference,
  )
}
