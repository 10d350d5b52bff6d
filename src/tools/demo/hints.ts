import { COMMANDS, ROOT_COMMAND } from '../../listeners/commands/index.ts'
import type { CommandWords } from '../../sandbox/slack/app-words.ts'

/** What may follow `/ci`, for the page's composer to offer: out of the one table that answers it. */
export const COMMAND_HINTS: readonly CommandWords[] = COMMANDS.map(({ name, usage, does }) => ({
  command: `${ROOT_COMMAND} ${name}`,
  description: does,
  usage,
}))
