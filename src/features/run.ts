import { listAt, textAt } from './body.ts'
import type { SlackDeps, Reply } from './context.ts'
import { overview } from './builds/slack.ts'
import { unknown } from './help/slack.ts'
import { commandNamed, COMMANDS } from './features.ts'
import type { Command, Question } from './command.ts'
import { withKnownNames } from '../catalog/typed-names.ts'
import { parseLine, parseMention, parseTyped, type Word } from '../slack/commands/parse.ts'

/** A command as typed, in a slash command or in a mention. */
interface TypedCommand {
  /** null if the first word names no command */
  command: Command | null
  /** the word in the place of the command's name; null: nothing was typed */
  typed: string | null
  words: readonly Word[]
  /** the text after the command's name, as Slack sent it */
  text: string
}

/** `/ci stop acme/web` and `/ci-stop acme/web` are equal. Any other slash command counts as a renamed `/ci`. */
export function readSlash(body: unknown): TypedCommand {
  const text = textAt(body, 'text') ?? ''
  const [, name] = ALIAS.exec(textAt(body, 'command') ?? '') ?? []
  return name === undefined
    ? readWords(parseLine(text), text.replace(FIRST_WORD, ''))
    : readWords([{ text: name }, ...parseTyped(text)], text)
}

const FIRST_WORD = /^\s*\S+\s*/

const ALIAS = /^\/ci-(.+)$/

/** Reads the words after the mention of Buildline. */
export function readMention(body: unknown): TypedCommand {
  const own = listAt(body, 'authorizations').map((one) => textAt(one, 'user_id'))
  const isOurs = (userId: string) => own.length === 0 || own.includes(userId)
  const words = parseMention(textAt(body, 'event', 'text') ?? '', isOurs)
  const text = words.slice(1).map((word) => word.text)
  return readWords(words, text.join(' '))
}

/** The first word names the command. */
function readWords([first, ...words]: readonly Word[], text: string): TypedCommand {
  return { command: first ? commandNamed(first.text) : null, typed: first?.text ?? null, words, text }
}

/** The command's name for the log and for "Still working on …": never text that somebody typed. */
export const nameOf = ({ command, typed }: TypedCommand): string =>
  command?.name ?? (typed === null ? 'overview' : 'help')

type CommandOrigin = Pick<Question, 'by' | 'thread' | 'modalOpener' | 'reference'>

/** Answers a command. An unknown command does nothing. Without any word, shows the state of the channel or thread. */
export async function runCommand(
  deps: Pick<SlackDeps, 'operations'>,
  { command, typed, words, text }: TypedCommand,
  origin: CommandOrigin,
): Promise<Reply> {
  const { operations } = deps
  const known = await withKnownNames(operations.stored.store.read, words)
  const question = { operations, commands: COMMANDS, words: known, text, ...origin }
  if (typed === null && !origin.thread) return overview(question)
  const row = typed === null ? commandNamed('status') : command
  return row ? row.handle({ ...question, row }) : unknown(question, typed ?? '')
}
