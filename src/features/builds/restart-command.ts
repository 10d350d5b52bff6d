import { answerAct } from './act-messages.ts'
import { askedWith, outcomeName, readingTarget, type About } from '../command.ts'
import { channelStatus } from './status-command.ts'

export const restartAbout: About = {
  /** The last builds of this channel, with the buttons that can work. */
  overall: channelStatus,
  async about(question, target) {
    const outcome = await question.operations.restart(target, question.by)
    return { outcome: outcomeName(outcome), answer: answerAct(outcome, askedWith(question, 'restart', target)) }
  },
}

export const restart = readingTarget(restartAbout)
