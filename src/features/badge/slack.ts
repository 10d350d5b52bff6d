import type { Feature } from '../kit/feature.ts'
import type { Target } from '../../projects/outcomes.ts'
import { findSummary } from '../../ci-sync/ci-lookup.ts'
import { findBadge, type BadgeDeps } from './badge.ts'
import { answerBadge } from './messages.ts'
import {
  commandAbout,
  answerContext,
  replyTo,
  targetOf,
  tooLittle,
  whenMayRead,
  type AnswerDeps,
  type Command,
  type CommandRow,
  type Question,
} from '../kit/command.ts'
import type { Choice } from '../kit/values.ts'

type Deps = AnswerDeps & BadgeDeps

export function badge(deps: Deps): Feature {
  const answer = (question: Question, target: Target, rest: readonly string[] = []) =>
    whenMayRead(deps, question, async () => {
      const outcome = await badgeOf(deps, target)
      return replyTo(outcome, answerBadge(outcome, { ...answerContext(question, target), rest }))
    })
  const command = commandAbout(ROW, async (question, target) =>
    target === null ? tooLittle(question.row, 'a project') : answer(question, target),
  )
  const choose: Command['choose'] = (question, choice) => answer(question, targetOf(choice), restOf(choice))
  return { commands: [{ ...command, choose }] }
}

const ROW: CommandRow = {
  name: 'badge',
  alias: '/ci-badge',
  group: 'Look',
  usage: 'project [branch]',
  does: 'says what a badge shows, with its Markdown to copy',
  examples: ['/ci badge acme/web', '/ci badge acme/web main'],
  who: 'everyone',
  notes: [
    'Without a branch, it is the badge that CI shows for the project.',
    'Only you see the answer. *Show it here* posts the picture for everybody.',
  ],
}

const restOf = (choice: Choice): readonly string[] => (choice.kind === 'project' ? (choice.rest ?? []) : [])

/** The badge of a project, or of the branch that a build is on. */
async function badgeOf(deps: Deps, target: Target) {
  const badgeFor = (project: string, branch: string | null) => deps.orAskCi(() => findBadge(deps, { project, branch }))
  if (target.kind === 'project') return badgeFor(target.project, target.branch)
  if (target.kind === 'uuid') return badgeFor(target.uuid, null)
  const found = await findSummary(deps, target)
  if (found.kind !== 'found') return found
  return badgeFor(found.build.ref.projectId, found.build.branch)
}
