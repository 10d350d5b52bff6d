import { answerDoctor } from './messages.ts'
import type { Reply } from '../context.ts'
import type { Question } from '../command.ts'

/** What is misconfigured, and how to mend it. Whatever else was typed is not needed. */
export async function doctor({ operations, by, reference }: Question): Promise<Reply> {
  const outcome = await operations.doctor.examine({ user: by.user, team: by.team })
  return { outcome: outcome.kind, answer: answerDoctor(outcome, { reference }) }
}
