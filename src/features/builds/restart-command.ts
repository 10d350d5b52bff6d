import { answerAct } from './act-messages.ts'
import { commandAbout, BUILD_USAGE, askedWith, outcomeName, type Command } from '../command.ts'
import { channelStatus } from './status-command.ts'

export const restart: Command = commandAbout(
  {
    name: 'restart',
    alias: '/ci-restart',
    group: 'Act',
    usage: BUILD_USAGE,
    does: 'runs the last build of a branch again, in Basic projects',
    examples: ['/ci restart acme/web@main', '/ci restart #512'],
    who: 'operators',
  },
  {
    /** The last builds of this channel, with the buttons that can work. */
    overall: channelStatus,
    async about(question, target) {
      const outcome = await question.operations.restart(target, question.by)
      return { outcome: outcomeName(outcome), answer: answerAct(outcome, askedWith(question, target)) }
    },
  },
)
