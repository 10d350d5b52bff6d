import * as z from 'zod'
import { fieldOf, textOf } from '../../lib/raw-values.ts'
import { findJson, isRecord } from '../../lib/json.ts'
import { addressOf, parseHttpUrl, checkedName, isRepositoryName } from '../http/address.ts'
import { cut } from '../../slack/messages/limits.ts'
import { CiError, unlessGone } from '../http/errors.ts'
import { readAnswer, type CiResponse } from '../http/exchange.ts'
import type { GithubTokens } from './app.ts'
import { arrayIn, createCalls, PER_PAGE } from '../http/hosted.ts'
import type { Transport } from '../http/transport.ts'
import { cleanTextOrNull, fileText, idDigits } from '../values.ts'

export type GithubClient = ReturnType<typeof createGithubClient>

/** A call that GitHub refuses because the token lacks a permission. */
export interface Refusal {
  repository: string
  /** as a CiError has it */
  purpose: string
  /** as a CiError has it: `checks=read` */
  needs: string
}

export interface Review {
  /** GitHub's id */
  environment: string
  state: 'approved' | 'rejected'
  comment: string
}

export interface UnpassedJobs {
  /** `test`, or `test: Run tests` if only one step failed */
  failed: string[]
  /** these jobs only ran over their time limit */
  onlyTimedOut: boolean
  cancelled: { id: string; name: string }[]
}

export interface FailedJob {
  id: string
  name: string
  step: string | null
}

interface RunsOptions {
  /** of one workflow, by its id */
  workflow?: string
  branch?: string
  event?: string
  etag?: string | null
  signal?: AbortSignal
}

/** A matrix has up to 256 jobs, and a workflow may have several matrices. */
const JOB_PAGES_MAX = 10
/** Pages of jobs whose failures are read: with the run, annotations and logs that makes ten calls. */
const FAILED_PAGES_MAX = 3

/**
 * Every repository is a full name, `acme/web`. What is `unknown` is as GitHub shows it. Source: GitHub REST API. `apiUrl`
 * may have a path, as for GitHub Enterprise Server.
 */
export function createGithubClient({
  apiUrl,
  token,
  transport,
}: {
  apiUrl: string
  /** a person's token, or those of a GitHub App */
  token: string | GithubTokens
  transport: Transport
}) {
  const base = parseHttpUrl(apiUrl)
  const tokens = typeof token === 'string' ? { of: async () => token, forget: () => {} } : token
  const refusals = new Map<string, Refusal>()
  const { send, get, record, list, post, log, rate, lastRate } = createCalls({
    base,
    transport,
    async credentials(repository) {
      const secret = await tokens.of(repository)
      return { headers: { ...HEADERS, authorization: `Bearer ${secret}` }, secret }
    },
    note(repository, purpose, error) {
      if (error instanceof CiError && error.kind === 'unauthorized') tokens.forget(repository)
      const call = `${repository} ${purpose}`
      const { status, reason = '', needs = '' } = error instanceof CiError ? error : {}
      if (LACKS.test(reason) && needs.includes('=')) refusals.set(call, { repository, purpose, needs })
      // Any other answer than a refusal shows that the permission is there.
      else if (error === null || status !== undefined) refusals.delete(call)
    },
  })
  const at = (repository: string, segments: readonly string[] = [], query: Query = {}) => ({
    about: repository,
    url: addressOf(base, ['repos', ...checkedName(repository, isRepositoryName).split('/'), ...segments], query),
  })
  const atRun = (repository: string, run: string, ...more: readonly string[]) =>
    at(repository, ['actions', 'runs', run, ...more])

  async function unpassedOf(
    repository: string,
    run: string,
    attempt: number,
    signal?: AbortSignal,
    pagesMax = JOB_PAGES_MAX,
  ) {
    const place = atRun(repository, run, 'attempts', String(attempt), 'jobs')
    const jobs = await list(place, 'list the jobs of a run', { pagesMax, listIn: listIn('jobs'), signal })
    return jobs.flatMap((job) => UNPASSED_JOB.safeParse(job).data ?? [])
  }
  const write = async (repository: string, run: string, what: string, purpose: string, body?: object): Promise<void> =>
    withState(post(atRun(repository, run, what), purpose, body), purpose)

  return {
    /** The newest runs, at most 100. `unchanged`: the same as in the answer with this etag. */
    async runs(repository: string, { workflow, branch, event, etag = null, signal }: RunsOptions = {}) {
      const path = workflow === undefined ? ['actions', 'runs'] : ['actions', 'workflows', workflow, 'runs']
      const purpose = 'list the runs of a repository'
      const headers = etag === null ? {} : { 'if-none-match': etag }
      const place = at(repository, path, { per_page: PER_PAGE, branch, event })
      const answer = await unlessUnchanged(send(place, { purpose, headers }, signal))
      if (answer === 'unchanged') return answer
      return { runs: readAnswer(answer, purpose, listIn('workflow_runs')), etag: answer.etag }
    },
    run: (repository: string, run: string, signal?: AbortSignal) =>
      record(atRun(repository, run), 'read a run', signal),
    repository: (repository: string, signal?: AbortSignal) => record(at(repository), 'read a repository', signal),
    /** @param workflow its id */
    workflow: (repository: string, workflow: string, signal?: AbortSignal) =>
      record(at(repository, ['actions', 'workflows', workflow]), 'read a workflow', signal),
    branch: (repository: string, branch: string, signal?: AbortSignal) =>
      record(at(repository, ['branches', branch]), 'read a branch', signal),
    tag: (repository: string, tag: string, signal?: AbortSignal) =>
      record(at(repository, ['git', 'ref', 'tags', tag]), 'read a tag', signal),
    pull: (repository: string, number: string, signal?: AbortSignal) =>
      record(at(repository, ['pulls', number]), 'read a pull request', signal),
    /** The webhooks of a repository, at most 100. */
    hooks: (repository: string) => list(at(repository, ['hooks']), 'list the webhooks of a repository'),
    rate: (repository: string) => rate(at(repository)),
    lastRate,
    /** What the token may not do, as far as calls since the start showed. */
    refusals: (): readonly Refusal[] => [...refusals.values()],
    /** The jobs of one attempt that failed or timed out, each with the first step that did. */
    async failedJobs(repository: string, run: string, attempt: number, signal?: AbortSignal): Promise<FailedJob[]> {
      const unpassed = await unpassedOf(repository, run, attempt, signal, FAILED_PAGES_MAX)
      return unpassed.flatMap((job) => {
        if (job.conclusion === 'cancelled' || job.id === null) return []
        const [step = null] = failedStepsOf(job)
        return { id: job.id, name: job.name ?? job.id, step }
      })
    },
    /** What a job's tools said about lines of files, and its runner about `.github`; at most 100. */
    annotations: (repository: string, job: string, signal?: AbortSignal) =>
      list(at(repository, ['check-runs', job, 'annotations']), 'list the annotations of a job', { signal }),
    logTail: (repository: string, job: string, signal?: AbortSignal) =>
      log(at(repository, ['actions', 'jobs', job, 'logs']), signal),
    /** The jobs of one attempt of a run that did not pass. */
    async unpassedJobs(repository: string, run: string, attempt: number, signal?: AbortSignal): Promise<UnpassedJobs> {
      const unpassed = await unpassedOf(repository, run, attempt, signal)
      return {
        failed: unpassed.flatMap((job) => (job.conclusion === 'cancelled' ? [] : (nameOf(job) ?? []))),
        onlyTimedOut: unpassed.every(({ conclusion }) => conclusion !== 'failure'),
        cancelled: unpassed.flatMap(({ conclusion, id, name }) =>
          conclusion === 'cancelled' && id !== null ? [{ id, name: name ?? id }] : [],
        ),
      }
    },
    /** Restarts all jobs, or only those that failed. */
    rerun: (repository: string, run: string, jobs: 'all' | 'failed') =>
      write(repository, run, jobs === 'failed' ? 'rerun-failed-jobs' : 'rerun', 'run a workflow again'),
    cancel: (repository: string, run: string, purpose = 'cancel a run') => write(repository, run, 'cancel', purpose),
    /** The environments that a run waits for. */
    pendingDeployments: (repository: string, run: string, signal?: AbortSignal) =>
      get(atRun(repository, run, 'pending_deployments'), 'read what a run waits for', arrayIn, signal),
    /** The reviews of a run's deployments. */
    reviews: (repository: string, run: string) =>
      get(atRun(repository, run, 'approvals'), 'list the reviews of a run', arrayIn),
    /** Approves or rejects the deployment of a waiting run. GitHub takes this only from a reviewer, and not from an app. */
    review: (repository: string, run: string, { environment, state, comment }: Review) =>
      write(repository, run, 'pending_deployments', 'review a deployment', {
        environment_ids: [Number(environment)],
        state,
        comment,
      }),
    /** Lets a run begin that waits because of who opened its pull request. */
    approve: (repository: string, run: string) => write(repository, run, 'approve', 'approve a run'),
    /** The text of a file at a branch or tag. */
    file: (repository: string, path: string, ref: string) =>
      get(at(repository, ['contents', ...path.split('/')], { ref }), 'read a file', fileText),
    /** The account of the token; null for a GitHub App. */
    async login(repository: string): Promise<string | null> {
      const place = { about: repository, url: addressOf(base, ['user']) }
      const user = await unlessGone(record(place, "read the token's account"))
      return textOf(fieldOf(user, 'login'))
    },
    /** Starts a workflow, by its id. @returns the run's id; null if GitHub does not name it */
    async dispatch(
      repository: string,
      workflow: string,
      { ref, inputs }: { ref: string; inputs: Readonly<Record<string, string>> },
    ): Promise<string | null> {
      const place = at(repository, ['actions', 'workflows', workflow, 'dispatches'])
      const answer = await post(place, 'start a workflow', {
        ref,
        ...(Object.keys(inputs).length > 0 && { inputs }),
        ...((await namesRuns(repository)) && { return_run_details: true }),
      })
      return textOf(fieldOf(findJson(answer.text), 'workflow_run_id'))
    },
  }

  /**
   * Whether GitHub names the run that a call has started if it is asked to. GitHub Enterprise Server refuses such a call
   * before 3.21. Source: GitHub's command line `gh`, `internal/featuredetection`.
   */
  async function namesRuns(repository: string): Promise<boolean> {
    if (base.hostname === 'api.github.com') return true
    try {
      const place = { about: repository, url: addressOf(base, ['meta']) }
      const version = fieldOf(await record(place, "read the server's version"), 'installed_version')
      const [major = 0, minor = 0] = String(version).split('.').map(Number)
      return version === undefined || major > 3 || (major === 3 && minor >= 21)
    } catch (error) {
      if (error instanceof CiError) return false
      throw error
    }
  }
}

/** GitHub refuses requests without a user agent. */
const HEADERS = {
  accept: 'application/vnd.github+json',
  'x-github-api-version': '2022-11-28',
  'user-agent': 'buildline',
}

const FAILED = z.object({ name: cleanTextOrNull, conclusion: z.enum(['failure', 'timed_out']) })
const UNPASSED_JOB = z.object({
  id: idDigits.nullable().catch(null),
  name: cleanTextOrNull,
  conclusion: z.enum(['failure', 'timed_out', 'cancelled']),
  steps: z.array(z.unknown()).catch([]),
})

/** Limit for the name of a job, and for that of its step: both fit on the card. */
const NAME_CHARS_MAX = 39

function nameOf({ name, steps }: z.infer<typeof UNPASSED_JOB>): string | null {
  const [step, ...more] = failedStepsOf({ steps })
  if (!name || step === undefined || more.length > 0) return name
  return `${cut(name, NAME_CHARS_MAX)}: ${cut(step, NAME_CHARS_MAX)}`
}

const failedStepsOf = ({ steps }: Pick<z.infer<typeof UNPASSED_JOB>, 'steps'>): string[] =>
  steps.flatMap((one) => FAILED.safeParse(one).data?.name ?? [])

type Query = Parameters<typeof addressOf>[2]

const listIn = (name: string) => (json: unknown) => arrayIn(isRecord(json) ? json[name] : null)

/**
 * GitHub's words in a 403 for a missing permission, to a person's token or to an app. Its header with the permissions comes
 * with other answers too. Source: GitHub, "Troubleshooting the REST API".
 */
const LACKS = /^Resource not accessible by/

/** GitHub's words in a 403 for a run that cannot be restarted now, or any more. */
const OF_STATE = /already running|created over|cannot be (?:re-?run|retried)/i

/** GitHub answers 403 for a missing right and for a run in the wrong state. Only its words tell them apart. */
async function withState(sent: Promise<CiResponse>, purpose: string): Promise<void> {
  try {
    await sent
  } catch (error) {
    if (!(error instanceof CiError) || error.kind !== 'forbidden' || !OF_STATE.test(error.reason ?? '')) throw error
    const { status, reason } = error
    throw new CiError({ kind: 'bad-request', purpose, status, reason, isWrite: true, cause: error })
  }
}

async function unlessUnchanged(sent: Promise<CiResponse>): Promise<CiResponse | 'unchanged'> {
  try {
    return await sent
  } catch (error) {
    if (error instanceof CiError && error.status === 304) return 'unchanged'
    throw error
  }
}
