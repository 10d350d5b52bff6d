import { shortId, sourceOf } from '../../domain/ids.ts'
import type { MissingCapability } from '../../domain/cards/capabilities.ts'
import type { Shown } from '../../domain/cards/view.ts'
import { isOfGate, parseAttemptRef, type Action } from '../../domain/cards/request.ts'
import { ACTION_SYMBOLS, ACTION_WORDS, MISSING } from '../../slack/messages/request.ts'
import { buildNumber, buildUrl, mention, projectLabel } from '../../slack/messages/build.ts'
import { withSourceName, SOURCE_NAMES } from '../../slack/messages/words.ts'
import { ACTIONS_BLOCK_ID } from '../../slack/messages/ids.ts'
import { dayTime } from '../../slack/messages/times.ts'
import type { BuildSummary } from '../../projects/outcomes.ts'
import {
  answerOf,
  answerError,
  line,
  row,
  type Answer,
  type AnswerContext,
  type Part,
  type ErrorAnswer,
} from '../../slack/messages/answer.ts'
import { buildButtons, buildSubject, openButton, refreshButton, stateWords, SO_FAR } from '../kit/build.ts'
import {
  answerCiFailure,
  answerOfSource,
  REFRESH,
  refusedWords,
  unclearWords,
  type Words,
} from '../kit/fault-messages.ts'
import { answerRefused } from '../kit/not-allowed.ts'
import { answerNotFound, isNotFound } from '../kit/not-found.ts'
import type { ActionOutcome } from './action.ts'

type Of<Kind extends ActionOutcome['kind']> = Extract<ActionOutcome, { kind: Kind }>

/** The answer to a request to act on a build. */
export function answerAction(outcome: ActionOutcome, context: AnswerContext): Answer {
  if (isNotFound(outcome)) return answerNotFound(outcome, context)
  switch (outcome.kind) {
    case 'requested':
      return requested(outcome)
    case 'asked-already':
      return alreadyRequested(outcome)
    case 'repeated':
      return repeated(outcome)
    case 'not-now':
      return notNow(outcome)
    case 'impossible':
      return answerError(impossible(outcome))
    case 'not-confirmed':
      return answerError(notConfirmed(outcome))
    case 'to-confirm':
      return answerError(toConfirm(outcome))
    // These errors of CI are in the log, so the answer names the log's reference.
    case 'ci-refused':
      return ciRefused(outcome, context.reference)
    case 'unclear':
      return unclear(outcome, context.reference)
    case 'ci-trouble':
      return answerCiFailure(outcome, ':warning: *The request to CI failed*: nothing was done.', context.reference)
    case 'forbidden':
    case 'unknown-person':
      return answerRefused(outcome, context.reference)
  }
}

function requested({ action, build, newBuildId }: Of<'requested'>): Answer {
  // Compares ids, not the numbers that people see: on GitHub they differ.
  const isOther = newBuildId !== null && newBuildId !== build.ref.buildId
  const other = isOther ? buildNumber({ buildId: shortId(newBuildId) }) : null
  const follows = other === null ? '' : ` It runs as ${other}.`
  return answerOf([
    line(`${ACTION_SYMBOLS[action]} *${ACTION_WORDS[action]} requested*: ${buildSubject(build)}`),
    line(
      `${sourceWord(build)} accepted the request.${follows} The build's card shows the result; if it has none, *Refresh* does.`,
    ),
    ...lookAgain(build),
  ])
}

function alreadyRequested({ action, build, by, at, state }: Of<'asked-already'>): Answer {
  const who = mention(by) || 'Somebody'
  const when = dayTime(at)
  return answerOf([
    line(`:information_source: *${ACTION_WORDS[action]} was already requested*: ${buildSubject(build)}`),
    line(`${who} asked for it${when === null ? '' : ` (${when})`}; ${sourceWord(build)} was not asked again.`),
    line(withSourceName(sourceOf(build.ref.projectId), SO_FAR[state])),
    ...lookAgain(build),
  ])
}

const repeated = ({ action, state }: Of<'repeated'>): Answer =>
  answerOf([
    line(`:information_source: *${ACTION_WORDS[action]}*: this was already requested, and is sent only once.`),
    line(SO_FAR[state]),
  ])

/** The source of the build: `CI`, `GitHub`. */
const sourceWord = ({ ref }: BuildSummary): string => SOURCE_NAMES[sourceOf(ref.projectId)]

const lookAgain = (build: BuildSummary): Part[] => [
  row(ACTIONS_BLOCK_ID, [...openButton(build), ...refreshButton(build)]),
]

const impossible = (outcome: Of<'impossible'>): ErrorAnswer => ({
  what: `:no_entry_sign: *${ACTION_WORDS[outcome.action]} is not possible*: ${buildSubject(outcome.build)}`,
  why: `${MISSING[outcome.why]}.`,
  next: nextOfMissing(outcome),
  parts: [row(ACTIONS_BLOCK_ID, buildButtons(outcome.build))],
})

function notConfirmed({ action, build, shown }: Of<'not-confirmed'>): ErrorAnswer {
  const source = sourceWord(build)
  return {
    what: `:no_entry_sign: *${WORDS[action].not}*: ${buildSubject(build)}`,
    why: shown
      ? `${source} has it in ${projectLabel(shown)}, so Buildline left it alone.`
      : `${source} does not list this build under this project and branch, so Buildline left it alone.`,
    next: `${ACTION_WORDS[action]} it in ${source}${shown?.url ? ', with *Open build*' : ''}.`,
    parts: lookAgain(shown ? { ...build, buildUrl: shown.url } : build),
  }
}

const toConfirm = ({ action, build }: Of<'to-confirm'>): ErrorAnswer => ({
  what: `:raised_hand: *${WORDS[action].not} yet*: ${buildSubject(build)}`,
  why: 'Buildline cannot check with CI whether this is the build you mean.',
  next: `Press *${ACTION_WORDS[action]}*: it shows which build CI will stop and asks you to confirm.`,
  parts: [row(ACTIONS_BLOCK_ID, buildButtons(build))],
})

function ciRefused({ action, build, code, reason }: Of<'ci-refused'>, reference: string): Answer {
  const what = `:x: *${WORDS[action].not}*: ${buildSubject(build)}`
  const words = { what, ...refusedWords(code, action), parts: lookAgain(build) }
  return answerOfSource(sourceOf(build.ref.projectId), words, reason, reference)
}

function unclear({ action, build, code }: Of<'unclear'>, reference: string): Answer {
  const what = `:grey_question: *Unclear whether ${sourceWord(build)} ${WORDS[action].unsure}*: ${buildSubject(build)}`
  const words = { what, ...unclearWords(code), parts: lookAgain(build) }
  return answerOfSource(sourceOf(build.ref.projectId), words, null, reference)
}

/** That nothing was done, and what may have been done, after `Unclear whether CI`. */
const WORDS: Record<Action, { not: string; unsure: string }> = {
  stop: { not: 'Not stopped', unsure: 'stops this build' },
  restart: { not: 'Not restarted', unsure: 'runs this build again' },
  approve: { not: 'Not approved', unsure: 'lets this build go on' },
  reject: { not: 'Not rejected', unsure: 'rejected this deployment' },
  play: { not: 'Not started', unsure: 'starts this job' },
}

function nextOfMissing({ action, why, build }: Of<'impossible'>): string {
  const setting = SETTINGS[why]
  if (setting !== undefined) return `Ask the person who runs Buildline to set ${setting}.`
  const next = `${ACTION_WORDS[action]} it in CI${buildUrl(build) === null ? '' : ', with *Open build*'}.`
  return withSourceName(sourceOf(build.ref.projectId), next)
}

/** The settings without which the action is not possible; for other reasons, no setting makes it possible. */
const SETTINGS: Partial<Record<MissingCapability, string>> = {
  'no-github': 'GITHUB_TOKEN',
  'no-gitlab': 'GITLAB_TOKEN',
  'no-v2': 'CI_BASE_URL and its credentials',
  'no-legacy': 'CI_LEGACY_BASE_URL and CI_API_KEY',
}

/** The build's state does not allow the action: the answer says its state, and what the person can do. */
function notNow(outcome: Of<'not-now'>): Answer {
  const { action, build } = outcome
  const result = action === 'stop' && !OPEN.has(build.shown) ? 'nothing to stop' : WORDS[action].not.toLowerCase()
  return answerOfSource(sourceOf(build.ref.projectId), {
    what: `${stateWords(build)} ${buildSubject(build)}: *${result}*`,
    ...whyNotNow(outcome),
    parts: [row(ACTIONS_BLOCK_ID, [...buildButtons(build), ...refreshButton(build)])],
  })
}

function whyNotNow({ action, build: { shown, offers, ref } }: Of<'not-now'>): Words {
  const isStop = action === 'stop'
  const source = sourceOf(ref.projectId)
  if (isOfGate(action)) return shown === 'waiting' ? ASKED : OTHERS
  if (shown === 'unknown') return { why: 'Buildline does not know this state.', next: REFRESH }
  if (shown === 'waiting') return isStop && source === 'github' ? NOT_APPROVED : WAITING
  if (NEVER_RAN.has(shown)) return { why: 'CI never ran it.', next: "Look at the account's limits in CI." }
  if (!OPEN.has(shown)) {
    if (isStop) return { why: 'It has already finished.', next: offers.includes('restart') ? AGAIN : REFRESH }
    return source === 'gitlab' && PASSED.has(shown) ? ALL_PASSED : NOT_NOW
  }
  return isStop ? NOT_NOW : { why: 'It is still running.', next: 'Wait until it has finished, or stop it first.' }
}

const AGAIN = 'Press *Restart* to run it again.'

const OPEN: ReadonlySet<Shown> = new Set<Shown>(['requested', 'queued', 'started', 'waiting', 'unknown'])

const NEVER_RAN: ReadonlySet<Shown> = new Set<Shown>(['ignored', 'blocked', 'quota_exceeded'])

const PASSED: ReadonlySet<Shown> = new Set<Shown>(['passed', 'fixed', 'flaky'])

const ASKED: Words = { why: 'It no longer waits for that, or a request about it is on its way.', next: REFRESH }

const OTHERS: Words = { why: 'It no longer waits: somebody else was faster, or it has ended.', next: REFRESH }

const NOT_NOW: Words = { why: 'That is not possible right now.', next: REFRESH }

const NOT_APPROVED: Words = {
  why: 'Nobody has approved it yet, and CI cannot cancel it before that.',
  next: 'Leave it, or approve it in CI.',
}

const WAITING: Words = { why: 'It is still waiting.', next: 'Start or cancel it in CI.' }

const ALL_PASSED: Words = {
  why: 'GitLab runs the jobs again that failed, and this pipeline passed.',
  next: 'Start a new pipeline in GitLab.',
}

/** `Restart of #512`, for the message about an interruption; null: not a value that Buildline writes. */
export function describeClick(action: Action, value: string): string | null {
  const ref = parseAttemptRef(value)
  return ref && `${ACTION_WORDS[action]} of #${shortId(ref.buildId)}`
}
