import { shortId, sourceOf } from '../../domain/ids.ts'
import type { Missing } from '../../domain/offer.ts'
import type { Action } from '../../domain/request.ts'
import { assertNever } from '../../lib/assert.ts'
import { ACTION_WORDS, MISSING } from '../../slack/messages/request.ts'
import { buildNumber, buildUrl, joined, mention } from '../../slack/messages/build.ts'
import { saidOf, SOURCE_WORDS } from '../../slack/messages/words.ts'
import { ACTIONS_BLOCK_ID } from '../../slack/messages/ids.ts'
import { dayTime } from '../../slack/messages/times.ts'
import type { ActOutcome, BuildSummary } from '../../catalog/outcomes.ts'
import {
  answerOf,
  answerTrouble,
  line,
  row,
  type Answer,
  type AnswerContext,
  type Part,
  type Trouble,
} from '../../slack/messages/answer.ts'
import { buildButtons, buildSubject, openButton, refreshButton, stateWords, SO_FAR } from '../build.ts'
import { refusedWords, unclearWords, REFRESH, answerCiTrouble, ciSaid } from '../fault-messages.ts'
import { answerNotAllowed } from '../not-allowed.ts'
import { answerNotFound, isNotFound } from '../not-found.ts'

type Of<Kind extends ActOutcome['kind']> = Extract<ActOutcome, { kind: Kind }>

/** The answer to a request to stop or restart a build. */
export function answerAct(outcome: ActOutcome, context: AnswerContext): Answer {
  if (isNotFound(outcome)) return answerNotFound(outcome, context)
  switch (outcome.kind) {
    case 'requested':
      return requested(outcome)
    case 'asked-already':
      return alreadyRequested(outcome)
    case 'repeated':
      return repeated(outcome)
    case 'not-now':
    case 'impossible':
    case 'not-confirmed':
    case 'to-confirm':
    case 'ci-refused':
    case 'unclear':
      return answerTrouble(troubleOf(outcome), isForTheLog(outcome) ? context.reference : null)
    case 'ci-trouble':
      return answerCiTrouble(outcome, ':warning: *CI did not answer*: nothing was done.', context.reference)
    case 'forbidden':
      return answerNotAllowed(outcome.permit, { action: outcome.action, reference: context.reference })
    case 'unknown-person':
      return answerNotAllowed(outcome, { action: actionOf(context), reference: context.reference })
    default:
      return assertNever(outcome)
  }
}

function requested({ action, build, newBuildId }: Of<'requested'>): Answer {
  // Compares ids, not the numbers that people see: on GitHub they differ.
  const isOther = newBuildId !== null && newBuildId !== build.ref.buildId
  const other = isOther ? buildNumber({ buildId: shortId(newBuildId) }) : null
  const follows = other === null ? '' : ` It runs as ${other}.`
  return answerOf([
    line(`${SYMBOLS[action]} *${ACTION_WORDS[action]} requested*: ${buildSubject(build)}`),
    line(`${sourceWord(build)} accepted the request.${follows} The build's card will show the result.`),
    ...lookAgain(build),
  ])
}

function alreadyRequested({ action, build, by, at, state }: Of<'asked-already'>): Answer {
  const who = mention(by) || 'Somebody'
  const when = dayTime(at)
  return answerOf([
    line(`:information_source: *${ACTION_WORDS[action]} was already requested*: ${buildSubject(build)}`),
    line(`${joined([`${who} asked for it`, when], ' on ')}; ${sourceWord(build)} was not asked again.`),
    line(saidOf(sourceOf(build.ref.projectId), SO_FAR[state])),
    ...lookAgain(build),
  ])
}

const repeated = ({ action, state }: Of<'repeated'>): Answer =>
  answerOf([
    line(`:information_source: *${ACTION_WORDS[action]}*: this was already requested, and is sent only once.`),
    line(SO_FAR[state]),
  ])

// These errors of CI are in the log, so the answer names the log's reference. A refusal due to a build's state is not.
const isForTheLog = ({ kind }: ActOutcome): boolean => kind === 'ci-refused' || kind === 'unclear'

const SYMBOLS: Record<Action, string> = { stop: ':raised_hand:', restart: ':repeat:' }

/** The source of the build: `CI`, `GitHub`. */
const sourceWord = ({ ref }: BuildSummary): string => SOURCE_WORDS[sourceOf(ref.projectId)]

const actionOf = ({ command }: AnswerContext): Action | null =>
  command === 'stop' || command === 'restart' ? command : null

const lookAgain = (build: BuildSummary): Part[] => [
  row(ACTIONS_BLOCK_ID, [...openButton(build), ...refreshButton(build)]),
]

function troubleOf(
  outcome: Of<'not-now' | 'impossible' | 'not-confirmed' | 'to-confirm' | 'ci-refused' | 'unclear'>,
): Trouble {
  const { action, build } = outcome
  const source = sourceOf(build.ref.projectId)
  const said = (words: string) => saidOf(source, words)
  switch (outcome.kind) {
    case 'not-now':
      return notNow(outcome)
    case 'impossible':
      return {
        what: `:no_entry_sign: *${ACTION_WORDS[action]} is not possible*: ${buildSubject(build)}`,
        why: `${MISSING[outcome.why]}.`,
        next: nextOfMissing(outcome.why, outcome),
        parts: [row(ACTIONS_BLOCK_ID, buildButtons(build))],
      }
    case 'not-confirmed':
      return {
        what: `:no_entry_sign: *${NOT_DONE[action]}*: ${buildSubject(build)}`,
        why: 'CI does not list this build under this project and branch, so Buildline left it alone.',
        next: `${ACTION_WORDS[action]} it in CI.`,
        parts: lookAgain(build),
      }
    case 'to-confirm':
      return {
        what: `:raised_hand: *${NOT_DONE[action]} yet*: ${buildSubject(build)}`,
        why: 'Buildline cannot check with CI whether this is the build you mean.',
        next: `Press *${ACTION_WORDS[action]}*: it shows which build CI will stop and asks you to confirm.`,
        parts: [row(ACTIONS_BLOCK_ID, buildButtons(build))],
      }
    case 'ci-refused': {
      const { why, next } = refusedWords(outcome.code, action)
      const what = `:x: *${NOT_DONE[action]}*: ${buildSubject(build)}`
      return { what, why: [said(why), ...ciSaid(outcome.reason, source)], next: said(next), parts: lookAgain(build) }
    }
    case 'unclear': {
      const what = `:grey_question: *Unclear whether ${sourceWord(build)} ${UNSURE[action]}*: ${buildSubject(build)}`
      const { why, next } = unclearWords(outcome.code, action)
      return { what, why: said(why), next: said(next), parts: lookAgain(build) }
    }
    default:
      return assertNever(outcome)
  }
}

const NOT_DONE: Record<Action, string> = { stop: 'Not stopped', restart: 'Not restarted' }
const UNSURE: Record<Action, string> = { stop: 'stops this build', restart: 'runs this build again' }

function nextOfMissing(why: Missing, { action, build }: Of<'impossible'>): string {
  const inCi = `${ACTION_WORDS[action]} it in CI${buildUrl(build) === null ? '' : ', with *Open build*'}.`
  switch (why) {
    case 'no-github':
      return 'Ask the person who runs Buildline to set GITHUB_TOKEN.'
    case 'no-gitlab':
      return 'Ask the person who runs Buildline to set GITLAB_TOKEN.'
    case 'no-v2':
      return 'Ask the person who runs Buildline to set CI_BASE_URL and its credentials.'
    case 'no-legacy':
      return 'Ask the person who runs Buildline to set CI_LEGACY_BASE_URL and CI_API_KEY.'
    case 'no-build-uuid':
    case 'no-build-number':
    case 'pro-project':
    case 'project-unknown':
      return inCi
    default:
      return assertNever(why)
  }
}

type NotNow = Extract<ActOutcome, { kind: 'not-now' }>

/** The build's state does not allow the action: says what the build is doing, and what the person can do. */
function notNow({ action, build }: NotNow): Trouble {
  const { why, next } = action === 'stop' ? whyNotStopped(build) : whyNotRestarted(build)
  const buttons = [row(ACTIONS_BLOCK_ID, [...buildButtons(build), ...refreshButton(build)])]
  return {
    what: `${stateWords(build)} ${buildSubject(build)}: *${action === 'stop' && hasEnded(build) ? 'nothing to stop' : NOT_DONE[action].toLowerCase()}*`,
    why: saidOf(sourceOf(build.ref.projectId), why),
    next: saidOf(sourceOf(build.ref.projectId), next),
    parts: buttons,
  }
}

const hasEnded = ({ shown }: BuildSummary): boolean => !['queued', 'started', 'waiting', 'unknown'].includes(shown)

function whyNotStopped(build: BuildSummary): { why: string; next: string } {
  const look = buildUrl(build) === null ? REFRESH : 'Open the build to see how it ended.'
  const again = build.offers.includes('restart') ? 'Press *Restart* to run it again.' : look
  switch (build.shown) {
    case 'queued':
    case 'started':
      return { why: 'It is running, but it cannot be stopped right now.', next: REFRESH }
    case 'waiting':
      if (sourceOf(build.ref.projectId) === 'github')
        return {
          why: 'Nobody has approved it yet, and CI cannot cancel it before that.',
          next: 'Leave it, or approve it in CI.',
        }
      return { why: 'It is waiting, and CI can only stop running builds.', next: 'Cancel it in CI.' }
    case 'ignored':
    case 'blocked':
      return { why: 'CI never ran it.', next: "Look at the account's limits in CI." }
    case 'unknown':
      return { why: 'Buildline does not know this state, and only stops builds that are running.', next: REFRESH }
    case 'passed':
    case 'fixed':
    case 'flaky':
    case 'failed':
    case 'infrastructure_failure':
    case 'stopped':
    case 'skipped':
      return { why: 'It has already finished.', next: again }
    default:
      return assertNever(build.shown)
  }
}

function whyNotRestarted(build: BuildSummary): { why: string; next: string } {
  const stop = build.offers.includes('stop') ? 'Press *Stop* first, or let it end.' : 'Wait until it has finished.'
  switch (build.shown) {
    case 'queued':
    case 'started':
      return { why: 'It is still running, and only finished builds can be restarted.', next: stop }
    case 'waiting':
      return {
        why: 'It is still waiting, and only finished builds can be restarted.',
        next: 'Start or cancel it in CI.',
      }
    case 'ignored':
      return { why: "The account's monthly limit kept it from running.", next: "Look at the account's limits in CI." }
    case 'blocked':
      return { why: 'CI blocked it because it used too many resources.', next: "Look at the account's limits in CI." }
    case 'unknown':
      return { why: 'Buildline does not know this state, and only restarts finished builds.', next: REFRESH }
    case 'passed':
    case 'fixed':
    case 'flaky':
      if (sourceOf(build.ref.projectId) === 'gitlab')
        return {
          why: 'GitLab runs the jobs again that failed, and this pipeline passed.',
          next: 'Start a new pipeline in GitLab.',
        }
      return NOT_NOW
    case 'failed':
    case 'infrastructure_failure':
    case 'stopped':
    case 'skipped':
      return NOT_NOW
    default:
      return assertNever(build.shown)
  }
}

const NOT_NOW = { why: 'It cannot be restarted right now.', next: REFRESH }
