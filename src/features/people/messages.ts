import { mention } from '../../slack/messages/build.ts'
import { handleWords, meCommand } from '../../slack/messages/handle.ts'
import { HANDLE_CHARS_MAX } from '../../domain/handle.ts'
import type { MeOutcome, NotAPerson, NotClaimable } from './people.ts'
import type { Me } from '../../catalog/people.ts'
import { answerOf, answerError, line, small, type Answer, type Part, typed } from '../../slack/messages/answer.ts'
import { answerRefused } from '../not-allowed.ts'

type Of<Kind extends MeOutcome['kind']> = Extract<MeOutcome, { kind: Kind }>

/** Tells the requester whom committer names mean. Mentions in it ping nobody, since only the requester sees it. */
export function answerMe(outcome: MeOutcome, asked: { by: string; reference: string }): Answer {
  const error = (what: string, why: string | null, next: string) => answerError({ what, why, next })
  switch (outcome.kind) {
    case 'me':
      return answerOf([...meLines(outcome.me), HOW])
    case 'claimed':
      return answerOf([line(`${DONE} ${handleWords(outcome.handle)} *is yours*.`), ...meLines(outcome.me)])
    case 'released':
      return answerOf([line(`${DONE} ${handleWords(outcome.handle)} *is nobody's now*.`), ...meLines(outcome.me)])
    case 'mentions':
      return answerOf([line(`${DONE} Mentions are *${outcome.me.mentions ? 'on' : 'off'}*.`), nameLine(outcome.me)])
    case 'given':
      return answerOf(givenLines(outcome, asked.by))
    case 'taken':
      return error(takenWords(outcome), ONE_PERSON, askAdmin(outcome.handle))
    case 'not-yours':
      return error(...notYours(outcome))
    case 'too-many':
      return error(...tooMany(outcome, asked.by))
    case 'not-claimable':
      return error(notClaimed(outcome.handle), WHY[outcome.why], NEXT_NAME)
    case 'no-committer':
      return error(...NO_COMMITTER)
    case 'not-a-person':
      return error(...notAPerson(outcome))
    case 'forbidden':
    case 'unknown-person':
      return answerRefused(outcome, asked.reference)
  }
}

const DONE = ':white_check_mark:'

/** The requester's names, and whether failed builds mention them. */
function meLines(me: Me): Part[] {
  const [first] = me.handles
  if (!first) return [nameLine(me)]
  if (!me.mentions) return [nameLine(me), line(UNMENTIONED)]
  return [nameLine(me), line(MENTIONED), line(`Everybody sees there: ${mention(me.user)}`)]
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
  if (was === user) return [line(`${DONE} ${handleWords(handle)} *is ${whose}* already.`)]
  const before = was === null ? 'Nobody had it before.' : `It was ${was === by ? 'yours' : `${mention(was)}'s`}.`
  const notified = [user, was].filter(
    (one) => one !== null && one !== by && !unreached.includes(one) && mention(one) !== '',
  )
  return [
    line(`${DONE} ${handleWords(handle)} *is ${whose} now*. ${before}`),
    ...(notified.length > 0 ? [line(`Told directly: ${notified.map(mention).join(', ')}.`)] : []),
    ...(unreached.length > 0
      ? [
          line(
            `:warning: Slack did not deliver the message to ${unreached.map(mention).join(', ')}: please tell them yourself.`,
          ),
        ]
      : []),
  ]
}

const takenWords = ({ handle, by, isGone }: Of<'taken'>): string =>
  `:no_entry: *Taken*: ${handleWords(handle)} belongs to ${mention(by) || 'somebody else'}${isGone ? ', who has left the workspace' : ''}; nothing was changed.`

const ONE_PERSON = 'A committer name belongs to one person, so that no failure mentions the wrong one.'

const askAdmin = (handle: string): string =>
  `Is it yours? An admin can decide: ${typed(meCommand('', handle, 'for @you'))}.`

type Words = [what: string, why: string | null, next: string]

const notYours = ({ handle, by }: Of<'not-yours'>): Words =>
  by === null
    ? [
        `:mag: *Nothing to forget*: nobody has ${handleWords(handle)}.`,
        null,
        `Type ${typed('/ci me')} to see your names.`,
      ]
    : [
        `:no_entry: *Not yours*: ${handleWords(handle)} belongs to ${mention(by) || 'somebody else'}; nothing was changed.`,
        'Only that person can give it up.',
        askAdmin(handle),
      ]

const tooMany = ({ user, max }: Of<'too-many'>, by: string): Words => [
  `:no_entry: *Too many names*: ${user === by ? 'you have' : `${mention(user)} has`} ${max} already; nothing was changed.`,
  null,
  user === by
    ? `Give one up first: ${typed('/ci me forget ada')}.`
    : `They have to give one up first: ${typed('/ci me forget ada')}.`,
]

const notClaimed = (handle: string): string => `:no_entry: *Not a name for one person*: ${typed(handle)}.`

const WHY: Record<NotClaimable, string> = {
  empty: 'It is empty.',
  'too-long': `It is longer than ${HANDLE_CHARS_MAX} characters.`,
  bot: 'It belongs to a bot, which commits for many people.',
  'no-reply': 'Many people commit with that address.',
  'not-a-handle': 'No commit can have such a name.',
}

const NEXT_NAME = `Type the name as a card shows it after the commit, such as ${typed('/ci me ada')}.`

const NO_COMMITTER: Words = [
  ':mag: *No committer*: Buildline no longer knows who made the commit of that build; nothing was changed.',
  null,
  NEXT_NAME,
]

const notAPerson = ({ handle, user, why }: Of<'not-a-person'>): Words => [
  `:no_entry: ${handleWords(handle)} *cannot mean ${mention(user) || 'that account'}*; nothing was changed.`,
  NOBODY[why],
  why === 'unknown' ? 'Try again in a minute.' : 'Choose a person of this workspace.',
]

const NOBODY: Record<NotAPerson, string> = {
  deactivated: 'That account is deactivated.',
  bot: 'That is a bot.',
  outsider: 'That account belongs to another workspace.',
  unknown: 'Slack did not say who that is.',
}
