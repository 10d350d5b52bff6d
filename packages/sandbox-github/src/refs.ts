import { hash } from 'node:crypto'
import { MADE_AT } from './repository.ts'
import type { Push } from './runs.ts'
import { currentAttempt, findRepository } from './world.ts'
import type { Pull, Refs, Repository, Run, World } from './world.ts'

export const refsOf = (world: World, repository: Repository): Refs => world.refs.get(repository)!

/** A push makes its branch, tag and pull request, where there is none yet. A fork's branch is not the repository's. */
export function addRefs(world: World, run: Run, { tag, pullRequest }: Pick<Push, 'tag' | 'pullRequest'>): void {
  const { branches, renamed, tags, pulls } = refsOf(world, run.repository)
  if (tag !== undefined) tags.set(tag, run)
  else if (run.fork === null && run.branch !== null) {
    branches.set(run.branch, run)
    renamed.delete(run.branch)
  }
  if (pullRequest === undefined) return
  const known = pulls.get(pullRequest) ?? { id: world.nextId(), number: pullRequest, first: run, closed: null }
  pulls.set(pullRequest, { ...known, last: run })
}

/** False if there is no such branch. GitHub does not delete the default branch either. */
export function deleteBranch(world: World, name: string, branch: string): boolean {
  const repository = findRepository(world, name)
  if (!repository || branch === repository.defaultBranch) return false
  closePullsOf(world, repository, branch)
  return refsOf(world, repository).branches.delete(branch)
}

/** False if there is no such branch, or one with the new name. Source: GitHub, "Renaming a branch". */
export function renameBranch(world: World, name: string, from: string, to: string): boolean {
  const repository = findRepository(world, name)
  if (!repository) return false
  const { branches, renamed } = refsOf(world, repository)
  const last = branches.get(from)
  if (last === undefined || branches.has(to)) return false
  branches.set(to, last)
  branches.delete(from)
  renamed.set(from, to)
  renamed.delete(to)
  closePullsOf(world, repository, from)
  if (repository.defaultBranch === from) repository.defaultBranch = to
  return true
}

/** False if there is no such pull request, or it is closed. */
export function closePull(world: World, name: string, number: number, how: { merged?: boolean } = {}): boolean {
  const repository = findRepository(world, name)
  const pull = repository && refsOf(world, repository).pulls.get(number)
  if (!pull || pull.closed) return false
  pull.closed = { at: world.clock.now(), isMerged: how.merged === true }
  return true
}

/** A pull request is closed as soon as its branch is gone, even if that was only renamed. */
function closePullsOf(world: World, repository: Repository, branch: string): void {
  for (const { number, last } of refsOf(world, repository).pulls.values())
    if (last.fork === null && last.branch === branch) closePull(world, repository.name, number)
}

/**
 * What a branch is called now; undefined if there is none. GitHub also takes `master` for the default branch, even if
 * that never had the name. Source: `github/rest-api-description`, issue 7096, measured in August 2026.
 */
export function presentName(world: World, repository: Repository, branch: string): string | undefined {
  const { branches, renamed } = refsOf(world, repository)
  let now: string | undefined = branch
  while (now !== undefined && !branches.has(now)) now = renamed.get(now)
  return now ?? (branch === 'master' ? repository.defaultBranch : undefined)
}

/** The pull requests that GitHub lists for a run: open ones with its branch or commit, and none for a fork's run. */
export const pullsOf = (world: World, { repository, branch, fork, sha }: Run): Pull[] =>
  [...refsOf(world, repository).pulls.values()].filter(
    ({ closed, last }) =>
      fork === null && !closed && last.fork === null && (last.branch === branch || last.sha === sha),
  )

/** The newest commit of a branch or tag; without a run, the repository's first. */
export function commitOf({ id }: Repository, run: Run | null) {
  if (!run) return { ...FIRST, sha: hash('sha1', String(id)) }
  const { sha, message, author, createdAt } = run
  return { sha, message, author, at: createdAt, login: currentAttempt(run).actor }
}

const FIRST = {
  message: 'Initial commit',
  author: { name: 'Ada', email: 'ada@example.com' },
  at: Date.parse(MADE_AT),
  login: 'ada',
}
