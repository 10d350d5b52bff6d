import { describe, expect, test } from 'vitest'
import { toUuid } from '../../../src/domain/ids.ts'
import type { ListQuery } from '../../../src/projects/outcomes.ts'
import { listProjects, PAGE_SIZE, type ListOutcome } from '../../../src/features/list/list.ts'
import { answerList } from '../../../src/features/list/messages.ts'
import { refreshProjects } from '../../../src/ci-sync/reading.ts'
import { v2 } from '../../../packages/sandbox-ci/test/support.ts'
import { HOUR, MINUTE, SECOND, T0 } from '../../support/build-events.ts'
import { openStage, type Stage } from '../operations-stage.ts'

const list = (stage: Stage, question: Partial<ListQuery> = {}): Promise<ListOutcome> =>
  listProjects(stage.main.deps, { text: null, type: null, page: 1, ...question })

const namesOf = (outcome: ListOutcome) =>
  outcome.kind === 'projects' ? outcome.projects.map(({ project }) => project.name) : outcome.kind

/** How often reading the list was begun. Later pages are requested by number and do not count. */
const listsRead = (stage: Stage) =>
  stage.ci.calls().filter(({ path, query }) => path.endsWith('/projects') && query === '').length

/** Adds acme/s-01 to acme/s-n to the three existing projects. */
async function withProjects(stage: Stage, n: number): Promise<void> {
  for (let i = 1; i <= n; i++) {
    const url = `git@git.example:acme/s-${String(i).padStart(2, '0')}.git`
    await v2(stage.ci, 'POST', '/projects', { repository_url: url, type: 'basic', team_ids: [1] })
  }
  await stage.clock.advance(MINUTE)
}

describe('the list', () => {
  test("names CI's projects with their last known state", async () => {
    await using stage = await openStage()
    const { ref } = await stage.ended('error')
    const outcome = await list(stage)
    expect(outcome).toMatchObject({ kind: 'projects', from: 'v2', page: 1, pages: 1, total: 3, stale: null })
    expect(outcome).toMatchObject({
      projects: [
        { project: { name: 'acme/api', projectId: '12', type: 'basic' }, build: null },
        { project: { name: 'acme/ios', projectId: null, type: 'pro' }, build: null },
        { project: { name: 'acme/web', projectId: '11' }, build: { ref, shown: 'failed' } },
      ],
    })
  })

  test('knows the builds of a Pro project by the id that only deliveries have', async () => {
    await using stage = await openStage()
    const { ref } = await stage.running({}, 'acme/ios')
    expect(await list(stage, { type: 'pro' })).toMatchObject({
      total: 1,
      projects: [{ project: { name: 'acme/ios', projectId: '13' }, build: { ref } }],
    })
  })

  test('shows the red branches of a project, however many odd builds are newer', async () => {
    await using stage = await openStage()
    const { ref } = await stage.ended('error', { branch: 'release/1.2' })
    await stage.ended('ignored', { branch: 'autumn' })
    const of = async () => {
      const outcome = await list(stage, { text: 'web' })
      return outcome.kind === 'projects' ? answerList(outcome, { reference: '1' }).text.split('\n')[1] : outcome.kind
    }
    expect(await list(stage, { text: 'web' })).toMatchObject({
      projects: [{ build: { ref, shown: 'failed' }, red: 1 }],
    })
    expect(await of()).toMatch(/Failed.*`release\/1.2`/)
    await stage.ended('error', { branch: 'main' })
    expect(await of()).toBe('• acme/web · Basic · :x: *2 branches are red*')
    for (const branch of ['main', 'release/1.2']) await stage.ended('success', { branch })
    expect(await of()).toMatch(/Fixed.*`release\/1.2`/)
    await stage.ended('ignored', { branch: 'autumn' })
    expect(await of()).toBe('• acme/web · Basic · no red branches')
  })

  test('has Basic projects only if only the legacy interface is configured', async () => {
    await using stage = await openStage({ v2: false })
    const outcome = await list(stage)
    expect(outcome).toMatchObject({ from: 'legacy', total: 2 })
    expect(namesOf(outcome)).toEqual(['acme/api', 'acme/web'])
    expect(namesOf(await list(stage, { type: 'basic' }))).toEqual(['acme/api', 'acme/web'])
  })

  test('is empty if CI is not configured', async () => {
    await using stage = await openStage({ v2: false, legacy: false })
    expect(await list(stage)).toEqual({ kind: 'no-ci' })
  })

  test.each<[claim: string, question: Partial<ListQuery>, names: string[]]>([
    ['those that contain a text', { text: 'AP' }, ['acme/api']],
    ['those that contain it, not only an exact match', { text: 'acme' }, ['acme/api', 'acme/ios', 'acme/web']],
    ['none', { text: 'nowhere' }, []],
    ['those of a type', { type: 'pro' }, ['acme/ios']],
    ['those of a type with a text', { type: 'pro', text: 'web' }, []],
  ])('shows %s', async (_, question, names) => {
    await using stage = await openStage()
    const outcome = await list(stage, question)
    expect(namesOf(outcome)).toEqual(names)
    expect(outcome).toMatchObject({ total: names.length, pages: 1, page: 1 })
  })

  test('has ten projects on a page, and no page beyond the last', async () => {
    await using stage = await openStage()
    await withProjects(stage, PAGE_SIZE * 2 - 3)
    expect(await list(stage)).toMatchObject({ page: 1, pages: 2, total: 20 })
    expect(namesOf(await list(stage, { page: 2 }))).toHaveLength(PAGE_SIZE)
    await withProjects(stage, PAGE_SIZE * 2 - 2)
    expect(await list(stage)).toMatchObject({ pages: 4, total: 38 })
    const pages = await Promise.all([1, 2, 3, 4].map((page) => list(stage, { page })))
    expect(pages.map((page) => namesOf(page).length)).toEqual([10, 10, 10, 8])
    for (const [page, shown] of [
      [9, 4],
      [0, 1],
      [-1, 1],
    ])
      expect(await list(stage, { page: page! })).toMatchObject({ page: shown })
  })
})

describe("CI's list is read", () => {
  test('at most once a minute, however the pages are turned', async () => {
    await using stage = await openStage()
    const before = listsRead(stage)
    await stage.clock.advance(MINUTE - 1)
    await list(stage)
    await list(stage, { page: 2 })
    expect(listsRead(stage) - before).toBe(0)
    await stage.clock.advance(1)
    await list(stage)
    await list(stage, { page: 2 })
    expect(listsRead(stage) - before).toBe(1)
  })

  test('once for all concurrent requests while CI is slow', async () => {
    await using stage = await openStage()
    await stage.clock.advance(MINUTE)
    const before = listsRead(stage)
    const all = await Promise.all([list(stage), list(stage), list(stage)])
    expect(all.map((one) => one.kind)).toEqual(['projects', 'projects', 'projects'])
    expect(listsRead(stage) - before).toBe(1)
  })
})

describe('while CI is away', () => {
  const down = { kind: 'status', statusCode: 503, reason: 'back soon' } as const

  test('the last list is shown, with its age and the reason', async () => {
    await using stage = await openStage()
    await stage.clock.advance(5 * MINUTE)
    stage.ci.addFault({ ...down, where: 'all' })
    const outcome = await list(stage)
    expect(namesOf(outcome)).toEqual(['acme/api', 'acme/ios', 'acme/web'])
    const trouble = { kind: 'ci-trouble', code: 'server', reason: expect.stringContaining('back soon') }
    expect(outcome).toMatchObject({ stale: { readAt: T0, failure: trouble } })
  })

  test('an answer without any list says so', async () => {
    await using stage = await openStage()
    await stage.clock.advance(MINUTE)
    stage.reconcile.sql('delete from project')
    stage.ci.addFault({ ...down, where: 'all' })
    expect(await list(stage)).toMatchObject({ kind: 'ci-trouble', code: 'server' })
  })

  test.each(['v2', 'legacy'] as const)('at %s only, no project disappears', async (where) => {
    await using stage = await openStage()
    await stage.clock.advance(MINUTE)
    stage.ci.addFault({ ...down, where })
    const outcome = await list(stage)
    expect(namesOf(outcome)).toEqual(['acme/api', 'acme/ios', 'acme/web'])
    expect(outcome).toMatchObject({ stale: { failure: { code: 'server' } } })
  })

  test('because of its credentials, the answer says so without showing them', async () => {
    await using stage = await openStage()
    await stage.clock.advance(MINUTE)
    stage.ci.forgetKey()
    const outcome = await list(stage)
    expect(outcome).toMatchObject({ stale: { failure: { code: 'unauthorized' } } })
    expect(JSON.stringify(outcome)).not.toMatch(/sandbox-(api-key|token)/)
  })
})

test('a project that CI no longer lists is not shown', async () => {
  await using stage = await openStage()
  const gone = { uuid: toUuid('f0000000-0000-0000-0000-000000000099'), name: 'acme/gone', type: 'basic', rules: [] }
  await stage.reconcile.store.write((tx) => tx.saveProject({ ...gone, legacyId: null, readAt: T0 - SECOND }))
  expect(namesOf(await list(stage))).not.toContain('acme/gone')
})

test('a list that CI gives only in part removes no project, and the answer says so', async () => {
  await using stage = await openStage()
  await list(stage)
  const { deps } = stage.main
  const { ci: whole } = deps
  const inPart = async () => {
    const read = await whole!.listProjects()
    return { ...read, projects: read.projects.slice(0, 1), truncated: true }
  }
  const { store, clock, log } = deps
  const refresh = () => refreshProjects({ store, clock, log, v2: { listProjects: inPart }, legacy: null })
  // The last complete read was so long ago.
  stage.reconcile.sql(`update project set read_at = read_at - ${8 * 24 * HOUR}`)
  stage.reconcile.sql(`update job set last_done_at = last_done_at - ${8 * 24 * HOUR}`)
  const outcome = await listProjects({ ...deps, refresh }, { text: null, type: null, page: 1 })
  expect(namesOf(outcome)).toEqual(['acme/api', 'acme/ios', 'acme/web'])
  expect(outcome).toMatchObject({ isWhole: false, stale: null })
  expect(await list(stage)).toMatchObject({ isWhole: true, total: 3 })
})
