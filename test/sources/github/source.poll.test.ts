import { expect, test } from 'vitest'
import { recordDelivery, recordLookedUp } from '../../../src/alerts/record/record.ts'
import { CiError } from '../../../src/sources/http/errors.ts'
import type { GithubClient, UnpassedJobs } from '../../../src/sources/github/client.ts'
import { polledGithub } from '../../../src/sources/github/source.ts'
import { readRun } from '../../../src/sources/github/run.ts'
import { githubProjectId, type ProjectId } from '../../../src/domain/ids.ts'
import type { KnownBuild } from '../../../src/store/records.ts'
import { buildId } from '../../support/build-events.ts'
import { openPollStage } from '../poll-stage.ts'

const NOW = Date.parse('2026-02-03T04:05:06Z')

const run = (id: number, status: string, conclusion: string | null = null, more: object = {}) => ({
  id,
  workflow_id: 77,
  status,
  conclusion,
  event: 'push',
  head_branch: 'main',
  head_sha: String(id).padStart(40, 'a'),
  run_attempt: 1,
  run_number: id,
  updated_at: new Date(NOW + 90_000).toISOString(),
  ...more,
})

const WORKFLOW = { name: 'CI' }
const REPOSITORY = { id: 1, full_name: 'acme/web', html_url: null, default_branch: 'main' }

/** A stub of what GitHub shows at each poll; `failedJobs` is given by the test. */
async function openPoll(failedJobs: (run: string, attempt: number) => string[] = () => []) {
  const { store, clock, recording, warned, informed, begin } = await openPollStage(NOW)
  const github = {
    shown: [] as unknown[],
    repository: async (): Promise<unknown> => ({
      id: 1,
      full_name: 'acme/web',
      html_url: null,
      default_branch: 'main',
    }),
    calls: 0,
    workflow: async (): Promise<unknown> => WORKFLOW,
    workflowReads: 0,
    /** the runs that newer ones have pushed out of the list */
    pushedOut: [] as ReturnType<typeof run>[],
    reads: 0,
    /** the builds that are stored as open */
    stored: [] as Pick<KnownBuild, 'projectId' | 'buildId'>[],
  }
  const client = {
    async unpassedJobs(_: string, id: string, attempt: number): Promise<UnpassedJobs> {
      return { failed: failedJobs(id, attempt), onlyTimedOut: false, cancelled: [] }
    },
    repository: () => {
      github.calls++
      return github.repository()
    },
    runs: async () => ({ runs: github.shown, etag: null }),
    workflow: () => {
      github.workflowReads++
      return github.workflow()
    },
    async run(_: string, id: string) {
      github.reads++
      const shown = github.pushedOut.find((one) => String(one.id) === id)
      if (!shown) throw new CiError({ kind: 'not-found', purpose: 'read a run', status: 404 })
      return shown
    },
    lastRate: () => null,
  } as unknown as GithubClient
  const polled = () =>
    begin(polledGithub(client, ['acme/web'], { silentBuilds: async () => github.stored as KnownBuild[] }))
  let ask = polled()
  return {
    github,
    clock,
    store,
    warned,
    informed,
    /** Shows these runs a minute later, and polls GitHub. */
    async look(...shown: unknown[]) {
      github.shown = shown
      await clock.advance(60_000)
      await ask()
    },
    /** Another process goes on with the same database. */
    restart: () => void (ask = polled()),
    /** Delivers the run by webhook. */
    deliver: (shown: unknown) => recordDelivery(recording, { ...readRun(shown, REPOSITORY, WORKFLOW)!, body: '{}' }),
    /** Records the run as found by a command. */
    come: (shown: unknown) => recordLookedUp(recording, readRun(shown, REPOSITORY, WORKFLOW)!, 'history'),
    ask: () => ask(),
    told: async (id: number) =>
      (await store.read.eventsOfBuild('github:1:77', String(id))).map(({ rawStatus, origin, details }) => ({
        word: rawStatus,
        origin,
        failedJobs: details.failedJobs,
      })),
  }
}

test('a run that waits for a second approval is recorded as waiting again', async () => {
  const poll = await openPoll()
  for (const status of ['waiting', 'in_progress', 'waiting', 'in_progress']) await poll.look(run(1, status))
  expect((await poll.told(1)).map(({ word }) => word)).toEqual(['waiting', 'initiated', 'waiting', 'initiated'])
})

test('a failed run whose jobs GitHub does not show is recorded without them, and does not delay any other', async () => {
  const poll = await openPoll((id) => {
    if (id === '2') throw new CiError({ kind: 'not-found', purpose: 'list the jobs of a run', status: 404 })
    return ['lint']
  })
  await poll.look(run(1, 'in_progress'))
  await poll.look(run(3, 'completed', 'failure'), run(2, 'completed', 'failure'), run(1, 'in_progress'))
  expect(await poll.told(2)).toEqual([{ word: 'error', origin: 'delivery', failedJobs: null }])
  expect(await poll.told(3)).toEqual([{ word: 'error', origin: 'delivery', failedJobs: ['lint'] }])
})

test('a repository that cannot be read is requested once a minute, not at every poll', async () => {
  const poll = await openPoll()
  poll.github.repository = () =>
    Promise.reject(new CiError({ kind: 'unauthorized', purpose: 'read a repository', status: 401 }))
  await poll.look()
  await poll.ask()
  expect(poll.github.calls).toBe(1)
  await poll.look()
  expect(poll.github.calls).toBe(2)
})

test('the first look of each process that works is logged, with the number of builds', async () => {
  const poll = await openPoll()
  poll.github.repository = () => Promise.reject(new CiError({ kind: 'server', purpose: 'read a repository' }))
  await poll.look()
  expect(poll.informed).toEqual([])
  poll.github.repository = async () => REPOSITORY
  await poll.look(run(1, 'in_progress'))
  await poll.look(run(2, 'in_progress'), run(1, 'in_progress'))
  const watching = (builds: number) => [{ source: 'github', project: 'acme/web', builds }, 'watching a project']
  expect(poll.informed).toEqual([watching(1)])
  poll.restart()
  await poll.look(run(2, 'in_progress'), run(1, 'in_progress'))
  expect(poll.informed).toEqual([watching(1), watching(2)])
})

test('the new name of a renamed default branch is known within an hour', async () => {
  const poll = await openPoll()
  await poll.look(run(1, 'in_progress'))
  poll.github.repository = async () => ({ ...REPOSITORY, default_branch: 'trunk' })
  await poll.clock.advance(60 * 60_000)
  await poll.look(run(2, 'in_progress'))
  expect(
    (await poll.store.read.listedProjects({ text: null, type: null, readSince: 0 }, { limit: 9, offset: 0 })).map(
      ({ rules }) => rules?.[0]?.branch,
    ),
  ).toEqual(['trunk'])
})

test('a workflow is read once an hour, and has no name if GitHub does not show it', async () => {
  const poll = await openPoll()
  const names = async () =>
    (await poll.store.read.listedProjects({ text: null, type: null, readSince: 0 }, { limit: 9, offset: 0 })).map(
      ({ name }) => name,
    )
  // GitHub names a run after its `run-name`.
  await poll.look(run(1, 'in_progress', null, { name: 'Deploy by Ada' }))
  await poll.look(run(2, 'in_progress'))
  expect(await names()).toEqual(['acme/web CI'])
  expect(poll.github.workflowReads).toBe(1)
  poll.github.workflow = () => Promise.reject(new CiError({ kind: 'not-found', purpose: 'read', status: 404 }))
  await poll.clock.advance(60 * 60_000)
  await poll.look(run(3, 'in_progress', null, { path: '.github/workflows/ci.yml@refs/heads/main' }))
  expect(await names()).toEqual(['acme/web ci.yml'])
})

test('an end that a command found first is still recorded by the poll, unless it is old', async () => {
  const poll = await openPoll(() => ['lint'])
  const old = run(1, 'completed', 'failure', { updated_at: new Date(NOW - 60_000).toISOString() })
  const failed = run(2, 'completed', 'failure')
  await poll.look()
  for (const shown of [old, failed]) await poll.come(shown)
  await poll.look(failed, old)
  expect((await poll.told(1)).map(({ origin }) => origin)).toEqual(['history'])
  expect((await poll.told(2)).map(({ origin }) => origin)).toEqual(['history', 'delivery'])
})

test('none of many runs that are pushed out of the list at once is lost', async () => {
  const poll = await openPoll()
  const ids = Array.from({ length: 45 }, (_, n) => n + 1)
  await poll.look(...ids.map((id) => run(id, 'in_progress')))
  poll.github.pushedOut = ids.map((id) => run(id, 'completed', 'success'))
  for (let minute = 0; minute < 3; minute++) await poll.look(run(100, 'in_progress'))
  for (const id of ids) expect((await poll.told(id)).map(({ word }) => word)).toEqual(['initiated', 'success'])
  expect(poll.github.reads).toBe(ids.length)
})

test('a run that newer ones push out of the list is read once a minute until it has ended', async () => {
  const poll = await openPoll()
  await poll.look(run(1, 'in_progress'))
  poll.github.pushedOut = [run(1, 'in_progress')]
  await poll.look(run(2, 'in_progress'))
  expect(poll.github.reads).toBe(1)
  await poll.clock.advance(15_000)
  await poll.ask()
  expect(poll.github.reads).toBe(1)
  poll.github.pushedOut = [run(1, 'completed', 'success')]
  await poll.look(run(2, 'in_progress'))
  expect((await poll.told(1)).map(({ word }) => word)).toEqual(['initiated', 'success'])
  await poll.look(run(2, 'in_progress'))
  expect(poll.github.reads).toBe(2)
})

test('a run that was pushed out of the list while Buildline was down is read after the start', async () => {
  const poll = await openPoll()
  await poll.look(run(1, 'in_progress'))
  poll.github.pushedOut = [run(1, 'completed', 'success')]
  const ofOthers = [githubProjectId('2', '77'), githubProjectId('11', '77'), 'ci' as ProjectId]
  poll.github.stored = [githubProjectId('1', '77'), ...ofOthers].map((projectId) => ({
    projectId,
    buildId: buildId('1'),
  }))
  poll.restart()
  await poll.look(run(2, 'completed', 'success'))
  expect((await poll.told(1)).map(({ word }) => word)).toEqual(['initiated', 'success'])
  await poll.look(run(2, 'completed', 'success'))
  expect(poll.github.reads).toBe(1)
})

test('a deleted run is not looked up again', async () => {
  const poll = await openPoll()
  await poll.look(run(1, 'in_progress'))
  for (let minute = 0; minute < 3; minute++) await poll.look(run(2, 'in_progress'))
  expect(poll.github.reads).toBe(1)
})

test('runs of a repository that has got the name of another one are recorded as its own, at once', async () => {
  const poll = await openPoll()
  await poll.look({ ...run(1, 'in_progress'), repository: { id: 1 } })
  poll.github.repository = async () => ({ ...REPOSITORY, id: 2 })
  await poll.look({ ...run(5, 'in_progress'), repository: { id: 2 } })
  expect(await poll.told(5)).toEqual([])
  expect(await poll.store.read.eventsOfBuild('github:2:77', '5')).toMatchObject([{ rawStatus: 'initiated' }])
})

test('a cancelled run with a failed job is recorded as failed, once, and needs no further call', async () => {
  const poll = await openPoll((id) => (id === '1' ? ['lint'] : []))
  await poll.look(run(2, 'in_progress'), run(1, 'in_progress'))
  const [failed, stopped] = [run(1, 'completed', 'cancelled'), run(2, 'completed', 'cancelled')]
  await poll.look(stopped, failed)
  await poll.look(stopped, failed)
  poll.restart()
  await poll.look(stopped, failed)
  expect((await poll.told(1)).map(({ word }) => word)).toEqual(['initiated', 'error'])
  expect((await poll.told(2)).map(({ word }) => word)).toEqual(['initiated', 'stopped'])
})
