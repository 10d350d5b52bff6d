import type { Answer, AnswerContext } from '../../../../src/slack/messages/answer.ts'
import { REFERENCE, type Cast } from './cast.ts'
import type { Case } from './words.ts'

/** An answer as somebody gets it. */
export interface Sample {
  /** a command's name; `any` for what every command can answer */
  command: string
  /** the outcome's kind */
  kind: string
  when: string
  answer: Answer
}

export const sample = (command: string, kind: string, when: string, answer: Answer): Sample => ({
  command,
  kind,
  when,
  answer,
})

/** A sample for each case of each kind. @param verb comes before the kinds, where a command has outcomes of several sorts */
export function samplesOfKinds<Outcome>(
  command: string,
  cases: Record<string, readonly Case<Outcome>[]>,
  answerTo: (outcome: Outcome) => Answer,
  verb?: string,
): Sample[] {
  return Object.entries(cases).flatMap(([kind, ones]) =>
    ones.map(({ when, outcome }) =>
      sample(command, verb === undefined ? kind : `${verb}-${kind}`, when, answerTo(outcome)),
    ),
  )
}

export const asked = (command: string, { branch }: Cast): AnswerContext => ({ command, branch, reference: REFERENCE })

/** The same with further words, and without a branch. */
export const askedWith = (command: string, { typed }: Cast): AnswerContext => ({
  command,
  branch: null,
  rest: [typed],
  reference: REFERENCE,
})
