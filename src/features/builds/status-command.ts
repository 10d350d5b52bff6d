import type { StatusOutcome, Target } from '../../catalog/outcomes.ts'
import { answerStatus } from './status-messages.ts'
import type { Reply } from '../context.ts'
import { askedWith, outcomeName, readingTarget, whenMayRead, type About, type Question } from '../command.ts'

export const statusAbout: About = {
  overall: (question) => channelStatus(question),
  about: (question, target) =>
    whenMayRead(question, async () => replyWith(question, target, await statusOf(question, target))),
}

export const status = readingTarget(statusAbout)

/** The last builds of the projects that the channel follows. */
export const channelStatus = (question: Question): Promise<Reply> =>
  whenMayRead(question, async () => {
    const about = { project: null, branch: null, channel: question.by.channel }
    return replyWith(question, null, await question.operations.status(about))
  })

const statusOf = ({ operations, by }: Question, target: Target): Promise<StatusOutcome> =>
  target.kind === 'project'
    ? operations.status({ project: target.project, branch: target.branch, channel: by.channel })
    : operations.status({ target })

const replyWith = (question: Question, target: Target | null, outcome: StatusOutcome): Reply => ({
  outcome: outcomeName(outcome),
  answer: answerStatus(outcome, askedWith(question, 'status', target)),
})
