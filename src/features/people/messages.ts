import { assertNever } from '../../lib/assert.ts'
import { mention } from '../../slack/messages/build.ts'
import { committerMention, handleWords, meCommand } from '../../slack/messages/handle.ts'
import { HANDLE_CHARS_MAX } from '../../domain/handle.ts'
import type { Me, MeOutcome, NotAPerson, NotClaimable } from './outcomes.ts'
import { answerOf, answerTrouble, line, small, type Answer, type Part } from '../../slack/messages/answer.ts'
import { answerNotAllowed } from '../not-allowed.ts'
import { typed } from '../../slack/messages/typed.ts'

type Of<Kind extends MeOutcome['kind']> = Extract<MeOutcome, { kind: Kind }>

/** Whom committer names mean, to the one who asks. Mentions in an answer that one person sees ping nobody. */
export function answerMe(outcome: MeOutcome, asked: { by: string; reference: string }): Answer {
  const trouble = (what: string, why: string | null, next: string) =>
    answerTrouble({ what, why, next }, asked.reference)
  switch (outcome.kind) {
    case 'me':
      return answerOf([...meLines(outcome.me), HOW])
    case 'claimed':
      return answerOf([line(`${DONE} ${handleWords(outcome.handle)} *means you*.`), ...meLines(outcome.me)])
    case 'released':
      return answerOf([line(`${DONE} ${handleWords(outcome.handle)} *means nobody now*.`), ...meLines(outcome.me)])
    case 'mentions':
      return answerOf([line(`${DONE} Mentions are *${outcome.me.mentions ? 'on' : 'off'}*.`), nameLine(outcome.me)])
    case 'given':
      return answerOf(givenLines(outcome, asked.by))
    case 'taken':
      return trouble(takenWords(outcome), ONE_PERSON, askAdmin(outcome.handle))
    case 'not-yours':
      return trouble(...notYours(outcome))
    case 'too-many':
      return trouble(...tooMany(outcome, asked.by))
    case 'not-claimable':
      return trouble(notClaimed(outcome.handle), WHY[outcome.why], NEXT_NAME)
    case 'not-a-person':
      return trouble(...notAPerson(outcome))
    case 'forbidden':
      return answerNotAllowed(outcome.permit, { action: outcome.action, reference: asked.reference })
    case 'unknown-person':
      return answerNotAllowed(outcome, { action: null, reference: asked.reference })
    default:
      return assertNever(outcome)
  }
}

const DONE = ':white_check_mark:'

/** Which names are the asker's, and what happens when a build of theirs fails. */
function meLines(me: Me): Part[] {
  const [first] = me.handles
  if (!first) return [nameLine(me)]
  if (!me.mentions) return [nameLine(me), line(UNMENTIONED)]
  return [nameLine(me), line(MENTIONED), line(`Everybody sees there: ${committerMention(me.user, first.handle)}`)]
}

function nameLine({ handles }: Me): Part {
  if (handles.length === 0) return line(NO_NAME)
  const names = handles.map(({ handle }) => handleWords(handle)).join(', ')
  return line(
    `:bust_in_silhouette: *${handles.length === 1 ? 'Your committer name' : 'Your committer names'}*: ${names}`,
  )
}

const NO_NAME = ':bust_in_silhouette: *No committer name means you*: no failed build mentions you.'

const MENTIONED =
  'Mentions are *on*: when a build of such a commit fails, its thread mentions you, in channels that mention committers.'
const UNMENTIONED = `Mentions are *off*: a failed build mentions nobody for these. ${typed('/ci me mentions on')} turns them on.`

const HOW = small(
  [
    `${typed('/ci me ada')} makes a name yours, ${typed('/ci me forget ada')} gives it up,`,
    `${typed('/ci me mentions off')} keeps you unmentioned. Admins decide with ${typed('/ci me ada for @grace')}.`,
  ].join(' '),
)

function givenLines({ handle, user, was, untold }: Of<'given'>, by: string): Part[] {
  const whom = user === by ? 'you' : mention(user) || 'that account'
  if (was === user) return [line(`${DONE} ${handleWords(handle)} *means ${whom}* already; nothing was changed.`)]
  const before = was === null ? "It was nobody's." : `It was ${was === by ? 'yours' : `${mention(was)}'s`}.`
  const told = [user, was].filter((one) => one !== null && one !== by && !untold.includes(one) && mention(one) !== '')
  return [
    line(`${DONE} ${handleWords(handle)} *means ${whom} now*. ${before}`),
    ...(told.length > 0 ? [line(`Told directly: ${told.map(mention).join(', ')}.`)] : []),
    ...(untold.length > 0
      ? [line(`:warning: Slack did not take the message to ${untold.map(mention).join(', ')}: tell them yourself.`)]
      : []),
  ]
}

const takenWords = ({ handle, by, isGone }: Of<'taken'>): string =>
  `:no_entry: *Taken*: ${handleWords(handle)} means ${mention(by) || 'somebody else'}${isGone ? ', who has left the workspace' : ''}; nothing was changed.`

const ONE_PERSON = "A committer name is one person's, so that no failure mentions a wrong one."

const askAdmin = (handle: string): string =>
  `Is it yours? An admin can decide: ${typed(meCommand('', handle, 'for @you'))}.`

type Words = [what: string, why: string | null, next: string]

const notYours = ({ handle, by }: Of<'not-yours'>): Words =>
  by === null
    ? [
        `:mag: *Nothing to forget*: ${handleWords(handle)} means nobody.`,
        null,
        `Type ${typed('/ci me')} to see your names.`,
      ]
    : [
        `:no_entry: *Not yours*: ${handleWords(handle)} means ${mention(by) || 'somebody else'}; nothing was changed.`,
        'Only that person gives it up.',
        askAdmin(handle),
      ]

const tooMany = ({ user, max }: Of<'too-many'>, by: string): Words => [
  `:no_entry: *Too many names*: ${user === by ? 'you have' : `${mention(user)} has`} ${max} already; nothing was changed.`,
  null,
  user === by
    ? `Give one up first: ${typed('/ci me forget ada')}.`
    : `Let them give one up first: ${typed('/ci me forget ada')}.`,
]

const notClaimed = (handle: string): string =>
  `:no_entry: *Not a name for one person*: ${typed(handle)}; nothing was changed.`

const WHY: Record<NotClaimable, string> = {
  empty: 'It is empty.',
  'too-long': `It is longer than ${HANDLE_CHARS_MAX} characters.`,
  bot: "It is a bot's: commits carry it whoever wrote them.",
  'no-reply': "It is an address that many people's commits carry.",
  'not-a-handle': 'No commit carries such a name.',
}

const NEXT_NAME = `Type the name as a card shows it before the commit's message, such as ${typed('/ci me ada')}.`

const notAPerson = ({ handle, user, why }: Of<'not-a-person'>): Words => [
  `:no_entry: ${handleWords(handle)} *cannot mean ${mention(user) || 'that account'}*; nothing was changed.`,
  NOBODY[why],
  why === 'unknown' ? 'Try again in a minute.' : 'Choose a person of this workspace.',
]

const NOBODY: Record<NotAPerson, string> = {
  deactivated: 'That account is deactivated.',
  bot: 'That is a bot.',
  outsider: 'That account is of another workspace.',
  unknown: 'Slack did not say who that is.',
}
