import { hash } from 'node:crypto'
import { commitOf, refsOf } from './refs.ts'
import { each, linksTo, ownerOf, repositoryBody, repositoryUrl, user } from './repository.ts'
import type { Json } from './repository.ts'
import { isoTime } from './world.ts'
import type { Pull, Repository, Run, World } from './world.ts'

/** A branch without protection. Source: GitHub REST API, "Get a branch". */
export function branchBody(world: World, repository: Repository, name: string): Json {
  const last = refsOf(world, repository).branches.get(name) ?? null
  const url = `${repositoryUrl(world, repository)}/branches/${encodeURIComponent(name)}`
  return {
    name,
    commit: commitBody(world, repository, last),
    _links: { self: url, html: `${world.url}/${repository.name}/tree/${name}` },
    protected: false,
    protection: { enabled: false, required_status_checks: { enforcement_level: 'off', contexts: [], checks: [] } },
    protection_url: `${url}/protection`,
  }
}

function commitBody(world: World, repository: Repository, last: Run | null): Json {
  const { sha, message, author, at, login } = commitOf(repository, last)
  const api = repositoryUrl(world, repository)
  const url = `${api}/commits/${sha}`
  const tree = hash('sha1', sha)
  return {
    sha,
    node_id: `C_${sha}`,
    commit: {
      ...each('author committer', { ...author, date: isoTime(at) }),
      message,
      tree: { sha: tree, url: `${api}/git/trees/${tree}` },
      url: `${api}/git/commits/${sha}`,
      comment_count: 0,
      verification: { verified: false, reason: 'unsigned', ...each('signature payload verified_at', null) },
    },
    url,
    html_url: `${world.url}/${repository.name}/commit/${sha}`,
    comments_url: `${url}/comments`,
    ...each('author committer', user(world, login)),
    parents: [],
  }
}

/** @param ref without `refs/`. Source: GitHub REST API, "Get a reference". */
export function refBody(world: World, repository: Repository, ref: string, last: Run | null): Json {
  const { sha } = commitOf(repository, last)
  const api = repositoryUrl(world, repository)
  const object = { type: 'commit', sha, url: `${api}/git/commits/${sha}` }
  return { ref: `refs/${ref}`, node_id: `REF_${sha}`, url: `${api}/git/refs/${ref}`, object }
}

/** A pull request into the default branch. Source: GitHub REST API, "Get a pull request". */
export function pullBody(world: World, pull: Pull): Json {
  const { id, number, first, last, closed } = pull
  const { repository, fork } = last
  const api = repositoryUrl(world, repository)
  const [url, issue] = [`${api}/pulls/${number}`, `${api}/issues/${number}`]
  const html = `${world.url}/${repository.name}/pull/${number}`
  const closedAt = closed && isoTime(closed.at)
  const isMerged = closed?.isMerged === true
  const links = {
    ...linksTo(url, 'commits review_comments:comments review_comment:comments{/number}'),
    comments_url: `${issue}/comments`,
    statuses_url: `${api}/statuses/${last.sha}`,
    issue_url: issue,
  }
  return {
    id,
    node_id: `PR_${id}`,
    number,
    state: closed ? 'closed' : 'open',
    title: last.message.split('\n')[0],
    user: user(world, first.attempts[0]!.actor),
    head: headOf(world, last),
    base: baseOf(world, repository),
    created_at: isoTime(first.createdAt),
    updated_at: closedAt ?? isoTime(last.createdAt),
    closed_at: closedAt,
    merged: isMerged,
    merged_at: isMerged ? closedAt : null,
    merged_by: isMerged ? user(world, 'ada') : null,
    merge_commit_sha: hash('sha1', `${last.sha} merged`),
    // GitHub works this out for open ones only.
    ...each('mergeable rebaseable', closed ? null : true),
    mergeable_state: closed ? 'unknown' : 'clean',
    author_association: fork === null ? 'MEMBER' : 'CONTRIBUTOR',
    url,
    html_url: html,
    diff_url: `${html}.diff`,
    patch_url: `${html}.patch`,
    ...links,
    _links: {
      self: { href: url },
      html: { href: html },
      ...Object.fromEntries(Object.entries(links).map(([name, href]) => [name.replace(/_url$/, ''), { href }])),
    },
    ...each('body milestone active_lock_reason assignee auto_merge', null),
    ...each('labels assignees requested_reviewers requested_teams', []),
    ...each('locked draft maintainer_can_modify', false),
    ...each('comments review_comments deletions', 0),
    ...each('commits additions changed_files', 1),
  }
}

function headOf(world: World, { repository, fork, branch, sha }: Run): Json {
  const owner = fork ?? ownerOf(repository)
  const ref = branch ?? sha
  const account = user(world, owner, fork === null ? 'Organization' : 'User')
  return { label: `${owner}:${ref}`, ref, sha, user: account, repo: pulledRepository(world, repository, fork) }
}

function baseOf(world: World, repository: Repository): Json {
  const [owner, ref] = [ownerOf(repository), repository.defaultBranch]
  const { sha } = commitOf(repository, refsOf(world, repository).branches.get(ref) ?? null)
  const account = user(world, owner, 'Organization')
  return { label: `${owner}:${ref}`, ref, sha, user: account, repo: pulledRepository(world, repository, null) }
}

/** Custom properties are described everywhere but here. */
function pulledRepository(world: World, repository: Repository, fork: string | null): Json {
  const { custom_properties: _, ...described } = repositoryBody(world, repository, fork)
  return described
}

/** A pull request in a run. */
export function pullMinimal(world: World, { id, number, last }: Pull): Json {
  const { repository } = last
  const url = repositoryUrl(world, repository)
  const repo = { id: repository.id, url, name: repository.name.split('/')[1] }
  const base = baseOf(world, repository)
  return {
    id,
    number,
    url: `${url}/pulls/${number}`,
    head: { ref: last.branch ?? last.sha, sha: last.sha, repo },
    base: { ref: base['ref'], sha: base['sha'], repo },
  }
}
