import type { Permits } from '../../projects/outcomes.ts'
import type { Feature } from '../kit/feature.ts'
import { doctorOperations } from './examine.ts'
import { answerDoctor } from './messages.ts'
import type { Reply } from '../kit/context.ts'
import type { Check, DoctorDeps } from '../kit/check.ts'
import { CHECKS } from './checks.ts'
import type { Question } from '../kit/command.ts'

/** @param deps `checks`: those of all features */
export function doctor(deps: { doctor: DoctorDeps; checks: () => readonly Check[]; permits: Permits }): Feature {
  const operations = doctorOperations({ ...deps.doctor, checks: deps.checks, permits: deps.permits })
  return {
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
        handle: (question) => examine(operations, question),
      },
    ],
    checks: CHECKS,
  }
}

type DoctorOperations = ReturnType<typeof doctorOperations>

/** Answers with what is misconfigured and how to fix it. Further words are ignored. */
async function examine(operations: DoctorOperations, { by, reference }: Question): Promise<Reply> {
  const outcome = await operations.examine(by)
  return { outcome: outcome.kind, answer: answerDoctor(outcome, { reference }) }
}
