import type { Asker, Operations, Target } from '../../operations/asked.ts'
import type { ChoiceCommand } from '../answers/answer.ts'
import type { CommandRow } from '../answers/help.ts'
import { answerNotAllowed } from '../answers/not-allowed.ts'
import { answerTooMuch } from '../answers/slips.ts'
import type { Reply } from '../door.ts'
import { parseTarget } from './target.ts'
import type { Word } from './parse.ts'

/** One command, as it was asked: typed, clicked or chosen. */
export interface Question {
  operations: Operations
  row: CommandRow
  /** every command there is */
  rows: readonly CommandRow[]
  /** what was typed after the command's name */
  words: readonly Word[]
  by: Asker
  /** the build's message in whose thread it was asked, when nothing else is named */
  thread: Target | null
  reference: string
}

export type Handler = (question: Question) => Promise<Reply>

/** A command about one build or project, or about all that concerns the channel. */
export interface About {
  overall: Handler
  about: (question: Question, target: Target) => Promise<Reply>
}

/** Reads what a command is about. Nothing is done on a guess: a word too many is said to be one. */
export const readingTarget =
  ({ overall, about }: About): Handler =>
  (question) => {
    const target = parseTarget(question.words)
    if (target.kind === 'unclear') return Promise.resolve(tooMuch(question, target.extra))
    if (target.kind !== 'none') return about(question, target)
    return question.thread ? about(question, question.thread) : overall(question)
  }

export const tooMuch = ({ row }: Question, extra: string): Reply => ({
  outcome: 'too-much',
  answer: answerTooMuch({ extra, usage: usageOf(row), example: row.examples[0] ?? usageOf(row) }),
})

/** `/ci stop [project]` */
export const usageOf = ({ name, usage }: CommandRow): string => `/ci ${name}${usage === '' ? '' : ` ${usage}`}`

/** Asks first whether this person may read at all: outsiders of shared channels may not. */
export async function whenMayRead(
  { operations, by, reference }: Pick<Question, 'operations' | 'by' | 'reference'>,
  read: () => Promise<Reply>,
): Promise<Reply> {
  const permit = await operations.mayRead({ user: by.user, team: by.team })
  if (permit.kind === 'yes') return read()
  return { outcome: permit.kind, answer: answerNotAllowed(permit, { action: null, reference }) }
}

/** What an answer has to know of the question. */
export const askedWith = ({ reference }: Question, command: ChoiceCommand, target: Target | null) => ({
  command,
  branch: target?.kind === 'project' ? target.branch : null,
  reference,
})

/** `ci-trouble not-found`: an outcome as the log calls it. */
export const outcomeName = (outcome: { kind: string; code?: string }): string =>
  outcome.code === undefined ? outcome.kind : `${outcome.kind} ${outcome.code}`
