import { NO_FAILURE, type Failure } from '../../domain/builds/failure.ts'
import { githubProjectId } from '../../domain/ids.ts'
import { fieldOf, textOf } from '../../lib/raw-values.ts'
import { isRepositoryName } from '../http/address.ts'
import { unlessUnreadable } from '../http/errors.ts'
import { repositoryIn } from '../../domain/ci-project/project-names.ts'
import { EXIT_CODE, githubExcerpt, jobReport, shortText, spareCalls } from '../job-report.ts'
import type { SourceReport, UnreadBuild } from '../source.ts'
import type { FailedJob, GithubClient } from './client.ts'

/** What is read of one run: its jobs in one call or more, annotations of these, and logs of those without any. */
const ANNOTATED_MAX = 4
const LOGS_MAX = 2

/** What failed in each job of an attempt of a run: what its steps said about files, else the end of its log. */
export async function readGithubFailures(
  client: GithubClient,
  { projectId, project, buildId, attempt }: UnreadBuild,
  logs: boolean,
  signal?: AbortSignal,
): Promise<SourceReport[]> {
  const repository = repositoryIn(project)
  if (!isRepositoryName(repository)) return []
  spareCalls(client.lastRate())
  // The stored name may come from a forged delivery: the run must be one of this workflow.
  const run = await unlessUnreadable(client.run(repository, buildId, signal))
  if (projectId !== githubProjectId(idOf(fieldOf(run, 'repository')), idOf(run, 'workflow_id'))) return []
  const jobs = await client.failedJobs(repository, buildId, attempt, signal)
  const reports: SourceReport[] = []
  let logsLeft = logs ? LOGS_MAX : 0
  for (const [at, job] of jobs.entries()) {
    const asked = at < ANNOTATED_MAX ? await unlessUnreadable(client.annotations(repository, job.id, signal)) : null
    const failures = (asked ?? []).flatMap((one) => failureOf(job, one))
    const hasLog = failures.length === 0 && logsLeft-- > 0
    const log = hasLog ? await unlessUnreadable(client.logTail(repository, job.id, signal)) : null
    reports.push(...jobReport({ ...NO_FAILURE, job: job.name, step: job.step }, githubExcerpt(log ?? ''), failures))
  }
  return reports
}

const idOf = (of: unknown, field = 'id'): string => textOf(fieldOf(of, field)) ?? ''

/** An annotation of level failure. Those of the runner itself say only that a script has failed. */
function failureOf({ name }: FailedJob, annotation: unknown): Failure[] {
  const of = (field: string) => textOf(fieldOf(annotation, field))
  const message = of('message')
  if (of('annotation_level') !== 'failure' || message === null || EXIT_CODE.test(message.trim())) return []
  // GitHub names `.github` where no file is meant.
  const path = of('path') === '.github' ? null : shortText(of('path'))
  const line = path !== null && Number(of('start_line')) > 0 ? Number(of('start_line')) : null
  const url = line === null || of('blob_href') === null ? null : `${of('blob_href')}#L${line}`
  const said = shortText([of('title'), message].filter(Boolean).join(': '))
  return [{ ...NO_FAILURE, job: name, path, line, url, message: said }]
}
