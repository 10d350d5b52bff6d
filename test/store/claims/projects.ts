import { expect, test } from 'vitest'
import { toUuid } from '../../../src/domain/ids.ts'
import type { KnownProject, ListedQuery, NameSearch } from '../../../src/store/records.ts'
import type { Store } from '../../../src/store/store.ts'
import { HOUR, projectId, T0 } from '../../support/build-events.ts'
import type { Places } from '../../support/stores.ts'
import { several } from '../given.ts'

const WEB_UUID = toUuid('11111111-aaaa-0000-0000-000000000001')
const API_UUID = toUuid('22222222-bbbb-0000-0000-000000000002')
const WEB_UUID_TOO = toUuid('33333333-cccc-0000-0000-000000000003')
const RULE = { notifier: 'slack', target: null, branch: 'maïn/*', branchMatch: 'wildcard', buildStatuses: ['failed'] }

const web = (project: Partial<KnownProject> = {}): KnownProject => ({
  uuid: WEB_UUID,
  name: 'acme/web',
  legacyId: '41',
  type: 'basic',
  rules: [RULE],
  ...project,
})
const api = (project: Partial<KnownProject> = {}) =>
  web({ uuid: API_UUID, name: 'acme/api', legacyId: '42', ...project })

const keep = (store: Store, project: KnownProject, readAt = T0) =>
  store.write((tx) => tx.saveProject({ ...project, readAt }))

const find = (
  store: Store,
  { uuid = null, legacyId = '0', names = [] }: Partial<{ uuid: string | null; legacyId: string; names: string[] }>,
) => store.read.project({ uuid, legacyId, names })

/** Projects and their rules, found by each of their names. */
export function projectClaims(places: () => Places): void {
  test('a project keeps the name that its source gave it before; a name that only deliveries said is none', async () => {
    await using place = await places().open()
    const { store } = place
    const ci = (name: string) => web({ name, legacyId: 'github:1:2', type: 'github' })
    const renamed = (...names: string[]) => store.read.renamed(names)
    await store.write((tx) => tx.addProject(ci('acme/forged CI')))
    await keep(store, ci('acme/Web CI'))
    expect(await renamed('acme/forged CI', 'acme/forged')).toEqual([])
    await keep(store, ci('acme/site CI'))
    expect(await renamed('ACME/web ci', 'acme/web')).toEqual(
      expect.arrayContaining([
        { former: 'acme/web ci', id: 'github:1:2', name: 'acme/site CI' },
        { former: 'acme/web', id: 'github:1', name: 'acme/site' },
      ]),
    )
    expect(await renamed('acme/site CI')).toEqual([])
  })

  test('a project is found by uuid, by legacy id and by name', async () => {
    await using place = await places().open()
    await keep(place.store, web())
    await keep(place.store, api())
    expect(await find(place.store, { uuid: API_UUID })).toEqual(api())
    expect(await find(place.store, { legacyId: '42' })).toEqual(api())
    expect(await find(place.store, { names: ['acme/api', 'api'] })).toEqual(api())
  })

  test('projects are listed by name, with the times when they were read and first looked up', async () => {
    await using place = await places().open()
    const { read } = place.store
    await keep(place.store, web(), T0)
    await keep(place.store, api({ name: 'Acme/API', type: null, rules: null }), T0 + HOUR)
    await keep(place.store, api({ uuid: WEB_UUID_TOO, legacyId: null, type: 'pro' }), T0)
    await place.store.write((tx) => tx.setBuildsReadAt(WEB_UUID, T0 + 1))
    await keep(place.store, web(), T0 + 2)
    const all = [
      { ...api({ name: 'Acme/API', type: null, rules: null }), readAt: T0 + HOUR, buildsReadAt: null },
      { ...api({ uuid: WEB_UUID_TOO, legacyId: null, type: 'pro' }), readAt: T0, buildsReadAt: null },
      { ...web(), readAt: T0 + 2, buildsReadAt: T0 + 1 },
    ]
    const query = { text: null, type: null, readSince: 0 }
    expect(await read.listedProjects(query, { limit: 9, offset: 0 })).toEqual(all)
    expect(await read.listedProjects(query, { limit: 1, offset: 1 })).toEqual([all[1]])
    expect(await read.countListed(query)).toEqual({ total: 3, oldestReadAt: T0 })
  })

  test('projects are listed by a part of the name, by type, and those of the CI service by when they were read', async () => {
    await using place = await places().open()
    const { read } = place.store
    await keep(place.store, web({ name: 'Ácme/Wéb_1' }))
    await keep(place.store, api({ type: null }), T0 + HOUR)
    await keep(place.store, api({ uuid: WEB_UUID_TOO, legacyId: 'gitlab:71', name: 'acme/old', type: 'gitlab' }), 0)
    const found = async (query: Partial<ListedQuery>) => {
      const whole = { text: null, type: null, readSince: 0, ...query }
      const names = (await read.listedProjects(whole, { limit: 9, offset: 0 })).map(({ name }) => name)
      expect((await read.countListed(whole)).total).toBe(names.length)
      return names
    }
    expect(await found({ text: 'WÉB_' })).toEqual(['Ácme/Wéb_1'])
    expect(await found({ text: 'web%' })).toEqual([])
    expect(await found({ type: 'basic' })).toEqual(['acme/api', 'Ácme/Wéb_1'])
    expect(await found({ type: 'basic', text: 'api' })).toEqual(['acme/api'])
    expect(await found({ readSince: T0 + 1 })).toEqual(['acme/api', 'acme/old'])
    expect(await read.countListed({ text: 'nowhere', type: null, readSince: 0 })).toEqual({
      total: 0,
      oldestReadAt: null,
    })
  })

  test('listed projects are found by uuid, id and name, in any case, under the name that they have now', async () => {
    await using place = await places().open()
    const { read } = place.store
    await keep(place.store, web({ name: 'ÄCME/Web' }))
    await keep(place.store, api())
    await place.store.write((tx) => tx.addProject(api({ uuid: WEB_UUID_TOO, name: 'acme/İos', legacyId: null })))
    const found = async (...keys: string[]) => (await read.listedAs(keys, 9)).map(({ name }) => name)
    expect(await found('äcme/web')).toEqual(['ÄCME/Web'])
    expect(await found('acme/İos'.toLowerCase())).toEqual(['acme/İos'])
    expect(await found(API_UUID, '41')).toEqual(['acme/api', 'ÄCME/Web'])
    expect(await found('acme', 'acme/%', '\ud800', 'acme/api\0')).toEqual([])
    expect(await found()).toEqual([])
    expect(await read.listedAs([API_UUID, '41'], 1)).toHaveLength(1)
    await keep(place.store, web({ name: 'acme/site' }))
    expect(await found('äcme/web', 'acme/site')).toEqual(['acme/site'])
    const many = Array.from({ length: 70_000 }, (_, n) => `none-${n}`)
    expect(await found(...many, 'acme/api')).toEqual(['acme/api'])
  })

  test('projects are searched by how a name begins or ends, by a part of it, and around it', async () => {
    await using place = await places().open()
    const { read } = place.store
    for (const [n, name] of ['Acme/API', 'acme/web', 'acme/web_admin', 'other/web', 'zoo', 'zoo CI'].entries()) {
      await keep(place.store, web({ uuid: toUuid(`99999999-0000-0000-0000-00000000000${n}`), legacyId: null, name }))
      const [id, short] = [projectId(String(n)), { name: 'short', fullName: name }]
      await place.store.write((tx) => tx.saveDeliveredProject({ projectId: id, ...short, projectUuid: null, at: T0 }))
    }
    const found = async (text: string, at: NameSearch['at'], limit = 9) => {
      const listed = (await read.searchListed({ text, at }, limit)).map(({ name }) => name)
      expect((await read.searchDelivered({ text, at }, limit)).map(({ fullName }) => fullName)).toEqual(listed)
      return listed
    }
    expect(await found('ACME/', 'begin')).toEqual(['Acme/API', 'acme/web', 'acme/web_admin'])
    expect(await found('', 'begin', 2)).toEqual(['Acme/API', 'acme/web'])
    expect(await found('WEB', 'last')).toEqual(['acme/web', 'other/web'])
    expect(await found('web', 'last', 1)).toEqual(['acme/web'])
    expect(await found('we', 'last')).toEqual([])
    expect(await found('zoo', 'last')).toEqual([])
    expect(await found('ZOO', 'whole')).toEqual(['zoo', 'zoo CI'])
    expect(await found('acme/web', 'whole')).toEqual(['acme/web'])
    expect(await found('acme/web', 'last')).toEqual([])
    expect(await found('WEB', 'anywhere')).toEqual(['acme/web', 'acme/web_admin', 'other/web'])
    expect(await found('web', 'anywhere', 1)).toEqual(['acme/web'])
    expect(await found('b_a', 'anywhere')).toEqual(['acme/web_admin'])
    expect(await found('%', 'anywhere')).toEqual([])
    expect(await found('\\', 'anywhere')).toEqual([])
    expect(await read.namesAround('ACME/Wed', 4)).toEqual(several(2, () => ['acme/web_admin', 'other/web']).flat())
    expect(await read.namesAround('acme/wed', 20)).toEqual(
      several(2, () => ['acme/api', 'acme/web', 'acme/web_admin', 'other/web', 'zoo', 'zoo ci']).flat(),
    )
    expect(await found('web\0', 'last')).toEqual(['acme/web', 'other/web'])
  })

  test("the type of a project is CI's own word, and is kept when it is read from an interface without types", async () => {
    await using place = await places().open()
    await keep(place.store, web({ type: 'premium' }))
    expect(await find(place.store, { uuid: WEB_UUID })).toMatchObject({ type: 'premium' })
    await keep(place.store, web({ type: 'pro' }))
    expect(await find(place.store, { uuid: WEB_UUID })).toMatchObject({ type: 'pro' })
    await place.store.write((tx) => tx.linkLegacyProject(WEB_UUID, '41', T0))
    expect(await find(place.store, { uuid: WEB_UUID })).toMatchObject({ type: 'pro' })
  })

  test('the projects and repositories of a name are known, in any case; of the CI service, only that it has one', async () => {
    await using place = await places().open()
    await keep(place.store, web())
    await keep(place.store, api({ legacyId: 'gitlab:71' }))
    await place.store.write(async (tx) => {
      for (const [id, name, fullName] of [
        ['github:1:2', 'acme/web CI', 'acme/web'],
        ['github:1:3', 'acme/web Deploy', 'acme/web'],
        ['90', 'Acme/API', null],
      ] as const)
        await tx.saveDeliveredProject({ projectId: projectId(id), name, fullName, projectUuid: null, at: T0 })
    })
    const found = async (...names: string[]) => {
      const sources = await place.store.read.namesakes(names)
      const words = sources.map(({ name, source, isListed, id }) => `${name} ${source} ${isListed} ${id}`)
      return [...new Set(words)].sort()
    }
    expect(await found('ACME/web')).toEqual(['acme/web ci true null', 'acme/web github false github:1'])
    expect(await found('acme/web ci', 'acme/api')).toEqual([
      'acme/api ci false null',
      'acme/api gitlab false gitlab:71',
      'acme/web ci github false github:1:2',
    ])
    expect(await found('acme', 'acme/web%')).toEqual([])
    expect(await found()).toEqual([])
  })

  test('an unknown project is not found, nor one by a part of its name', async () => {
    await using place = await places().open()
    await keep(place.store, web())
    expect(await find(place.store, {})).toBeNull()
    expect(await find(place.store, { uuid: API_UUID, legacyId: '4', names: ['acme/we', 'web'] })).toBeNull()
  })

  test('the uuid counts more than the legacy id, and the legacy id more than a name', async () => {
    await using place = await places().open()
    await keep(place.store, web())
    await keep(place.store, api())
    expect(await find(place.store, { uuid: API_UUID, legacyId: '41', names: ['acme/web'] })).toEqual(api())
    expect(await find(place.store, { legacyId: '42', names: ['acme/web'] })).toEqual(api())
  })

  test("a name that projects of other sources share means the CI service's project only", async () => {
    await using place = await places().open()
    await keep(place.store, api({ name: 'acme/web', legacyId: 'gitlab:71', type: 'gitlab' }))
    expect(await find(place.store, { legacyId: '41', names: ['acme/web'] })).toBeNull()
    await keep(place.store, web({ legacyId: null, type: 'pro' }))
    expect(await find(place.store, { legacyId: '41', names: ['acme/web'] })).toMatchObject({ uuid: WEB_UUID })
    expect(await find(place.store, { legacyId: 'gitlab:72', names: ['acme/web'] })).toBeNull()
    expect(await find(place.store, { legacyId: 'gitlab:71', names: ['acme/web'] })).toMatchObject({ type: 'gitlab' })
  })

  test('a name that two projects share finds neither, but their ids do', async () => {
    await using place = await places().open()
    await keep(place.store, web())
    await keep(place.store, api({ name: 'acme/web' }))
    expect(await find(place.store, { names: ['acme/web'] })).toBeNull()
    expect(await find(place.store, { uuid: API_UUID, names: ['acme/web'] })).toMatchObject({ uuid: API_UUID })
  })

  test('two names of two projects find neither', async () => {
    await using place = await places().open()
    await keep(place.store, web())
    await keep(place.store, api())
    expect(await find(place.store, { names: ['acme/web', 'acme/api'] })).toBeNull()
  })

  test('a project that is read again has its new name and rules', async () => {
    await using place = await places().open()
    await keep(place.store, web())
    await keep(place.store, web({ name: 'acme/site', rules: [] }))
    expect(await find(place.store, { uuid: WEB_UUID })).toEqual(web({ name: 'acme/site', rules: [] }))
    expect(await find(place.store, { names: ['acme/web'] })).toBeNull()
  })

  test('a project keeps its legacy id when it is read from an interface without legacy ids', async () => {
    await using place = await places().open()
    await keep(place.store, web())
    await keep(place.store, web({ legacyId: null }))
    expect(await find(place.store, { legacyId: '41' })).toEqual(web())
    await keep(place.store, web({ legacyId: '43' }))
    expect(await find(place.store, { legacyId: '41' })).toBeNull()
    expect(await find(place.store, { legacyId: '43' })).toEqual(web({ legacyId: '43' }))
  })

  test('unknown rules differ from no rules', async () => {
    await using place = await places().open()
    await keep(place.store, web({ rules: null }))
    await keep(place.store, api({ rules: [] }))
    expect((await find(place.store, { uuid: WEB_UUID }))?.rules).toBeNull()
    expect((await find(place.store, { uuid: API_UUID }))?.rules).toEqual([])
  })

  test('a legacy id is linked to the project with that uuid, and creates none', async () => {
    await using place = await places().open()
    await keep(place.store, web({ legacyId: null }))
    await place.store.write((tx) => tx.linkLegacyProject(WEB_UUID, '9007199254740993', T0))
    await place.store.write((tx) => tx.linkLegacyProject(API_UUID, '42', T0))
    expect(await find(place.store, { legacyId: '9007199254740993' })).toMatchObject({ uuid: WEB_UUID, rules: [RULE] })
    expect(await find(place.store, { legacyId: '42' })).toBeNull()
  })

  test('projects that were not read since a given time are forgotten', async () => {
    await using place = await places().open()
    await keep(place.store, web(), T0)
    await keep(place.store, api(), T0 - HOUR)
    await keep(place.store, api(), T0 + HOUR)
    await place.store.write((tx) => tx.forgetProjects(T0))
    expect(await find(place.store, { uuid: WEB_UUID })).not.toBeNull()
    await place.store.write((tx) => tx.forgetProjects(T0 + 1))
    expect(await find(place.store, { uuid: WEB_UUID })).toBeNull()
    expect(await find(place.store, { uuid: API_UUID })).not.toBeNull()
  })
}
