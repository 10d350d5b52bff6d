import { findProject } from './state.ts'
import type { Project, World } from './state.ts'

/** False if there is no such branch. GitLab does not delete the default branch either. */
export function deleteBranch(world: World, name: string, branch: string): boolean {
  const project = findProject(world, name)
  return project !== undefined && branch !== project.defaultBranch && removeBranch(world, project, branch)
}

/**
 * False if there is no such project, or a branch with the new name. GitLab renames no branches: people push another one,
 * make it the default, and delete the old one. Nothing leads from the old one to the new one.
 */
export function renameDefaultBranch(world: World, name: string, to: string): boolean {
  const project = findProject(world, name)
  if (!project || project.branches.has(to)) return false
  const from = project.defaultBranch
  project.branches.set(to, project.branches.get(from) ?? null)
  project.defaultBranch = to
  return removeBranch(world, project, from)
}

/** False if there is no such merge request, or it is closed. */
export function closeMergeRequest(world: World, name: string, iid: number, how: { merged?: boolean } = {}): boolean {
  const request = findProject(world, name)?.mergeRequests.get(iid)
  if (!request || request.closed) return false
  request.closed = { at: world.clock.now(), isMerged: how.merged === true }
  return true
}

/** Closes the branch's merge requests. Source: GitLab, `app/services/merge_requests/refresh_service.rb`. */
function removeBranch(world: World, project: Project, branch: string): boolean {
  for (const { iid, fork, last } of project.mergeRequests.values())
    if (!fork && last.branch === branch) closeMergeRequest(world, project.path, iid)
  return project.branches.delete(branch)
}
