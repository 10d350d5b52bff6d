import { answerHelp } from './messages.ts'
import { answerUnknown } from '../slips.ts'
import type { Command, Question } from '../command.ts'
import type { Reply } from '../context.ts'
import { nearest } from '../../lib/nearest.ts'

export const help: Command = {
  name: 'help',
  alias: null,
  group: 'Help',
  usage: '[command]',
  does: 'lists the commands, or explains one',
  examples: ['/ci help', '/ci help stop'],
  who: 'everyone',
  handle: answerTyped,
}

/** All commands, or one. Asks nobody: help is there when nothing else is. */
async function answerTyped({ rows, words }: Question): Promise<Reply> {
  const [about] = words
  if (!about) return { outcome: 'help', answer: answerHelp({ commands: rows, about: null }) }
  const typed = about.text.toLowerCase().replace(/^\/(?:ci-)?/, '')
  const row = rows.find(({ name }) => name === typed)
  return row ? { outcome: 'help', answer: answerHelp({ commands: rows, about: row.name }) } : unknown(rows, about.text)
}

/** No such command: the nearest is named, and nothing is done. */
export const unknown = (rows: Question['rows'], typed: string): Reply => ({
  outcome: 'unknown-command',
  answer: answerUnknown({
    typed,
    nearest: nearest(
      typed,
      rows.map(({ name }) => name),
    ),
  }),
})
