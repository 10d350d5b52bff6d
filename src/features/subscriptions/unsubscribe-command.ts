import { answerTooMuch } from '../slips.ts'
import { answerUnsubscribe } from './messages.ts'
import type { Reply } from '../context.ts'
import { howTyped, outcomeName, wordsOf, type Command, type Question } from '../command.ts'

export const unsubscribe: Command = {
  name: 'unsubscribe',
  alias: null,
  group: 'Follow',
  usage: '[project|all]',
  does: 'ends what this channel follows of a project',
  examples: ['/ci unsubscribe', '/ci unsubscribe acme/web', '/ci unsubscribe all'],
  who: 'members',
  handle: answerTyped,
  choose: (question, choice) => answerTyped({ ...question, words: wordsOf(choice) }),
}

/** `/ci unsubscribe acme/web`, or `all`; alone the only one there is, or a choice. */
async function answerTyped(question: Question): Promise<Reply> {
  const [project, extra] = question.words
  if (extra) return { outcome: 'too-much', answer: answerTooMuch({ extra: extra.text, ...howTyped(question.row) }) }
  return unsubscribeFrom(question, { project: project?.text ?? null, id: null })
}

/** The same by a button, of one subscription exactly. */
export async function unsubscribeFrom(
  { operations, by, reference }: Pick<Question, 'operations' | 'by' | 'reference'>,
  wish: { project: string | null; id: string | null },
): Promise<Reply> {
  const outcome = await operations.subscriptions.unsubscribe(wish, by)
  const asked = { command: 'unsubscribe', branch: null, rest: [], reference } as const
  return { outcome: outcomeName(outcome), answer: answerUnsubscribe(outcome, asked) }
}
