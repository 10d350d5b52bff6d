import type { Feature } from '../kit/feature.ts'
import type { Target } from '../../projects/outcomes.ts'
import { findSummary } from '../../ci-sync/ci-lookup.ts'
import { findBadge, type BadgeDeps } from './badge.ts'
import { answerBadge } from './messages.ts'
import { commandAbout, answerContext, replyTo, tooLittle, whenMayRead, type AnswerDeps } from '../kit/command.ts'

type Deps = AnswerDeps & BadgeDeps

export const badge = (deps: Deps): Feature => ({
  commands: [
    commandAbout(
      deps,
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
          : whenMayRead(deps, question, async () => {
              const outcome = await badgeOf(deps, target)
              return replyTo(outcome, answerBadge(outcome, answerContext(question, target)))
            }),
    ),
  ],
})

/** The badge of a project, or of the branch that a build is on. */
async function badgeOf(deps: Deps, target: Target) {
  const badgeFor = (project: string, branch: string | null) => deps.orAskCi(() => findBadge(deps, { project, branch }))
  if (target.kind === 'project') return badgeFor(target.project, target.branch)
  if (target.kind === 'uuid') return badgeFor(target.uuid, null)
  const found = await findSummary(deps, target)
  if (found.kind !== 'found') return found
  return badgeFor(found.build.ref.projectId, found.build.branch)
}
