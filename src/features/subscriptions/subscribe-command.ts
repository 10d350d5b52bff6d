import type { SubscribeWish } from './outcomes.ts'
import { answerContradiction, answerNear, answerNoBranch, answerNoReminder } from './messages.ts'
import { answerNameless, answerTooLittle, answerTooMuch } from '../slips.ts'
import type { Reply } from '../context.ts'
import { openSubscribe, subscribeReply } from './form.ts'
import { howTyped, wordsOf, type Command, type Question } from '../command.ts'
import { readWish } from './wish.ts'

export const subscribe: Command = {
  name: 'subscribe',
  alias: null,
  group: 'Follow',
  usage: '[project|all] [events] [branch pattern] [quiet] [mention|no-mention] [remind 2h [hours] [days] [time zone]]',
  does: 'subscribes this channel to a project; alone, it opens a form',
  examples: [
    '/ci subscribe',
    '/ci subscribe acme/web',
    '/ci subscribe acme/web changes release/*',
    '/ci subscribe all failed quiet no-mention',
    '/ci subscribe acme/web changes main remind 2h',
  ],
  who: 'members',
  notes: [
    'Events: `changes` (a branch breaks or is fixed), `started`, `failed`, `broken`, `passed`, `fixed`, `waiting`, `stopped`, `everything`.',
    "Without events, the channel gets what the project's notification rules in CI say; for GitHub and GitLab, failed and recovered on the default branch.",
    'Branches: `release/*` is a pattern, `^v[0-9]+$` a regular expression, `@started` the branch with that name.',
    '`quiet` keeps replies in their threads; `no-mention` mentions nobody.',
    '`remind 2h` (30m to 7d) reminds the channel of a branch that has been red that long and that nobody is on, 9-18 on weekdays in your time zone. Other hours: `remind 2h 8-20 daily Europe/Berlin`.',
  ],
  handle: answerTyped,
  choose: (question, choice) => answerTyped({ ...question, words: wordsOf(choice) }),
}

/** `/ci subscribe acme/web failed release/*`; alone it opens the form. */
function answerTyped(question: Question): Promise<Reply> {
  const { row, words } = question
  const reading = readWish(words)
  const how = { ...howTyped(row), example: EXAMPLE }
  switch (reading.kind) {
    case 'nothing':
      return openForm(question)
    case 'wish':
      return subscribeTo(question, reading.wish, reading.rest)
    case 'nameless':
      return slip('nameless', answerNameless({ branchOf: reading.project, ...how }))
    case 'unclear':
      return slip('too-much', answerTooMuch({ extra: reading.extra, ...how }))
    case 'no-branch':
      return slip('no-branch', answerNoBranch({ ...reading, ...how }))
    case 'no-reminder':
      return slip('no-reminder', answerNoReminder({ fault: reading, ...how }))
    case 'near':
      return slip('near', answerNear({ ...reading, ...how }))
    case 'contradiction':
      return slip('contradiction', answerContradiction({ ...reading, ...how }))
  }
}

/** The row's first example only opens a form, so answers show this one. */
const EXAMPLE = '/ci subscribe acme/web changes release/*'

const slip = async (outcome: string, answer: Reply['answer']): Promise<Reply> => ({ outcome, answer })

async function openForm(question: Question): Promise<Reply> {
  const { modalOpener, operations, by, row, reference } = question
  if (modalOpener) return openSubscribe({ modalOpener, operations, by, reference }, null)
  return {
    outcome: 'too-little',
    answer: answerTooLittle({ missing: 'a project', ...howTyped(row), example: EXAMPLE }),
  }
}

async function subscribeTo(
  { operations, by, reference }: Question,
  wish: SubscribeWish,
  rest: readonly string[],
): Promise<Reply> {
  const outcome = await operations.subscriptions.subscribe(wish, by)
  return subscribeReply(outcome, { rest, reference })
}
