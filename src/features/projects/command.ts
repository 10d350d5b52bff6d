import { answerProject } from './show-messages.ts'
import { answerTooLittle, answerTooMuch } from '../slips.ts'
import type { Reply } from '../context.ts'
import { openCreation, openProjectForm, type OpeningVerb } from './opening.ts'
import { howTyped, outcomeName, whenMayRead, type Command, type Question } from '../command.ts'
import { CUT, type Word } from '../../slack/commands/parse.ts'

export const project: Command = {
  name: 'project',
  alias: null,
  group: 'Projects',
  usage: '[edit|reset-aes-key] project, or create [repository]',
  does: 'shows a project: what it builds and whom it tells; creates and changes projects',
  examples: [
    '/ci project acme/web',
    '/ci project edit acme/web',
    '/ci project create',
    '/ci project reset-aes-key acme/ios',
  ],
  who: 'everyone',
  handle: answerTyped,
  choose: (question, choice) =>
    choice.kind === 'project'
      ? projectAbout(question, readVerb(choice.rest?.[0]), choice.project)
      : projectAbout(question, 'show', ''),
}

/** `/ci project acme/web`, `/ci project edit acme/web`, `/ci project create`. */
function answerTyped(question: Question): Promise<Reply> {
  const { row, words } = question
  const { verb, rest } = readProject(words)
  const [first, extra] = rest
  const isCut = words.includes(CUT)
  if (extra || isCut) return slip('too-much', answerTooMuch({ extra: (extra ?? CUT).text, ...howTyped(row) }))
  if (verb === 'create') return openCreation(question, first?.url ?? first?.text ?? '')
  if (!first || first.text === '')
    return slip('too-little', answerTooLittle({ missing: 'a project', ...howTyped(row) }))
  return projectAbout(question, verb, first.text)
}

/** The same by a choice or a button. */
const projectAbout = (question: Question, verb: OpeningVerb | 'show', name: string): Promise<Reply> =>
  verb === 'show' ? show(question, name) : openProjectForm(question, verb, name)

const readVerb = (word: string | undefined): OpeningVerb | 'show' =>
  VERBS.find((verb) => verb === word?.toLowerCase()) ?? 'show'

const VERBS = ['edit', 'reset-aes-key'] as const

function readProject(words: readonly Word[]): { verb: OpeningVerb | 'show' | 'create'; rest: readonly Word[] } {
  const [first, second, ...others] = words
  if (first?.text.toLowerCase() === 'create') return { verb: 'create', rest: words.slice(1) }
  if (readVerb(first?.text) !== 'show') return { verb: readVerb(first?.text), rest: words.slice(1) }
  // As the choice of a project writes it.
  if (first && readVerb(second?.text) !== 'show') return { verb: readVerb(second?.text), rest: [first, ...others] }
  return { verb: 'show', rest: words }
}

const show = (question: Question, name: string): Promise<Reply> =>
  whenMayRead(question, async () => {
    const outcome = await question.operations.projects.show(name, question.by)
    const asked = { command: 'project', branch: null, reference: question.reference } as const
    return { outcome: outcomeName(outcome), answer: answerProject(outcome, asked) }
  })

const slip = async (outcome: string, answer: Reply['answer']): Promise<Reply> => ({ outcome, answer })
