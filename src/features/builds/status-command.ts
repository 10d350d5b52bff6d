import type { StatusOutcome, Target } from '../../catalog/outcomes.ts'
import { answerStatus } from './status-messages.ts'
import type { Reply } from '../context.ts'
import { commandAbout, askedWith, outcomeName, whenMayRead, type Command, type Question } from '../command.ts'

export const status: Command = commandAbout(
  {
    name: 'status',
    alias: null,
    group: 'Look',
    usage: '[project] [branch]',
    does: 'shows the last build of each branch, and since when it is red',
    examples: ['/ci status', '/ci status acme/web', '/ci status acme/web main'],
    who: 'everyone',
  },
  {
    overall: (question) => channelStatus(question),
    about: (question, target) =>
      whenMayRead(question, async () => replyWith(question, target, await statusOf(question, target))),
  },
)

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
  answer: answerStatus(outcome, askedWith(question, target, 'status')),
})
