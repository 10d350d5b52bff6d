import { answerAct } from './act-messages.ts'
import { answerRunning } from './status-messages.ts'
import { commandAbout, BUILD_USAGE, askedWith, outcomeName, whenMayRead, type Command } from '../command.ts'

export const stop: Command = commandAbout(
  {
    name: 'stop',
    alias: '/ci-stop',
    group: 'Act',
    usage: BUILD_USAGE,
    does: 'stops a running build; alone, it shows what runs here',
    examples: ['/ci stop acme/web@main', '/ci stop #512', '/ci stop'],
    who: 'operators',
  },
  {
    /** What runs here, each with its own button: nothing is stopped without being named. */
    overall: (question) =>
      whenMayRead(question, async () => {
        const outcome = await question.operations.running(question.by.channel)
        return { outcome: outcome.kind, answer: answerRunning(outcome) }
      }),
    async about(question, target) {
      const outcome = await question.operations.stop(target, question.by)
      return { outcome: outcomeName(outcome), answer: answerAct(outcome, askedWith(question, target)) }
    },
  },
)
