import { hash } from 'node:crypto'
import type { Action } from './runs.ts'
import { currentAttempt, isoTime } from './world.ts'
import type { Attempt, Job, Repository, Run, Workflow, World } from './world.ts'

/** The JSON of responses and deliveries. Source: GitHub REST API and webhook payloads. */
export type Json = Record<string, unknown>

/** The creation time of the initial repositories and workflows. */
const MADE_AT = '2026-01-01T00:00:00Z'

// `name:path`, or only the path if it begins with the name.
const REPOSITORY_LINKS =
  'archive:{archive_format}{/ref} assignees{/user} blobs:git/blobs{/sha} branches{/branch} ' +
  'collaborators{/collaborator} comments{/number} commits{/sha} compare/{base}...{head} contents/{+path} contributors ' +
  'deployments downloads events forks git_commits:git/commits{/sha} git_refs:git/refs{/sha} git_tags:git/tags{/sha} ' +
  'hooks issue_comment:issues/comments{/number} issue_events:issues/events{/number} issues{/number} keys{/key_id} ' +
  'labels{/name} languages merges milestones{/number} notifications{?since,all,participating} pulls{/number} ' +
  'releases{/id} stargazers statuses/{sha} subscribers subscription tags teams trees:git/trees{/sha}'
const USER_LINKS =
  'events{/privacy} followers following{/other_user} gists{/gist_id} organizations:orgs received_events repos ' +
  'starred{/owner}{/repo} subscriptions'

export const linksTo = (base: string, list: string): Json =>
  Object.fromEntries(
    list.split(' ').map((link) => {
      const [name, path] = link.includes(':') ? link.split(':') : [/^\w+/.exec(link)?.[0], link]
      return [`${name}_url`, `${base}/${path}`]
    }),
  )

/** An object with the same value in all these fields. */
export const each = (names: string, value: unknown): Json =>
  Object.fromEntries(names.split(' ').map((name) => [name, value]))

export function user({ url }: World, login: string, type: 'User' | 'Organization' = 'User'): Json {
  const id = Number.parseInt(hash('sha1', login).slice(0, 7), 16)
  const own = `${url}/users/${login}`
  const ids = { login, id, node_id: `U_${id}`, avatar_url: `${url}/avatars/${id}`, gravatar_id: '' }
  return { ...ids, url: own, html_url: `${url}/${login}`, ...linksTo(own, USER_LINKS), type, site_admin: false }
}

export const repositoryUrl = ({ url }: World, { name }: Repository): string => `${url}/repos/${name}`

/** The short form of a repository in a run, without the default branch. */
function repositoryLite(world: World, repository: Repository, fork: string | null = null): Json {
  const [owner = '', name = ''] = repository.name.split('/')
  const id = fork === null ? repository.id : repository.id + 1_000_000
  const full_name = `${fork ?? owner}/${name}`
  const url = `${world.url}/repos/${full_name}`
  const ids = { id, node_id: `R_${id}`, name, full_name, url, description: null }
  return {
    ...ids,
    ...linksTo(url, REPOSITORY_LINKS),
    html_url: `${world.url}/${full_name}`,
    owner: user(world, fork ?? owner, fork === null ? 'Organization' : 'User'),
    private: repository.isPrivate,
    fork: fork !== null,
  }
}

export function repositoryBody(world: World, repository: Repository): Json {
  const html = `${world.url}/${repository.name}`
  return {
    ...repositoryLite(world, repository),
    ...each('created_at updated_at pushed_at', MADE_AT),
    ...each('git_url ssh_url clone_url svn_url', `${html}.git`),
    ...each('homepage language license mirror_url', null),
    ...each('forks open_issues watchers size', 0),
    ...each('forks_count open_issues_count watchers_count stargazers_count', 0),
    ...each('has_issues has_projects has_downloads has_wiki', true),
    ...each('has_pages archived disabled is_template web_commit_signoff_required', false),
    topics: [],
    custom_properties: {},
    visibility: repository.isPrivate ? 'private' : 'public',
    default_branch: repository.defaultBranch,
  }
}

export function workflowBody(world: World, repository: Repository, { id, name, path }: Workflow): Json {
  const html = `${world.url}/${repository.name}`
  const ids = { id, node_id: `W_${id}`, name, path, state: 'active' }
  return {
    ...ids,
    ...each('created_at updated_at', MADE_AT),
    url: `${repositoryUrl(world, repository)}/actions/workflows/${id}`,
    html_url: `${html}/blob/${repository.defaultBranch}/${path}`,
    badge_url: `${html}/actions/workflows/${path.split('/').at(-1)}/badge.svg`,
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
    ...each('pull_requests referenced_workflows', []),
    head_commit: { ...commit, ...each('author committer', run.author) },
    repository: repositoryLite(world, repository),
    head_repository: repositoryLite(world, repository, run.fork),
  }
}

export function jobBody(world: World, run: Run, attempt: Attempt, { id, name, conclusion, ...job }: Job): Json {
  const api = repositoryUrl(world, run.repository)
  const status = conclusion === null ? attempt.status : 'completed'
  const started_at = isoTime(job.startedAt)
  const completed_at = job.completedAt === null ? null : isoTime(job.completedAt)
  const now = { status, conclusion, started_at, completed_at }
  const ofRun = { run_id: run.id, run_url: `${api}/actions/runs/${run.id}`, run_attempt: attempt.n, head_sha: run.sha }
  const setUp = { ...now, name: 'Set up job', number: 1, conclusion: conclusion && 'success' }
  return {
    id,
    name,
    ...now,
    ...ofRun,
    created_at: started_at,
    head_branch: run.branch,
    workflow_name: run.workflow.name,
    url: `${api}/actions/jobs/${id}`,
    html_url: `${world.url}/${run.repository.name}/actions/runs/${run.id}/job/${id}`,
    steps: [setUp, { ...now, name: `Run ${name}`, number: 2 }],
    labels: ['ubuntu-latest'],
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
