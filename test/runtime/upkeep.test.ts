import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { WHOLE_READING } from '../../src/projects/projects.ts'
import type { GithubClient } from '../../src/sources/github/client.ts'
import { polledGithub } from '../../src/sources/github/source.ts'
import type { GitlabClient } from '../../src/sources/gitlab/client.ts'
import { polledGitlab } from '../../src/sources/gitlab/source.ts'
import type { Reads } from '../../src/store/store.ts'
import { JOBS_ZONE } from '../../src/runtime/schedule.ts'
import { createFeatures, type FeatureDeps } from '../../src/features/features.ts'
import { upkeepJobs, type UpkeepDeps } from '../../src/runtime/upkeep.ts'

const docs = readFileSync(new URL('../../docs/operations/upkeep.md', import.meta.url), 'utf8')

const NOTHING: unknown = Object.create(null)

/** The dependencies of a job are used only when it runs. */
const jobs = [
  ...createFeatures(NOTHING as FeatureDeps).flatMap((feature) => feature.jobs ?? []),
  ...upkeepJobs({
    polled: [
      polledGithub(NOTHING as GithubClient, ['acme/web'], NOTHING as Reads),
      polledGitlab(NOTHING as GitlabClient, ['acme/web']),
    ],
  } as Partial<UpkeepDeps> as UpkeepDeps),
]

test('the jobs are those in docs/operations/upkeep.md, with the same cron expressions, in the same time zone', () => {
  const described = [...docs.matchAll(/^\| `([\w-]+)` \| `([^`]+)` \|/gm)].map(([, name, cron]) => `${name} ${cron}`)
  expect(described.toSorted()).toEqual(jobs.map(({ name, cron }) => `${name} ${cron}`).toSorted())
  expect(docs).toContain(`cron expression in ${JOBS_ZONE}`)
})

test('the names of jobs are unique, since the store keeps their last runs by name', () => {
  expect(new Set(jobs.map(({ name }) => name)).size).toBe(jobs.length)
})

test("no job is named like the time of the last read of CI's list, which is another time than the job's", () => {
  expect(jobs.map(({ name }) => name)).not.toContain(WHOLE_READING)
})
