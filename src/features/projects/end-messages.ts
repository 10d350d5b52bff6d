import type { CiErrorKind } from '../../sources/ci-service/errors.ts'
import { assertNever } from '../../lib/assert.ts'
import { codeSpan } from '../../lib/escape.ts'
import { projectName } from '../../slack/messages/build.ts'
import type { Difference } from '../../domain/project-differences.ts'
import type { CreateOutcome, EditOutcome, ResetOutcome, SentInVain } from './outcomes.ts'
import {
  answerOf,
  answerTrouble,
  line,
  nextStep,
  type Answer,
  type AskedWith,
  type Part,
} from '../../slack/messages/answer.ts'
import { LATER, unknownWords, type Words } from '../codes.ts'
import { answerChangedMeanwhile, answerNotSent, isNotSent } from './not-sent-messages.ts'
import { differenceParts } from './difference-messages.ts'
import { unshownWords } from './words.ts'
import { ciSaid } from '../trouble.ts'
import { typed } from '../../slack/messages/typed.ts'

// How a write to a project ended, in words. No secret is in them, but for the new key in the asker's own answer.

export function answerEdit(outcome: EditOutcome, asked: AskedWith): Answer {
  if (isNotSent(outcome)) return answerNotSent(outcome, asked)
  switch (outcome.kind) {
    case 'edited':
      return answerOf([
        line(`:white_check_mark: *Changed*: ${projectName({ project: outcome.project.name })}`),
        ...differenceParts(outcome.differences),
        ...compared(outcome),
      ])
    case 'changed-meanwhile':
      return answerChangedMeanwhile(outcome, asked.reference)
    case 'no-difference':
      return answerNoDifference(outcome.project.name)
    case 'ci-refused':
    case 'unclear':
      return answerInVain(outcome, 'changed', asked.reference)
    default:
      return assertNever(outcome)
  }
}

function compared({ otherwise, unshown, readAgain }: Extract<EditOutcome, { kind: 'edited' }>): Part[] {
  if (!readAgain) return [line('CI took it. It could not be read again to compare what came of it.')]
  const [hidden, rest] =
    unshown.length === 0
      ? [[], 'nothing else']
      : [
          [line(`:warning: *CI does not show ${unshownWords(unshown)}*: look in CI whether that is still there.`)],
          'nothing else that it shows',
        ]
  return otherwise.length === 0
    ? [line(`Read again, CI has it so, and ${rest} has changed.`), ...hidden]
    : [...made(otherwise), ...hidden]
}

function made(otherwise: readonly Difference[]): Part[] {
  const added = otherwise.filter(({ before }) => before === null)
  const others = otherwise.filter(({ before }) => before !== null)
  return [
    ...(others.length === 0
      ? []
      : [
          line(':warning: *CI made something else of it:* what was meant goes, what CI has comes.'),
          ...differenceParts(others),
        ]),
    ...(added.length === 0 ? [] : [line('*CI filled in what was not said:*'), ...differenceParts(added)]),
  ]
}

export const answerNoDifference = (project: string): Answer =>
  answerOf([
    line(`:information_source: *Nothing to change*: ${projectName({ project })} is so already.`),
    line(nextStep('Go back to change something else, or close this.')),
  ])

export function answerCreate(outcome: CreateOutcome, asked: AskedWith): Answer {
  if (isNotSent(outcome)) return answerNotSent(outcome, asked)
  switch (outcome.kind) {
    case 'created':
      return answerOf([
        line(`:white_check_mark: *Created*: ${projectName({ project: outcome.project.name })}`),
        ...(outcome.otherwise.length === 0 ? [] : made(outcome.otherwise)),
        line(nextStep(`Type ${typed(`/ci project ${outcome.project.name}`)} to look at it.`)),
      ])
    case 'exists':
      return answerTrouble(
        {
          what: `:information_source: *Not created*: there is ${projectName({ project: outcome.project.name })} by now.`,
          why: 'Somebody else created it meanwhile.',
          next: `Type ${typed(`/ci project ${outcome.project.name}`)} to look at it.`,
        },
        asked.reference,
      )
    case 'ci-refused':
    case 'unclear':
      return answerInVain(outcome, 'created', asked.reference)
    default:
      return assertNever(outcome)
  }
}

/** @param isForAsker whether only the asker sees it: the key is shown to nobody else */
export function answerReset(outcome: ResetOutcome, asked: AskedWith, isForAsker: boolean): Answer {
  if (isNotSent(outcome)) return answerNotSent(outcome, asked)
  switch (outcome.kind) {
    case 'reset':
      return answerOf([
        line(`:key: *AES key reset*: ${projectName({ project: outcome.project.name })}`),
        ...keyLines(outcome.aesKey, isForAsker).map(line),
      ])
    case 'not-pro':
      return answerTrouble(
        {
          what: `:no_entry_sign: *No AES key*: ${projectName({ project: outcome.project.name })} is no Pro project.`,
          why: 'Only Pro projects have one; nothing was changed.',
          next: 'Choose a Pro project.',
        },
        asked.reference,
      )
    case 'ci-refused':
    case 'unclear':
      return answerInVain(outcome, 'reset', asked.reference)
    default:
      return assertNever(outcome)
  }
}

/** A cut key would be a wrong one. */
export const KEY_CHARS_MAX = 500

function keyLines(aesKey: string | null, isForAsker: boolean): string[] {
  if (aesKey === null) return ["CI did not say the new key: it is on the project's page in CI."]
  if (aesKey.length > KEY_CHARS_MAX) return ["The new key is too long to be shown: it is on the project's page in CI."]
  if (!isForAsker) return ['The new key is shown once, to whoever asked for it.']
  return [
    `The new key: ${codeSpan(aesKey)}`,
    'It is shown this once, to you alone, and kept nowhere by Buildline. What was encrypted with the old key has to be encrypted again.',
  ]
}

type Done = 'changed' | 'created' | 'reset'

function answerInVain(outcome: SentInVain, done: Done, reference: string): Answer {
  const project = projectName(outcome)
  if (outcome.kind === 'ci-refused') {
    const { why, next } = isKnown(outcome.code) ? REFUSED[outcome.code] : unknownWords(outcome.code)
    return answerTrouble(
      { what: `:x: *Not ${done}*: ${project}`, why: [why, ...ciSaid(outcome.reason)], next },
      reference,
    )
  }
  const what = `:grey_question: *Unclear whether CI has ${done}* ${project}.`
  const why = [UNCLEAR[outcome.code] ?? 'The call ended before CI had answered.', LOOKED[outcome.looked]]
  const next = `Look at it with ${typed(`/ci project ${outcome.project}`)} before anything is sent again.`
  return answerTrouble({ what, why, next }, reference)
}

const LOOKED = {
  'not-shown': 'Buildline has looked three times: CI does not show it. It is not sent a second time.',
  away: 'Whether it was done cannot be seen in CI now. It is not sent a second time.',
} as const

const isKnown = (code: string): code is CiErrorKind => Object.hasOwn(REFUSED, code)

const REFUSED: Record<CiErrorKind, Words> = {
  'bad-request': { why: 'CI did not accept the values.', next: 'Mend what CI says, and send it again.' },
  unauthorized: {
    why: "CI refused Buildline's credentials: they are no longer good.",
    next: 'Tell a workspace admin: they have to be renewed.',
  },
  forbidden: {
    why: "Buildline's credentials lack the right to change projects.",
    next: 'Ask a workspace admin to give them the scope project.write in CI.',
  },
  'not-found': {
    why: 'CI knows no such project any more.',
    next: `Type ${typed('/ci list')} to see all that it lists.`,
  },
  'rate-limited': { why: 'CI has had too many requests just now.', next: LATER },
  server: { why: 'CI has a fault of its own.', next: LATER },
  timeout: { why: 'CI did not answer in time, and nothing was sent.', next: LATER },
  unreachable: { why: 'CI could not be reached, and nothing was sent.', next: LATER },
  shape: {
    why: 'CI answered in a form that Buildline cannot read.',
    next: "Ask a workspace admin to check the CI addresses in Buildline's settings.",
  },
  'too-large': { why: 'CI answered with more than Buildline reads.', next: 'Change it in CI itself.' },
}

const UNCLEAR: Readonly<Record<string, string>> = {
  server: 'CI failed while it answered.',
  taken: 'CI answered as if it had done it.',
  timeout: 'CI took too long to answer.',
  unreachable: 'The connection to CI broke before the answer came.',
  shape: "CI's answer could not be read.",
  'too-large': "CI's answer was too long to read.",
}
