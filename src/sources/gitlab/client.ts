import { findJson, isRecord } from '../../lib/json.ts'
import { addressOf, parseHttpUrl, checkedName, isProjectPath } from '../http/address.ts'
import { CiError } from '../http/errors.ts'
import { readAnswer, type CiRequest, type CiResponse, type Rate } from '../http/exchange.ts'
import { readLogTail, TAIL_BYTES } from '../http/log-tail.ts'
import type { Transport } from '../http/transport.ts'
import { isIdDigits } from '../../domain/ids.ts'
import { fieldOf, textOf, textsOf } from '../../lib/raw-values.ts'
import { fileText } from '../values.ts'

/** A project is named by its path, `acme/web`, or by its id. Calls throw a CiError; a write is sent once. */
export interface GitlabClient {
  project(project: string, signal?: AbortSignal): Promise<unknown>
  /** The 100 pipelines that changed last, newest first; or up to 1,000 that changed since `updatedAfter`. */
  pipelines(project: string, query?: PipelineQuery): Promise<unknown[]>
  /** A pipeline with the fields that the list leaves out. */
  pipeline(project: string, id: string, signal?: AbortSignal): Promise<unknown>
  /** The jobs that failed in its newest attempt; trigger jobs are not among them. */
  failedJobs(project: string, id: string, signal?: AbortSignal, pagesMax?: number): Promise<unknown[]>
  /** Its trigger jobs that failed because the pipelines that they started failed. */
  failedBridges(project: string, id: string, signal?: AbortSignal, pagesMax?: number): Promise<unknown[]>
  /** How many tests of a pipeline failed. */
  testSummary(project: string, id: string, signal?: AbortSignal): Promise<unknown>
  /** Every test of a pipeline. */
  testReport(project: string, id: string, signal?: AbortSignal): Promise<unknown>
  /** The log of a job, or its end; null if it cannot be read. */
  trace(project: string, job: string, signal?: AbortSignal): Promise<string | null>
  branch(project: string, branch: string, signal?: AbortSignal): Promise<unknown>
  mergeRequest(project: string, iid: string, signal?: AbortSignal): Promise<unknown>
  /** The webhooks of a project, at most 100. */
  hooks(project: string): Promise<unknown[]>
  /** How many calls the token has left; null if GitLab does not say. */
  rate(project: string): Promise<Rate | null>
  /** The same, as the last answer said; null: none has. */
  lastRate(): Rate | null
  commit(project: string, sha: string, signal?: AbortSignal): Promise<unknown>
  /** Restarts the jobs that did not pass. */
  retry(project: string, id: string): Promise<void>
  cancel(project: string, id: string): Promise<void>
  /** The manual jobs of a pipeline that nobody has started, up to 1,000; trigger jobs are not among them. */
  manualJobs(project: string, id: string, signal?: AbortSignal): Promise<unknown[]>
  /** Starts a manual job. */
  play(project: string, job: string): Promise<void>
  /** The newest 100 deployments whose environments need approvals, or have had them, and whose jobs nobody has started. */
  blockedDeployments(project: string, signal?: AbortSignal): Promise<unknown[]>
  /** A deployment with its approvals, which the list leaves out. */
  deployment(project: string, id: string, signal?: AbortSignal): Promise<unknown>
  /** Approves or rejects a deployment, as the person, group or role with this name. */
  review(
    project: string,
    deployment: string,
    review: { status: 'approved' | 'rejected'; comment: string; represented_as?: string | undefined },
  ): Promise<void>
  /** A member of a group, by its id; with `areInherited` also of the group's parents. */
  member(group: string, user: string, areInherited: boolean, signal?: AbortSignal): Promise<unknown>
  /** The text of a file at a branch or tag. */
  file(project: string, path: string, ref: string): Promise<string>
  /** The token's account. */
  user(signal?: AbortSignal): Promise<unknown>
  /** What the token may be used for: `api`, `read_api`. */
  scopes(): Promise<readonly string[]>
  /** Starts a pipeline. @returns its id; null if the answer cannot be read */
  create(project: string, how: NewPipeline): Promise<string | null>
}

export interface NewPipeline {
  ref: string
  inputs: Readonly<Record<string, string | number | boolean>>
  variables: readonly { key: string; value: string }[]
}

interface PipelineQuery {
  /** a branch, a tag, or `refs/merge-requests/5/head` */
  ref?: string
  /** ISO 8601 */
  updatedAfter?: string
  /** what started it */
  source?: string
  /** who did */
  username?: string
  signal?: AbortSignal
}

const PER_PAGE = 100
const PAGES_MAX = 10

/** How long to wait after a rate limit, if GitLab does not say. */
const SLOWED_MS = 60_000

/** Source: GitLab REST API, version 4. `url` may have a path, as for a self-managed GitLab. */
export function createGitlabClient({
  url: siteUrl,
  token,
  transport,
}: {
  url: string
  token: string
  transport: Transport
}): GitlabClient {
  const base = parseHttpUrl(siteUrl)
  const addressIn = (
    project: string,
    segments: readonly string[],
    query: Record<string, string | number | undefined> = {},
  ) => addressOf(base, ['api', 'v4', 'projects', checkedName(project, isProject), ...segments], query)
  let lastRate: Rate | null = null
  async function send(
    request: Pick<CiRequest, 'method' | 'url' | 'purpose'> & Partial<CiRequest>,
    signal?: AbortSignal,
  ): Promise<CiResponse> {
    const answer = await transport.send(
      {
        ...request,
        // GitLab redirects calls for a project that was renamed. Writes name it by its id.
        followsMoves: !request.returnsRedirect,
        headers: { ...request.headers, 'private-token': token },
        secrets: [token],
        slowedMs: SLOWED_MS,
      },
      signal,
    )
    lastRate = answer.rate ?? lastRate
    return answer
  }
  const get = async <T>(url: URL, purpose: string, read: (json: unknown) => T | null, signal?: AbortSignal) =>
    readAnswer(await send({ method: 'GET', url, purpose }, signal), purpose, read)
  async function list(url: URL, purpose: string, pagesMax: number, signal?: AbortSignal): Promise<unknown[]> {
    const listed: unknown[] = []
    url.searchParams.set('per_page', String(PER_PAGE))
    for (let page = 1; page <= pagesMax; page++) {
      url.searchParams.set('page', String(page))
      const found = await get(url, purpose, listIn, signal)
      listed.push(...found)
      if (found.length < PER_PAGE) break
    }
    return listed
  }
  const failed = (project: string, path: readonly string[], purpose: string, pagesMax?: number, signal?: AbortSignal) =>
    list(addressIn(project, ['pipelines', ...path], { 'scope[]': 'failed' }), purpose, pagesMax ?? PAGES_MAX, signal)
  const post = (url: URL, purpose: string, body?: object): Promise<CiResponse> =>
    send({
      method: 'POST',
      url,
      purpose,
      statusSuffices: true,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
  // GitLab answers 2xx even if it did nothing. The pipeline's status in the answer shows that.
  async function write(project: string, id: string, what: string, purpose: string, undone: ReadonlySet<unknown>) {
    const url = addressIn(project, ['pipelines', id, what])
    const shown = findJson((await post(url, purpose)).text)
    const status = isRecord(shown) ? shown['status'] : null
    if (!undone.has(status)) return
    const reason = `the pipeline is ${String(status)}`
    throw new CiError({ kind: 'bad-request', purpose, reason, isWrite: true, isUndone: true })
  }

  return {
    project: (project, signal) => get(addressIn(project, []), 'read a project', recordIn, signal),
    pipelines(project, { ref, updatedAfter, source, username, signal } = {}) {
      const chosen = { ref, source, username, updated_after: updatedAfter }
      const url = addressIn(project, ['pipelines'], { ...chosen, order_by: 'updated_at' })
      return list(url, 'list the pipelines of a project', updatedAfter === undefined ? 1 : PAGES_MAX, signal)
    },
    pipeline: (project, id, signal) => get(addressIn(project, ['pipelines', id]), 'read a pipeline', recordIn, signal),
    failedJobs: (project, id, signal, pagesMax) =>
      failed(project, [id, 'jobs'], 'list the jobs of a pipeline', pagesMax, signal),
    failedBridges: (project, id, signal, pagesMax) =>
      failed(project, [id, 'bridges'], 'list the trigger jobs of a pipeline', pagesMax, signal),
    testSummary: (project, id, signal) =>
      get(addressIn(project, ['pipelines', id, 'test_report_summary']), 'read how many tests failed', recordIn, signal),
    testReport: (project, id, signal) =>
      get(addressIn(project, ['pipelines', id, 'test_report']), 'read the tests of a pipeline', recordIn, signal),
    async trace(project, job, signal) {
      const url = addressIn(project, ['jobs', job, 'trace'])
      const request = { method: 'GET', url, purpose: 'read the log of a job', returnsRedirect: true } as const
      const { location, text } = await send(request, signal)
      return location === null ? text.slice(-TAIL_BYTES) : readLogTail(location, base, signal)
    },
    branch: (project, branch, signal) =>
      get(addressIn(project, ['repository', 'branches', branch]), 'read a branch', recordIn, signal),
    mergeRequest: (project, iid, signal) =>
      get(addressIn(project, ['merge_requests', iid]), 'read a merge request', recordIn, signal),
    hooks: (project) => list(addressIn(project, ['hooks']), 'list the webhooks of a project', 1),
    rate: async (project) =>
      (
        await send({
          method: 'GET',
          url: addressIn(project, []),
          purpose: 'ask for the rate limit',
          statusSuffices: true,
        })
      ).rate,
    lastRate: () => lastRate,
    commit: (project, sha, signal) =>
      get(addressIn(project, ['repository', 'commits', sha]), 'read a commit', recordIn, signal),
    retry: (project, id) => write(project, id, 'retry', 'retry a pipeline', NOT_RUNNING),
    manualJobs: (project, id, signal) =>
      list(
        addressIn(project, ['pipelines', id, 'jobs'], { 'scope[]': 'manual' }),
        'list the manual jobs of a pipeline',
        PAGES_MAX,
        signal,
      ),
    async play(project, job) {
      await post(addressIn(project, ['jobs', job, 'play']), 'start a manual job')
    },
    blockedDeployments(project, signal) {
      const query = { status: 'blocked', order_by: 'id', sort: 'desc' }
      return list(addressIn(project, ['deployments'], query), 'list the blocked deployments', 1, signal)
    },
    deployment: (project, id, signal) =>
      get(addressIn(project, ['deployments', id]), 'read a deployment', recordIn, signal),
    async review(project, deployment, review) {
      const url = addressIn(project, ['deployments', deployment, 'approval'])
      await post(url, 'review a deployment', review)
    },
    member: (group, user, areInherited, signal) => {
      const path = ['groups', group, 'members', ...(areInherited ? ['all'] : []), user]
      return get(addressOf(base, ['api', 'v4', ...path]), 'read a member of a group', recordIn, signal)
    },
    cancel: (project, id) => write(project, id, 'cancel', 'cancel a pipeline', ENDED),
    file: (project, path, ref) =>
      get(addressIn(project, ['repository', 'files', path], { ref }), 'read a file', fileText),
    user: (signal) => get(addressOf(base, ['api', 'v4', 'user']), "read the token's account", recordIn, signal),
    scopes: () =>
      get(addressOf(base, ['api', 'v4', 'personal_access_tokens', 'self']), "read the token's scopes", (json) =>
        isRecord(json) ? textsOf(json['scopes']) : null,
      ),
    async create(project, { ref, inputs, variables }) {
      const answer = await post(addressIn(project, ['pipeline']), 'start a pipeline', {
        ref,
        ...(Object.keys(inputs).length > 0 && { inputs }),
        ...(variables.length > 0 && { variables }),
      })
      return textOf(fieldOf(findJson(answer.text), 'id'))
    },
  }
}

/** The pipeline had already ended, so there was nothing to cancel. */
const ENDED: ReadonlySet<unknown> = new Set(['success', 'failed', 'skipped'])
/** There was nothing to retry: no job had failed, or only trigger jobs, which GitLab does not run again. */
const NOT_RUNNING: ReadonlySet<unknown> = new Set([...ENDED, 'canceled'])

const isProject = (name: string): boolean => isIdDigits(name) || isProjectPath(name)

const recordIn = (json: unknown) => (isRecord(json) ? json : null)
const listIn = (json: unknown) => (Array.isArray(json) ? (json as unknown[]) : null)
