import type { Permit } from '../../slack/api/permission.ts'
import type { Action } from '../../domain/cards/request.ts'
import { mention, outside } from '../../slack/messages/build.ts'
import { WORD_CHARS_MAX } from '../../slack/messages/limits.ts'
import { answerError, type Answer, type ErrorAnswer, small, type Part } from '../../slack/messages/answer.ts'
import type { Refused, RefusableRight } from '../../projects/outcomes.ts'

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

const unknownPerson = (code: string): ErrorAnswer => ({
  what: ':no_entry: *Not allowed yet*: Slack did not say who you are, so nothing was done.',
  why: `Without that, Buildline cannot check your permissions (Slack's code: ${outside(code, WORD_CHARS_MAX) || 'none'}).`,
  next: 'Try again in a minute. If that does not help, tell the code to the person who runs Buildline.',
})

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
