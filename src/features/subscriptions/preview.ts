import { setImmediate as nextTurn } from 'node:timers/promises'
import { coversBranch, matchBranch } from '../../domain/pattern.ts'
import type { Reads } from '../../store/store.ts'
import { findProject } from '../../catalog/projects.ts'
import type { PatternPreview, PatternQuestion } from './outcomes.ts'
import type { SubscriptionDeps } from './deps.ts'
import { isAll } from './subscribe.ts'
import { isPattern } from './wish.ts'

/** Branches that are named; the others are counted. */
export const MATCHES_MAX = 5

const BRANCHES_MAX = 500
const AT_ONCE_MAX = 10
/** Of all projects, those that were heard of last, and the newest branches of each. */
const PROJECTS_MAX = 20
const BRANCHES_EACH_MAX = 50

/** What a pattern covers of the branches that we have seen builds of. */
export async function previewPattern({ store }: SubscriptionDeps, question: PatternQuestion): Promise<PatternPreview> {
  const seen = await branchesSeen(store.read, question.project)
  const { branch, branchMatch } = question
  const covered: string[] = []
  for (const [at, name] of seen.entries()) {
    // A slow pattern is its author's affair: whoever knocks meanwhile is heard between two branches.
    if (at % AT_ONCE_MAX === 0) await nextTurn()
    if (coversBranch(matchBranch(branch, branchMatch, name))) covered.push(name)
  }
  const matches = covered.slice(0, MATCHES_MAX)
  return { isValid: isPattern(question), matches, more: covered.length - matches.length, seen: seen.length }
}

async function branchesSeen(reads: Reads, text: string): Promise<string[]> {
  if (isAll(text)) return branchesOfAll(reads)
  const found = await findProject(reads, text)
  if (found.kind !== 'project' || found.project.projectId === null) return []
  return reads.branchesOf(found.project.projectId, BRANCHES_MAX)
}

async function branchesOfAll(reads: Reads): Promise<string[]> {
  const heard = (await reads.heardProjects()).toSorted((a, b) => b.at - a.at).slice(0, PROJECTS_MAX)
  const branches = await Promise.all(heard.map(({ projectId }) => reads.branchesOf(projectId, BRANCHES_EACH_MAX)))
  return [...new Set(branches.flat())]
}
