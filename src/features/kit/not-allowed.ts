import type { Permit } from '../../slack/api/permission.ts'
import type { Action } from '../../domain/cards/request.ts'
import { mention, outside } from '../../slack/messages/build.ts'
import { failureOfCode } from '../../slack/api/errors.ts'
import { WORD_CHARS_MAX } from '../../slack/messages/limits.ts'
import { answerError, type Answer, type ErrorAnswer, small, type Part } from '../../slack/messages/answer.ts'
import type { Refused, RefusableRight } from '../../projects/outcomes.ts'
import type { Words } from './fault-messages.ts'

type No = Extract<Permit, { kind: 'no' }>
type RefusedAction = Action | RefusableRight | 'examine'

/**
 * Which right the requester lacks, and who can help. Its mentions notify nobody, since only the requester sees it.
 * @param about the refused action; `action` is null for reading
 */
export function answerNotAllowed(
  why: No | Extract<Refused, { kind: 'unknown-person' }>,
  about: { action: RefusedAction | null; reference: string },
): Answer {
  if (why.kind === 'unknown-person') return answerError(unknownPerson(why.code), about.reference)
  return answerError(notPermitted(why, about.action))
}

/** The same for an outcome that names the refused action. */
export const answerRefused = (refused: Refused, reference: string): Answer =>
  refused.kind === 'forbidden'
    ? answerNotAllowed(refused.permit, { action: refused.action, reference })
    : answerNotAllowed(refused, { action: null, reference })

function unknownPerson(code: string): ErrorAnswer {
  const { why, next } = unknownWords(code)
  return {
    what: ':no_entry: *Not allowed yet*: Slack did not say who you are, so nothing was done.',
    why: `${why} (Slack's code: ${outside(code, WORD_CHARS_MAX) || 'none'}).`,
    next,
  }
}

/** A retry helps only if Slack's failure is temporary. */
function unknownWords(code: string): Words {
  const kind = failureOfCode(code)
  if (kind === 'workspace-closed') return OWN_RIGHTS
  if (kind === 'rate-limited') return { why: 'Buildline is being rate-limited by Slack', next: AGAIN }
  return NO_SUCH.get(code) ?? { why: 'Without that, Buildline cannot check your permissions', next: AGAIN }
}

const AGAIN = 'Try again in a minute.'

const OWN_RIGHTS: Words = {
  why: "Slack refuses Buildline's token, or it lacks a permission",
  next: 'Ask a workspace admin to reinstall Buildline with the permissions in its manifest.',
}

const UNKNOWN_ACCOUNT: Words = {
  why: "Slack does not know your account in Buildline's workspace",
  next: 'Ask a member of that workspace.',
}

const NO_SUCH: ReadonlyMap<string, Words> = new Map([
  [
    'no_such_subteam',
    {
      why: "Buildline's settings name a user group that Slack does not know",
      next: 'Ask a workspace admin to correct CI_OPERATORS, CI_APPROVERS or CI_ADMINS.',
    },
  ],
  ['user_not_found', UNKNOWN_ACCOUNT],
  ['user_not_visible', UNKNOWN_ACCOUNT],
])

function notPermitted({ why, who }: No, action: RefusedAction | null): ErrorAnswer {
  const actionWords = action === null ? 'see builds' : ACTIONS[action]
  return {
    what: `:no_entry: *Not allowed*: you cannot ${actionWords}.`,
    why: WHY[why],
    next: nextOf(why, who, actionWords),
  }
}

const ACTIONS: Record<RefusedAction, string> = {
  stop: 'stop builds',
  restart: 'restart builds',
  approve: 'approve builds',
  reject: 'reject builds',
  play: 'start manual jobs',
  subscribe: 'change subscriptions',
  own: 'look after red branches',
  administer: 'create or edit projects',
  run: 'start builds',
  examine: 'run `/ci doctor`',
  claim: 'claim a committer name',
  give: 'assign committer names',
}

const WHY: Record<No['why'], string> = {
  guest: 'Guests can only read.',
  outsider: 'Your account belongs to another workspace.',
  deactivated: 'Your account is deactivated.',
  bot: 'Bots cannot do this.',
  'not-listed': "You are not on the list in Buildline's settings.",
  'not-admin': 'Only admins of this workspace can.',
}

/** At most this many people who can help are named. */
export const HELPERS_MAX = 10

function nextOf(why: No['why'], who: readonly string[], actionWords: string): string {
  const helpers = who.map(helperOf).filter((one) => one !== '')
  if (helpers.length === 0) return why === 'bot' ? `Let a person ${actionWords}.` : `Ask a workspace admin for help.`
  const left = helpers.length - HELPERS_MAX
  const named = helpers.slice(0, HELPERS_MAX).join(', ')
  return `Ask someone who can: ${named}${left > 0 ? ` and ${left} more` : ''}.`
}

const helperOf = (id: string): string => mention(id) || (GROUP.test(id) ? `<!subteam^${id}>` : '')

const GROUP = /^S[A-Z0-9]{2,20}$/

/** A note on how many channels are hidden from the requester. */
export function hiddenParts(hidden: number): Part[] {
  if (hidden === 0) return []
  const left =
    hidden === 1
      ? 'One channel is not shown: you are not in it'
      : `${hidden} channels are not shown: you are not in them`
  return [small(`:lock: ${left}, or Slack does not say so.`)]
}
