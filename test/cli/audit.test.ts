import { afterEach, beforeEach, expect, test } from 'vitest'
import { exportAudit } from '../../src/cli/audit.ts'
import { projectRequest } from '../store/given.ts'
import { MINUTE, request, T0 } from '../support/build-events.ts'
import { sqlitePlaces, type Place, type Places } from '../support/stores.ts'

let places: Places
let place: Place

beforeEach(async () => {
  places = await sqlitePlaces()
  place = await places.open()
  const edit = projectRequest({
    id: 'edit',
    state: 'confirmed',
    requestedAt: T0 + MINUTE,
    what: ['branches', 'team_ids'],
  })
  await place.store.write(async (tx) => {
    await tx.insertRequest(edit)
    await tx.insertRequest(request({ id: 'restart', requestedAt: T0 }))
  })
})
afterEach(async () => {
  await place[Symbol.asyncDispose]()
  await places[Symbol.asyncDispose]()
})

async function linesSince(sinceMs: number): Promise<Record<string, unknown>[]> {
  const lines: string[] = []
  await exportAudit({ databaseUrl: place.url, sinceMs, print: (line) => void lines.push(line) })
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
}

test('requests about builds and projects are one list, in order of time', async () => {
  expect(await linesSince(0)).toMatchObject([
    { id: 'restart', action: 'restart', buildId: '512', run: 1 },
    { id: 'edit', action: 'edit-project', result: 'confirmed', project: 'acme/web', by: 'U0GRACE001', via: 'modal' },
  ])
  expect((await linesSince(T0 + 1)).map(({ id }) => id)).toEqual(['edit'])
})

test('a request about a project has the same keys as one about a build, empty ones for builds only, and the names of its fields', async () => {
  const [ofBuild, ofProject] = await linesSince(0)
  expect(Object.keys(ofProject!).filter((key) => key !== 'fields')).toEqual(Object.keys(ofBuild!))
  expect(ofProject).toMatchObject({ buildId: null, run: null, branch: null, fields: ['branches', 'team_ids'] })
  expect(ofBuild).not.toHaveProperty('fields')
})
