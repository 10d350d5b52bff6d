import { assertNever } from '../../lib/assert.ts'
import { codeSpan } from '../../lib/escape.ts'
import { firstOf, projectLabel, outside, mention } from '../../slack/messages/build.ts'
import { isOpen, type ProjectAction, type ProjectRequest } from '../../domain/cards/request.ts'
import { topOf, type Difference } from '../../domain/ci-project/project-change.ts'
import type { SentInVain, NotSent } from './outcomes.ts'
import {
  answerOf,
  answerError,
  line,
  nextStep,
  type Answer,
  type AnswerContext,
  type Part,
  typed,
} from '../../slack/messages/answer.ts'
import { failureWords, type Words, answerCiFailure, answerOfSource, unclearReason } from '../kit/fault-messages.ts'
import { andMore, differenceParts, fieldsWords, fieldWords, unknownNotifierWords, unshownWords } from './words.ts'
import { MESSAGE_CHARS_MAX } from '../../slack/messages/limits.ts'
import { dayTime } from '../../slack/messages/times.ts'
import type { ProjectRef } from '../../projects/outcomes.ts'
import { SO_FAR } from '../kit/build.ts'
import { answerRefused } from '../kit/not-allowed.ts'
import { answerNotFound, isNotFound } from '../kit/not-found.ts'
import type { CreateOutcome } from './create.ts'
import type { EditOutcome, ChangedMeanwhile } from './edit.ts'
import { TAKEN } from './record.ts'
import type { ResetOutcome } from './reset.ts'

// Answers about writes to projects. Only the requester sees them, except `endLine`, which is for the channel. Only the
// answer to a reset holds a secret: the new AES key.

export function answerEdit(outcome: EditOutcome, context: AnswerContext): Answer {
  if (outcome.kind === 'changed-meanwhile') return answerChangedMeanwhile(outcome)
  if (outcome.kind === 'no-difference') return answerNoDifference(outcome.project.name)
  if (outcome.kind !== 'edited') return answerNotDone(outcome, 'changed', context)
  return answerOf([
    line(`:white_check_mark: *Changed*: ${projectLabel({ project: outcome.project.name })}`),
    ...differenceParts(outcome.differences),
    ...compared(outcome),
  ])
}

function compared({ otherwise, unshown, readAgain }: Extract<EditOutcome, { kind: 'edited' }>): Part[] {
  if (!readAgain) return [line('CI accepted it. Buildline could not read the project again to compare.')]
  const [hidden, rest] =
    unshown.length === 0
      ? [[], 'nothing else']
      : [
          [line(`:warning: *CI does not show ${unshownWords(unshown)}*: check in CI that it is still there.`)],
          'nothing else that it shows',
        ]
  return otherwise.length === 0
    ? [line(`CI has saved it, and ${rest} has changed.`), ...hidden]
    : [...made(otherwise), ...hidden]
}

function made(otherwise: readonly Difference[]): Part[] {
  const added = otherwise.filter(({ before }) => before === null)
  const others = otherwise.filter(({ before }) => before !== null)
  return [
    ...(others.length === 0
      ? []
      : [
          line(':warning: *CI saved something else:* first what was sent, then what CI has.'),
          ...differenceParts(others),
        ]),
    ...(added.length === 0 ? [] : [line('*CI filled in the rest:*'), ...differenceParts(added)]),
  ]
}

export const answerNoDifference = (project: string): Answer =>
  answerOf([
    line(`:information_source: *Nothing to change*: ${projectLabel({ project })} already has these settings.`),
    line(nextStep('Close this to go back.')),
  ])

export function answerCreate(outcome: CreateOutcome, context: AnswerContext): Answer {
  if (outcome.kind !== 'created' && outcome.kind !== 'exists') return answerNotDone(outcome, 'created', context)
  const project = projectLabel({ project: outcome.project.name })
  const next = `Type ${typed(`/ci project ${outcome.project.name}`)} to look at it.`
  if (outcome.kind === 'exists')
    return answerError({
      what: `:information_source: *Not created*: ${project} already exists.`,
      why: 'Somebody else has created it in the meantime.',
      next,
    })
  return answerOf([line(`:white_check_mark: *Created*: ${project}`), ...made(outcome.otherwise), line(nextStep(next))])
}

export function answerReset(outcome: ResetOutcome, context: AnswerContext): Answer {
  if (outcome.kind !== 'reset' && outcome.kind !== 'not-pro') return answerNotDone(outcome, 'reset', context)
  const project = projectLabel({ project: outcome.project.name })
  if (outcome.kind === 'not-pro')
    return answerError({
      what: `:no_entry_sign: *No AES key*: ${project} is not a Pro project.`,
      why: 'Only Pro projects have one; nothing was changed.',
      next: 'Choose a Pro project.',
    })
  return answerOf([line(`:key: *AES key reset*: ${project}`), ...keyLines(outcome.aesKey).map(line)])
}

/** A longer key is not shown, since a cut one would be wrong. */
const KEY_CHARS_MAX = 500

function keyLines(aesKey: string | null): string[] {
  if (aesKey === null) return ["CI did not return the new key. It is on the project's page in CI."]
  if (aesKey.length > KEY_CHARS_MAX) return ["The new key is too long to show. It is on the project's page in CI."]
  return [
    `The new key: ${codeSpan(aesKey)}`,
    'Only you see it, and only now: Buildline does not keep it. Encrypt again what was encrypted with the old key.',
  ]
}

/** A write that failed, or may have failed. */
function answerNotDone(
  outcome: NotSent | SentInVain,
  done: 'changed' | 'created' | 'reset',
  context: AnswerContext,
): Answer {
  if (outcome.kind !== 'ci-refused' && outcome.kind !== 'unclear') return answerNotSent(outcome, context)
  const { reference } = context
  const project = projectLabel(outcome)
  if (outcome.kind === 'ci-refused') {
    const said = { what: `:x: *Not ${done}*: ${project}`, ...refusedWords(outcome) }
    return answerOfSource('ci', said, outcome.reason, reference)
  }
  const what = `:grey_question: *Unclear whether CI has ${done}* ${project}.`
  const said = outcome.code === TAKEN ? 'CI answered that it had done it.' : unclearReason(outcome.code)
  const why = [said, LOOKED[outcome.lookUp]]
  const next = `Look at it with ${typed(`/ci project ${outcome.project}`)} before you send anything again.`
  return answerError({ what, why, next }, reference)
}

function refusedWords({ code, unknownNotifiers = [] }: Extract<SentInVain, { kind: 'ci-refused' }>): Words {
  if (unknownNotifiers.length > 0)
    return { why: unknownNotifierWords(unknownNotifiers), next: 'Send it again without such rules.' }
  return REFUSED[code] ?? failureWords(code)
}

const LOOKED = {
  'not-shown': 'Buildline checked three times and CI does not show it. Buildline does not send it again.',
  away: 'CI cannot be checked right now. Buildline does not send it again.',
} as const

/** Refusals that mean something different for a write than for reading. */
const REFUSED: Partial<Record<string, Words>> = {
  'bad-request': { why: 'CI did not accept the values.', next: 'Correct what CI says, and send it again.' },
  forbidden: {
    why: "Buildline's credentials lack the right to change projects.",
    next: 'Ask a workspace admin to give them the scope project.write in CI.',
  },
  'not-found': {
    why: 'CI no longer has this project.',
    next: `Type ${typed('/ci list')} to see all that it lists.`,
  },
  'too-large': { why: "CI's answer was too long.", next: 'Change it in CI.' },
}

/** Sent to the person who requested a write with an unknown outcome: what CI shows now. */
export function lookedUpLine(
  { action, project, channel }: Pick<ProjectRequest, 'action' | 'project' | 'channel'>,
  isShown: boolean,
): string {
  const { did, about } = WRITES[action]
  const what = `${did} ${about}${projectLabel({ project })}${channel === null ? '' : `, as you asked in <#${channel}>`}`
  const key = action === 'reset-aes-key' ? " The new key is on the project's page in CI." : ''
  return isShown
    ? `:white_check_mark: CI has ${what}.${key}`
    : `:grey_question: CI does not show that it has ${what}. Look at it with ${typed(`/ci project ${project}`)} before you send anything again.`
}

/** For the channel where a write was requested: who did what, or tried to. */
export function endLine({
  action,
  project,
  what,
  state,
  requestedBy: by,
}: Pick<ProjectRequest, 'action' | 'project' | 'what' | 'state' | 'requestedBy'>): string {
  const { icon, did, attempt, about } = WRITES[action]
  const name = `*${projectLabel({ project })}*`
  // Top-level names are enough for the channel, and short.
  const fields = [...new Set(what.map(topOf))].slice(0, FIELDS_MAX)
  const rest = action === 'edit-project' ? `: ${fieldsWords(fields)}` : ''
  if (state === 'confirmed') return `${icon} ${mention(by)} ${did} ${about}${name}${rest}.`
  const end = state === 'refused' ? 'CI refused, and nothing was changed.' : 'It is not known whether CI has done it.'
  return `${icon} ${mention(by)} tried to ${attempt} ${about}${name}${rest}. ${end}`
}

/** At most this many fields are named in the channel. */
const FIELDS_MAX = 5

const WRITES: Record<ProjectAction, { icon: string; did: string; attempt: string; about: string }> = {
  'create-project': { icon: ':hammer_and_wrench:', did: 'created', attempt: 'create', about: 'the project ' },
  'edit-project': { icon: ':pencil2:', did: 'changed', attempt: 'change', about: '' },
  'reset-aes-key': { icon: ':key:', did: 'reset', attempt: 'reset', about: 'the AES key of ' },
  run: { icon: ':arrow_forward:', did: 'ran', attempt: 'run', about: '' },
}

/** Explains why nothing was sent to CI. */
export function answerNotSent(outcome: NotSent, context: AnswerContext): Answer {
  if (isNotFound(outcome)) return answerNotFound(outcome, context)
  const { reference } = context
  switch (outcome.kind) {
    case 'no-v2':
      return answerError({
        what: ":warning: *Projects cannot be read*: CI's v2 interface is not configured.",
        why: 'Projects of GitHub and GitLab are set up by files in their repositories.',
        next: 'Ask the person who runs Buildline to set CI_BASE_URL and its credentials.',
      })
    case 'not-listed':
      return answerNotListed(outcome.project)
    case 'faults':
      return answerError(faultTrouble(outcome))
    case 'asked-already':
      return answerError(alreadyRequested(outcome))
    case 'ci-trouble':
      return answerCiFailure(outcome, ':warning: *The request to CI failed*: nothing was changed.', reference)
    case 'forbidden':
    case 'unknown-person':
      return answerRefused(outcome, reference)
    default:
      return assertNever(outcome)
  }
}

const answerNotListed = ({ name, type }: ProjectRef): Answer =>
  answerError({
    what: `:mag: *CI does not list ${projectLabel({ project: name })}* in its v2 interface.`,
    why: "It was deleted, or Buildline's credentials do not include it.",
    next: `Type ${typed('/ci list')} to see all that CI lists.`,
    ...OF_OTHERS.get(type ?? '')?.(projectLabel({ project: name })),
  })

const OF_OTHERS = new Map([
  ['github', ofOther('It is a workflow of GitHub Actions, and its settings are a file in its repository.')],
  ['gitlab', ofOther('It is a project of GitLab, and its pipelines are set up by a file in its repository.')],
])

function ofOther(why: string) {
  return (name: string) => ({ what: `:mag: *${name}* has no settings here.`, why, next: 'Change that file.' })
}

/** The rules in CI have changed since `/ci doctor` offered to add one. */
export const answerNoAddress = (): Answer =>
  answerError({
    what: ':mag: *No rule added*: Buildline no longer finds its address in CI.',
    why: "No project has a webhook rule with Buildline's secret any more.",
    next: `Type ${typed('/ci doctor')} again: it says what to enter in CI.`,
  })

const FAULTS_SHOWN_MAX = 10

function faultTrouble({ faults }: Extract<NotSent, { kind: 'faults' }>) {
  const shown = faults.map(({ field, reason }) => `• ${fieldWords(field)}: ${outside(reason, MESSAGE_CHARS_MAX)}`)
  return {
    what: ':pencil2: *This cannot be sent to CI*: nothing was changed.',
    why: firstOf(shown, FAULTS_SHOWN_MAX, andMore),
    next: 'Go back, correct it, and send it again.',
  }
}

function alreadyRequested({ by, at, state }: Extract<NotSent, { kind: 'asked-already' }>) {
  const when = dayTime(at)
  return {
    what: ':information_source: *Already requested*: CI is not asked again.',
    why: `${mention(by) || 'Somebody'} asked for it${when === null ? '' : ` (${when})`}. ${SO_FAR[state]}`,
    next: isOpen({ state })
      ? 'Wait until that has finished, then look at the project again.'
      : 'Look at the project before you ask again.',
  }
}

/** Somebody else changed the project first: nothing was sent. */
const answerChangedMeanwhile = ({ project, theirs }: ChangedMeanwhile): Answer =>
  answerError({
    what: `:twisted_rightwards_arrows: *Not sent*: ${projectLabel({ project: project.name })} was changed in the meantime.`,
    why: `Somebody else changed ${fieldsWords(theirs)} after you opened it.`,
    next: `Type ${typed(`/ci project edit ${project.name}`)} to see it as it is now and change it again.`,
  })
