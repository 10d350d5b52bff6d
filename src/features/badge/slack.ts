import type { Feature } from '../feature.ts'
import type { Target } from '../../catalog/outcomes.ts'
import type { Operations } from '../operations.ts'
import { answerBadge } from './messages.ts'
import { commandAbout, answerContext, replyTo, tooLittle, whenMayRead } from '../command.ts'

export const badge: Feature = {
  commands: [
    commandAbout(
      {
        name: 'badge',
        alias: '/ci-badge',
        group: 'Look',
        usage: 'project [branch]',
        does: 'shows a badge in words, with its address, Markdown and HTML to copy',
        examples: ['/ci badge acme/web', '/ci badge acme/web main'],
        who: 'everyone',
        notes: ['Without a branch, it is the badge that CI shows for the project.'],
      },
      async (question, target) =>
        target === null
          ? tooLittle(question.row, 'a project')
          : whenMayRead(question, async () => {
              const outcome = await badgeOf(question.operations, target)
              return replyTo(outcome, answerBadge(outcome, answerContext(question, target)))
            }),
    ),
  ],
}

/** The badge of a project, or of the branch that a build is on. */
async function badgeOf(operations: Operations, target: Target) {
  if (target.kind === 'project') return operations.badge({ project: target.project, branch: target.branch })
  if (target.kind === 'uuid') return operations.badge({ project: target.uuid, branch: null })
  const found = await operations.findBuild(target)
  if (found.kind !== 'found') return found
  return operations.badge({ project: found.build.ref.projectId, branch: found.build.branch })
}
