import { expect, test } from 'vitest'
import { readFailures } from '../../support/gitlab-pipeline.ts'
import type { StubAnswer } from '../../support/http-stub.ts'

interface Pipeline {
  jobs?: object[]
  bridges?: object[]
  tests?: object
  trace?: StubAnswer
  /** the answer to a call whose path has this in it */
  but?: Record<string, StubAnswer>
  logs?: boolean
}

/** What the bot reads of pipeline 512 of a GitLab that answers so, and what it requested. */
function readOf({ jobs = [], bridges = [], tests = {}, trace = { text: '' }, but = {}, logs = true }: Pipeline) {
  const { test_suites: suites = [] } = tests as { test_suites?: { failed_count?: number }[] }
  const failed = suites.reduce((sum, suite) => sum + (suite.failed_count ?? 0), 0)
  const usual: Record<string, StubAnswer> = {
    '/test_report_summary': { json: { total: { failed, error: 0 } } },
    '/test_report': { json: tests },
    '/bridges': { json: bridges },
    '/trace': trace,
    '/pipelines/512/jobs': { json: jobs },
  }
  const known = [...Object.entries(but), ...Object.entries(usual)]
  return readFailures((path) => known.find(([part]) => path.includes(part))?.[1] ?? { status: 404, json: {} }, { logs })
}

const job = (name: string, more: object = {}, id = 7) => ({ id, name, failure_reason: 'script_failure', ...more })

const CASES = [
  {
    status: 'failed',
    name: 'redirects',
    classname: 'LoginTest',
    file: 'spec/login.rb',
    system_output: 'got 200\n  at 7',
  },
  { status: 'error', name: 'LoginTest', classname: 'LoginTest', system_output: null, stack_trace: 'boom' },
  { status: 'success', name: 'sums', classname: 'CartTest', system_output: null },
]

test('the failed tests of a suite are named, and its job is not asked for its log', async () => {
  const tests = {
    test_suites: [{ name: 'rspec', total_count: 3, failed_count: 2, skipped_count: 0, test_cases: CASES }],
  }
  const { reports, requested } = await readOf({ jobs: [job('rspec')], tests })
  expect(reports).toMatchObject([
    {
      part: 'rspec',
      tests: 3,
      failed: 2,
      failures: [
        { job: 'rspec', test: 'LoginTest › redirects', path: 'spec/login.rb', message: 'got 200   at 7' },
        { test: 'LoginTest', message: 'boom' },
      ],
    },
  ])
  expect(requested.some((path) => path.includes('trace'))).toBe(false)
})

test('a job without tests says what GitLab says in words, or how its log ends', async () => {
  const { reports } = await readOf({
    jobs: [
      job('slow', { failure_reason: 'job_execution_timeout' }),
      job('lint', {}, 8),
      job('may fail', { allow_failure: true }, 9),
    ],
    bridges: [job('deploy', { failure_reason: 'downstream_pipeline_creation_failed' })],
    trace: {
      text: [
        'section_start:1764234901:step_script\r\u001b[0K\u001b[32;1m$ npm run lint\u001b[0;m',
        'working 10%\rworking 100%',
        "\u001b[31mError: 'total' is not defined\u001b[0m, הבדיקה נכשלה",
        'section_end:1764234909:step_script\r\u001b[0K',
        'ERROR: Job failed: exit code 1',
      ].join('\n'),
    },
  })
  const log = ['$ npm run lint', 'working 100%', "Error: 'total' is not defined, הבדיקה נכשלה"]
  expect(reports.map(({ part, failures: [first], log: lines }) => [part, first?.message, lines])).toEqual([
    ['slow', 'job execution timeout', log],
    ['lint', "Error: 'total' is not defined, הבדיקה נכשלה", log],
    ['deploy', 'the pipeline that it started failed', []],
  ])
})

test('a pipeline costs at most ten calls, however many jobs have failed, and without logs four', async () => {
  const jobs = Array.from({ length: 100 }, (_, n) => job(`job ${n}`, {}, n))
  const test_suites = [{ name: 'other', failed_count: 1, total_count: 1, test_cases: [] }]
  const { requested, reports } = await readOf({ jobs, tests: { test_suites }, trace: { text: 'it broke' } })
  expect(requested.length).toBeLessThanOrEqual(10)
  expect(reports.length).toBeLessThanOrEqual(21)
  expect((await readOf({ jobs, tests: { test_suites }, logs: false })).requested).toHaveLength(4)
})

test.each([
  ['may not be seen', 403],
  ['is gone', 404],
  ['has expired', 410],
])('what %s is left out, and the rest is read', async (_, status) => {
  const fault = { status, json: { message: 'no' } }
  const jobs = [job('lint', { failure_reason: 'stuck_or_timeout_failure' })]
  const { reports } = await readOf({ jobs, but: { '/bridges': fault, '/test_report': fault, '/trace': fault } })
  expect(reports).toMatchObject([{ part: 'lint', failures: [{ message: 'stuck or timeout failure' }], log: [] }])
  const none = await readOf({ but: { '/pipelines/512/': fault } })
  expect(none.reports).toEqual([])
})

test('a GitLab that is away is an error, so that it is asked again', async () => {
  await expect(readOf({ but: { '/pipelines/512/jobs': { status: 401, json: {} } } })).rejects.toMatchObject({
    kind: 'unauthorized',
  })
})

test('of a log of 200 MB nothing is kept, and one without line breaks is cut', async () => {
  const piece = 'x'.repeat(1024 * 1024)
  let sent = 0
  const huge: StubAnswer = (response) => {
    response.on('error', () => {})
    const more = (): void => {
      if (response.destroyed) return
      if ((sent += 1) > 200) return void response.end()
      response.write(piece, more)
    }
    more()
  }
  const before = process.memoryUsage().rss
  const { reports } = await readOf({ jobs: [job('lint', { failure_reason: 'runner_system_failure' })], trace: huge })
  expect(reports).toMatchObject([{ failures: [{ message: 'runner system failure' }], log: [] }])
  expect([sent < 150, process.memoryUsage().rss - before < 300 * 1024 * 1024]).toEqual([true, true])
  for (const text of [`${piece}end`, '\r'.repeat(1024 * 1024), '\u001b['.repeat(1024 * 512)]) {
    const beganAt = performance.now()
    const [report] = (await readOf({ jobs: [job('lint')], trace: { text } })).reports
    expect((report?.log ?? []).every((line) => line.length <= 300)).toBe(true)
    expect(performance.now() - beganAt).toBeLessThan(5_000)
  }
})
