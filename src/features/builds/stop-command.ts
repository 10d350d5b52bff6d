import { answerAct } from './act-messages.ts'
import { answerRunning } from './status-messages.ts'
import { askedWith, outcomeName, readingTarget, whenMayRead, type About } from '../command.ts'

export const stopAbout: About = {
  /** What runs here, each with its own button: nothing is stopped without being named. */
  overall: (question) =>
    whenMayRead(question, async () => {
      const outcome = await question.operations.running(question.by.channel)
      return { outcome: outcome.kind, answer: answerRunning(outcome) }
    }),
  async about(question, target) {
    const outcome = await question.operations.stop(target, question.by)
    return { outcome: outcomeName(outcome), answer: answerAct(outcome, askedWith(question, 'stop', target)) }
  },
}

export const stop = readingTarget(stopAbout)
