import type { Feature } from '../kit/feature.ts'
import { answerHelp, answerHelpAbout } from './messages.ts'
import { unknownCommand } from '../kit/run.ts'
import { prefixOf, type Question } from '../kit/command.ts'
import type { Reply } from '../kit/context.ts'

export const help = (): Feature => ({
  commands: [
    {
      name: 'help',
      alias: null,
      group: 'Help',
      usage: '[command]',
      does: 'lists the commands, or explains one',
      examples: ['/ci help', '/ci help stop'],
      who: 'everyone',
      handle: answerTyped,
    },
  ],
})

/** Explains all commands, or one. Calls nothing else, so that help works when nothing else does. */
async function answerTyped(question: Question): Promise<Reply> {
  const { commands, words, by } = question
  const [about] = words
  if (!about) return { outcome: 'help', answer: answerHelp(commands, prefixOf(by)) }
  const typed = about.text.toLowerCase().replace(/^\/(?:ci-)?/, '')
  const row = commands.find(({ name }) => name === typed)
  return row ? { outcome: 'help', answer: answerHelpAbout(row) } : unknownCommand(question, about.text)
}
