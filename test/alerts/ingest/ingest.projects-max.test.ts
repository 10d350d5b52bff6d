import { expect, test } from 'vitest'
import { recordDelivery } from '../../../src/alerts/record/record.ts'
import { githubProjectId, toUuid } from '../../../src/domain/ids.ts'
import { PROJECTS_MAX } from '../../../src/alerts/ingest/ingest.ts'
import { readRun } from '../../../src/sources/github/run.ts'
import { follower, ingestDue, openStage, BUILDS, RELEASES, type Stage } from '../stage.ts'

/** Deliveries have named this many projects. */
async function openWith(projects: number): Promise<Stage> {
  const stage = await openStage()
  stage.sql(
    `with recursive n(id) as (select 1 union all select id + 1 from n where id < ?)
     insert into heard (project_id, name, full_name, project_uuid, at)
     select 'gitlab:' || id, 'acme/p' || id, 'acme/p' || id, null, 0 from n`,
    projects,
  )
  return stage
}

const repository = (full_name: string, id: number) => ({ id, full_name, html_url: null, default_branch: 'main' })

/** GitHub delivers a run of a repository, and it is ingested. */
async function deliver({ store, clock, embody }: Stage, name: string, id = 1): Promise<void> {
  const run = { id: 5, workflow_id: 77, status: 'completed', conclusion: 'failure', event: 'push', head_branch: 'main' }
  const delivery = {
    ...readRun({ ...run, head_sha: 'a'.repeat(40) }, repository(name, id), { name: 'CI' })!,
    body: '{}',
  }
  await recordDelivery({ store, clock }, delivery)
  await ingestDue(embody().deps)
}

const counts = ({ sql }: Stage) => {
  const [row] = sql(`select (select count(*) from heard) as heard, (select count(*) from project) as project`)
  return row as { heard: number; project: number }
}

const isListed = ({ sql }: Stage, name: string) => sql('select 1 from heard where full_name = ?', name).length > 0

test('50,000 projects that only deliveries name are listed, and so are 100,000', async () => {
  await using stage = await openWith(PROJECTS_MAX - 1)
  await deliver(stage, 'acme/web')
  expect(isListed(stage, 'acme/web')).toBe(true)
  expect(counts(stage)).toEqual({ heard: PROJECTS_MAX, project: 1 })
})

test('one more is not listed, but its builds are recorded and posted; a listed one stays', async () => {
  await using stage = await openWith(PROJECTS_MAX)
  await deliver(stage, 'acme/web')
  expect(isListed(stage, 'acme/web')).toBe(false)
  expect(counts(stage)).toEqual({ heard: PROJECTS_MAX, project: 0 })
  expect(stage.sql('select channel from card')).toEqual([{ channel: BUILDS }])
  expect(await stage.store.read.build(githubProjectId('1', '77'), '5')).toMatchObject({ status: 'failed' })
  expect(stage.sql('select count(*) as n from delivery')).toEqual([{ n: 1 }])
  stage.sql(`delete from heard where project_id = 'gitlab:1'`)
  await deliver(stage, 'acme/api', 2)
  expect(isListed(stage, 'acme/api')).toBe(true)
})

test('a project that its source has shown, that CI lists, or that a channel follows is listed all the same', async () => {
  await using stage = await openWith(PROJECTS_MAX)
  const read = readRun({ id: 1, workflow_id: 77 }, repository('acme/read', 2), { name: 'CI' })!.project
  await stage.store.write((tx) => tx.saveProject({ ...read, readAt: 1 }))
  await deliver(stage, 'acme/read', 2)
  expect(isListed(stage, 'acme/read')).toBe(true)
  stage.subscriptions.push(follower(RELEASES, { follows: { what: 'project', name: 'acme/followed' } }))
  await deliver(stage, 'acme/followed', 3)
  expect(isListed(stage, 'acme/followed')).toBe(true)
  const listed = {
    uuid: toUuid('11111111-aaaa-0000-0000-000000000001'),
    name: 'acme/web',
    legacyId: '41',
    type: 'basic',
  }
  await stage.store.write((tx) => tx.saveProject({ ...listed, rules: [], readAt: 1 }))
  await stage.hear('error')
  await ingestDue(stage.embody().deps)
  expect(stage.sql(`select name from heard where project_id = '41'`)).toEqual([{ name: 'project 41' }])
})
