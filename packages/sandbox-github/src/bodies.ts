import { hash } from 'node:crypto'
import { pullMinimal } from './ref-bodies.ts'
import { pullsOf } from './refs.ts'
import { each, linksTo, MADE_AT, repositoryBody, repositoryLite, repositoryUrl, user } from './repository.ts'
import type { Json } from './repository.ts'
import type { Action } from './runs.ts'
import { currentAttempt, isoTime } from './world.ts'
import type { Attempt, Job, Repository, Run, Workflow, World } from './world.ts'

export function workflowBody(world: World, repository: Repository, { id, name, path }: Workflow): Json {
  const html = `${world.url}/${repository.name}`
  const ids = { id, node_id: `W_${id}`, name, path, state: 'active' }
  return {
    ...ids,
    ...each('created_at updated_at', MADE_AT),
    url: `${repositoryUrl(world, repository)}/actions/workflows/${id}`,
    html_url: `${html}/blob/${repository.defaultBranch}/${path}`,
    // GitHub still names the address by the workflow's name; its pages show the one by its file.
    badge_url: `${html}/workflows/${name.split('/').map(encodeURIComponent).join('/')}/badge.svg`,
  }
}

/** A run as of one of its attempts. */
export function runBody(world: World, run: Run, attempt: Attempt = currentAttempt(run)): Json {
  const { id, repository, workflow, sha, message, branch, event } = run
  const { n, status, conclusion } = attempt
  const api = repositoryUrl(world, repository)
  const url = `${api}/actions/runs/${id}`
  const created_at = isoTime(run.createdAt)
  const ids = { id, node_id: `WFR_${id}`, check_suite_id: id, check_suite_node_id: `CS_${id}`, run_number: run.number }
  const what = {
    name: run.ownName ?? workflow.name,
    path: workflow.path,
    workflow_id: workflow.id,
    event,
    head_branch: branch,
  }
  const commit = { id: sha, tree_id: hash('sha1', sha), message, timestamp: created_at }
  return {
    ...ids,
    ...what,
    head_sha: sha,
    display_title: message.split('\n')[0],
    status,
    conclusion,
    created_at,
    updated_at: isoTime(attempt.updatedAt),
    run_attempt: n,
    run_started_at: isoTime(attempt.startedAt),
    actor: user(world, run.attempts[0]!.actor),
    triggering_actor: user(world, attempt.actor),
    url,
    html_url: `${world.url}/${repository.name}/actions/runs/${id}`,
    ...linksTo(url, 'jobs logs artifacts cancel rerun'),
    check_suite_url: `${api}/check-suites/${id}`,
    workflow_url: `${api}/actions/workflows/${workflow.id}`,
    previous_attempt_url: n === 1 ? null : `${url}/attempts/${n - 1}`,
    pull_requests: pullsOf(world, run).map((pull) => pullMinimal(world, pull)),
    referenced_workflows: [],
    head_commit: { ...commit, ...each('author committer', run.author) },
    repository: repositoryLite(world, repository),
    head_repository: repositoryLite(world, repository, run.fork),
  }
}

export const dispatchBody = (world: World, { id, repository }: Run): Json => ({
  workflow_run_id: id,
  run_url: `${repositoryUrl(world, repository)}/actions/runs/${id}`,
  html_url: `${world.url}/${repository.name}/actions/runs/${id}`,
})

const RUNNER = {
  runner_id: 1,
  runner_name: 'GitHub Actions 1',
  runner_group_id: 0,
  runner_group_name: 'GitHub Actions',
}

export function jobBody(world: World, run: Run, attempt: Attempt, { id, name, conclusion, ...job }: Job): Json {
  const api = repositoryUrl(world, run.repository)
  const status = conclusion === null ? attempt.status : 'completed'
  const started_at = isoTime(job.startedAt)
  const completed_at = job.completedAt === null ? null : isoTime(job.completedAt)
  const now = { status, conclusion, started_at, completed_at }
  const ofRun = { run_id: run.id, run_url: `${api}/actions/runs/${run.id}`, run_attempt: attempt.n, head_sha: run.sha }
  const hasBegun = status === 'in_progress' || status === 'completed'
  const setUp = { ...now, name: 'Set up job', number: 1, conclusion: conclusion && 'success' }
  return {
    id,
    node_id: `CR_${id}`,
    name,
    ...now,
    ...ofRun,
    created_at: started_at,
    head_branch: run.branch,
    workflow_name: run.workflow.name,
    url: `${api}/actions/jobs/${id}`,
    html_url: `${world.url}/${run.repository.name}/actions/runs/${run.id}/job/${id}`,
    check_run_url: `${api}/check-runs/${id}`,
    steps: hasBegun ? [setUp, { ...now, name: `Run ${name}`, number: 2 }] : [],
    labels: ['ubuntu-latest'],
    ...(hasBegun ? RUNNER : each(Object.keys(RUNNER).join(' '), null)),
  }
}

export function workflowRunBody(world: World, action: Action, run: Run): Json {
  return {
    action,
    workflow_run: runBody(world, run),
    workflow: workflowBody(world, run.repository, run.workflow),
    repository: repositoryBody(world, run.repository),
    sender: user(world, currentAttempt(run).actor),
  }
}
