import { hash } from 'node:crypto'
import {
  accountOf,
  commitBasic,
  FORK_ID,
  isoTime,
  pipelineBasic,
  pipelineEntity,
  PROJECT_SINCE,
  requestId,
  stateOf,
  userEntity,
  webUrl,
} from './entities.ts'
import type { Commit } from './entities.ts'
import type { MergeRequest, Project, World } from './state.ts'

/** A branch; the default branch is protected, as in a new project. Source: GitLab, `lib/api/entities/branch.rb`. */
export const branchEntity = (world: World, project: Project, name: string) => ({
  name,
  commit: commitBasic(world, commitOf(project, name)),
  merged: isMerged(project, name),
  protected: name === project.defaultBranch,
  developers_can_push: false,
  developers_can_merge: false,
  can_push: !world.switches.isBranchProtected,
  default: name === project.defaultBranch,
  web_url: `${world.siteUrl}/${project.path}/-/tree/${name}`,
})

const isMerged = ({ mergeRequests }: Project, branch: string): boolean =>
  [...mergeRequests.values()].some(({ fork, last, closed }) => !fork && last.branch === branch && closed?.isMerged)

/** The newest commit of a branch; without a pipeline, the project's first. */
function commitOf({ id, branches }: Project, branch: string): Commit {
  const first = { projectId: id, sha: hash('sha1', String(id)), message: 'Initial commit', ...FIRST }
  return branches.get(branch) ?? first
}

const FIRST = {
  author: { name: 'Ada', email: 'ada@acme.example' },
  createdAt: Date.parse(PROJECT_SINCE),
}

/** Source: GitLab, `lib/api/entities/merge_request.rb` and `merge_request_basic.rb`. */
export function mergeRequestEntity(world: World, project: Project, request: MergeRequest) {
  const { iid, title, targetBranch, fork, first, last, closed } = request
  const closedAt = closed && isoTime(closed.at)
  const state = stateOf(request)
  const merger = state === 'merged' ? userEntity(world) : null
  const reference = `!${iid}`
  const base = commitOf(project, targetBranch).sha
  const created_at = isoTime(first.createdAt)!
  return {
    id: requestId(iid),
    iid,
    project_id: project.id,
    title,
    description: '',
    state,
    created_at,
    updated_at: closedAt ?? isoTime(last.createdAt)!,
    merged_by: merger,
    merge_user: merger,
    merged_at: state === 'merged' ? closedAt : null,
    closed_by: state === 'closed' ? userEntity(world) : null,
    closed_at: state === 'closed' ? closedAt : null,
    target_branch: targetBranch,
    source_branch: last.branch,
    user_notes_count: 0,
    upvotes: 0,
    downvotes: 0,
    author: userEntity(world, accountOf(first.author.name)),
    assignees: [],
    assignee: null,
    reviewers: [],
    source_project_id: fork ? FORK_ID : project.id,
    target_project_id: project.id,
    labels: [],
    draft: false,
    imported: false,
    imported_from: 'none',
    work_in_progress: false,
    milestone: null,
    merge_when_pipeline_succeeds: false,
    merge_status: 'can_be_merged' as const,
    detailed_merge_status: closed ? ('not_open' as const) : ('mergeable' as const),
    merge_after: null,
    sha: last.sha,
    merge_commit_sha: state === 'merged' ? hash('sha1', `${last.sha} merged`) : null,
    squash_commit_sha: null,
    discussion_locked: null,
    should_remove_source_branch: null,
    force_remove_source_branch: false,
    prepared_at: created_at,
    ...(fork ? { allow_collaboration: false, allow_maintainer_to_push: false } : {}),
    reference,
    references: { short: reference, relative: reference, full: `${project.path}${reference}` },
    web_url: webUrl(world, last, 'merge_requests', iid),
    time_stats: { time_estimate: 0, total_time_spent: 0, human_time_estimate: null, human_total_time_spent: null },
    squash: false,
    squash_on_merge: false,
    task_completion_status: { count: 0, completed_count: 0 },
    has_conflicts: false,
    blocking_discussions_resolved: true,
    approvals_before_merge: null,
    subscribed: false,
    changes_count: '1',
    latest_build_started_at: isoTime(last.startedAt),
    latest_build_finished_at: isoTime(last.finishedAt),
    first_deployed_to_production_at: null,
    pipeline: pipelineBasic(world, last),
    head_pipeline: pipelineEntity(world, last),
    diff_refs: { base_sha: base, head_sha: last.sha, start_sha: base },
    merge_error: null,
    first_contribution: false,
    user: { can_merge: true },
  }
}
