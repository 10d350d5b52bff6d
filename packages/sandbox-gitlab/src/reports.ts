import { latestJobs } from './state.ts'
import type { Pipeline } from './state.ts'

type Test = Pipeline['tests'][number]

/** The tests that a pipeline's jobs have reported. Source: GitLab, `app/serializers/test_report_entity.rb`. */
export const testReport = (pipeline: Pipeline) => ({
  ...countsOf(pipeline.tests),
  test_suites: suitesOf(pipeline).map(([name, tests]) => ({
    name,
    ...countsOf(tests),
    suite_error: null,
    test_cases: tests.map(testCase),
  })),
})

/** The same as numbers. Source: GitLab, `app/serializers/test_report_summary_entity.rb`. */
export function testReportSummary(pipeline: Pipeline) {
  const counts = countsOf(pipeline.tests)
  return {
    total: {
      time: counts.total_time,
      count: counts.total_count,
      success: counts.success_count,
      failed: counts.failed_count,
      skipped: counts.skipped_count,
      error: counts.error_count,
      suite_error: null,
    },
    test_suites: suitesOf(pipeline).map(([name, tests]) => ({
      name,
      ...countsOf(tests),
      build_ids: latestJobs(pipeline).flatMap((job) => (job.name === name ? job.id : [])),
      suite_error: null,
    })),
  }
}

/** A suite has the name of its job. */
const suitesOf = ({ tests }: Pipeline): [string, Test[]][] => [...Map.groupBy(tests, ({ job }) => job)]

function countsOf(tests: readonly Test[]) {
  const count = (status: Test['status']) => tests.filter((test) => test.status === status).length
  return {
    total_time: tests.reduce((sum, { seconds }) => sum + seconds, 0),
    total_count: tests.length,
    success_count: count('success'),
    failed_count: count('failed'),
    skipped_count: count('skipped'),
    error_count: count('error'),
  }
}

const testCase = ({ status, name, classname, file, seconds, output, stackTrace, recentFailures: count }: Test) => ({
  status,
  name,
  classname,
  file,
  execution_time: seconds,
  system_output: output,
  stack_trace: stackTrace,
  recent_failures: count === null ? null : { count, base_branch: 'main' },
})
