import type { SubscribeOutcome } from './outcomes.ts'
import { answerSubscribe } from './messages.ts'
import type { Reply } from '../context.ts'
import { outcomeName } from '../command.ts'

/** How a wish ended, in words. @param rest what was typed after the project, for a choice of projects */
export const subscribeReply = (
  outcome: SubscribeOutcome,
  { rest, reference }: { rest: readonly string[]; reference: string },
): Reply => ({
  outcome: outcomeName(outcome),
  answer: answerSubscribe(outcome, { command: 'subscribe', branch: null, rest, reference }),
})
