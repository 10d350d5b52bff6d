import { expect, test } from 'vitest'
import { toUuid } from '../../../src/domain/ids.ts'
import { OPEN_STATES, type Request, type RequestState } from '../../../src/domain/cards/request.ts'
import type { Store } from '../../../src/store/store.ts'
import { buildId, MINUTE, projectId, request, SECOND, T0, WEB } from '../../support/build-events.ts'
import type { Places } from '../../support/stores.ts'
import { BUILDS, CARD, REVISION, several } from '../given.ts'

const UUID = toUuid('1b4e28ba-2fa1-11d2-883f-0016d3cca427')
const RUN = { projectId: projectId(WEB), buildId: buildId('512'), attempt: 1 }
const LATER = T0 + 60 * MINUTE
const CLOSED_STATES: readonly RequestState[] = ['confirmed', 'refused', 'unconfirmed']

/** Lin requests a restart of build 512 of acme/web. */
const asked = (change: Partial<Request> = {}): Request =>
  request({ revisionKey: REVISION, subject: CARD.subject, ...change })

const insert = (store: Store, ...requests: readonly Request[]): Promise<void> =>
  store.write(async (tx) => {
    for (const one of requests) await tx.insertRequest(one)
  })

const idsOf = (requests: readonly Pick<Request, 'id'>[]) => requests.map(({ id }) => id)

/** Requests: recorded before CI is called, at most one open for each attempt and action. */
export function requestClaims(places: () => Places): void {
  test('a request is read back unchanged', async () => {
    await using place = await places().open()
    const whole = asked({
      action: 'stop',
      state: 'unclear',
      projectId: projectId('9007199254740993'),
      buildId: buildId('18446744073709551615'),
      attempt: 3,
      target: {
        project: 'acme/web — “ログイン”',
        branch: "fix/'; drop table request; --",
        projectUuid: UUID,
        buildUuid: UUID,
      },
      requestedTeam: 'T0ACME0001',
      channel: BUILDS,
      via: 'mention',
      code: 'timeout',
      reason: 'no answer within 10 s',
      answeredAt: T0 + 11 * MINUTE,
      newBuildId: buildId('9007199254740995'),
      newBuildUuid: UUID,
      lookAt: T0 + 12 * MINUTE,
      endedAt: T0 + 13 * MINUTE,
    })
    await insert(place.store, whole, asked({ id: 'bare' }))
    expect(await place.store.read.requestOf(whole.interactionKey)).toEqual(whole)
    expect(await place.store.read.requestOf('ask of bare')).toEqual(asked({ id: 'bare' }))
    expect(await place.store.read.requestOf('ask of nobody')).toBeNull()
  })

  test('the same request is recorded once, whatever it is about', async () => {
    await using place = await places().open()
    await insert(place.store, asked({ id: 'first', interactionKey: 'trigger-1', state: 'refused' }))
    const again = asked({ id: 'second', interactionKey: 'trigger-1', buildId: buildId('513') })
    await expect(insert(place.store, again)).rejects.toThrow()
    expect(idsOf(await place.store.read.requestsOf(REVISION))).toEqual(['first'])
  })

  test.each(OPEN_STATES)('while a request is %s, there is no other for the attempt and action', async (state) => {
    await using place = await places().open()
    await insert(place.store, asked({ id: 'first', state }))
    await expect(insert(place.store, asked({ id: 'second' }))).rejects.toThrow()
    expect(idsOf(await place.store.read.requestsOf(REVISION))).toEqual(['first'])
    expect((await place.store.read.openRequest(RUN, 'restart'))?.id).toBe('first')
  })

  test.each(CLOSED_STATES)('after a request is %s, there can be another', async (state) => {
    await using place = await places().open()
    await insert(place.store, asked({ id: 'first', state }), asked({ id: 'second' }))
    expect((await place.store.read.openRequest(RUN, 'restart'))?.id).toBe('second')
  })

  test('an open request does not prevent one for another action, attempt, build or project', async () => {
    await using place = await places().open()
    await insert(
      place.store,
      asked({ id: 'a' }),
      asked({ id: 'b', action: 'stop' }),
      asked({ id: 'c', attempt: 2 }),
      asked({ id: 'd', buildId: buildId('513') }),
      asked({ id: 'e', projectId: projectId('42') }),
    )
    const { read } = place.store
    expect((await read.openRequest(RUN, 'restart'))?.id).toBe('a')
    expect((await read.openRequest(RUN, 'stop'))?.id).toBe('b')
    expect((await read.openRequest({ ...RUN, attempt: 2 }, 'restart'))?.id).toBe('c')
    expect(await read.openRequest({ ...RUN, attempt: 2 }, 'stop')).toBeNull()
  })

  test('an update changes the given fields of this request, and nothing else', async () => {
    await using place = await places().open()
    await insert(place.store, asked({ id: 'a' }), asked({ id: 'b', attempt: 2 }))
    const change = {
      state: 'accepted',
      code: 'ok',
      reason: 'started',
      answeredAt: T0,
      newBuildId: buildId('513'),
      newBuildUuid: UUID,
      lookAt: T0 + 1,
      endedAt: T0 + 2,
      claimedBy: 'process-2',
    } as const
    await place.store.write((tx) => tx.updateRequest('a', change))
    expect(await place.store.read.requestOf('ask of a')).toEqual(asked({ id: 'a', ...change }))
    expect(await place.store.read.requestOf('ask of b')).toEqual(asked({ id: 'b', attempt: 2 }))
    await place.store.write((tx) => tx.updateRequest('a', { lookAt: null, code: null }))
    await place.store.write((tx) => tx.updateRequest('a', {}))
    expect(await place.store.read.requestOf('ask of a')).toEqual(
      asked({ id: 'a', ...change, lookAt: null, code: null }),
    )
  })

  test('a request cannot be reopened while another one is open', async () => {
    await using place = await places().open()
    await insert(place.store, asked({ id: 'first', state: 'unconfirmed' }), asked({ id: 'second' }))
    await expect(place.store.write((tx) => tx.updateRequest('first', { state: 'accepted' }))).rejects.toThrow()
    expect(await place.store.read.requestOf('ask of first')).toMatchObject({ state: 'unconfirmed' })
  })

  test('a request that the database rejects is rolled back with its whole write, and affects no other write', async () => {
    await using place = await places().open()
    await insert(place.store, asked({ id: 'first' }))
    const doomed = place.store.write(async (tx) => {
      await tx.setLastDoneAt('doomed', T0)
      await tx.insertRequest(asked({ id: 'second' }))
    })
    const other = place.store.write((tx) => tx.setLastDoneAt('other', T0))
    await expect(doomed).rejects.toThrow()
    await other
    expect(await place.store.read.lastDoneAt('doomed')).toBeNull()
    expect(await place.store.read.lastDoneAt('other')).toBe(T0)
  })

  test('the requests of a revision come in order of time, without those of others', async () => {
    await using place = await places().open()
    await insert(
      place.store,
      asked({ id: 'late', requestedAt: T0 + 2 * SECOND, attempt: 3 }),
      asked({ id: 'early', requestedAt: T0, state: 'refused' }),
      asked({ id: 'middle', requestedAt: T0 + SECOND, subject: `${REVISION}/2`, attempt: 2 }),
      asked({ id: 'other', revisionKey: 'ffff', buildId: buildId('513') }),
    )
    expect(idsOf(await place.store.read.requestsOf(REVISION))).toEqual(['early', 'middle', 'late'])
    expect(await place.store.read.requestsOf('none')).toEqual([])
  })

  test('the restarts of a build come in order of time, whatever their outcome', async () => {
    await using place = await places().open()
    await insert(
      place.store,
      asked({ id: 'second', requestedAt: T0 + SECOND, attempt: 2, revisionKey: 'another' }),
      asked({ id: 'first', requestedAt: T0, state: 'refused' }),
      asked({ id: 'stop', action: 'stop' }),
      asked({ id: 'other build', buildId: buildId('1512') }),
      asked({ id: 'other project', projectId: projectId('42') }),
    )
    expect(idsOf(await place.store.read.restartsOf(WEB, '512'))).toEqual(['first', 'second'])
    expect(await place.store.read.restartsOf('4', '1512')).toEqual([])
  })

  test('requests are due for a look-up at their time, longest due first, up to a limit', async () => {
    await using place = await places().open()
    await insert(
      place.store,
      asked({ id: 'later', lookAt: T0 + SECOND }),
      asked({ id: 'never', lookAt: null, attempt: 2 }),
      asked({ id: 'now', lookAt: T0, attempt: 3 }),
      asked({ id: 'then', lookAt: LATER, attempt: 4 }),
    )
    const { read } = place.store
    expect(await read.requestsToCheck(T0 - 1, 10)).toEqual([])
    expect(idsOf(await read.requestsToCheck(T0, 10))).toEqual(['now'])
    expect(idsOf(await read.requestsToCheck(T0 + SECOND, 10))).toEqual(['now', 'later'])
    expect(idsOf(await read.requestsToCheck(T0 + SECOND, 1))).toEqual(['now'])
    await place.store.write((tx) => tx.updateRequest('now', { lookAt: null }))
    expect(idsOf(await read.requestsToCheck(T0 + SECOND, 10))).toEqual(['later'])
  })

  test('pages of requests skip none and repeat none, even if several were made at the same time', async () => {
    await using place = await places().open()
    const made = several(7, (i) => asked({ id: `r${i}`, attempt: i + 1, requestedAt: T0 + Math.floor(i / 3) }))
    await insert(place.store, ...made.toReversed())
    const pages: string[][] = []
    let after = { requestedAt: 0, id: '' }
    for (;;) {
      const page = await place.store.read.requestsAfter(after, 2)
      if (page.length === 0) break
      pages.push(idsOf(page))
      after = page.at(-1)!
    }
    expect(pages).toEqual([['r0', 'r1'], ['r2', 'r3'], ['r4', 'r5'], ['r6']])
  })

  test('of two concurrent writes that check first, the second finds the request of the first', async () => {
    await using place = await places().open()
    const ask = (id: string) =>
      place.store.write(async (tx) => {
        const open = await tx.openRequest(RUN, 'restart')
        if (open) return `meets ${open.id}`
        await tx.insertRequest(asked({ id }))
        return id
      })
    expect(await Promise.all([ask('ada'), ask('lin')])).toEqual(
      expect.arrayContaining([expect.stringMatching(/^meets /)]),
    )
    expect(await place.store.read.requestsOf(REVISION)).toHaveLength(1)
  })
}
