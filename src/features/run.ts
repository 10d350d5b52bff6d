import { invariant } from '../lib/assert.ts'
import { textAt } from './body.ts'
import type { Asker, Target } from '../catalog/outcomes.ts'
import type { Door, Reply } from './context.ts'
import { help, unknown } from './help/slack.ts'
import { commandNamed, COMMANDS } from './commands.ts'
import type { Command, Question } from './command.ts'
import type { Opener } from './modal.ts'
import { parseTyped, type Word } from '../slack/commands/parse.ts'

/** A command by its words: from a slash command or from a mention. */
export interface Spoken {
  /** null where the first word names no command */
  command: Command | null
  /** what was typed for the command's name; null: nothing at all */
  typed: string | null
  words: readonly Word[]
}

/** `/ci stop acme/web` and `/ci-stop acme/web` are the same. Any other slash command is taken for `/ci`, renamed. */
export function readSlash(body: unknown): Spoken {
  const words = parseTyped(textAt(body, 'text') ?? '')
  const [, name] = ALIAS.exec(textAt(body, 'command') ?? '') ?? []
  return readWords(name === undefined ? words : [{ text: name }, ...words])
}

const ALIAS = /^\/ci-(.+)$/

/** The first word names the command. */
export function readWords([first, ...words]: readonly Word[]): Spoken {
  return { command: first ? commandNamed(first.text) : null, typed: first?.text ?? null, words }
}

/** What the log and "this takes longer" call it: never what somebody typed. */
export const nameOf = ({ command }: Spoken): string => command?.name ?? 'help'

export interface Asking {
  by: Asker
  thread: Target | null
  opener: Opener | null
  reference: string
}

/** Answers a command; an unknown one is never acted on, an empty one is a call for help. */
export async function run(
  door: Pick<Door, 'operations'>,
  { command, typed, words }: Spoken,
  asking: Asking,
): Promise<Reply> {
  if (command) return command.handle(questionOf(door, command, asking, words))
  return typed === null ? help.handle(questionAbout(door, 'help', asking)) : unknown(COMMANDS, typed)
}

/** The question that a button asks: everything it is about travels in the button. */
export function questionAbout(door: Pick<Door, 'operations'>, name: string, asking: Asking): Question {
  const row = commandNamed(name)
  invariant(row, `no command is named ${name}`)
  return questionOf(door, row, asking, [])
}

const questionOf = (
  { operations }: Pick<Door, 'operations'>,
  row: Command,
  asking: Asking,
  words: readonly Word[],
): Question => ({ operations, row, rows: COMMANDS, words, ...asking })
