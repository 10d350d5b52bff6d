import { describe, expect, it } from 'vitest'
import { toUuid } from '../../src/domain/ids.ts'
import { joinProjects, matchProjects, type ProjectRef, type ProjectSource } from '../../src/domain/project-names.ts'

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

describe('what CI lists and what deliveries named', () => {
  it.each<[claim: string, listed: ProjectSource[], heard: ProjectSource[], joined: string[]]>([
    [
      'is one project by its uuid, whatever it is called, with the name that CI gives it',
      [listed('acme/web', { uuid: uuid(1) })],
      [heard('11', 'old-name', { uuid: uuid(1) })],
      ['11 acme/web'],
    ],
    ['is one by its id', [listed('acme/web', { projectId: '11' })], [heard('11', 'web')], ['11 acme/web']],
    ['is one by its name', [listed('acme/web')], [heard('11', 'acme/web')], ['11 acme/web']],
    ['is one by its full name', [listed('acme/web')], [heard('11', 'web', { fullName: 'Acme/Web' })], ['11 acme/web']],
    [
      'is two where the name is all and two in CI have it',
      [listed('acme/web', { uuid: uuid(1) }), listed('acme/web', { uuid: uuid(2) })],
      [heard('11', 'acme/web')],
      ['null acme/web', 'null acme/web', '11 acme/web'],
    ],
    [
      'is two where the one of that name has another id',
      [listed('acme/web', { projectId: '11' })],
      [heard('13', 'acme/web')],
      ['11 acme/web', '13 acme/web'],
    ],
    [
      'is two where two of one name were heard of, and CI lists one',
      [listed('acme/web')],
      [heard('11', 'acme/web'), heard('13', 'acme/web')],
      ['11 acme/web', '13 acme/web'],
    ],
    [
      'is one by its name, whatever another source calls so',
      [listed('acme/web', { uuid: uuid(1) }), listed('acme/web', { projectId: 'gitlab:71', uuid: uuid(2) })],
      [heard('11', 'acme/web'), heard('gitlab:71', 'acme/web')],
      ['11 acme/web', 'gitlab:71 acme/web'],
    ],
    [
      'is two where another source calls a project so',
      [listed('acme/web')],
      [heard('gitlab:71', 'acme/web')],
      ['null acme/web', 'gitlab:71 acme/web'],
    ],
    ['is what was heard where CI lists nothing', [], [heard('11', 'web', { fullName: 'acme/web' })], ['11 acme/web']],
    ['is what is listed where nothing was heard', [listed('acme/web')], [], ['null acme/web']],
    [
      'keeps the id that CI lists where a uuid contradicts it',
      [listed('acme/web', { projectId: '11', uuid: uuid(1) })],
      [heard('12', 'acme/web', { uuid: uuid(1) })],
      ['11 acme/web'],
    ],
  ])('%s', (_, fromCi, fromDeliveries, joined) => {
    expect(inBrief(joinProjects(fromCi, fromDeliveries))).toEqual(joined)
  })

  it('changes neither list', () => {
    const [web] = [listed('acme/web')]
    joinProjects([web], [heard('11', 'acme/web')])
    expect(web.projectId).toBeNull()
  })
})

describe('a text names', () => {
  const PROJECTS = [
    { projectId: '11', uuid: uuid(1), name: 'acme/web', type: 'basic' },
    { projectId: '12', uuid: uuid(2), name: 'acme/web-admin', type: 'basic' },
    { projectId: '13', uuid: null, name: 'acme/api', type: 'pro' },
    { projectId: null, uuid: uuid(4), name: 'other/api', type: 'pro' },
    { projectId: '15', uuid: null, name: 'acme/13', type: null },
  ]

  it.each<[text: string, names: string[]]>([
    ['acme/web', ['acme/web']],
    ['ACME/Web', ['acme/web']],
    ['  acme/web ', ['acme/web']],
    ['web', ['acme/web']],
    ['web-', ['acme/web-admin']],
    ['api', ['acme/api', 'other/api']],
    ['acme/a', ['acme/api']],
    ['e/w', ['acme/web', 'acme/web-admin']],
    [uuid(4), ['other/api']],
    [uuid(4).toUpperCase(), ['other/api']],
    ['11', ['acme/web']],
    ['13', ['acme/api']],
    ['1', ['acme/13']],
    ['', []],
    ['   ', []],
    ['.*', []],
    ['nowhere', []],
  ])('%j: %j', (text, names) => {
    expect(matchProjects(PROJECTS, text).map(({ name }) => name)).toEqual(names)
  })
})
