import type { Action } from '../../domain/request.ts'
import { assertNever } from '../../lib/assert.ts'
import { buildUrl } from '../../slack/messages/build.ts'
import { ACTIONS_BLOCK_ID, CHOICES_BLOCK_ID } from '../../slack/messages/ids.ts'
import type { ActOutcome, BuildSummary } from '../../catalog/outcomes.ts'
import { row, type Trouble } from '../../slack/messages/answer.ts'
import { buildButtons, buildSubject, refreshButton, stateWords } from '../build.ts'
import { REFRESH } from '../codes.ts'

type NotNow = Extract<ActOutcome, { kind: 'not-now' }>

/** The state of the build does not call for it: what it is doing instead, and what can be done. */
export function notNow({ action, build }: NotNow): Trouble {
  const { why, next } = action === 'stop' ? whyNotStopped(build) : whyNotRestarted(build)
  const buttons = [row(ACTIONS_BLOCK_ID, buildButtons(build)), row(CHOICES_BLOCK_ID, refreshButton(build))]
  return {
    what: `${stateWords(build)} ${buildSubject(build)}: *${action === 'stop' && hasEnded(build) ? 'nothing to stop' : NOT_DONE[action]}*`,
    why,
    next,
    parts: buttons,
  }
}

const NOT_DONE: Record<Action, string> = { stop: 'not stopped', restart: 'not restarted' }

const hasEnded = ({ shown }: BuildSummary): boolean => !['started', 'waiting', 'unknown'].includes(shown)

function whyNotStopped(build: BuildSummary): { why: string; next: string } {
  const look = buildUrl(build) === null ? REFRESH : 'Open the build to see how it ended.'
  const again = build.offers.includes('restart') ? 'Press *Restart* to run it again.' : look
  switch (build.shown) {
    case 'started':
      return { why: 'It runs, and CI cannot be asked to stop it right now.', next: REFRESH }
    case 'waiting':
      return { why: 'It waits, and CI stops only what runs.', next: 'Cancel it in CI itself.' }
    case 'ignored':
    case 'blocked':
      return { why: 'CI never ran it.', next: "Look at the account's limits in CI." }
    case 'unknown':
      return { why: 'Buildline does not know this state, and stops only what surely runs.', next: REFRESH }
    case 'passed':
    case 'fixed':
    case 'failed':
    case 'infrastructure_failure':
    case 'stopped':
      return { why: 'It has ended already.', next: again }
    default:
      return assertNever(build.shown)
  }
}

function whyNotRestarted(build: BuildSummary): { why: string; next: string } {
  const stop = build.offers.includes('stop') ? 'Press *Stop* first, or let it end.' : 'Wait until it has ended.'
  switch (build.shown) {
    case 'started':
      return { why: 'It still runs, and only what has ended can be restarted.', next: stop }
    case 'waiting':
      return {
        why: 'It still waits, and only what has ended can be restarted.',
        next: 'Start or cancel it in CI itself.',
      }
    case 'ignored':
      return { why: "The account's monthly limit kept it from running.", next: "Look at the account's limits in CI." }
    case 'blocked':
      return { why: 'CI blocked it for its use of resources.', next: "Look at the account's limits in CI." }
    case 'unknown':
      return { why: 'Buildline does not know this state, and restarts only what has surely ended.', next: REFRESH }
    case 'passed':
    case 'fixed':
    case 'failed':
    case 'infrastructure_failure':
    case 'stopped':
      return { why: 'It cannot be restarted right now.', next: REFRESH }
    default:
      return assertNever(build.shown)
  }
}
