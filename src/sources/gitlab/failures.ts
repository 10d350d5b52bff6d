import { NO_FAILURE, type Failure } from '../../domain/builds/failure.ts'
import type { BuildId } from '../../domain/ids.ts'
import { fieldOf, listOf, textOf } from '../../lib/raw-values.ts'
import { unlessUnreadable } from '../http/errors.ts'
import { FAILURES_MAX, gitlabExcerpt, jobReport, NOTHING_SAID, shortText, spareCalls } from '../job-report.ts'
import type { SourceReport } from '../source.ts'
import { countOrNull } from '../values.ts'
import type { GitlabClient } from './client.ts'

/** The most jobs that are named, and the most traces that are read. */
const JOBS_MAX = 20
const TRACES_MAX = 3

/**
 * What failed in a pipeline's newest attempt: the tests of the jobs that report them; of the others the end of the trace;
 * and pipelines that it has started. Jobs that may fail are left out.
 */
export async function readGitlabFailures(
  client: GitlabClient,
  id: string,
  buildId: BuildId,
  logs: boolean,
  signal?: AbortSignal,
): Promise<SourceReport[]> {
  spareCalls(client.lastRate())
  const how = { pagesMax: 1, signal }
  const jobs = ((await unlessUnreadable(client.failedJobs(id, buildId, how))) ?? []).filter(counts)
  const bridges = ((await unlessUnreadable(client.failedBridges(id, buildId, how))) ?? []).filter(counts)
  const reports = await readTests(client, id, buildId, signal)
  const tested = new Set(reports.map(({ part }) => part))
  let tracesLeft = logs ? TRACES_MAX : 0
  for (const job of jobs.slice(0, JOBS_MAX)) {
    const [name, jobId] = [textOf(fieldOf(job, 'name')), textOf(fieldOf(job, 'id'))]
    if (name === null || jobId === null || tested.has(name)) continue
    const trace = tracesLeft-- > 0 ? await unlessUnreadable(client.trace(id, jobId, signal)) : null
    const why = reasonWords(textOf(fieldOf(job, 'failure_reason')))
    reports.push(...jobReport({ ...NO_FAILURE, job: shortText(name), message: why }, gitlabExcerpt(trace ?? '')))
  }
  for (const bridge of bridges.slice(0, JOBS_MAX)) {
    const job = shortText(textOf(fieldOf(bridge, 'name')))
    reports.push(...jobReport({ ...NO_FAILURE, job, message: 'the pipeline that it started failed' }))
  }
  return reports
}

const counts = (job: unknown): boolean => fieldOf(job, 'allow_failure') !== true

/** A report for each job whose tests failed. The summary is small; the report itself has every test. */
async function readTests(client: GitlabClient, id: string, pipeline: string, signal?: AbortSignal) {
  const summary = await unlessUnreadable(client.testSummary(id, pipeline, signal))
  const total = fieldOf(summary, 'total')
  if (countOf(total, 'failed') + countOf(total, 'error') === 0) return []
  const report = await unlessUnreadable(client.testReport(id, pipeline, signal))
  return listOf(fieldOf(report, 'test_suites')).flatMap((suite): SourceReport[] => {
    const failed = countOf(suite, 'failed_count') + countOf(suite, 'error_count')
    if (failed === 0) return []
    const job = shortText(textOf(fieldOf(suite, 'name')))
    const tests = listOf(fieldOf(suite, 'test_cases')).filter(hasFailed).slice(0, FAILURES_MAX)
    const failures = tests.map((one) => failureOf(job, one))
    return [{ ...NOTHING_SAID, part: job, tests: countOf(suite, 'total_count'), failed, failures }]
  })
}

const countOf = (of: unknown, field: string): number => countOrNull.parse(fieldOf(of, field)) ?? 0

const hasFailed = (test: unknown): boolean => ['failed', 'error'].includes(String(fieldOf(test, 'status')))

function failureOf(job: string | null, test: unknown): Failure {
  const of = (field: string) => textOf(fieldOf(test, field))
  const output = outputOf(fieldOf(test, 'system_output')) ?? of('stack_trace')
  const name = [of('classname'), of('name')].filter((part, i, all) => part !== null && part !== all[i - 1])
  return {
    ...NO_FAILURE,
    job,
    test: shortText(name.join(' › ')),
    path: shortText(of('file')),
    message: shortText(output),
  }
}

/** GitLab keeps what the test's XML has: a text, several, or an element with a `message`. Source: recorded reports. */
function outputOf(said: unknown): string | null {
  const [first = said] = listOf(said)
  return textOf(first) ?? textOf(fieldOf(first, 'message'))
}

/** GitLab's word for why a job failed, in words; null if only its script did. */
const reasonWords = (reason: string | null): string | null =>
  reason === null || reason === 'script_failure' ? null : shortText(reason.replaceAll('_', ' '))
