import * as z from 'zod'
import { authorOf } from '../../domain/author.ts'
import { commitTitle, NO_DETAILS } from '../../domain/build-event.ts'
import { githubProjectId } from '../../domain/ids.ts'
import { HELD_STATUS } from '../../domain/status.ts'
import { projectOf } from '../project.ts'
import type { ShownBuild } from '../source.ts'
import { buildId, cleanTextOrNull, idDigits, timeMsOrNull } from '../values.ts'

/**
 * Reads a workflow run, as a `workflow_run` delivery and the REST API show it; null if its ids are missing.
 * @param defaultBranch used if the run's own repository does not name it
 * Source: GitHub REST API, "Workflow runs".
 */
export function readRun(value: unknown, repository: unknown, defaultBranch: string | null = null): ShownBuild | null {
  const [run, repo] = [RUN.safeParse(value).data, REPOSITORY.safeParse(repository).data]
  if (!run || !repo) return null
  const projectId = githubProjectId(repo.id, run.workflow_id)
  const author = run.head_commit?.author ?? null
  const workflow = run.name ?? run.path?.split('/').at(-1) ?? 'workflow'
  const name = `${repo.full_name} ${workflow}`
  return {
    observation: {
      projectId,
      buildId: run.id,
      branch: branchOf(run, repo.id),
      // Runs that no push started may share a commit but are unrelated: each is a revision of its own.
      commitId: UNPUSHED.has(run.event ?? '') ? null : run.head_sha,
      rawStatus: rawStatusOf(run),
      details: {
        ...NO_DETAILS,
        projectName: name,
        projectFullName: repo.full_name,
        buildUrl: urlOf(run),
        commitUrl: run.head_sha && repo.html_url ? `${repo.html_url}/commit/${run.head_sha}` : null,
        shortCommitId: run.head_sha?.slice(0, 7) ?? null,
        message: commitTitle(run.head_commit?.message ?? null),
        // The author of the commit, not the person who pushed it or pressed a button.
        committer: author?.name ?? null,
        author: author && authorOf({ ...author, login: author.username ?? loginIn(author.email) }),
        startedAt: run.run_started_at,
        finishedAt: isFinished(run) ? run.updated_at : null,
        number: run.run_number,
        attempt: run.run_attempt,
      },
    },
    project: projectOf(projectId, { type: 'github', name, defaultBranch: repo.default_branch ?? defaultBranch }),
  }
}

const text = cleanTextOrNull
const time = timeMsOrNull.nullable().catch(null)

const RUN = z.object({
  id: buildId,
  workflow_id: idDigits,
  name: text,
  path: text,
  event: text,
  status: text,
  conclusion: text,
  head_branch: text,
  head_sha: text,
  html_url: text,
  run_number: idDigits.nullable().catch(null),
  run_attempt: z.int().positive().catch(1),
  run_started_at: time,
  updated_at: time,
  head_commit: z
    .object({ message: text, author: z.object({ name: text, email: text, username: text }).nullable().catch(null) })
    .nullable()
    .catch(null),
  head_repository: z
    .object({ id: idDigits, owner: z.object({ login: text }).nullable().catch(null) })
    .nullable()
    .catch(null),
})

const REPOSITORY = z.object({ id: idDigits, full_name: text.pipe(z.string()), html_url: text, default_branch: text })

type GithubRun = z.infer<typeof RUN>

const UNPUSHED = new Set([
  'schedule',
  'workflow_dispatch',
  'repository_dispatch',
  'issues',
  'issue_comment',
  'discussion',
  'discussion_comment',
  'label',
  'milestone',
  'watch',
  'fork',
  'gollum',
])

const WORDS = new Map([
  ['requested', 'queued'],
  ['queued', 'queued'],
  ['pending', 'queued'],
  ['in_progress', 'initiated'],
  ['waiting', 'waiting'],
])

const CONCLUSIONS = new Map([
  ['success', 'success'],
  ['failure', 'error'],
  ['timed_out', 'error'],
  ['cancelled', 'stopped'],
  ['startup_failure', 'infrastructure_failure'],
  ['skipped', 'skipped'],
  ['neutral', 'skipped'],
  ['stale', 'skipped'],
  // The run of a fork's pull request waits until somebody approves it.
  ['action_required', HELD_STATUS],
])

// Read from `status`, not from the delivery's `action`: the two differ in GitHub's own examples.
function rawStatusOf({ status, conclusion }: GithubRun): string {
  if (status !== 'completed') return WORDS.get(status ?? '') ?? status ?? 'unknown'
  return CONCLUSIONS.get(conclusion ?? '') ?? conclusion ?? 'completed'
}

const isFinished = ({ status, conclusion }: GithubRun): boolean =>
  status === 'completed' && conclusion !== 'action_required'

const urlOf = ({ html_url: url, run_attempt: attempt }: GithubRun): string | null =>
  url === null || attempt === 1 ? url : `${url}/attempts/${attempt}`

/** The account in the address of somebody who keeps theirs private: `1234+octocat@users.noreply.github.com`. */
const loginIn = (email: string | null): string | null =>
  /^(?:\d+\+)?([a-z\d-]+)@users\.noreply\.github\.com$/i.exec(email ?? '')?.[1] ?? null

// A fork may have a branch `main` too. It is not the repository's own, so it gets the fork's owner as a prefix.
function branchOf({ head_branch: branch, head_repository: head }: GithubRun, repositoryId: string): string | null {
  if (branch === null || !head || head.id === repositoryId) return branch
  return `${head.owner?.login ?? 'fork'}:${branch}`
}
