import type { Permit } from '../domain/permission.ts'
import type { Action } from '../domain/request.ts'
import { mention, outside } from '../slack/messages/build.ts'
import { failureOfCode } from '../slack/api/codes.ts'
import { WORD_CHARS_MAX } from '../slack/messages/limits.ts'
import { answerTrouble, type Answer, type Trouble } from '../slack/messages/answer.ts'
import type { WantedRight } from '../catalog/outcomes.ts'
import type { Words } from './codes.ts'

type No = Extract<Permit, { kind: 'no' }>
type Wanted = Action | WantedRight | 'examine'

/**
 * What the asker lacks, and who can help. Mentions in an answer that one person sees ping nobody.
 * @param about what was wanted; `action` is null for reading
 */
export function answerNotAllowed(
  why: No | { kind: 'unknown-person'; code: string },
  about: { action: Wanted | null; reference: string },
): Answer {
  const trouble = why.kind === 'no' ? notPermitted(why, about.action) : unknownPerson(why.code)
  return answerTrouble(trouble, about.reference)
}

function unknownPerson(code: string): Trouble {
  const { why, next } = unknownWords(code)
  return {
    what: ':no_entry: *Not allowed yet*: Slack did not say who you are; nothing was done.',
    why: `${why} (Slack's code: ${outside(code, WORD_CHARS_MAX) || 'none'}).`,
    next,
  }
}

/** Trying again helps only where Slack has a bad minute. */
function unknownWords(code: string): Words {
  const kind = failureOfCode(code)
  if (kind === 'workspace-closed') return OWN_RIGHTS
  if (kind === 'rate-limited') return { why: 'Buildline has asked Slack too much just now', next: AGAIN }
  return NO_SUCH.get(code) ?? { why: "Without that nobody's rights can be told", next: AGAIN }
}

const AGAIN = 'Try again in a minute.'

const OWN_RIGHTS: Words = {
  why: "Slack does not take Buildline's own token, or its permissions do not suffice",
  next: 'Ask a workspace admin to install Buildline in Slack again, with the permissions of its manifest.',
}

const NO_SUCH: ReadonlyMap<string, Words> = new Map([
  [
    'no_such_subteam',
    {
      why: "Buildline's settings name a user group that Slack does not know",
      next: 'Ask a workspace admin to mend CI_OPERATORS or CI_ADMINS.',
    },
  ],
  [
    'user_not_found',
    {
      why: 'Slack does not know your account in the workspace that Buildline is installed in',
      next: 'Ask a member of that workspace.',
    },
  ],
])

function notPermitted({ why, who }: No, action: Wanted | null): Trouble {
  const wish = action === null ? 'see builds' : WISHES[action]
  return {
    what: `:no_entry: *Not allowed*: you may not ${wish} from Slack.`,
    why: WHY[why],
    next: nextOf(why, who, wish),
  }
}

const WISHES: Record<Wanted, string> = {
  stop: 'stop builds',
  restart: 'restart builds',
  subscribe: 'change what channels are told',
  administer: 'create and change projects',
  examine: 'have Buildline examined',
  claim: 'claim a committer name',
  give: 'decide whom a committer name means',
}

const WHY: Record<No['why'], string> = {
  guest: 'Guests of a workspace only read.',
  outsider: 'That is for members of the workspace that Buildline is installed in, and your account is of another one.',
  deactivated: 'Your account is deactivated.',
  bot: 'Bots ask for nothing here: a person has to.',
  'not-listed': "You are not among those whom Buildline's settings name for it.",
  'not-admin': "Only this workspace's admins may.",
}

/** How many of those who can help are named. */
export const HELPERS_MAX = 10

function nextOf(why: No['why'], who: readonly string[], wish: string): string {
  const helpers = who.map(helperOf).filter((one) => one !== '')
  if (helpers.length === 0) return why === 'bot' ? `Let a person ${wish}.` : `Ask a workspace admin for help.`
  const left = helpers.length - HELPERS_MAX
  const named = helpers.slice(0, HELPERS_MAX).join(', ')
  return `Ask one who may ${wish}: ${named}${left > 0 ? ` and ${left} more` : ''}.`
}

const helperOf = (id: string): string => mention(id) || (GROUP.test(id) ? `<!subteam^${id}>` : '')

const GROUP = /^S[A-Z0-9]{2,20}$/
