import { listAt, textAt } from './body.ts'
import type { Requester, Target } from '../catalog/outcomes.ts'
import type { SlackDeps, Reply } from './context.ts'
import { overview } from './builds/slack.ts'
import { unknown } from './help/slack.ts'
import { commandNamed, COMMANDS } from './features.ts'
import type { Command } from './command.ts'
import type { ModalOpener } from './modal.ts'
import { parseTyped, type Word } from '../slack/commands/parse.ts'

/** A command by its words: from a slash command or from a mention. */
interface Spoken {
  /** null where the first word names no command */
  command: Command | null
  /** what was typed for the command's name; null: nothing at all */
  typed: string | null
  words: readonly Word[]
  /** what stands after the command's name, as Slack sent it */
  text: string
}

/** `/ci stop acme/web` and `/ci-stop acme/web` are the same. Any other slash command is taken for `/ci`, renamed. */
export function readSlash(body: unknown): Spoken {
  const text = textAt(body, 'text') ?? ''
  const words = parseTyped(text)
  const [, name] = ALIAS.exec(textAt(body, 'command') ?? '') ?? []
  return name === undefined
    ? readWords(words, text.replace(FIRST_WORD, ''))
    : readWords([{ text: name }, ...words], text)
}

const FIRST_WORD = /^\s*\S+\s*/

const ALIAS = /^\/ci-(.+)$/

/** What somebody else's bot says is no ask: two bots would talk for ever. */
export const isByBot = (body: unknown): boolean => textAt(body, 'event', 'bot_id') !== null

/** The words after our name: what stands before it was said to somebody else. */
export function readMention(body: unknown): Spoken {
  const words = parseTyped((textAt(body, 'event', 'text') ?? '').replaceAll(ADDRESSED, '$1 '))
  const own = listAt(body, 'authorizations').map((one) => textAt(one, 'user_id'))
  const isOurs = ({ userId }: Word) => userId !== undefined && (own.length === 0 || own.includes(userId))
  const asked = words.slice(words.findIndex(isOurs) + 1)
  const text = asked.slice(1).map((word) => word.text)
  return readWords(asked, text.join(' '))
}

// `@buildline: stop`, as people write to one another.
const ADDRESSED = /(<@[UW][A-Z0-9]{2,20}(?:\|[^<>]{0,80})?>)[:,]/g

/** The first word names the command. */
function readWords([first, ...words]: readonly Word[], text: string): Spoken {
  return { command: first ? commandNamed(first.text) : null, typed: first?.text ?? null, words, text }
}

/** What the log and "this takes longer" call it: never what somebody typed. */
export const nameOf = ({ command, typed }: Spoken): string => command?.name ?? (typed === null ? 'overview' : 'help')

interface Asking {
  by: Requester
  thread: Target | null
  modalOpener: ModalOpener | null
  reference: string
}

/** Answers a command. An unknown one is never acted on; no command at all shows how things stand, here or in this thread. */
export async function run(
  deps: Pick<SlackDeps, 'operations'>,
  { command, typed, words, text }: Spoken,
  asking: Asking,
): Promise<Reply> {
  const question = { operations: deps.operations, commands: COMMANDS, words, text, ...asking }
  if (typed === null && !asking.thread) return overview(question)
  const row = typed === null ? commandNamed('status') : command
  return row ? row.handle({ ...question, row }) : unknown(COMMANDS, typed ?? '')
}
