import { expect, test } from 'vitest'
import { buildId } from '../../support/build-events.ts'
import { githubProjectId } from '../../../src/domain/ids.ts'
import type { GithubClient } from '../../../src/sources/github/client.ts'
import { readGithubFailures } from '../../../src/sources/github/failures.ts'
import { CiError } from '../../../src/sources/http/errors.ts'

const RUN = { id: 512, workflow_id: 77, repository: { id: 1 } }
const FAILED = {
  projectId: githubProjectId('1', '77'),
  project: 'acme/web CI',
  stream: 'main',
  buildId: buildId('512'),
  attempt: 1,
  commit: null,
}

/** GitHub with twenty failed jobs, and how often it was called. */
function clientWith(
  annotations: (job: string) => unknown[],
  { left = 5_000, run = RUN }: { left?: number; run?: unknown } = {},
) {
  const asked: string[] = []
  const jobs = Array.from({ length: 20 }, (_, n) => ({ id: String(n), name: `job-${n}`, step: 'Run it' }))
  const client: Partial<GithubClient> = {
    lastRate: () => ({ limit: 5_000, left, resetAt: 0 }),
    run: async () => (asked.push('run'), run),
    failedJobs: async () => (asked.push('jobs'), jobs),
    annotations: async (_, job) => (asked.push(`annotations ${job}`), annotations(job)),
    logTail: async (_, job) => (
      asked.push(`log ${job}`, `file ${job}`),
      '##[error]it broke\n##[error]Process completed with exit code 1.\n'
    ),
  }
  return { asked, read: () => readGithubFailures(client as GithubClient, FAILED, true) }
}

const failure = (message: string) => ({
  annotation_level: 'failure',
  path: 'a.ts',
  start_line: 3,
  blob_href: 'https://github.com/acme/web/blob/abc/a.ts',
  title: '',
  message,
})

test('a run costs at most ten calls, however many jobs have failed', async () => {
  const { asked, read } = clientWith(() => [])
  const reports = await read()
  // A log is two calls: GitHub redirects to the file.
  expect(asked.length).toBeLessThanOrEqual(10)
  expect(reports.map(({ part, log }) => [part, log])).toEqual([
    ['job-0', ['it broke']],
    ['job-1', ['it broke']],
  ])
})

test('five thousand annotations are counted, and the first are kept', async () => {
  const { read } = clientWith((job) =>
    job === '0' ? Array.from({ length: 5_000 }, (_, n) => failure(`no. ${n}`)) : [],
  )
  const [first] = await read()
  expect([first?.failed, first?.failures.length]).toEqual([5_000, 50])
  expect(first?.failures[0]).toMatchObject({
    path: 'a.ts',
    line: 3,
    url: 'https://github.com/acme/web/blob/abc/a.ts#L3',
  })
})

test('a job whose annotations the token may not see is read from its log', async () => {
  const { read } = clientWith(() => {
    throw new CiError({ kind: 'forbidden', purpose: 'list the annotations of a job', status: 403 })
  })
  expect((await read())[0]).toMatchObject({ part: 'job-0', failures: [{ step: 'Run it', message: 'it broke' }] })
})

test('a run of another workflow or repository, as a forged delivery may name it, is not read', async () => {
  for (const run of [{ ...RUN, workflow_id: 78 }, { ...RUN, repository: { id: 2 } }, null]) {
    const { asked, read } = clientWith(() => [failure('secret plans')], { run })
    expect([await read(), asked]).toEqual([[], ['run']])
  }
})

test('nothing is asked while less than a tenth of the calls is left', async () => {
  const { asked, read } = clientWith(() => [], { left: 499 })
  await expect(read()).rejects.toMatchObject({ kind: 'rate-limited' })
  expect(asked).toEqual([])
})
