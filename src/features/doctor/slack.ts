import type { Feature } from '../feature.ts'
import { answerDoctor } from './messages.ts'
import type { Reply } from '../context.ts'
import type { Question } from '../command.ts'

export const doctor: Feature = {
  commands: [
    {
      name: 'doctor',
      alias: null,
      group: 'Help',
      usage: '',
      does: 'finds what is misconfigured and says how to fix it',
      examples: ['/ci doctor'],
      who: 'admins',
      notes: ['`npm run buildline -- doctor` checks the same beside a bot that is running.'],
      handle: examine,
    },
  ],
}

/** Says what is misconfigured, and how to fix it. Further words are ignored. */
async function examine({ operations, by, reference }: Question): Promise<Reply> {
  const outcome = await operations.doctor.examine(by)
  return { outcome: outcome.kind, answer: answerDoctor(outcome, { reference }) }
}
