import { expect, test } from 'vitest'
import { recordDelivery } from '../../../src/alerts/record/record.ts'
import { foldBuild } from '../../../src/domain/builds/attempt.ts'
import { CiError } from '../../../src/sources/http/errors.ts'
import type { GitlabClient } from '../../../src/sources/gitlab/client.ts'
import { readPipeline } from '../../../src/sources/gitlab/pipeline.ts'
import { polledGitlab } from '../../../src/sources/gitlab/source.ts'
import { openPollStage } from '../poll-stage.ts'

const NOW = Date.parse('2026-02-03T04:05:06Z')
const SECOND = 1_000

const PROJECT = { id: 1, path_with_namespace: 'acme/web', web_url: null, default_branch: 'main' }

/** A pipeline that was updated this number of seconds after the start of the test. */
const pipeline = (id: number, status: string, updatedS: number, more: object = {}) => ({
  id,
  iid: id,
  status,
  source: 'push',
  ref: 'main',
  sha: String(id).padStart(40, 'a'),
  updated_at: new Date(NOW + updatedS * SECOND).toISOString(),
  finished_at: null as string | null,
  ...more,
})

type Pipeline = ReturnType<typeof pipeline>

const ended = (id: number, status: string, atS: number): Pipeline =>
  pipeline(id, status, atS, { finished_at: new Date(NOW + atS * SECOND).toISOString() })

const trouble = (kind: 'server' | 'rate-limited', retryAfterMs?: number) =>
  new CiError({ kind, purpose: 'read a pipeline', retryAfterMs })

/** A stub of what GitLab shows at each poll. */
async function openPoll() {
  const { store, clock, recording, begin } = await openPollStage(NOW)
  const gitlab = {
    shown: [] as Pipeline[],
    /** the pipelines that GitLab cannot show one by one */
    broken: new Set<string>(),
    asked: [] as string[],
    jobs: [] as unknown[],
    pipeline: async (id: string): Promise<unknown> => gitlab.shown.find((one) => String(one.id) === id) ?? null,
  }
  const client: Partial<GitlabClient> = {
    project: async () => PROJECT,
    async pipelines(project, { updatedAfter } = {}) {
      gitlab.asked.push(`${project} ${updatedAfter ?? 'newest'}`)
      const changed = gitlab.shown.filter((one) => updatedAfter === undefined || one.updated_at > updatedAfter)
      return updatedAfter === undefined ? changed.slice(0, 100) : changed
    },
    async pipeline(_, id) {
      if (gitlab.broken.has(id)) throw trouble('server')
      return gitlab.pipeline(id)
    },
    failedJobs: async () => gitlab.jobs,
    failedBridges: async () => [],
    commit: async () => ({}),
    lastRate: () => null,
  }
  const polled = polledGitlab(client as GitlabClient, ['acme/web'])
  let poll = begin(polled)
  const ask = () => poll()
  const eventsOf = (id: number) => store.read.eventsOfBuild('gitlab:1', String(id))
  return {
    gitlab,
    clock,
    ask,
    restart: () => void (poll = begin(polled)),
    /** Shows these pipelines a minute later, newest first, and polls GitLab. */
    async look(...shown: Pipeline[]) {
      gitlab.shown = shown
      await clock.advance(60 * SECOND)
      await ask()
    },
    /** Delivers the pipeline by webhook. */
    deliver: (shown: Pipeline, jobs: unknown = []) =>
      recordDelivery(recording, { ...readPipeline({ pipeline: shown, project: PROJECT, jobs })!, body: '{}' }),
    told: async (id: number) => (await eventsOf(id)).map(({ rawStatus, origin }) => `${rawStatus} ${origin}`),
    attempts: async (id: number) => foldBuild(await eventsOf(id)).attempts.map(({ n, status }) => `${n} ${status}`),
  }
}

test('a retry that passes within seconds of the failure is recorded', async () => {
  const poll = await openPoll()
  await poll.look(pipeline(1, 'running', 30))
  await poll.look(ended(1, 'failed', 100))
  await poll.look(ended(1, 'success', 104))
  expect(await poll.attempts(1)).toEqual(['1 failed', '2 success'])
})

test('a pipeline that GitLab cannot show delays no other, and is recorded once GitLab can show it', async () => {
  const poll = await openPoll()
  await poll.look()
  poll.gitlab.broken.add('1')
  const both = [ended(2, 'failed', 101), ended(1, 'failed', 100)]
  await poll.look(...both)
  await poll.look(...both)
  expect(await poll.told(1)).toEqual([])
  expect(await poll.told(2)).toEqual(['error delivery'])
  poll.gitlab.broken.clear()
  await poll.look(...both)
  expect(await poll.told(1)).toEqual(['error delivery'])
  expect(await poll.told(2)).toEqual(['error delivery'])
})

test('many pipelines that GitLab cannot show delay no other for long', async () => {
  const poll = await openPoll()
  await poll.look()
  for (const id of ['1', '2', '3', '4', '5', '6', '7']) poll.gitlab.broken.add(id)
  const shown = Array.from({ length: 9 }, (_, i) => ended(9 - i, 'failed', 100 - i))
  for (let looks = 0; looks < 3; looks++) await poll.look(...shown)
  expect(await poll.told(1)).toEqual([])
  expect(await poll.told(8)).toEqual(['error delivery'])
  expect(await poll.told(9)).toEqual(['error delivery'])
})

test('a GitLab that cannot show any pipeline does not get a request for each of them', async () => {
  const poll = await openPoll()
  await poll.look()
  const shown = Array.from({ length: 50 }, (_, i) => ended(50 - i, 'failed', 100 - i))
  let reads = 0
  poll.gitlab.pipeline = () => {
    reads++
    throw trouble('server')
  }
  await poll.look(...shown)
  expect(reads).toBe(3)
})

test('all pipelines that changed while the bot was down are recorded, even if they fill more than a page', async () => {
  const poll = await openPoll()
  await poll.look()
  poll.restart()
  await poll.look(...Array.from({ length: 130 }, (_, i) => ended(130 - i, 'success', 119 - i / 10)))
  expect(await poll.told(1)).toEqual(['success delivery'])
  expect(await poll.told(130)).toEqual(['success delivery'])
})

test('after a start, a pipeline is read even if it changed more than a day ago', async () => {
  const poll = await openPoll()
  await poll.look(pipeline(1, 'running', 30))
  poll.restart()
  await poll.clock.advance(48 * 60 * 60 * SECOND)
  await poll.look(ended(1, 'success', 100))
  expect(await poll.attempts(1)).toEqual(['1 success'])
})

test('a pause starts from the answer that required it', async () => {
  const poll = await openPoll()
  poll.gitlab.shown = [ended(1, 'failed', 1)]
  poll.gitlab.pipeline = async () => {
    await poll.clock.advance(50 * SECOND)
    throw trouble('rate-limited', 60 * SECOND)
  }
  await poll.ask()
  poll.gitlab.asked = []
  await poll.clock.advance(50 * SECOND)
  await poll.ask()
  expect(poll.gitlab.asked).toEqual([])
})

test('a project is requested by its id, which stays the same after a rename', async () => {
  const poll = await openPoll()
  await poll.look()
  expect(poll.gitlab.asked).toEqual(['1 newest'])
})

test('an end is recorded only once if a webhook names the jobs and the poll does not', async () => {
  const poll = await openPoll()
  await poll.look(pipeline(1, 'running', 30))
  await poll.look(ended(1, 'failed', 100))
  await poll.deliver(ended(1, 'failed', 100), [
    { name: 'test', status: 'failed', failure_reason: 'runner_system_failure' },
  ])
  expect(await poll.attempts(1)).toEqual(['1 infrastructure_failure'])
})

test('a change that GitLab shows later than a newer one is not missed, and no pipeline is read twice', async () => {
  const poll = await openPoll()
  await poll.look()
  let reads = 0
  const { pipeline: shownAs } = poll.gitlab
  poll.gitlab.pipeline = (id) => {
    reads++
    return shownAs(id)
  }
  const newer = ended(2, 'failed', 100)
  await poll.look(newer)
  await poll.look(newer, ended(1, 'failed', 70))
  await poll.look(newer, ended(1, 'failed', 70))
  expect(await poll.told(1)).toEqual(['error delivery'])
  expect(reads).toBe(2)
})
