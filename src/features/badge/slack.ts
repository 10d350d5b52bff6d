import type { Target } from '../../catalog/outcomes.ts'
import type { Operations } from '../operations.ts'
import { answerBadge } from './messages.ts'
import { answerTooLittle } from '../slips.ts'
import { askedWith, howTyped, outcomeName, readingTarget, whenMayRead, type About } from '../command.ts'

export const badgeAbout: About = {
  overall: async ({ row }) => ({
    outcome: 'too-little',
    answer: answerTooLittle({ missing: 'a project', ...howTyped(row) }),
  }),
  about: (question, target) =>
    whenMayRead(question, async () => {
      const outcome = await badgeOf(question.operations, target)
      return { outcome: outcomeName(outcome), answer: answerBadge(outcome, askedWith(question, 'badge', target)) }
    }),
}

export const badge = readingTarget(badgeAbout)

/** The badge of a project, or of the branch that a build is on. */
async function badgeOf(operations: Operations, target: Target) {
  if (target.kind === 'project') return operations.badge({ project: target.project, branch: target.branch })
  if (target.kind === 'uuid') return operations.badge({ project: target.uuid, branch: null })
  const found = await operations.findBuild(target)
  if (found.kind !== 'found') return found
  return operations.badge({ project: found.build.ref.projectId, branch: found.build.branch })
}
