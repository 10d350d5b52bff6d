import { answerHelp } from './messages.ts'
import { answerUnknown } from '../slips.ts'
import type { Question } from '../command.ts'
import type { Reply } from '../context.ts'
import { nearest } from '../../lib/nearest.ts'

/** All commands, or one. Asks nobody: help is there when nothing else is. */
export async function help({ rows, words }: Question): Promise<Reply> {
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
