import type { Asker, Target } from '../catalog/outcomes.ts'
import type { Operations } from './operations.ts'
import type { ChoiceCommand } from '../slack/messages/answer.ts'
import { usageOf, type CommandRow } from './help/messages.ts'
import { answerNotAllowed } from './not-allowed.ts'
import { answerNameless, answerTooMuch, type HowTyped } from './slips.ts'
import type { Reply } from './context.ts'
import type { Opener } from './modal.ts'
import { parseTarget } from './target.ts'
import type { Word } from '../slack/commands/parse.ts'

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
  /** opens a modal; null where that cannot be */
  opener: Opener | null
  reference: string
}

export type Handler = (question: Question) => Promise<Reply>

/** A command about one build or project, or about all that concerns the channel. */
export interface About {
  overall: Handler
  about: (question: Question, target: Target) => Promise<Reply>
}

/** Reads what a command is about. Nothing is done on a guess: a word too many, or an empty one, is said to be one. */
export const readingTarget =
  ({ overall, about }: About): Handler =>
  (question) => {
    const target = parseTarget(question.words)
    if (target.kind === 'unclear') return Promise.resolve(tooMuch(question.row, target.extra))
    if (target.kind === 'nameless') return Promise.resolve(nameless(question.row, target.project))
    if (target.kind !== 'none') return about(question, target)
    return question.thread ? about(question, question.thread) : overall(question)
  }

const tooMuch = (row: CommandRow, extra: string): Reply => ({
  outcome: 'too-much',
  answer: answerTooMuch({ extra, ...howTyped(row) }),
})

const nameless = (row: CommandRow, project: string | null): Reply => ({
  outcome: 'nameless',
  answer: answerNameless({
    branchOf: project,
    usage: usageOf(row),
    example: `/ci ${row.name} ${project ?? 'project'}@branch`,
  }),
})

export const howTyped = (row: CommandRow): HowTyped => ({
  usage: usageOf(row),
  example: row.examples[0] ?? usageOf(row),
})

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
