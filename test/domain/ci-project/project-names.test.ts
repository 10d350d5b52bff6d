import { describe, expect, it } from 'vitest'
import { toUuid } from '../../../src/domain/ids.ts'
import {
  joinProjects,
  namedExactly,
  type ProjectRef,
  type ProjectSource,
} from '../../../src/domain/ci-project/project-names.ts'

const uuid = (n: number) => toUuid(`f0000000-0000-0000-0000-${String(n).padStart(12, '0')}`)

const listed = (name: string, changes: Partial<ProjectSource> = {}): ProjectSource => ({
  projectId: null,
  uuid: null,
  name,
  type: 'basic',
  ...changes,
})
const heard = (projectId: string, name: string, changes: Partial<ProjectSource> = {}): ProjectSource => ({
  projectId,
  uuid: null,
  name,
  type: null,
  ...changes,
})

const inBrief = (projects: readonly ProjectRef[]) => projects.map(({ projectId, name }) => `${projectId} ${name}`)

describe('a project that CI lists and a project from deliveries', () => {
  it.each<[claim: string, listed: ProjectSource[], heard: ProjectSource[], joined: string[]]>([
    [
      'are one if their uuids match, whatever their names, with the name from CI',
      [listed('acme/web', { uuid: uuid(1) })],
      [heard('11', 'old-name', { uuid: uuid(1) })],
      ['11 acme/web'],
    ],
    ['are one if their ids match', [listed('acme/web', { projectId: '11' })], [heard('11', 'web')], ['11 acme/web']],
    ['are one if their names match', [listed('acme/web')], [heard('11', 'acme/web')], ['11 acme/web']],
    ['are one by full name', [listed('acme/web')], [heard('11', 'web', { fullName: 'Acme/Web' })], ['11 acme/web']],
    [
      'are two if only the name matches and CI lists that name twice',
      [listed('acme/web', { uuid: uuid(1) }), listed('acme/web', { uuid: uuid(2) })],
      [heard('11', 'acme/web')],
      ['null acme/web', 'null acme/web', '11 acme/web'],
    ],
    [
      'are two if the same name has another id',
      [listed('acme/web', { projectId: '11' })],
      [heard('13', 'acme/web')],
      ['11 acme/web', '13 acme/web'],
    ],
    [
      'are two if deliveries have the name with two ids',
      [listed('acme/web')],
      [heard('11', 'acme/web'), heard('13', 'acme/web')],
      ['11 acme/web', '13 acme/web'],
    ],
    [
      'are one if their names match, even if another source uses the name too',
      [listed('acme/web', { uuid: uuid(1) }), listed('acme/web', { projectId: 'gitlab:71', uuid: uuid(2) })],
      [heard('11', 'acme/web'), heard('gitlab:71', 'acme/web')],
      ['11 acme/web', 'gitlab:71 acme/web'],
    ],
    [
      'are two if they come from different sources',
      [listed('acme/web')],
      [heard('gitlab:71', 'acme/web')],
      ['null acme/web', 'gitlab:71 acme/web'],
    ],
    ['may be delivered without being listed', [], [heard('11', 'web', { fullName: 'acme/web' })], ['11 acme/web']],
    ['may be listed without being delivered', [listed('acme/web')], [], ['null acme/web']],
    [
      'keep the id that CI lists if a uuid contradicts it',
      [listed('acme/web', { projectId: '11', uuid: uuid(1) })],
      [heard('12', 'acme/web', { uuid: uuid(1) })],
      ['11 acme/web'],
    ],
  ])('%s', (_, fromCi, fromDeliveries, joined) => {
    expect(inBrief(joinProjects(fromCi, fromDeliveries))).toEqual(joined)
  })

  it('stay unchanged themselves', () => {
    const [web] = [listed('acme/web')]
    joinProjects([web], [heard('11', 'acme/web')])
    expect(web.projectId).toBeNull()
  })
})

describe('the text', () => {
  const PROJECTS = [
    { projectId: '11', uuid: uuid(1), name: 'acme/web', type: 'basic' },
    { projectId: '13', uuid: null, name: 'acme/api', type: 'pro' },
    { projectId: null, uuid: uuid(4), name: 'other/api', type: 'pro' },
    { projectId: '15', uuid: null, name: '13', type: null },
    { projectId: '16', uuid: uuid(6), name: 'Acme/Web', type: 'basic' },
  ]

  it.each<[text: string, ids: (string | null)[]]>([
    ['acme/web', ['11', '16']],
    ['ACME/Api', ['13']],
    ['  acme/api ', ['13']],
    ['api', []],
    [uuid(4), [null]],
    [uuid(4).toUpperCase(), [null]],
    ['11', ['11']],
    ['13', ['13']],
    ['1', []],
    ['', []],
    ['nowhere', []],
  ])('%j names %j exactly', (text, ids) => {
    expect(namedExactly(PROJECTS, text).map(({ projectId }) => projectId)).toEqual(ids)
  })
})
