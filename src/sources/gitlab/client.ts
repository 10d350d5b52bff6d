import { findJson, isRecord } from '../../lib/json.ts'
import { addressOf, parseHttpUrl, checkedName, isProjectPath } from '../http/address.ts'
import { CiError } from '../http/errors.ts'
import { createCalls, type Paged } from '../http/hosted.ts'
import type { Transport } from '../http/transport.ts'
import { isIdDigits } from '../../domain/ids.ts'
import { fieldOf, textOf, textsOf } from '../../lib/raw-values.ts'
import { fileText } from '../values.ts'

export type GitlabClient = ReturnType<typeof createGitlabClient>

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

const PAGES_MAX = 10

/**
 * A project is named by its path, `acme/web`, or by its id. What is `unknown` is as GitLab shows it. Source: GitLab REST
 * API, version 4. `url` may have a path, as for a self-managed GitLab.
 */
export function createGitlabClient({
  url: siteUrl,
  token,
  transport,
}: {
  url: string
  token: string
  transport: Transport
}) {
  const base = parseHttpUrl(siteUrl)
  const credentials = { headers: { 'private-token': token }, secret: token }
  const { get, record, list, post, log, rate, lastRate } = createCalls({
    base,
    transport,
    credentials: async () => credentials,
  })
  const inApi = (segments: readonly string[], query: Query = {}) => ({
    about: '',
    url: addressOf(base, ['api', 'v4', ...segments], query),
  })
  const at = (project: string, segments: readonly string[] = [], query: Query = {}) =>
    inApi(['projects', checkedName(project, isProject), ...segments], query)
  const ofPipeline = (project: string, path: readonly string[], scope: string, purpose: string, how: Paged = {}) =>
    list(at(project, ['pipelines', ...path], { 'scope[]': scope }), purpose, { pagesMax: PAGES_MAX, ...how })
  // GitLab answers 2xx even if it did nothing. The pipeline's status in the answer shows that.
  async function write(project: string, id: string, what: string, purpose: string, undone: ReadonlySet<unknown>) {
    const shown = findJson((await post(at(project, ['pipelines', id, what]), purpose)).text)
    const status = isRecord(shown) ? shown['status'] : null
    if (!undone.has(status)) return
    const reason = `the pipeline is ${String(status)}`
    throw new CiError({ kind: 'bad-request', purpose, reason, isWrite: true, isUndone: true })
  }

  return {
    project: (project: string, signal?: AbortSignal) => record(at(project), 'read a project', signal),
    /** The 100 pipelines that changed last, newest first; or up to 1,000 that changed since `updatedAfter`. */
    pipelines(project: string, { ref, updatedAfter, source, username, signal }: PipelineQuery = {}) {
      const query = { ref, source, username, updated_after: updatedAfter, order_by: 'updated_at' }
      const how = { pagesMax: updatedAfter === undefined ? 1 : PAGES_MAX, signal }
      return list(at(project, ['pipelines'], query), 'list the pipelines of a project', how)
    },
    /** A pipeline with the fields that the list leaves out. */
    pipeline: (project: string, id: string, signal?: AbortSignal) =>
      record(at(project, ['pipelines', id]), 'read a pipeline', signal),
    /** The jobs that failed in its newest attempt; trigger jobs are not among them. */
    failedJobs: (project: string, id: string, how?: Paged) =>
      ofPipeline(project, [id, 'jobs'], 'failed', 'list the jobs of a pipeline', how),
    /** Its trigger jobs that failed because the pipelines that they started failed. */
    failedBridges: (project: string, id: string, how?: Paged) =>
      ofPipeline(project, [id, 'bridges'], 'failed', 'list the trigger jobs of a pipeline', how),
    /** How many tests of a pipeline failed. */
    testSummary: (project: string, id: string, signal?: AbortSignal) =>
      record(at(project, ['pipelines', id, 'test_report_summary']), 'read how many tests failed', signal),
    /** Every test of a pipeline. */
    testReport: (project: string, id: string, signal?: AbortSignal) =>
      record(at(project, ['pipelines', id, 'test_report']), 'read the tests of a pipeline', signal),
    trace: (project: string, job: string, signal?: AbortSignal) => log(at(project, ['jobs', job, 'trace']), signal),
    branch: (project: string, branch: string, signal?: AbortSignal) =>
      record(at(project, ['repository', 'branches', branch]), 'read a branch', signal),
    mergeRequest: (project: string, iid: string, signal?: AbortSignal) =>
      record(at(project, ['merge_requests', iid]), 'read a merge request', signal),
    /** The webhooks of a project, at most 100. */
    hooks: (project: string) => list(at(project, ['hooks']), 'list the webhooks of a project'),
    rate: (project: string) => rate(at(project)),
    lastRate,
    commit: (project: string, sha: string, signal?: AbortSignal) =>
      record(at(project, ['repository', 'commits', sha]), 'read a commit', signal),
    /** Restarts the jobs that did not pass. */
    retry: (project: string, id: string) => write(project, id, 'retry', 'retry a pipeline', NOT_RUNNING),
    cancel: (project: string, id: string) => write(project, id, 'cancel', 'cancel a pipeline', ENDED),
    /** The manual jobs of a pipeline that nobody has started, up to 1,000; trigger jobs are not among them. */
    manualJobs: (project: string, id: string, how?: Paged) =>
      ofPipeline(project, [id, 'jobs'], 'manual', 'list the manual jobs of a pipeline', how),
    /** Starts a manual job. */
    async play(project: string, job: string) {
      await post(at(project, ['jobs', job, 'play']), 'start a manual job')
    },
    /** The newest 100 deployments whose environments need approvals, or have had them, and whose jobs nobody has started. */
    blockedDeployments(project: string, signal?: AbortSignal) {
      const query = { status: 'blocked', order_by: 'id', sort: 'desc' }
      return list(at(project, ['deployments'], query), 'list the blocked deployments', { signal })
    },
    /** A deployment with its approvals, which the list leaves out. */
    deployment: (project: string, id: string, signal?: AbortSignal) =>
      record(at(project, ['deployments', id]), 'read a deployment', signal),
    /** Approves or rejects a deployment, as the person, group or role with this name. */
    async review(
      project: string,
      deployment: string,
      review: { status: 'approved' | 'rejected'; comment: string; represented_as?: string | undefined },
    ) {
      await post(at(project, ['deployments', deployment, 'approval']), 'review a deployment', review)
    },
    /** A member of a group, by its id; with `areInherited` also of the group's parents. */
    member: (group: string, user: string, areInherited: boolean, signal?: AbortSignal) => {
      const path = ['groups', group, 'members', ...(areInherited ? ['all'] : []), user]
      return record(inApi(path), 'read a member of a group', signal)
    },
    /** The text of a file at a branch or tag. */
    file: (project: string, path: string, ref: string) =>
      get(at(project, ['repository', 'files', path], { ref }), 'read a file', fileText),
    /** The token's account. */
    user: (signal?: AbortSignal) => record(inApi(['user']), "read the token's account", signal),
    /** What the token may be used for: `api`, `read_api`. */
    scopes: () =>
      get(inApi(['personal_access_tokens', 'self']), "read the token's scopes", (json) =>
        isRecord(json) ? textsOf(json['scopes']) : null,
      ),
    /** Starts a pipeline. @returns its id; null if the answer cannot be read */
    async create(project: string, { ref, inputs, variables }: NewPipeline): Promise<string | null> {
      const answer = await post(at(project, ['pipeline']), 'start a pipeline', {
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

type Query = Parameters<typeof addressOf>[2]
