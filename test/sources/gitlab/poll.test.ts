import { expect, test } from 'vitest'
import { recordDelivery } from '../../../src/alerts/record.ts'
import { foldBuild } from '../../../src/domain/attempt.ts'
import { CiError } from '../../../src/sources/http/errors.ts'
import type { GitlabClient } from '../../../src/sources/gitlab/client.ts'
import { readPipeline } from '../../../src/sources/gitlab/pipeline.ts'
import { polledGitlab } from '../../../src/sources/gitlab/source.ts'
import { openPollStage } from '../poll-stage.ts'

const NOW = Date.parse('2026-02-03T04:05:06Z')
const SECOND = 1_000

const PROJECT = { id: 1, path_with_namespace: 'acme/web', web_url: null, default_branch: 'main' }

/** As it stood so many seconds after the start of the test. */
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

/** What GitLab shows at each look. */
async function openPoll() {
  const { store, clock, recording, begin } = await openPollStage(NOW)
  const gitlab = {
    shown: [] as Pipeline[],
    /** those that GitLab cannot show one by one */
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
    commit: async () => ({}),
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
    /** A minute later GitLab shows these pipelines, newest first, and is asked. */
    async look(...shown: Pipeline[]) {
      gitlab.shown = shown
      await clock.advance(60 * SECOND)
      await ask()
    },
    /** A webhook tells of it. */
    deliver: (shown: Pipeline, jobs: unknown = []) =>
      recordDelivery(recording, { ...readPipeline({ pipeline: shown, project: PROJECT, jobs })!, body: '{}' }),
    told: async (id: number) => (await eventsOf(id)).map(({ word, origin }) => `${word} ${origin}`),
    attempts: async (id: number) => foldBuild(await eventsOf(id)).attempts.map(({ n, status }) => `${n} ${status}`),
  }
}

test('a retry that passes within seconds of the failure is told', async () => {
  const poll = await openPoll()
  await poll.look(pipeline(1, 'running', 30))
  await poll.look(ended(1, 'failed', 100))
  await poll.look(ended(1, 'success', 104))
  expect(await poll.attempts(1)).toEqual(['1 failed', '2 success'])
})

test('a pipeline that GitLab cannot show holds up no other, and is told once it can', async () => {
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

test('a GitLab that can show no pipeline is not asked for all of them', async () => {
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

test('of more pipelines than a page that changed while the bot was down, all are told', async () => {
  const poll = await openPoll()
  await poll.look()
  poll.restart()
  await poll.look(...Array.from({ length: 130 }, (_, i) => ended(130 - i, 'success', 119 - i / 10)))
  expect(await poll.told(1)).toEqual(['success delivery'])
  expect(await poll.told(130)).toEqual(['success delivery'])
})

test('after a start, what changed longer ago than a day is looked at too', async () => {
  const poll = await openPoll()
  await poll.look(pipeline(1, 'running', 30))
  poll.restart()
  await poll.clock.advance(48 * 60 * 60 * SECOND)
  await poll.look(ended(1, 'success', 100))
  expect(await poll.attempts(1)).toEqual(['1 success'])
})

test('a pause counts from the answer that asked for it', async () => {
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

test('a project is asked for by its id, which stays where it is renamed', async () => {
  const poll = await openPoll()
  await poll.look()
  expect(poll.gitlab.asked).toEqual(['1 newest'])
})

test('an end of which a webhook names the jobs, and polling did not, is one', async () => {
  const poll = await openPoll()
  await poll.look(pipeline(1, 'running', 30))
  await poll.look(ended(1, 'failed', 100))
  await poll.deliver(ended(1, 'failed', 100), [
    { name: 'test', status: 'failed', failure_reason: 'runner_system_failure' },
  ])
  expect(await poll.attempts(1)).toEqual(['1 infrastructure_failure'])
})

test('a change that GitLab shows later than a newer one is not missed, and nothing is read twice', async () => {
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
