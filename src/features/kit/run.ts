import { listAt, textAt } from './body.ts'
import type { Reply } from './context.ts'
import { CHOICE_ACTION_IDS } from '../../slack/messages/ids.ts'
import { type ButtonHandler, type Click, type Feature, commandNamed, type Registry } from './feature.ts'
import { parseChoice } from './values.ts'
import { prefixOf, type Command, type Question } from './command.ts'
import { answerUnknown } from './slips.ts'
import { nearest } from '../../lib/nearest.ts'
import { parseLine, parseMention, parseTyped, type Word } from '../../slack/commands/parse.ts'

/** A command as typed, in a slash command or in a mention. */
interface TypedCommand {
  /** null if the first word names no command */
  command: Command | null
  /** the word in the command's place; null: nothing was typed */
  typed: string | null
  words: readonly Word[]
  /** the text after the command's name, as Slack sent it */
  text: string
}

/** `/ci stop acme/web` and `/ci-stop acme/web` are equal. Any other slash command counts as a renamed `/ci`. */
export function readSlash(registry: Registry, body: unknown): TypedCommand {
  const text = textAt(body, 'text') ?? ''
  const [, name] = ALIAS.exec(textAt(body, 'command') ?? '') ?? []
  return name === undefined
    ? readWords(registry, parseLine(text), text.replace(FIRST_WORD, ''))
    : readWords(registry, [{ text: name }, ...parseTyped(text)], text)
}

const FIRST_WORD = /^\s*\S+\s*/

const ALIAS = /^\/ci-(.+)$/

/** Reads the words after the mention of Buildline. */
export function readMention(registry: Registry, body: unknown): TypedCommand {
  const own = listAt(body, 'authorizations').map((one) => textAt(one, 'user_id'))
  const isOurs = (userId: string) => own.length === 0 || own.includes(userId)
  const words = parseMention(textAt(body, 'event', 'text') ?? '', isOurs)
  const text = words.slice(1).map((word) => word.text)
  return readWords(registry, words, text.join(' '))
}

/** The first word names the command. */
function readWords(registry: Registry, [first, ...words]: readonly Word[], text: string): TypedCommand {
  return { command: first ? commandNamed(registry, first.text) : null, typed: first?.text ?? null, words, text }
}

/** The command's name for the log and for "Still working on …", never typed text. */
export const nameOf = ({ command, typed }: TypedCommand): string =>
  command?.name ?? (typed === null ? 'overview' : 'help')

type CommandOrigin = Pick<Question, 'by' | 'thread' | 'modalOpener' | 'reference'>

/** Answers a command. An unknown command does nothing. Without any word, shows the state of the channel or thread. */
export async function runCommand(
  registry: Registry,
  { command, typed, words, text }: TypedCommand,
  origin: CommandOrigin,
): Promise<Reply> {
  const { commands, overview } = registry
  const question = { commands, words, text, ...origin }
  if (typed === null && !origin.thread && overview) return overview(question)
  const row = typed === null ? commandNamed(registry, 'status') : command
  return row ? row.handle({ ...question, row }) : unknownCommand(question, typed ?? '')
}

/** Suggests the nearest command, and does nothing. */
export function unknownCommand({ commands, by }: Pick<Question, 'commands' | 'by'>, typed: string): Reply {
  const names = commands.map(({ name }) => name)
  return { outcome: 'unknown-command', answer: answerUnknown({ typed, nearest: nearest(typed, names) }, prefixOf(by)) }
}

/** A name matched several things and the person chose one: runs the command again for that one. */
async function repeatWithChoice(click: Click): Promise<Reply | null> {
  const choice = parseChoice(click.value)
  const command = choice && click.commands.find(({ name }) => name === choice.command)
  if (!choice || !command?.choose) return null
  return command.choose({ ...click, row: command, words: [], text: '', thread: null }, choice)
}

const button: ButtonHandler = {
  what: 'choice',
  replaces: true,
  describe: (value) => parseChoice(value)?.command ?? null,
  answer: repeatWithChoice,
}

/** The buttons below "which one?", of every command. */
export const choiceButtons = (): Feature => ({
  buttons: Object.fromEntries(CHOICE_ACTION_IDS.map((id) => [id, button])),
})
