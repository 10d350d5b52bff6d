import { expect, test } from 'vitest'
import {
  githubProjectId,
  gitlabProjectId,
  idOrder,
  type ProjectId,
  toUuid,
  type SourceName,
} from '../../../src/domain/ids.ts'
import { projectOf } from '../../../src/sources/project.ts'
import type { DeliveredProject } from '../../../src/store/records.ts'
import type { Store } from '../../../src/store/store.ts'
import { buildId, projectId, T0 } from '../../support/build-events.ts'
import type { Places } from '../../support/stores.ts'

const WEB = githubProjectId('1', '77')
const CI_UUID = toUuid('11111111-aaaa-0000-0000-000000000001')
const called = (name: string, defaultBranch = 'main', id: ProjectId = WEB) =>
  projectOf(id, { type: 'github', name, defaultBranch })

const stored = (store: Store, id: ProjectId = WEB) => store.read.project({ uuid: null, legacyId: id, names: [] })
const add = (store: Store, ...named: Parameters<typeof called>) => store.write((tx) => tx.addProject(called(...named)))

const delivered = (id: string, more: Partial<DeliveredProject> = {}): DeliveredProject => ({
  projectId: projectId(id),
  name: `acme/p${id}`,
  fullName: `acme/p${id}`,
  projectUuid: null,
  at: T0,
  ...more,
})

const hear = (store: Store, project: DeliveredProject) => store.write((tx) => tx.saveDeliveredProject(project))

const listed = async ({ read }: Store) =>
  (await read.deliveredProjects({ except: [] }, 'asc', 9)).map(({ name }) => name)

const keepBuild = (store: Store, project: ProjectId, id = '5') =>
  store.write((tx) =>
    tx.saveBuild({
      projectId: project,
      buildId: buildId(id),
      buildOrder: idOrder(id),
      attempt: 1,
      revisionKey: `revision of ${project}`,
      cardNumber: 1,
      branch: 'main',
      status: 'success',
      rawStatus: 'success',
      at: T0,
      buildUuid: null,
      committer: null,
    }),
  )

/** Projects as deliveries name them. */
export function deliveredProjectClaims(places: () => Places): void {
  test('a project that a delivery adds does not change a known one', async () => {
    await using place = await places().open()
    await add(place.store, 'acme/web CI')
    await add(place.store, 'acme/api CI', 'trunk')
    expect(await stored(place.store)).toEqual(called('acme/web CI'))
  })

  test('what deliveries say of a known project is listed until it is settled; the newest counts', async () => {
    await using place = await places().open()
    const { store } = place
    await add(store, 'acme/web CI')
    await add(store, 'acme/api CI', 'main', githubProjectId('2', '78'))
    const { uuid } = called('')
    const claim = async (name: string) => {
      const { rules } = called(name)
      await store.write((tx) => tx.claimProject(uuid, { name, rules }))
      return { name, rules }
    }
    const first = await claim('acme/one CI')
    const second = await claim('acme/two CI')
    const claims = async () =>
      (await store.read.claimedProjects('', 10)).map((one) => [one.project.name, one.claim.name])
    expect(await claims()).toEqual([['acme/web CI', 'acme/two CI']])
    await store.write((tx) => tx.settleClaim(uuid, first))
    expect(await claims()).toHaveLength(1)
    expect(await store.read.claimedProjects(uuid, 10)).toEqual([])
    await store.write((tx) => tx.settleClaim(uuid, second))
    expect(await claims()).toEqual([])
    expect(await stored(store)).toEqual(called('acme/web CI'))
  })

  test('a project of GitHub that is read under a new name has it in lists too', async () => {
    await using place = await places().open()
    await hear(place.store, delivered('1', { projectId: WEB, name: 'acme/web CI', fullName: 'acme/web' }))
    await hear(place.store, delivered('11'))
    await place.store.write((tx) => tx.saveProject({ ...called('acme/site CI'), readAt: T0 }))
    expect(await place.store.read.deliveredProjects({ except: [] }, 'asc', 9)).toMatchObject([
      { name: 'acme/p11' },
      { projectId: WEB, name: 'acme/site CI', fullName: 'acme/site' },
    ])
  })

  test('projects that builds have named come by full name in either order, some of them or all but some', async () => {
    await using place = await places().open()
    const { read } = place.store
    await hear(place.store, delivered('1', { fullName: 'acme/Zoo' }))
    await hear(place.store, delivered('2', { fullName: null, name: 'acme/b' }))
    await hear(place.store, delivered('3', { fullName: 'Acme/a' }))
    const found = async (...[projects, order, limit]: Parameters<typeof read.deliveredProjects>) =>
      (await read.deliveredProjects(projects, order, limit)).map(({ projectId: id }) => id)
    expect(await found({ except: [] }, 'asc', 9)).toEqual(['3', '2', '1'])
    expect(await found({ except: [] }, 'desc', 1)).toEqual(['1'])
    expect(await found({ except: ['1'] }, 'desc', 9)).toEqual(['2', '3'])
    expect(await found({ only: ['1', '3', '9'] }, 'asc', 9)).toEqual(['3', '1'])
    expect(await found({ only: [] }, 'asc', 9)).toEqual([])
    expect(await read.projectsAmong(['1', '3', '9'], { except: ['3'] })).toEqual(['1'])
    expect(await read.projectsAmong(['1', '3'], { only: ['3'] })).toEqual(['3'])
  })

  test('projects that builds have named are found by uuid, id, name and full name, in any case', async () => {
    await using place = await places().open()
    await hear(place.store, delivered('1', { name: 'WÉB', fullName: 'Acme/Web', projectUuid: CI_UUID }))
    await hear(place.store, delivered('2', { name: 'api', fullName: null }))
    const found = async (...keys: string[]) =>
      (await place.store.read.deliveredAs(keys, 9)).map(({ projectId: id }) => id)
    for (const key of ['1', CI_UUID, 'wéb', 'acme/web']) expect(await found(key), key).toEqual(['1'])
    expect(await found('api', '1')).toEqual(['2', '1'])
    expect(await found('acme')).toEqual([])
    await hear(place.store, delivered('1', { name: 'site', fullName: 'acme/site' }))
    expect(await found('wéb', 'acme/web', CI_UUID)).toEqual([])
    expect(await found('acme/site')).toEqual(['1'])
  })

  test('projects without builds are removed a few at a time, unless their source has shown them', async () => {
    await using place = await places().open()
    const { store } = place
    const [kept, read] = [gitlabProjectId('3'), gitlabProjectId('4')]
    const ofGitlab = (id: ProjectId, name: string) => projectOf(id, { type: 'gitlab', name, defaultBranch: 'main' })
    for (const [id, name] of [
      [WEB, 'acme/web CI'],
      [kept, 'acme/kept'],
      [read, 'acme/read'],
    ] as const) {
      await hear(store, delivered('1', { projectId: id, name }))
      await store.write((tx) => tx.addProject(ofGitlab(id, name)))
    }
    await keepBuild(store, kept)
    await store.write((tx) => tx.saveProject({ ...ofGitlab(read, 'acme/read'), readAt: T0 }))
    await store.write((tx) =>
      tx.saveProject({ ...called('acme/ci'), uuid: CI_UUID, legacyId: null, type: 'pro', readAt: T0 }),
    )
    await hear(store, delivered('9', { projectUuid: CI_UUID, name: 'acme/listed' }))
    const ends: unknown[] = []
    let last: string | null = ''
    for (let rounds = 0; last !== null && rounds < 10; rounds++) {
      const after: string = last
      const end = await store.write((tx) => tx.removeEmptyProjects(after, 2))
      ends.push(end.removed)
      last = end.last
    }
    expect(ends).toEqual([1, 0, 0])
    expect(await listed(store)).toEqual(['acme/kept', 'acme/read', 'acme/listed'])
    expect(
      (await store.read.listedProjects({ text: null, type: null, readSince: 0 }, { limit: 9, offset: 0 })).map(
        ({ name }) => name,
      ),
    ).toEqual(['acme/ci', 'acme/kept', 'acme/read'])
  })

  test('builds are found by their id and source, whatever their project', async () => {
    await using place = await places().open()
    const { store } = place
    const all = [projectId('1'), projectId('2'), WEB, gitlabProjectId('3'), gitlabProjectId('4')]
    for (const id of all) await keepBuild(store, id)
    await keepBuild(store, projectId('1'), '6')
    const found = async (source: SourceName, limit = 10) =>
      (await store.read.buildsWithId(source, '5', limit)).map((build) => build.projectId).toSorted()
    expect(await found('ci')).toEqual(['1', '2'])
    expect(await found('github')).toEqual([WEB])
    expect(await found('gitlab')).toEqual(['gitlab:3', 'gitlab:4'])
    expect(await found('gitlab', 1)).toHaveLength(1)
    expect(await store.read.buildsWithId('github', '7', 10)).toEqual([])
  })
}
