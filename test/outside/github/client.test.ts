import { expect, onTestFinished, test } from 'vitest'
import { githubProjectId } from '../../../src/domain/ids.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createGithubClient, type GithubClient } from '../../../src/sources/github/client.ts'
import { readRun } from '../../../src/sources/github/run.ts'
import { createGithubSource } from '../../../src/sources/github/source.ts'
import { createTransport } from '../../../src/sources/http/transport.ts'
import { projectOf } from '../../../src/sources/project.ts'
import { startHttpStub, type StubRequest } from '../../support/http-stub.ts'
import { describeOutside } from '../../support/outside.ts'
import { judgeBy } from './judge.ts'
import { readStory, type Recorded } from './recorded.ts'

const REPOSITORY = 'hub4j-test-org/GHWorkflowRunTest'

describeOutside('github-recorded', "the bot's client understands what GitHub has answered:", (folder) => {
  /** A client whose requests get the recorded answers. They must be described, too. */
  async function open(
    story: string,
    change: (recorded: Recorded) => Recorded = (one) => one,
    heard: (request: StubRequest) => void = () => {},
  ) {
    const recorded = readStory(folder, story).map(change)
    const stub = await startHttpStub((request) => {
      heard(request)
      const found = answerTo(request, recorded)
      return found ? { status: found.status, headers: found.headers, text: found.answer } : { status: 501 }
    })
    const transport = createTransport({ clock: systemClock })
    onTestFinished(async () => {
      await transport.close()
      await stub[Symbol.asyncDispose]()
      expect(stub.requests.flatMap((request) => judgeBy().ofRequest(request))).toEqual([])
    })
    return createGithubClient({ apiUrl: stub.url, token: 'github_pat_recorded', transport })
  }

  test('a run is found while it runs, is cancelled, started again, and cancelled again', async () => {
    const client = await open('testCancelAndRerun')
    const [run] = await runsOf(client, { branch: 'main' })
    expect(run).toMatchObject({
      buildId: '686036126',
      rawStatus: 'initiated',
      branch: 'main · by hand',
      commitId: null,
    })
    await client.cancel(REPOSITORY, run!.buildId)
    expect(await runOf(client, run!.buildId)).toMatchObject({ rawStatus: 'stopped', details: { number: '16' } })
    await client.rerun(REPOSITORY, run!.buildId, 'all')
    await client.cancel(REPOSITORY, run!.buildId)
  })

  test('a run that was cancelled by force is stopped', async () => {
    const client = await open('testForceCancel')
    expect(await runOf(client, '686036126')).toMatchObject({ rawStatus: 'stopped' })
  })

  test('a run can be started again in both ways', async () => {
    const client = await open('testRerunVariants')
    expect(readRun(await client.run(REPOSITORY, '686036126'), { id: 1, full_name: REPOSITORY }, null)).toMatchObject({
      event: { rawStatus: 'error', details: { attempt: 1 } },
    })
    await client.rerun(REPOSITORY, '686036126', 'failed')
    await client.rerun(REPOSITORY, '686036126', 'all')
  })

  test('no job of a passed run has failed, and a failed job is named with its step', async () => {
    const run = '719643947'
    const client = await open('testJobs')
    expect(await runsOf(client, { branch: 'main' })).toContainEqual(
      expect.objectContaining({ buildId: run, rawStatus: 'success' }),
    )
    expect((await client.unpassedJobs(REPOSITORY, run, 1)).failed).toEqual([])
    const failing = await open('testJobs', (one) => ({ ...one, answer: failed(one.answer) }))
    expect((await failing.unpassedJobs(REPOSITORY, run, 1)).failed).toEqual(['job1: Run a one-line script'])
  })

  test("a job's log is where GitHub redirects to, and is read there without credentials", async () => {
    const store = await startHttpStub(() => ({ text: '##[error]boom\n##[error]Process completed with exit code 1.\n' }))
    onTestFinished(() => store[Symbol.asyncDispose]())
    const isLog = ({ path }: Recorded) => path.endsWith('/logs')
    const [recorded] = readStory(folder, 'testJobs').filter(isLog)
    const moved = recorded!.headers['Location']!.replace(/^https:\/\/[^/]+/, store.url)
    const client = await open('testJobs', (one) => (isLog(one) ? { ...one, headers: { Location: moved } } : one))
    expect(await client.logTail(REPOSITORY, recorded!.path.split('/').at(-2)!)).toContain('##[error]boom')
    const [asked, ...more] = store.requests
    expect([moved.endsWith(`${asked!.path}?${moved.split('?')[1]!}`), more]).toEqual([true, []])
    expect(asked!.query.get('urlSigningMethod')).toBe('HMACV1')
    expect(asked!.headers.authorization).toBeUndefined()
  })

  test('a log that was deleted is not found', async () => {
    const [gone] = readStory(folder, 'testLogs').filter(({ status }) => status === 404)
    const client = await open('testJobs', (one) => (one.path.endsWith('/logs') ? { ...one, ...answerOf(gone!) } : one))
    await expect(client.logTail(REPOSITORY, '2270858630')).rejects.toMatchObject({ kind: 'not-found' })
  })

  test("a fork's run waits for an approval, and its second attempt is the first that runs", async () => {
    const client = await open('testApproval')
    const held = await runsOf(client, { branch: 'main' })
    expect(held.map(({ rawStatus }) => rawStatus)).toEqual(Array.from({ length: 4 }, () => 'action_required'))
    expect(held[2]).toMatchObject({
      branch: 'grace-example:main · pull request',
      details: { attempt: 1, finishedAt: null },
    })
    expect(await runOf(client, held[2]!.buildId)).toMatchObject({
      rawStatus: 'success',
      details: { attempt: 2, startedAt: Date.parse('2022-08-17T11:47:32Z') },
    })
    await client.approve(REPOSITORY, held[2]!.buildId)
  })

  test('runs that failed to start are a fault of the machine, even those named by their file', async () => {
    const client = await open('testStartupFailureConclusion')
    const workflow = await client.workflow(REPOSITORY, '75497789')
    const runs = await runsOf(client, { workflow: '75497789' }, workflow)
    expect(new Set(runs.map(({ rawStatus, details }) => `${details.projectName} ${rawStatus}`))).toEqual(
      new Set([`${REPOSITORY} Broken Workflow infrastructure_failure`]),
    )
    expect(runs.map(({ details }) => details.number)).toEqual(['4', '3', '2', '1'])
  })

  test("a workflow's badge is where GitHub says", async () => {
    const client = await open('testStartupFailureConclusion')
    const id = githubProjectId('348674220', '75497789')
    const project = projectOf(id, { type: 'github', name: `${REPOSITORY} Broken Workflow`, defaultBranch: 'main' })
    const { badge } = createGithubSource(client, { project: async () => project })
    expect(await badge!(id, 'main')).toBe(
      `https://github.com/${REPOSITORY}/workflows/Broken%20Workflow/badge.svg?branch=main`,
    )
  })

  test('a workflow is started, without inputs and with some; GitHub names no run if it is not asked to', async () => {
    const [repository, id] = ['hub4j-test-org/GHWorkflowTest', '6817859']
    const recorded = readStory(folder, 'testDispatch')
    const sent: unknown[] = []
    const client = await open(
      'testDispatch',
      (one) => one,
      ({ method, body }) => {
        if (method === 'POST') sent.push(JSON.parse(body))
      },
    )
    expect(await client.workflow(repository, id)).toMatchObject({ path: '.github/workflows/test-workflow.yml' })
    expect(await client.dispatch(repository, id, { ref: 'main', inputs: {} })).toBeNull()
    expect(await client.dispatch(repository, id, { ref: 'main', inputs: { parameter: 'value' } })).toBeNull()
    const asRecorded = recorded.flatMap(({ method, body }) => (method === 'POST' ? (JSON.parse(body) as unknown) : []))
    expect(sent).toEqual(asRecorded)
  })

  test('what GitHub does not find is not found', async () => {
    const [{ status, answer }] = readStory(folder, 'testLogs').filter((one) => one.status === 404) as [Recorded]
    const client = await open('testCancelAndRerun', (one) => ({ ...one, status, answer }))
    await expect(client.run(REPOSITORY, '686036126')).rejects.toMatchObject({ kind: 'not-found', reason: 'Not Found' })
    await expect(client.cancel(REPOSITORY, '686036126')).rejects.toMatchObject({ kind: 'not-found', isUndone: true })
  })
})

const answerOf = ({ status, headers, answer }: Recorded) => ({ status, headers, answer })

/** The recorded answer to a request: of several for one address, that to the most similar query. */
function answerTo({ method, path, query }: StubRequest, all: readonly Recorded[]): Recorded | undefined {
  const isSame = (one: Recorded) => one.method === method && (one.path === path || isAlias(one, path))
  const likeness = (one: Recorded) => [...one.query].filter(([name, value]) => query.get(name) === value).length
  return all.filter(isSame).toSorted((a, b) => likeness(b) - likeness(a))[0]
}

/** Recorded before runs had attempts; and workflows were asked for by their file, of which the bot knows the id. */
function isAlias(one: Recorded, path: string): boolean {
  if (/\/workflows\/[\w-]+\.yml$/.test(one.path))
    return path === one.path.replace(/[^/]+$/, String((JSON.parse(one.answer) as { id: number }).id))
  return path.replace('/attempts/1/jobs', '/jobs') === one.path
}

/** The answer with all jobs named `job1` failed in their script. */
const failed = (answer: string): string =>
  answer === ''
    ? ''
    : JSON.stringify(JSON.parse(answer), (_, value: unknown) => {
        const { name } = (value ?? {}) as { name?: unknown }
        return name === 'job1' || name === 'Run a one-line script'
          ? { ...(value as object), conclusion: 'failure' }
          : value
      })

async function runsOf(client: GithubClient, options: object, workflow: unknown = null) {
  const repository = await client.repository(REPOSITORY)
  const answer = await client.runs(REPOSITORY, options)
  if (answer === 'unchanged') throw new Error(answer)
  return answer.runs.map((run) => readRun(run, repository, workflow)!.event)
}

async function runOf(client: GithubClient, id: string) {
  const run = (await client.run(REPOSITORY, id)) as { repository: unknown }
  return readRun(run, run.repository, null)!.event
}
