import { describedFeatures, ROOT_COMMAND } from '../../../../src/features/features.ts'
import type { CommandWords } from '../../../sandbox-slack/src/app-words.ts'

/** What may follow `/ci`, for the page's composer to offer: out of the one table that answers it. */
export const COMMAND_HINTS: readonly CommandWords[] = describedFeatures().commands.map(({ name, usage, does }) => ({
  command: `${ROOT_COMMAND} ${name}`,
  description: does,
  usage,
}))
