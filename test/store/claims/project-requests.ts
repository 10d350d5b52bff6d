import { expect, test } from 'vitest'
import { toUuid } from '../../../src/domain/ids.ts'
import { type ProjectRequest, OPEN_STATES, type RequestState } from '../../../src/domain/cards/request.ts'
import type { Store } from '../../../src/store/store.ts'
import { buildId, projectId, request, SECOND, T0, WEB } from '../../support/build-events.ts'
import type { Places } from '../../support/stores.ts'
import { BUILDS, CARD, REVISION, projectRequest } from '../given.ts'

const WEB_UUID = toUuid('11111111-aaaa-0000-0000-000000000001')
const API_UUID = toUuid('22222222-bbbb-0000-0000-000000000002')
const LATER = T0 + 60 * SECOND
const CLOSED_STATES: readonly RequestState[] = ['confirmed', 'refused', 'unconfirmed']

const asked = projectRequest

const insert = (store: Store, ...requests: readonly ProjectRequest[]): Promise<void> =>
  store.write(async (tx) => {
    for (const one of requests) await tx.insertRequest(one)
  })

const idsOf = (requests: readonly { id: string }[]) => requests.map(({ id }) => id)

/** Requests about projects: in one audit with requests about builds, but never confused with them. */
export function projectRequestClaims(places: () => Places): void {
  test('a request about a project is read back unchanged', async () => {
    await using place = await places().open()
    const whole = asked({
      action: 'reset-aes-key',
      state: 'unclear',
      project: "acme/'; drop table request; --",
      what: ['branches', 'notification_rules[2].options.key'],
      newBuildId: buildId('9000000001'),
      requestedTeam: 'T0ACME0001',
      channel: BUILDS,
      code: 'timeout',
      reason: 'no answer within 10 s',
      answeredAt: T0 + 1,
      lookAt: T0 + 2,
      endedAt: T0 + 3,
    })
    await insert(place.store, whole, asked({ id: 'bare', action: 'create-project', projectUuid: null, what: [] }))
    const { read } = place.store
    expect(await read.requestOf(whole.interactionKey)).toEqual(whole)
    expect(await read.requestOf('ask of bare')).toMatchObject({ action: 'create-project', projectUuid: null })
    expect(await read.requestOf('ask of nobody')).toBeNull()
  })

  test.each(OPEN_STATES)('while a request is %s, there can be no other about the project', async (state) => {
    await using place = await places().open()
    await insert(place.store, asked({ id: 'first', state }))
    await expect(insert(place.store, asked({ id: 'second', action: 'reset-aes-key' }))).rejects.toThrow()
    expect((await place.store.read.openProjectRequest(WEB_UUID))?.id).toBe('first')
    expect(await place.store.read.requestOf('ask of second')).toBeNull()
  })

  test.each(CLOSED_STATES)('after a request is %s, there can be another', async (state) => {
    await using place = await places().open()
    await insert(place.store, asked({ id: 'first', state }))
    expect(await place.store.read.openProjectRequest(WEB_UUID)).toBeNull()
    await insert(place.store, asked({ id: 'second' }))
    expect((await place.store.read.openProjectRequest(WEB_UUID))?.id).toBe('second')
  })

  test('different projects, even ones not created yet, can have requests at the same time', async () => {
    await using place = await places().open()
    const creation = { action: 'create-project', projectUuid: null } as const
    await insert(
      place.store,
      asked({ id: 'web' }),
      asked({ id: 'api', projectUuid: API_UUID }),
      asked({ id: 'new', ...creation }),
      asked({ id: 'new too', ...creation }),
    )
    expect((await place.store.read.openProjectRequest(API_UUID))?.id).toBe('api')
  })

  test('the same request is recorded once, about a build or a project', async () => {
    await using place = await places().open()
    await place.store.write((tx) => tx.insertRequest(request({ interactionKey: 'trigger-1' })))
    await expect(insert(place.store, asked({ interactionKey: 'trigger-1' }))).rejects.toThrow()
    expect(await place.store.read.requestOf('trigger-1')).toMatchObject({ action: 'restart' })
  })

  test('an update changes the given fields and no others, and sets the uuid of a created project', async () => {
    await using place = await places().open()
    const created = asked({ id: 'new', action: 'create-project', projectUuid: null })
    await insert(place.store, created, asked({ id: 'other', projectUuid: API_UUID }))
    const change = { state: 'confirmed', answeredAt: T0, endedAt: T0 + 1, lookAt: null, projectUuid: WEB_UUID } as const
    await place.store.write((tx) => tx.updateRequest('new', change))
    expect(await place.store.read.requestOf('ask of new')).toEqual({ ...created, ...change })
    expect(await place.store.read.requestOf('ask of other')).toMatchObject({ state: 'calling' })
  })

  test('queries for requests about builds find none about projects', async () => {
    await using place = await places().open()
    await insert(place.store, asked({ id: 'edit', lookAt: T0 }))
    const attempt = { projectId: projectId(WEB), buildId: buildId('512'), attempt: 1 }
    const { read } = place.store
    expect(await read.requestsOf('')).toEqual([])
    expect(await read.openRequest(attempt, 'restart')).toBeNull()
    expect(await read.restartsOf('', '')).toEqual([])
    expect(await read.requestsToCheck(LATER, 10)).toEqual([])
  })

  test('queries for requests about projects find none about builds', async () => {
    await using place = await places().open()
    const target = { ...request().target, projectUuid: WEB_UUID }
    await place.store.write((tx) => tx.insertRequest(request({ id: 'stop', lookAt: T0, target })))
    const { read } = place.store
    expect(await read.openProjectRequest(WEB_UUID)).toBeNull()
    expect(await read.projectRequestsToCheck(LATER, 10)).toEqual([])
    await insert(place.store, asked({ id: 'edit' }))
    expect((await read.openProjectRequest(WEB_UUID))?.id).toBe('edit')
  })

  test('requests are due for a look-up at their time, longest due first, up to a limit', async () => {
    await using place = await places().open()
    await insert(
      place.store,
      asked({ id: 'later', lookAt: T0 + SECOND }),
      asked({ id: 'never', lookAt: null, projectUuid: null }),
      asked({ id: 'now', lookAt: T0, projectUuid: API_UUID }),
    )
    const { read } = place.store
    expect(await read.projectRequestsToCheck(T0 - 1, 10)).toEqual([])
    expect(idsOf(await read.projectRequestsToCheck(T0, 10))).toEqual(['now'])
    expect(idsOf(await read.projectRequestsToCheck(T0 + SECOND, 10))).toEqual(['now', 'later'])
    expect(idsOf(await read.projectRequestsToCheck(T0 + SECOND, 1))).toEqual(['now'])
  })

  test('the audit has both kinds unchanged and in one order, from either end', async () => {
    await using place = await places().open()
    const stop = request({
      id: 'b stop',
      requestedAt: T0,
      action: 'stop',
      revisionKey: REVISION,
      subject: CARD.subject,
    })
    const edit = asked({ id: 'a edit', requestedAt: T0 })
    const restart = request({ id: 'restart', requestedAt: T0 + SECOND, revisionKey: REVISION, subject: CARD.subject })
    const reset = asked({ id: 'reset', requestedAt: T0 + 2 * SECOND, projectUuid: API_UUID })
    await place.store.write(async (tx) => {
      for (const one of [restart, stop]) await tx.insertRequest(one)
      for (const one of [reset, edit]) await tx.insertRequest(one)
    })
    const { read } = place.store
    expect(await read.requestsAfter({ requestedAt: 0, id: '' }, 10)).toEqual([edit, stop, restart, reset])
    expect(await read.requestsAfter(edit, 2)).toEqual([stop, restart])
    expect(await read.newestRequests(10)).toEqual([reset, restart, stop, edit])
    expect(await read.newestRequests(2)).toEqual([reset, restart])
  })
}
