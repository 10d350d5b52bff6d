import type { Feature } from '../kit/feature.ts'
import { answerWhy } from './messages.ts'
import { commandAbout, answerContext, replyTo, whenMayRead, type AnswerDeps } from '../kit/command.ts'
import type { VisibleDeps } from '../../projects/projects.ts'
import { explain } from './why.ts'

export const why = (deps: AnswerDeps & VisibleDeps): Feature => ({
  commands: [
    commandAbout(
      {
        name: 'why',
        alias: null,
        group: 'Look',
        usage: '[#build]',
        does: 'explains why a build was posted in a channel, or was not',
        examples: ['/ci why', '/ci why #512', '/ci why acme/web #512'],
        who: 'everyone',
        notes: [
          "Alone, it explains the newest build of this channel's projects; in a thread, the build of that thread.",
          'It shows each rule with its conditions, the first one that failed, and what was posted.',
        ],
      },
      (question, target) =>
        whenMayRead(deps, question, async () => {
          const outcome = await deps.orAskCi(() => explain(deps, target, question.by))
          return replyTo(outcome, answerWhy(outcome, answerContext(question, target)))
        }),
    ),
  ],
})
