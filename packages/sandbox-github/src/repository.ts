import { hash } from 'node:crypto'
import type { Repository, World } from './world.ts'

/** The JSON of responses and deliveries. Source: GitHub REST API and webhook payloads. */
export type Json = Record<string, unknown>

/** The creation time of the initial repositories, workflows and accounts. */
export const MADE_AT = '2026-01-01T00:00:00Z'

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

/** An account as its own token sees it. */
export const ownUser = (world: World, login: string): Json => ({
  ...user(world, login),
  ...each('name company location email hireable bio twitter_username', null),
  blog: '',
  ...each('public_repos public_gists followers following', 0),
  ...each('private_gists total_private_repos owned_private_repos disk_usage collaborators', 0),
  ...each('created_at updated_at', MADE_AT),
  two_factor_authentication: true,
  plan: { name: 'free', space: 976_562_499, collaborators: 0, private_repos: 10_000 },
})

export const repositoryUrl = ({ url }: World, { name }: Repository): string => `${url}/repos/${name}`

export const ownerOf = ({ name }: Repository): string => name.split('/')[0]!

/** The short form of a repository in a run, without the default branch. */
export function repositoryLite(world: World, repository: Repository, fork: string | null = null): Json {
  const name = repository.name.split('/')[1]!
  const owner = fork ?? ownerOf(repository)
  const id = fork === null ? repository.id : repository.id + 1_000_000
  const full_name = `${owner}/${name}`
  const url = `${world.url}/repos/${full_name}`
  const ids = { id, node_id: `R_${id}`, name, full_name, url, description: null }
  return {
    ...ids,
    ...linksTo(url, REPOSITORY_LINKS),
    html_url: `${world.url}/${full_name}`,
    owner: user(world, owner, fork === null ? 'Organization' : 'User'),
    private: repository.isPrivate,
    fork: fork !== null,
  }
}

/** A repository in a delivery. */
export function repositoryBody(world: World, repository: Repository, fork: string | null = null): Json {
  const lite = repositoryLite(world, repository, fork)
  return {
    ...lite,
    ...each('created_at updated_at pushed_at', MADE_AT),
    ...each('git_url ssh_url clone_url svn_url', `${String(lite['html_url'])}.git`),
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

/** A repository by itself, for somebody who may write to it. */
export const fullRepositoryBody = (world: World, repository: Repository): Json => ({
  ...repositoryBody(world, repository),
  has_discussions: false,
  ...each('network_count subscribers_count', 0),
  permissions: each('admin maintain push triage pull', true),
  temp_clone_token: '',
  ...each('allow_squash_merge allow_merge_commit allow_rebase_merge allow_forking', true),
  ...each('allow_auto_merge allow_update_branch delete_branch_on_merge use_squash_pr_title_as_default', false),
  squash_merge_commit_message: 'COMMIT_MESSAGES',
  squash_merge_commit_title: 'COMMIT_OR_PR_TITLE',
  merge_commit_message: 'PR_TITLE',
  merge_commit_title: 'MERGE_MESSAGE',
  organization: user(world, ownerOf(repository), 'Organization'),
})
