import * as z from 'zod'
import { fieldOf, textOf } from '../../lib/raw-values.ts'
import { findJson, isRecord } from '../../lib/json.ts'
import { addressOf, parseHttpUrl, checkedName, isRepositoryName } from '../http/address.ts'
import { cut } from '../../slack/messages/limits.ts'
import { CiError, unlessGone } from '../http/errors.ts'
import { readAnswer, type CiRequest, type CiResponse, type Rate } from '../http/exchange.ts'
import type { GithubTokens } from './app.ts'
import { readLogTail } from '../http/log-tail.ts'
import type { Transport } from '../http/transport.ts'
import { cleanTextOrNull, fileText, idDigits } from '../values.ts'

/** Every repository is a full name, `acme/web`. Calls throw a CiError; a write is sent once. */
export interface GithubClient {
  /** The newest runs as GitHub shows them, at most 100. `unchanged`: the same as in the answer with this etag. */
  runs(repository: string, options?: RunsOptions): Promise<{ runs: unknown[]; etag: string | null } | 'unchanged'>
  run(repository: string, run: string, signal?: AbortSignal): Promise<unknown>
  repository(repository: string, signal?: AbortSignal): Promise<unknown>
  /** A workflow as GitHub shows it, by its id. */
  workflow(repository: string, workflow: string, signal?: AbortSignal): Promise<unknown>
  branch(repository: string, branch: string, signal?: AbortSignal): Promise<unknown>
  tag(repository: string, tag: string, signal?: AbortSignal): Promise<unknown>
  pull(repository: string, number: string, signal?: AbortSignal): Promise<unknown>
  /** The webhooks of a repository, at most 100. */
  hooks(repository: string): Promise<unknown[]>
  /** How many calls the token has left; null if GitHub does not say. */
  rate(repository: string): Promise<Rate | null>
  /** The same, as the last answer said; null: none has. */
  lastRate(): Rate | null
  /** What the token may not do, as far as calls since the start showed. */
  refusals(): readonly Refusal[]
  /** The jobs of one attempt of a run that did not pass. */
  unpassedJobs(repository: string, run: string, attempt: number, signal?: AbortSignal): Promise<UnpassedJobs>
  /** The jobs of one attempt that failed or timed out, each with the first step that did. */
  failedJobs(repository: string, run: string, attempt: number, signal?: AbortSignal): Promise<FailedJob[]>
  /** What a job's tools said about lines of files, and its runner about `.github`, as GitHub shows it; at most 100. */
  annotations(repository: string, job: string, signal?: AbortSignal): Promise<unknown[]>
  /** The end of a job's log; null if it cannot be read. */
  logTail(repository: string, job: string, signal?: AbortSignal): Promise<string | null>
  /** Restarts all jobs, or only those that failed. */
  rerun(repository: string, run: string, jobs: 'all' | 'failed'): Promise<void>
  /** @param purpose as a CiError and a refusal have it */
  cancel(repository: string, run: string, purpose?: string): Promise<void>
  /** The text of a file at a branch or tag. */
  file(repository: string, path: string, ref: string): Promise<string>
  /** The account of the token; null for a GitHub App. */
  login(repository: string): Promise<string | null>
  /** Starts a workflow, by its id. @returns the run's id; null if GitHub does not name it */
  dispatch(
    repository: string,
    workflow: string,
    how: { ref: string; inputs: Readonly<Record<string, string>> },
  ): Promise<string | null>
  /** The environments that a run waits for, as GitHub shows them. */
  pendingDeployments(repository: string, run: string, signal?: AbortSignal): Promise<unknown[]>
  /** The reviews of a run's deployments, as GitHub shows them. */
  reviews(repository: string, run: string): Promise<unknown[]>
  /** Approves or rejects the deployment of a waiting run. GitHub takes this only from a reviewer, and not from an app. */
  review(repository: string, run: string, review: Review): Promise<void>
  /** Lets a run begin that waits because of who opened its pull request. */
  approve(repository: string, run: string): Promise<void>
}

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

const API_VERSION = '2022-11-28'

/** How long to wait after a rate limit, if GitHub does not say. Source: GitHub, "Rate limits for the REST API". */
const SLOWED_MS = 60_000

/** GitHub's largest page. A matrix has up to 256 jobs, and a workflow may have several matrices. */
const PER_PAGE = 100
const JOB_PAGES_MAX = 10
/** Pages of jobs whose failures are read: with the run, annotations and logs that makes ten calls. */
const FAILED_PAGES_MAX = 3

/** Source: GitHub REST API, "Workflow runs". `apiUrl` may have a path, as for GitHub Enterprise Server. */
export function createGithubClient({
  apiUrl,
  token,
  transport,
}: {
  apiUrl: string
  /** a person's token, or those of a GitHub App */
  token: string | GithubTokens
  transport: Transport
}): GithubClient {
  const base = parseHttpUrl(apiUrl)
  const addressIn = (repository: string, segments: readonly string[], query: Query = {}) =>
    addressOf(base, ['repos', ...checkedName(repository, isRepositoryName).split('/'), ...segments], query)
  const tokens = typeof token === 'string' ? { of: async () => token, forget: () => {} } : token
  let lastRate: Rate | null = null
  const refusals = new Map<string, Refusal>()
  /** @param error null: the call succeeded. Any other answer than a refusal shows that the permission is there. */
  function noteRefusal(repository: string, purpose: string, error: unknown): void {
    const call = `${repository} ${purpose}`
    const { status, reason = '', needs = '' } = error instanceof CiError ? error : {}
    if (LACKS.test(reason) && needs.includes('=')) refusals.set(call, { repository, purpose, needs })
    else if (error === null || status !== undefined) refusals.delete(call)
  }
  async function send(
    repository: string,
    request: Pick<CiRequest, 'method' | 'url' | 'purpose'> & Partial<CiRequest>,
    signal?: AbortSignal,
  ): Promise<CiResponse> {
    const bearer = await tokens.of(repository)
    const sent = transport.send(
      {
        // GitHub redirects calls for a repository that was renamed. Writes go to the name that was just read.
        followsMoves: !request.returnsRedirect,
        ...request,
        headers: {
          accept: 'application/vnd.github+json',
          'x-github-api-version': API_VERSION,
          // GitHub refuses requests without a user agent.
          'user-agent': 'buildline',
          authorization: `Bearer ${bearer}`,
          ...request.headers,
        },
        secrets: [bearer],
        slowedMs: SLOWED_MS,
      },
      signal,
    )
    const answer = await sent.catch((error: unknown) => {
      if (error instanceof CiError && error.kind === 'unauthorized') tokens.forget(repository)
      noteRefusal(repository, request.purpose, error)
      throw error
    })
    noteRefusal(repository, request.purpose, null)
    lastRate = answer.rate ?? lastRate
    return answer
  }
  const read = async (repository: string, segments: readonly string[], purpose: string, signal?: AbortSignal) => {
    const request = { method: 'GET', url: addressIn(repository, segments), purpose } as const
    return readAnswer(await send(repository, request, signal), purpose, (json) => (isRecord(json) ? json : null))
  }
  async function list(
    repository: string,
    segments: readonly string[],
    { purpose, listIn, page, signal }: { purpose: string; listIn: ListIn; page?: number; signal?: AbortSignal },
  ) {
    const url = addressIn(repository, segments, { per_page: PER_PAGE, page })
    return readAnswer(await send(repository, { method: 'GET', url, purpose }, signal), purpose, listIn)
  }
  /** Not by pages. */
  async function listOfRun(repository: string, run: string, what: string, purpose: string, signal?: AbortSignal) {
    const url = addressIn(repository, ['actions', 'runs', run, what])
    return readAnswer(await send(repository, { method: 'GET', url, purpose }, signal), purpose, arrayIn)
  }
  async function unpassedOf(
    repository: string,
    run: string,
    attempt: number,
    signal?: AbortSignal,
    pagesMax = JOB_PAGES_MAX,
  ) {
    const path = ['actions', 'runs', run, 'attempts', String(attempt), 'jobs']
    const how = { purpose: 'list the jobs of a run', listIn: listIn('jobs'), ...(signal && { signal }) }
    const unpassed: z.infer<typeof UNPASSED_JOB>[] = []
    for (let page = 1; page <= pagesMax; page++) {
      const jobs = await list(repository, path, { ...how, page })
      unpassed.push(...jobs.flatMap((job) => UNPASSED_JOB.safeParse(job).data ?? []))
      if (jobs.length < PER_PAGE) break
    }
    return unpassed
  }
  const write = (repository: string, run: string, what: string, purpose: string, body?: object) =>
    withState(
      send(repository, {
        method: 'POST',
        url: addressIn(repository, ['actions', 'runs', run, what]),
        purpose,
        statusSuffices: true,
        ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      }),
      purpose,
    )

  return {
    async runs(repository, { workflow, branch, event, etag = null, signal } = {}) {
      const path = workflow === undefined ? ['actions', 'runs'] : ['actions', 'workflows', workflow, 'runs']
      const url = addressIn(repository, path, { per_page: PER_PAGE, branch, event })
      const purpose = 'list the runs of a repository'
      const headers = etag === null ? {} : { 'if-none-match': etag }
      const answer = await unlessUnchanged(send(repository, { method: 'GET', url, purpose, headers }, signal))
      if (answer === 'unchanged') return answer
      return { runs: readAnswer(answer, purpose, listIn('workflow_runs')), etag: answer.etag }
    },
    run: (repository, run, signal) => read(repository, ['actions', 'runs', run], 'read a run', signal),
    repository: (repository, signal) => read(repository, [], 'read a repository', signal),
    workflow: (repository, workflow, signal) =>
      read(repository, ['actions', 'workflows', workflow], 'read a workflow', signal),
    branch: (repository, branch, signal) => read(repository, ['branches', branch], 'read a branch', signal),
    tag: (repository, tag, signal) => read(repository, ['git', 'ref', 'tags', tag], 'read a tag', signal),
    pull: (repository, number, signal) => read(repository, ['pulls', number], 'read a pull request', signal),
    hooks: (repository) =>
      list(repository, ['hooks'], { purpose: 'list the webhooks of a repository', listIn: arrayIn }),
    async rate(repository) {
      const request = { method: 'GET', url: addressIn(repository, []), purpose: 'ask for the rate limit' } as const
      return (await send(repository, { ...request, statusSuffices: true })).rate
    },
    lastRate: () => lastRate,
    refusals: () => [...refusals.values()],
    async failedJobs(repository, run, attempt, signal) {
      const unpassed = await unpassedOf(repository, run, attempt, signal, FAILED_PAGES_MAX)
      return unpassed.flatMap((job) => {
        if (job.conclusion === 'cancelled' || job.id === null) return []
        const [step = null] = failedStepsOf(job)
        return { id: job.id, name: job.name ?? job.id, step }
      })
    },
    annotations: (repository, job, signal) =>
      list(repository, ['check-runs', job, 'annotations'], {
        purpose: 'list the annotations of a job',
        listIn: arrayIn,
        ...(signal && { signal }),
      }),
    async logTail(repository, job, signal) {
      const url = addressIn(repository, ['actions', 'jobs', job, 'logs'])
      const request = { method: 'GET', url, purpose: 'read the log of a job', returnsRedirect: true } as const
      const { location } = await send(repository, { ...request, statusSuffices: true }, signal)
      return location === null ? null : readLogTail(location, base, signal)
    },
    async unpassedJobs(repository, run, attempt, signal) {
      const unpassed = await unpassedOf(repository, run, attempt, signal)
      return {
        failed: unpassed.flatMap((job) => (job.conclusion === 'cancelled' ? [] : (nameOf(job) ?? []))),
        onlyTimedOut: unpassed.every(({ conclusion }) => conclusion !== 'failure'),
        cancelled: unpassed.flatMap(({ conclusion, id, name }) =>
          conclusion === 'cancelled' && id !== null ? [{ id, name: name ?? id }] : [],
        ),
      }
    },
    async rerun(repository, run, jobs) {
      await write(repository, run, jobs === 'failed' ? 'rerun-failed-jobs' : 'rerun', 'run a workflow again')
    },
    async cancel(repository, run, purpose = 'cancel a run') {
      await write(repository, run, 'cancel', purpose)
    },
    pendingDeployments: (repository, run, signal) =>
      listOfRun(repository, run, 'pending_deployments', 'read what a run waits for', signal),
    reviews: (repository, run) => listOfRun(repository, run, 'approvals', 'list the reviews of a run'),
    async review(repository, run, { environment, state, comment }) {
      const body = { environment_ids: [Number(environment)], state, comment }
      await write(repository, run, 'pending_deployments', 'review a deployment', body)
    },
    async approve(repository, run) {
      await write(repository, run, 'approve', 'approve a run')
    },
    async file(repository, path, ref) {
      const url = addressIn(repository, ['contents', ...path.split('/')], { ref })
      const purpose = 'read a file'
      return readAnswer(await send(repository, { method: 'GET', url, purpose }), purpose, fileText)
    },
    async login(repository) {
      const url = addressOf(base, ['user'])
      const purpose = "read the token's account"
      const answer = await unlessGone(send(repository, { method: 'GET', url, purpose }))
      return answer && readAnswer(answer, purpose, (json) => textOf(fieldOf(json, 'login')))
    },
    async dispatch(repository, workflow, { ref, inputs }) {
      const body = {
        ref,
        ...(Object.keys(inputs).length > 0 && { inputs }),
        ...((await namesRuns(repository)) && { return_run_details: true }),
      }
      const answer = await send(repository, {
        method: 'POST',
        url: addressIn(repository, ['actions', 'workflows', workflow, 'dispatches']),
        purpose: 'start a workflow',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        statusSuffices: true,
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
    const purpose = "read the server's version"
    try {
      const answer = await send(repository, { method: 'GET', url: addressOf(base, ['meta']), purpose })
      const version = fieldOf(findJson(answer.text), 'installed_version')
      const [major = 0, minor = 0] = String(version).split('.').map(Number)
      return version === undefined || major > 3 || (major === 3 && minor >= 21)
    } catch (error) {
      if (error instanceof CiError) return false
      throw error
    }
  }
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
type ListIn = (json: unknown) => unknown[] | null

const arrayIn: ListIn = (json) => (Array.isArray(json) ? (json as unknown[]) : null)
const listIn =
  (name: string): ListIn =>
  (json) =>
    arrayIn(isRecord(json) ? json[name] : null)

/**
 * GitHub's words in a 403 for a missing permission, to a person's token or to an app. Its header with the permissions comes
 * with other answers too. Source: GitHub, "Troubleshooting the REST API".
 */
const LACKS = /^Resource not accessible by/

/** GitHub's words in a 403 for a run that cannot be restarted now, or any more. */
const OF_STATE = /already running|created over|cannot be (?:re-?run|retried)/i

/** GitHub answers 403 for a missing right and for a run in the wrong state. Only its words tell them apart. */
async function withState(sent: Promise<CiResponse>, purpose: string): Promise<CiResponse> {
  try {
    return await sent
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
