import * as z from 'zod'
import { authorOf } from '../../domain/handle.ts'
import { commitTitle, NO_DETAILS, type BuildDetails } from '../../domain/builds/build-event.ts'
import { githubProjectId, type ProjectId } from '../../domain/ids.ts'
import { HELD_STATUS } from '../../domain/builds/status.ts'
import { fieldOf, listOf, textOf } from '../../lib/raw-values.ts'
import { streamOf, BY_HAND, MERGE_QUEUE, NIGHTLY } from '../../domain/builds/stream.ts'
import { assertNever } from '../../lib/assert.ts'
import { isRepositoryName } from '../http/address.ts'
import { projectOf } from '../project.ts'
import type { KnownProject } from '../../store/records.ts'
import type { ShownBuild } from '../source.ts'
import { type Person, PUSH, startedBy, unknownTrigger, type Trigger } from '../trigger.ts'
import { buildId, cleanTextOrNull, idDigits, timeMsOrNull } from '../values.ts'

/**
 * Reads a workflow run, as a `workflow_run` delivery and the REST API show it; null if its ids or the
 * repository's name are missing or unusable.
 * @param workflow its workflow, as GitHub shows it: the run's own `name` may be that of this one run
 * Source: GitHub REST API, "Workflow runs".
 */
export function readRun(value: unknown, repository: unknown, workflow: unknown): ShownBuild | null {
  const [run, repo] = [RUN.safeParse(value).data, REPOSITORY.safeParse(repository).data]
  if (!run || !repo) return null
  const { name, path } = WORKFLOW.safeParse(workflow).data ?? NO_WORKFLOW
  const project = projectIn(repo, run.workflow_id, { name, path: run.path ?? path })
  const projectId = githubProjectId(repo.id, run.workflow_id)
  const pullRequests = run.pull_requests.flatMap((one) => one?.number ?? [])
  const trigger = triggerOf({ event: run.event, branch: run.head_branch, pullRequests })
  return {
    event: {
      projectId,
      buildId: run.id,
      branch: streamOf(branchOf(run, repo), trigger.stream),
      commitId: trigger.sharesCard ? run.head_sha : null,
      rawStatus: rawStatusOf(run),
      details: {
        ...NO_DETAILS,
        projectName: project.name,
        projectFullName: repo.full_name,
        buildUrl: urlOf(run),
        commitUrl: run.head_sha && repo.html_url ? `${repo.html_url}/commit/${run.head_sha}` : null,
        shortCommitId: run.head_sha?.slice(0, 7) ?? null,
        message: commitTitle((isOfPullRequest(run) ? run.display_title : null) ?? run.head_commit?.message ?? null),
        ...personOf(run, trigger.person),
        requestUrl: requestUrlOf(repo, trigger.stream),
        startedAt: run.run_started_at,
        finishedAt: isFinished(run) ? run.updated_at : null,
        number: run.run_number,
        attempt: run.run_attempt,
      },
    },
    project,
  }
}

/** Reads a workflow as a project; null if the repository's id or name is missing or unusable. */
export function readWorkflow(repository: unknown, workflow: unknown, id: string): KnownProject | null {
  const repo = REPOSITORY.safeParse(repository).data
  return repo ? projectIn(repo, id, WORKFLOW.safeParse(workflow).data ?? NO_WORKFLOW) : null
}

export const workflowIn = (projectId: ProjectId): string => projectId.split(':')[2]!

/** Is this the repository of the workflow? */
export const isOf = (projectId: ProjectId, repository: unknown): boolean =>
  textOf(fieldOf(repository, 'id')) === projectId.split(':')[1]

function projectIn(repo: GithubRepository, workflowId: string, { name, path }: z.infer<typeof WORKFLOW>): KnownProject {
  const called = `${repo.full_name} ${workflowName(name, path)}`
  const project = { type: 'github', name: called, defaultBranch: repo.default_branch } as const
  return projectOf(githubProjectId(repo.id, workflowId), project)
}

const text = cleanTextOrNull
const time = timeMsOrNull.nullable().catch(null)

const ACCOUNT = z.object({ login: text }).nullable().catch(null)

/** Further pull requests of a run are not read. One is of use; several say that it is unclear which one the run is for. */
const PULL_REQUESTS_MAX = 100

const RUN = z.object({
  id: buildId,
  workflow_id: idDigits,
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
  display_title: text,
  actor: ACCOUNT,
  pull_requests: z.preprocess(
    (all) => listOf(all).slice(0, PULL_REQUESTS_MAX),
    z.array(z.object({ number: idDigits }).nullable().catch(null)),
  ),
  head_commit: z
    .object({ message: text, author: z.object({ name: text, email: text, username: text }).nullable().catch(null) })
    .nullable()
    .catch(null),
  head_repository: z.object({ id: idDigits, owner: ACCOUNT }).nullable().catch(null),
})

const REPOSITORY = z.object({
  id: idDigits,
  full_name: text.pipe(z.string().refine(isRepositoryName)),
  html_url: text,
  default_branch: text,
})

const WORKFLOW = z.object({ name: text, path: text })
const NO_WORKFLOW = { name: null, path: null }

type GithubRun = z.infer<typeof RUN>
type GithubRepository = z.infer<typeof REPOSITORY>

/** An unnamed workflow is called by its file name, as on its badge. GitHub calls it by its whole path. */
function workflowName(name: string | null, path: string | null): string {
  // In some answers the path ends with the branch: `.github/workflows/ci.yml@refs/heads/main`.
  const [file] = (name ?? path ?? 'workflow').split('@')
  return name !== null && !name.startsWith('.github/') ? name : file!.split('/').at(-1)!
}

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
  // The run of a fork's pull request waits for approval.
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

/** GitHub calls such a run by the title of its pull request. */
const isOfPullRequest = ({ event }: GithubRun): boolean => event === 'pull_request'

/** A pull request's address, if the stream is that of one. */
function requestUrlOf({ html_url: url }: GithubRepository, stream: string | null): string | null {
  const number = /^#(\d+)/.exec(stream ?? '')?.[1]
  return url !== null && number !== undefined ? `${url}/pull/${number}` : null
}

/** Who opened a pull request, and its title. */
export function openedBy(pull: unknown): Pick<BuildDetails, 'committer' | 'author' | 'message'> {
  const { user, title } = PULL.parse(pull)
  return {
    ...about(user?.login, { name: null, email: null, username: user?.login ?? null }),
    message: commitTitle(title),
  }
}

const PULL = z.object({ user: ACCOUNT, title: text })

/** Whom the run is about. A run does not say who opened its pull request. */
function personOf({ head_commit: commit, actor }: GithubRun, person: Person) {
  switch (person) {
    case 'author':
      return about(commit?.author?.name, commit?.author)
    case 'starter':
      return about(actor?.login, { name: null, email: null, username: actor?.login ?? null })
    case 'opener':
    case 'nobody':
      return about(null, null)
    default:
      return assertNever(person)
  }
}

interface Named {
  name: string | null
  email: string | null
  username: string | null
}

const about = (name: string | null | undefined, who: Named | null | undefined) => ({
  committer: name ?? null,
  author: who ? authorOf({ ...who, login: who.username ?? loginIn(who.email) }) : null,
})

/** The account in a private commit address: `1234+octocat@users.noreply.github.com`. */
const loginIn = (email: string | null): string | null =>
  /^(?:\d+\+)?([a-z\d_-]+)@users\.noreply\.github\.com$/i.exec(email ?? '')?.[1] ?? null

// A fork may have a branch `main` too, and so may a pull request from `main`, whose run tests the merge. Neither is the
// repository's own `main`: it gets the owner as a prefix, as GitHub writes it. A fork that was deleted has no name.
function branchOf({ head_branch: branch, head_repository: head, event }: GithubRun, repo: GithubRepository) {
  const isPullRequest = event?.startsWith('pull_request') ?? false
  const isOwn = head ? head.id === repo.id : !isPullRequest
  if (branch === null || (isOwn && !(isPullRequest && branch === repo.default_branch))) return branch
  return `${head?.owner?.login ?? 'fork'}:${branch}`
}

/** What GitHub says started a run. */
interface Started {
  event: string | null
  branch: string | null
  /** the pull requests with this branch; GitHub names none for a fork's */
  pullRequests: readonly string[]
}

/** Source: GitHub, "Events that trigger workflows". */
export function triggerOf({ event, branch, pullRequests }: Started): Trigger {
  // A workflow that runs on every push also runs on the pushes to the queue's own branches.
  const queued = QUEUE.exec(branch ?? '')
  if (event === 'merge_group' || queued) return startedBy(joined(queued?.[1], MERGE_QUEUE))
  switch (event) {
    case null:
    case 'push':
      return PUSH
    case 'pull_request': {
      // GitHub lists every open pull request with this branch. With several, it does not say which one this run is for.
      const [number, ...more] = pullRequests
      return startedBy(number === undefined || more.length > 0 ? 'pull request' : `#${number}`, 'opener')
    }
    case 'schedule':
      return startedBy(NIGHTLY)
    case 'workflow_dispatch':
      return startedBy(BY_HAND, 'starter')
    default:
      return unknownTrigger(event)
  }
}

/** A merge queue's branch, with the number of its pull request. Source: GitHub, "Managing a merge queue". */
const QUEUE = /^gh-readonly-queue\/.+\/pr-(\d+)-[0-9a-f]+$/

const joined = (number: string | undefined, trigger: string): string =>
  number === undefined ? trigger : `#${number} · ${trigger}`
