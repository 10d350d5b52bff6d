import type { Requester, Target } from '../catalog/outcomes.ts'
import type { Operations } from './operations.ts'
import type { Choice } from './values.ts'
import { answerNotAllowed } from './not-allowed.ts'
import { answerNameless, answerTooMuch, type HowTyped } from './slips.ts'
import type { Reply } from './context.ts'
import type { ModalOpener } from './modal.ts'
import { parseTarget } from './target.ts'
import type { Word } from '../slack/commands/parse.ts'

/** One row of the table of commands: what people can read about it. */
export interface CommandRow {
  /** after `/ci`, such as `list` */
  name: string
  /** the slash command that does the same, such as `/ci-list` */
  alias: string | null
  group: string
  /** what may follow the name, such as `[project] [branch]`; empty: nothing */
  usage: string
  /** one short sentence without a full stop: `shows the projects with their last known state` */
  does: string
  /** whole lines, such as `/ci stop acme/web@main` */
  examples: readonly string[]
  who: 'everyone' | 'members' | 'operators' | 'admins'
  /** what `help` with the command's name says besides, in whole sentences of Slack's markup; left out: nothing */
  notes?: readonly string[]
}

/** `/ci stop [project[@branch]]`: how a command is typed. */
export const usageOf = ({ name, usage }: Pick<CommandRow, 'name' | 'usage'>): string =>
  usage === '' ? `/ci ${name}` : `/ci ${name} ${usage}`

/** One command, as it was asked: typed, clicked or chosen. */
export interface Question {
  operations: Operations
  row: CommandRow
  /** every command there is */
  commands: readonly Command[]
  /** what was typed after the command's name */
  words: readonly Word[]
  /** the same as Slack sent it, with its lines and quotes: for what is pasted */
  text: string
  by: Requester
  /** the build's message in whose thread it was asked, when nothing else is named */
  thread: Target | null
  /** opens a modal; null where that cannot be */
  modalOpener: ModalOpener | null
  reference: string
}

export type Handler = (question: Question) => Promise<Reply>

/** One command: its row in the help, and what answers it. */
export interface Command extends CommandRow {
  handle: Handler
  /** The name that was typed meant several things, and one of them was chosen. Left out: this command offers no choice. */
  choose?: (question: Question, choice: Choice) => Promise<Reply>
}

/** How people name a build in a command's usage. */
export const BUILD_USAGE = '[project[@branch] | #build | build address | uuid]'

/** A command about one build or project, or about all that concerns the channel. */
export interface About {
  overall: Handler
  about: (question: Question, target: Target) => Promise<Reply>
}

/** A command about a build or project. A word too many, or an empty one, is refused: nothing is done on a guess. */
export const commandAbout = (row: CommandRow, { overall, about }: About): Command => ({
  ...row,
  handle(question) {
    const target = parseTarget(question.words)
    if (target.kind === 'unclear') return Promise.resolve(tooMuch(row, target.extra))
    if (target.kind === 'nameless') return Promise.resolve(nameless(row, target.project))
    if (target.kind !== 'none') return about(question, target)
    return question.thread ? about(question, question.thread) : overall(question)
  },
  choose: (question, choice) => about(question, targetOf(choice)),
})

const targetOf = (choice: Choice): Target =>
  choice.kind === 'run'
    ? { kind: 'run', ref: choice.ref }
    : { kind: 'project', project: choice.project, branch: choice.branch }

/** What was typed, with the chosen project in the place of its name. */
export const wordsOf = (choice: Choice): Word[] =>
  choice.kind === 'project' ? [choice.project, ...(choice.rest ?? [])].map((text) => ({ text })) : []

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
export const answerContext = ({ row, reference }: Question, target: Target | null, command = row.name) => ({
  command,
  branch: target?.kind === 'project' ? target.branch : null,
  reference,
})

/** `ci-trouble not-found`: an outcome as the log calls it. */
export const outcomeName = (outcome: { kind: string; code?: string }): string =>
  outcome.code === undefined ? outcome.kind : `${outcome.kind} ${outcome.code}`
