// Suggestions for the text that is being typed: commands and their arguments, people, groups, channels.
import type { AppWords, Channel, User } from '../store/wire.ts'

export interface Known {
  app: Pick<AppWords, 'commands'>
  users: readonly User[]
  userGroups: readonly { handle: string; name: string }[]
  channels: readonly Channel[]
  /** whether it is typed in a thread, where Slack runs no commands */
  inThread: boolean
}

export interface Suggestion {
  /** the text that is inserted */
  insert: string
  words: string
  /** the command's arguments */
  usage?: string
  more?: string
}

export interface Suggestions {
  /** the range of characters that a choice replaces */
  from: number
  to: number
  items: Suggestion[]
  /** the arguments of the command that has been typed */
  hint: Suggestion | null
}

const NONE: Suggestions = { from: 0, to: 0, items: [], hint: null }
const ITEMS_MAX = 20

/** The suggestions at the caret; none in the middle of a word. */
export function suggest(text: string, caret: number, known: Known): Suggestions {
  const before = text.slice(0, caret)
  if (/^\S/.test(text.slice(caret))) return NONE
  const found = before.startsWith('/') && !known.inThread ? suggestCommand(before, known) : NONE
  return found.items.length > 0 || found.hint ? found : suggestName(before, known)
}

function suggestCommand(before: string, { app }: Known): Suggestions {
  const typed = before.toLowerCase().replace(/\s+/g, ' ')
  const depth = typed.split(' ').length
  const items = wordsOf(app)
    .filter(({ command }) => command.startsWith(typed) && command.split(' ').length === depth)
    .map(({ command, description, usage }) => ({
      insert: `${command} `,
      words: command,
      usage: isListOfCommands(command, usage) ? '' : usage,
      more: description,
    }))
  const whole = wordsOf(app)
    .filter(({ command, usage }) => typed.startsWith(`${command} `) && !isListOfCommands(command, usage))
    .toSorted((one, other) => other.command.length - one.command.length)[0]
  const hint = whole ? { insert: '', words: whole.command, usage: whole.usage, more: whole.description } : null
  return { from: 0, to: before.length, items: items.slice(0, ITEMS_MAX), hint: items.length > 0 ? null : hint }
}

type Words = Pick<AppWords['commands'][number], 'command' | 'description' | 'usage'>

/** The commands, and the subcommands that a usage such as `list | stop` names. */
function wordsOf({ commands }: Pick<AppWords, 'commands'>): Words[] {
  const told = new Set(commands.map(({ command }) => command))
  const further = commands
    .filter(({ command, usage }) => isListOfCommands(command, usage))
    .flatMap(({ command, usage }) => usage.split('|').map((word) => `${command} ${word.trim()}`))
    .filter((command) => !told.has(command))
  return [...commands, ...further.map((command) => ({ command, description: '', usage: '' }))]
}

const isListOfCommands = (command: string, usage: string): boolean =>
  !command.includes(' ') && /^[a-z]+(?:\s*\|\s*[a-z]+)+$/.test(usage)

function suggestName(before: string, known: Known): Suggestions {
  const [, sign, typed = ''] = /(?:^|[\s(])([@#])([\w-]*)$/.exec(before) ?? []
  if (sign === undefined) return NONE
  const all = sign === '@' ? callable(known) : channelNames(known)
  const wanted = typed.toLowerCase()
  const items = all.filter(({ words, more = '' }) =>
    [words.slice(1), more].some((one) => one.toLowerCase().startsWith(wanted)),
  )
  return { from: before.length - typed.length - 1, to: before.length, items: items.slice(0, ITEMS_MAX), hint: null }
}

function callable({ users, userGroups }: Known): Suggestion[] {
  const people = users.filter(({ isDeactivated }) => !isDeactivated)
  return [
    ...people.map(({ realName, name }) => named(`@${realName.split(' ')[0] ?? realName}`, name)),
    ...userGroups.map(({ handle, name }) => named(`@${handle}`, name)),
    named('@channel', 'everybody in this channel'),
    named('@here', 'everybody here who is online'),
  ]
}

const channelNames = ({ channels }: Known): Suggestion[] =>
  channels.filter(({ kind }) => kind === 'public' || kind === 'private').map(({ name }) => named(`#${name}`, ''))

const named = (words: string, more: string): Suggestion => ({
  insert: `${words} `,
  words,
  ...(more ? { more } : {}),
})
