import type { Missing } from '../../domain/offer.ts'
import type { Action, RequestState } from '../../domain/request.ts'
import { assertNever } from '../../lib/assert.ts'
import { ACTION_WORDS, MISSING } from '../../slack/messages/asked.ts'
import { buildNumber, buildUrl, joined, mention } from '../../slack/messages/build.ts'
import { ACTIONS_BLOCK_ID, CHOICES_BLOCK_ID } from '../../slack/messages/ids.ts'
import { dayTime } from '../../slack/messages/times.ts'
import type { ActOutcome, BuildSummary } from '../../catalog/outcomes.ts'
import {
  answerOf,
  answerTrouble,
  line,
  row,
  type Answer,
  type AskedWith,
  type Part,
  type Trouble,
} from '../../slack/messages/answer.ts'
import { buildButtons, buildSubject, openButton, refreshButton } from '../build.ts'
import { refusedWords, unclearWords } from '../codes.ts'
import { answerNotAllowed } from '../not-allowed.ts'
import { answerNotFound, isNotFound } from '../not-found.ts'
import { notNow } from './not-now-messages.ts'
import { answerCiTrouble, ciSaid } from '../trouble.ts'

type Of<Kind extends ActOutcome['kind']> = Extract<ActOutcome, { kind: Kind }>

/** What came of an ask to stop or restart. */
export function answerAct(outcome: ActOutcome, asked: AskedWith): Answer {
  if (isNotFound(outcome)) return answerNotFound(outcome, asked)
  switch (outcome.kind) {
    case 'requested':
      return requested(outcome)
    case 'asked-already':
      return askedAlready(outcome)
    case 'repeated':
      return repeated(outcome)
    case 'not-now':
    case 'impossible':
    case 'not-confirmed':
    case 'to-confirm':
    case 'ci-refused':
    case 'unclear':
      return answerTrouble(troubleOf(outcome), asked.reference)
    case 'ci-trouble':
      return answerCiTrouble(outcome, ':warning: *CI could not be asked*: nothing was done.', asked.reference)
    case 'forbidden':
      return answerNotAllowed(outcome.permit, { action: outcome.action, reference: asked.reference })
    case 'unknown-person':
      return answerNotAllowed(outcome, { action: actionOf(asked), reference: asked.reference })
    default:
      return assertNever(outcome)
  }
}

function requested({ action, build, newBuildId }: Of<'requested'>): Answer {
  const other = newBuildId === null || newBuildId === build.buildId ? null : buildNumber({ buildId: newBuildId })
  const follows = other === null ? '' : ` It runs as ${other}.`
  return answerOf([
    line(`${SYMBOLS[action]} *${ACTION_WORDS[action]} requested*: ${buildSubject(build)}`),
    line(`CI has taken the request.${follows} The build's card shows what comes of it.`),
    ...lookAgain(build),
  ])
}

function askedAlready({ action, build, by, at, state }: Of<'asked-already'>): Answer {
  const who = mention(by) || 'Somebody'
  const when = dayTime(at)
  return answerOf([
    line(`:information_source: *${ACTION_WORDS[action]} requested already*: ${buildSubject(build)}`),
    line(`${joined([`${who} asked for it`, when], ' on ')}; CI was not asked again.`),
    line(SO_FAR[state]),
    ...lookAgain(build),
  ])
}

const repeated = ({ action, state }: Of<'repeated'>): Answer =>
  answerOf([
    line(`:information_source: *${ACTION_WORDS[action]}*: this request was made already, and CI gets it only once.`),
    line(SO_FAR[state]),
  ])

const SYMBOLS: Record<Action, string> = { stop: ':raised_hand:', restart: ':repeat:' }

export const SO_FAR: Record<RequestState, string> = {
  calling: 'CI is being asked right now.',
  accepted: 'CI has taken the request and has not confirmed it yet.',
  unclear: 'It is not clear yet whether CI heard it: Buildline is looking.',
  confirmed: 'CI has done it.',
  refused: 'CI refused it.',
  unconfirmed: 'CI has not confirmed it: open the build to see.',
}

const actionOf = ({ command }: AskedWith): Action | null =>
  command === 'stop' || command === 'restart' ? command : null

const lookAgain = (build: BuildSummary): Part[] => [
  row(ACTIONS_BLOCK_ID, openButton(build)),
  row(CHOICES_BLOCK_ID, refreshButton(build)),
]

function troubleOf(
  outcome: Of<'not-now' | 'impossible' | 'not-confirmed' | 'to-confirm' | 'ci-refused' | 'unclear'>,
): Trouble {
  const { action, build } = outcome
  switch (outcome.kind) {
    case 'not-now':
      return notNow(outcome)
    case 'impossible':
      return {
        what: `:no_entry_sign: *${ACTION_WORDS[action]} is not possible*: ${buildSubject(build)}`,
        why: `Why: ${MISSING[outcome.why]}.`,
        next: nextOfMissing(outcome.why, outcome),
        parts: [row(ACTIONS_BLOCK_ID, buildButtons(build))],
      }
    case 'not-confirmed':
      return {
        what: `:no_entry_sign: *${NOT_DONE[action]}*: ${buildSubject(build)}`,
        why: "CI does not list this build under this project and branch, so Buildline did not touch it. Anyone who has the webhook's secret can send builds.",
        next: `${ACTION_WORDS[action]} it in CI itself.`,
        parts: lookAgain(build),
      }
    case 'to-confirm':
      return {
        what: `:raised_hand: *${NOT_DONE[action]} yet*: ${buildSubject(build)}`,
        why: 'CI cannot be asked whether this is the build that you mean.',
        next: `Press *${ACTION_WORDS[action]}*: it shows which build CI will stop, and asks once more.`,
        parts: [row(ACTIONS_BLOCK_ID, buildButtons(build))],
      }
    case 'ci-refused': {
      const { why, next } = refusedWords(outcome.code, action)
      const what = `:x: *${NOT_DONE[action]}*: ${buildSubject(build)}`
      return { what, why: [why, ...ciSaid(outcome.reason)], next, parts: lookAgain(build) }
    }
    case 'unclear': {
      const what = `:grey_question: *Unclear whether CI ${UNSURE[action]}*: ${buildSubject(build)}`
      return { what, ...unclearWords(outcome.code, action), parts: lookAgain(build) }
    }
    default:
      return assertNever(outcome)
  }
}

const NOT_DONE: Record<Action, string> = { stop: 'Not stopped', restart: 'Not restarted' }
const UNSURE: Record<Action, string> = { stop: 'stops this build', restart: 'runs this build again' }

function nextOfMissing(why: Missing, { action, build }: Of<'impossible'>): string {
  const inCi = `${ACTION_WORDS[action]} it in CI itself${buildUrl(build) === null ? '' : ', with *Open build*'}.`
  switch (why) {
    case 'no-v2':
      return 'Ask whoever runs Buildline to set CI_BASE_URL and what goes with it.'
    case 'no-legacy':
      return 'Ask whoever runs Buildline to set CI_LEGACY_BASE_URL and CI_API_KEY.'
    case 'no-build-uuid':
    case 'pro-project':
    case 'project-unknown':
      return inCi
    default:
      return assertNever(why)
  }
}
