import type { ListQuestion } from '../../catalog/outcomes.ts'
import { answerList } from './messages.ts'
import { pageOf } from '../values.ts'
import type { Reply } from '../context.ts'
import { outcomeName, whenMayRead, type Command, type Question } from '../command.ts'
import type { Word } from '../../slack/commands/parse.ts'

export const list: Command = {
  name: 'list',
  alias: '/ci-list',
  group: 'Look',
  usage: '[text] [basic|pro] [page]',
  does: 'shows the projects with their last known state',
  examples: ['/ci list', '/ci list acme', '/ci list pro 2'],
  who: 'everyone',
  handle: (question) => listPage(question, readList(question.words)),
  choose: (question, choice) =>
    listPage(question, { text: choice.kind === 'project' ? choice.project : null, type: null, page: 1 }),
}

/** One page of projects; a click on Next asks for the next one in the same way. */
export const listPage = (question: Question, asked: ListQuestion): Promise<Reply> =>
  whenMayRead(question, async () => {
    const outcome = await question.operations.listProjects(asked)
    return { outcome: outcomeName(outcome), answer: answerList(outcome, { reference: question.reference }) }
  })

/** `acme pro 2`: the type and the page stand last, in this order; all before them is looked for. */
export function readList(words: readonly Word[]): ListQuestion {
  const left = words.map(({ text }) => text).filter((text) => text !== '')
  const page = pageOf(left.at(-1) ?? '')
  if (page !== null) left.pop()
  const type = typeOf(left.at(-1))
  if (type !== null) left.pop()
  return { text: left.join(' ') || null, type, page: page ?? 1 }
}

function typeOf(word: string | undefined): ListQuestion['type'] {
  const type = word?.toLowerCase()
  return type === 'basic' || type === 'pro' ? type : null
}
