import { andList, mention, handleWords, meCommand } from '../../slack/messages/build.ts'
import { HANDLE_CHARS_MAX } from '../../domain/handle.ts'
import type { MeOutcome, NotAPerson, NotClaimable } from './people.ts'
import type { Me } from '../../projects/people.ts'
import {
  answerOf,
  answerError,
  line,
  small,
  type Answer,
  type ErrorAnswer,
  type Part,
  typed,
} from '../../slack/messages/answer.ts'
import { answerRefused } from '../kit/not-allowed.ts'

type Of<Kind extends MeOutcome['kind']> = Extract<MeOutcome, { kind: Kind }>

/** Answers whom committer names mean. Its mentions notify nobody, since only the requester sees it. */
export function answerMe(outcome: MeOutcome, asked: { by: string; reference: string; isAdmin: boolean }): Answer {
  switch (outcome.kind) {
    case 'me':
      return answerOf([...meLines(outcome.me), HOW])
    case 'claimed':
      return answerOf([line(claimedWords(outcome)), ...meLines(outcome.me)])
    case 'released':
      return answerOf([line(`${DONE} ${handleWords(outcome.handle)} *is free again*.`), ...meLines(outcome.me)])
    case 'mentions':
      return answerOf([line(`${DONE} Mentions are *${outcome.me.mentions ? 'on' : 'off'}*.`), nameLine(outcome.me)])
    case 'given':
      return answerOf(givenLines(outcome, asked.by))
    case 'taken':
      return answerError(taken(outcome, asked.isAdmin))
    case 'not-yours':
      return answerError(notYours(outcome, asked.isAdmin))
    case 'too-many':
      return answerError(tooMany(outcome, asked.by))
    case 'not-claimable':
      return answerError(notClaimed(outcome))
    case 'no-committer':
      return answerError(NO_COMMITTER)
    case 'not-a-person':
      return answerError(notAPerson(outcome))
    case 'forbidden':
    case 'unknown-person':
      return answerRefused(outcome, asked.reference)
  }
}

const claimedWords = ({ handle, isNew }: Of<'claimed'>): string =>
  isNew
    ? `${DONE} ${handleWords(handle)} *is yours*.`
    : `:information_source: ${handleWords(handle)} *is already yours*.`

const DONE = ':white_check_mark:'

/** The requester's names, and whether failed builds mention them. */
function meLines(me: Me): Part[] {
  const [first] = me.handles
  if (!first) return [nameLine(me)]
  return [nameLine(me), line(me.mentions ? MENTIONED : UNMENTIONED)]
}

function nameLine({ handles }: Me): Part {
  if (handles.length === 0) return line(NO_NAME)
  const names = handles.map(({ handle }) => handleWords(handle)).join(', ')
  return line(
    `:bust_in_silhouette: *${handles.length === 1 ? 'Your committer name' : 'Your committer names'}*: ${names}`,
  )
}

const NO_NAME = ':bust_in_silhouette: *You have no committer name*, so no failed build mentions you.'

const MENTIONED =
  'Mentions are *on*: when a build of your commit fails, its thread mentions you, in channels that mention committers.'
const UNMENTIONED = `Mentions are *off*: no failed build mentions you. ${typed('/ci me mentions on')} turns them on.`

const HOW = small(
  [
    `${typed('/ci me ada')} claims a name, ${typed('/ci me forget ada')} gives it up,`,
    `${typed('/ci me mentions off')} turns mentions off. Admins assign names with ${typed('/ci me ada for @grace')}.`,
  ].join(' '),
)

function givenLines({ handle, user, was, unreached }: Of<'given'>, by: string): Part[] {
  const whose = user === by ? 'yours' : `${mention(user) || 'that account'}'s`
  if (was === user) return [line(`${DONE} ${handleWords(handle)} *is already ${whose}*.`)]
  const before = was === null ? 'Nobody had it before.' : `It was ${was === by ? 'yours' : `${mention(was)}'s`}.`
  const notified = [user, was].filter(
    (one) => one !== null && one !== by && !unreached.includes(one) && mention(one) !== '',
  )
  return [
    line(`${DONE} ${handleWords(handle)} *is ${whose} now*. ${before}`),
    ...(notified.length > 0
      ? [
          line(
            `${andList(notified.map(mention))} ${notified.length === 1 ? 'was' : 'were'} notified by direct message.`,
          ),
        ]
      : []),
    ...(unreached.length > 0
      ? [
          line(
            `:warning: Slack did not deliver the message to ${unreached.map(mention).join(', ')}: please tell them yourself.`,
          ),
        ]
      : []),
  ]
}

const taken = ({ handle, by, isGone }: Of<'taken'>, isAdmin: boolean): ErrorAnswer => ({
  what: `:no_entry: *Taken*: ${handleWords(handle)} belongs to ${mention(by) || 'somebody else'}${isGone ? ', who has left the workspace' : ''}; nothing was changed.`,
  why: 'A committer name belongs to one person, so that no failure mentions the wrong one.',
  next: askAdmin(handle, isAdmin),
})

const askAdmin = (handle: string, isAdmin: boolean): string =>
  isAdmin
    ? `You are an admin: ${typed(meCommand('', handle, 'for me'))} makes it yours.`
    : `Is it yours? An admin can decide: ${typed(meCommand('', handle, 'for @you'))}.`

const notYours = ({ handle, by }: Of<'not-yours'>, isAdmin: boolean): ErrorAnswer =>
  by === null
    ? {
        what: `:mag: *Nothing to forget*: ${handleWords(handle)} is not claimed.`,
        why: null,
        next: `Type ${typed('/ci me')} to see your names.`,
      }
    : {
        what: `:no_entry: *Not yours*: ${handleWords(handle)} belongs to ${mention(by) || 'somebody else'}; nothing was changed.`,
        why: 'Only that person can give it up.',
        next: askAdmin(handle, isAdmin),
      }

const tooMany = ({ user, max }: Of<'too-many'>, by: string): ErrorAnswer => ({
  what: `:no_entry: *Too many names*: ${user === by ? 'you have' : `${mention(user)} has`} ${max} already; nothing was changed.`,
  why: null,
  next: `${user === by ? 'Give one up first' : 'They have to give one up first'}: ${typed('/ci me forget ada')}.`,
})

const notClaimed = ({ handle, why }: Of<'not-claimable'>): ErrorAnswer => ({
  what: `:no_entry: *Not a name for one person*: ${typed(handle)}.`,
  why: WHY[why],
  next: NEXT_NAME,
})

const WHY: Record<NotClaimable, string> = {
  empty: 'It is empty.',
  'too-long': `It is longer than ${HANDLE_CHARS_MAX} characters.`,
  bot: 'It belongs to a bot, which commits for many people.',
  'no-reply': 'Many people commit with that address.',
  'not-a-handle': 'This cannot be a committer name.',
}

const NEXT_NAME = `Type the name as a card shows it after the commit, such as ${typed('/ci me ada')}.`

const NO_COMMITTER: ErrorAnswer = {
  what: ':mag: *No committer*: Buildline no longer knows who made the commit of that build; nothing was changed.',
  why: null,
  next: NEXT_NAME,
}

const notAPerson = ({ handle, user, why }: Of<'not-a-person'>): ErrorAnswer => ({
  what: `:no_entry: ${handleWords(handle)} *cannot mean ${mention(user) || 'that account'}*; nothing was changed.`,
  why: NOBODY[why],
  next: why === 'unknown' ? 'Try again in a minute.' : 'Choose a person of this workspace.',
})

const NOBODY: Record<NotAPerson, string> = {
  deactivated: 'That account is deactivated.',
  bot: 'That is a bot.',
  outsider: 'That account belongs to another workspace.',
  unknown: 'Slack did not say who that is.',
}
